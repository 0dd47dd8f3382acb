/* message.h - messages on standard error.
 *
 * Each message is one line that begins with "bloomery COMMAND: ". Data is never written there. File
 * names and other untrusted texts may be passed unchanged: control characters, and bytes that are
 * not UTF-8, are escaped, as in \x1b.
 */
#ifndef BLOOMERY_CLI_MESSAGE_H
#define BLOOMERY_CLI_MESSAGE_H

#include <bloomery/base.h>

#define PRINTF_LIKE(text, args) __attribute__((format(printf, text, args)))

/* Set once, by main.c. */
void message_setup(const char *command, bool quiet, unsigned colour /* see cli_common */);
bool message_quiet(void);

/* Always printed. Returns CLI_ERROR, so that a command can end with `return message_error(...)`. */
int message_error(const char *format, ...) PRINTF_LIKE(1, 2);
/* Reports "PATH: what errno says". */
int message_errno(const char *path);
/* Reports "PATH: what the status says"; for BLY_EIO, what errno says. */
int message_status(const char *path, bly_status status);
/* The same for functions that return whether they succeeded: these return false. They are macros,
 * so that the compiler sees the value. */
#define message_fail(...)        ((void)message_error(__VA_ARGS__), false)
#define message_fail_errno(path) ((void)message_errno(path), false)
/* Whether the status is BLY_OK; any other is reported. */
bool message_ok(const char *path, bly_status status);
/* For a result that may be wrong: "warning: ". Always printed. */
void message_warn(const char *format, ...) PRINTF_LIKE(1, 2);
/* For information; not printed with --quiet. */
void message_note(const char *format, ...) PRINTF_LIKE(1, 2);

/* Escapes `text` as in a message, for a file name on standard output; cut to `room`. Returns out.
 */
enum { MESSAGE_TEXT = 4096 };
char *message_escape(const char *text, char *out, size_t room);
char *message_escape_bytes(bly_bytes text, char *out, size_t room);

/* The length of the UTF-8 character at text[0..size), or 0 if the bytes are not UTF-8. size is not
 * 0. */
size_t message_utf8_length(const unsigned char *text, size_t size);

/* ANSI codes, or "" if standard output (1) or standard error (2) may not be coloured. */
typedef enum message_style {
    STYLE_PLAIN,
    STYLE_BOLD,
    STYLE_DIM,
    STYLE_RED,
    STYLE_GREEN,
    STYLE_YELLOW,
    STYLE_BLUE
} message_style;
const char *message_style_on(int fd, message_style style);
const char *message_style_off(int fd);

/* Whether the locale of the user is UTF-8, so that bars and plots can be drawn with such
 * characters. */
bool message_utf8(void);

/* Columns of the terminal behind fd, or 80. */
unsigned message_columns(int fd);

#endif
