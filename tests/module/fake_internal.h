/* fake_internal.h - shared by the files of the fake engine. The engine call <name> is the function
 * fake_<name>. */
#ifndef BLYT_FAKE_INTERNAL_H
#define BLYT_FAKE_INTERNAL_H

#include "fake_host.h"

#include <stdarg.h>

/* As realloc, but aborts the program if there is no memory. New memory is zeroed if `old` is
 * NULL. */
void *fake_alloc(void *old, size_t size);

/* Weak, so that a call that no file here implements aborts the program only when the module makes
 * it. */
#define FAKE_DECLARE(result, name, parameters) __attribute__((weak)) result fake_##name parameters;
RM_NEEDED(FAKE_DECLARE)
#undef FAKE_DECLARE

/* Returns the command that a format of Replicate or EmitAOF describes. */
fake_command fake_command_of(const char *name, const char *fmt, va_list args);
void fake_commands_add(fake_commands *commands, fake_command command);

/* Returns the function of a command that the module created; NULL if it is unknown. */
rm_command_fn fake_command_named(const char *name);
/* fake_reply_clear clears the text of the reply; fake_reply returns it. */
void fake_reply_clear(void);
const char *fake_reply(void);

/* Adds a holder of a string. */
rm_string *fake_retain(rm_string *s);

#endif
