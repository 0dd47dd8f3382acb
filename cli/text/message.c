/* message.c - messages on standard error, and what a terminal can show: colours, columns,
 * characters.
 *
 * A message is written in one piece. Untrusted texts, such as file names, cannot control the
 * terminal: control characters and bytes that are not UTF-8 are escaped.
 */
#include "text/message.h"

#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct {
    const char *command;
    bool quiet;
    unsigned colour;
} settings;

enum { COLOUR_ALWAYS = 2, COLOUR_NEVER = 3 };

void message_setup(const char *command, bool quiet, unsigned colour) {
    settings.command = command;
    settings.quiet = quiet;
    settings.colour = colour;
}

bool message_quiet(void) {
    return settings.quiet;
}

/* Depends on --color, NO_COLOR, TERM and whether fd is a terminal. */
static bool is_coloured(int fd) {
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (settings.colour == COLOUR_ALWAYS || settings.colour == COLOUR_NEVER)
        return settings.colour == COLOUR_ALWAYS;
    return isatty(fd) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

const char *message_style_on(int fd, message_style style) {
    static const char *const codes[] = {"",         "\033[1m",  "\033[2m", "\033[31m",
                                        "\033[32m", "\033[33m", "\033[34m"};
    return is_coloured(fd) ? codes[style] : "";
}

const char *message_style_off(int fd) {
    return is_coloured(fd) ? "\033[0m" : "";
}

bool message_utf8(void) {
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (!locale)
        return false;
    bool utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return utf8;
}

unsigned message_columns(int fd) {
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

/* ---- untrusted texts ------------------------------------------------------------------------- */

size_t message_utf8_length(const unsigned char *text, size_t size) {
    unsigned char c = text[0];
    size_t length = c < 0x80                ? 1
                    : c >= 0xC2 && c < 0xE0 ? 2
                    : (c & 0xF0) == 0xE0    ? 3
                    : c >= 0xF0 && c < 0xF5 ? 4
                                            : 0;
    if (length == 0 || length > size)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (c == 0xE0 && text[1] < 0xA0) || (c == 0xF0 && text[1] < 0x90);
    bool surrogate = c == 0xED && text[1] >= 0xA0;
    bool beyond = c == 0xF4 && text[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

/* Whether the n bytes of a character (0: not UTF-8) could control a terminal: C0, DEL, C1. */
static bool is_control(const unsigned char *text, size_t n) {
    return n == 0 || *text < 0x20 || *text == 0x7F || (*text == 0xC2 && text[1] < 0xA0);
}

char *message_escape(const char *text, char *out, size_t room) {
    return message_escape_bytes((bly_bytes){text, strlen(text)}, out, room);
}

char *message_escape_bytes(bly_bytes text, char *out, size_t room) {
    const unsigned char *from = text.data;
    size_t left = text.size, used = 0;
    while (left > 0) {
        size_t n = message_utf8_length(from, left);
        const bool control = is_control(from, n);
        if (n == 0)
            n = 1;
        const size_t need = control ? 4 * n : n;
        if (need >= room - used)
            break;
        for (size_t i = 0; control && i < n; i++)
            (void)snprintf(out + used + 4 * i, 5, "\\x%02x", from[i]);
        if (!control)
            memcpy(out + used, from, n);
        used += need;
        from += n;
        left -= n;
    }
    out[used] = '\0';
    return out;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* The length of the user and the password after "redis://", with their '@'; 0: there is no
 * password. A colon that no port follows begins a password that is not encoded and may contain
 * anything. */
static size_t login_length(const char *text) {
    static const char placeholder[] = ":PASSWORD@";
    const size_t host = strcspn(text, "/? '\""), skip = *text == '[' ? strcspn(text, "]") : 0;
    const size_t colon = skip + strcspn(text + skip, ":");
    size_t at = strcspn(text, "@");
    if (strncmp(text, placeholder, sizeof placeholder - 1) == 0 || colon >= host || !text[at])
        return 0;
    if (at > host && (colon == 0 || !isdigit((unsigned char)text[colon + 1])))
        return (size_t)(strrchr(text, '@') - text) + 1;
    for (size_t next = at; next < host; next += 1 + strcspn(text + next + 1, "@"))
        at = next;
    return at < host && colon < at ? at + 1 : 0;
}

/* Removes user and password from addresses of servers, also where an address was given in the place
 * of something else. A message that was cut may lack the '@', so then the rest is removed. */
static void hide_passwords(char *text, bool cut) {
    static const char *const schemes[] = {"redis://", "rediss://", "unix://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        for (char *at = text; *at; at++) {
            if (strncasecmp(at, schemes[i], strlen(schemes[i])) != 0)
                continue;
            char *login = at + strlen(schemes[i]);
            const size_t length = login_length(login);
            memmove(login, login + length, strlen(login + length) + 1);
            if (cut && length == 0 && !strchr(login, '@'))
                *login = '\0';
        }
}

/* One write, so that lines of several processes are not mixed. */
static void print_message(message_style style, const char *label, const char *format,
                          va_list args) {
    char body[MESSAGE_TEXT], shown[MESSAGE_TEXT], text[MESSAGE_TEXT + 100];
    const char *command = settings.command;
    hide_passwords(body, vsnprintf(body, sizeof body, format, args) >= (int)sizeof body);
    int length =
        snprintf(text, sizeof text, "bloomery%s%s: %s%s%s%s\n", command ? " " : "",
                 command ? command : "", message_style_on(2, style), label,
                 *label ? message_style_off(2) : "", message_escape(body, shown, sizeof shown));
    if (length > 0 && (size_t)length < sizeof text)
        (void)fwrite(text, 1, (size_t)length, stderr);
}

int message_error(const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_message(STYLE_PLAIN, "", format, args);
    va_end(args);
    return CLI_ERROR;
}

int message_errno(const char *path) {
    return message_error("%s: %s", path, strerror(errno));
}

int message_status(const char *path, bly_status status) {
    return status == BLY_EIO ? message_errno(path)
                             : message_error("%s: %s", path, bly_strerror(status));
}

bool message_ok(const char *path, bly_status status) {
    return status == BLY_OK || message_status(path, status) == CLI_OK;
}

void message_warn(const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_message(STYLE_YELLOW, "warning: ", format, args);
    va_end(args);
}

void message_note(const char *format, ...) {
    va_list args;
    if (settings.quiet)
        return;
    va_start(args, format);
    print_message(STYLE_PLAIN, "", format, args);
    va_end(args);
}
