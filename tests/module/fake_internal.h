/* fake_internal.h - shared by the files of the fake engine: each engine call, as fake_<name>. */
#ifndef BLYT_FAKE_INTERNAL_H
#define BLYT_FAKE_INTERNAL_H

#include "fake_host.h"

#include <stdarg.h>

/* Aborts the program without memory. New memory is zeroed when `old` is NULL. */
void *fake_alloc(void *old, size_t size);

/* Weak, so that a call that no file here implements fails only when the module makes it. */
#define FAKE_DECLARE(result, name, parameters) __attribute__((weak)) result fake_##name parameters;
RM_NEEDED(FAKE_DECLARE)
#undef FAKE_DECLARE

/* The command that a format of Replicate and EmitAOF describes. */
fake_command fake_command_of(const char *name, const char *fmt, va_list args);
void fake_commands_add(fake_commands *commands, fake_command command);

/* Returns a command that was created; NULL if it is unknown. */
rm_command_fn fake_command_named(const char *name);
/* Clears the reply; the text of the next one. */
void fake_reply_clear(void);
const char *fake_reply(void);

/* Adds a holder of a string. */
rm_string *fake_retain(rm_string *s);

#endif
