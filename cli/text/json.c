/* JSON output, written as it is made: no tree in memory.
 *
 * Texts from outside need not be UTF-8, but JSON must be. So U+FFFD replaces each byte that is not
 * UTF-8, and a second field with the suffix _base64 has all bytes.
 */
#include "text/json.h"

#include "text/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char base64_suffix[] = "_base64";

static void comma(json *j) {
    if (j->comma)
        (void)fputc(',', j->to);
    j->comma = true;
}

/* The number of leading bytes that are ASCII and need no escape. */
static size_t plain(const unsigned char *text, size_t size) {
    size_t n = 0;
    while (n < size && text[n] >= 0x20 && text[n] < 0x7F && text[n] != '"' && text[n] != '\\')
        n++;
    return n;
}

/* Writes a string, with U+FFFD for each byte that is not UTF-8. Returns whether all of it is UTF-8.
 */
static bool string(json *j, const unsigned char *text, size_t size) {
    bool utf8 = true;
    (void)fputc('"', j->to);
    for (size_t i = 0, n; i < size; i += n) {
        n = plain(text + i, size - i);
        if (n > 0) {
            (void)fwrite(text + i, 1, n, j->to);
            continue;
        }
        n = message_utf8_length(text + i, size - i);
        if (n == 0) {
            n = 1;
            utf8 = false;
            (void)fputs("\\ufffd", j->to);
        } else if (text[i] < 0x20 || text[i] == 0x7F)
            (void)fprintf(j->to, "\\u%04x", text[i]);
        else if (text[i] == '"' || text[i] == '\\')
            (void)fprintf(j->to, "\\%c", text[i]);
        else
            (void)fwrite(text + i, 1, n, j->to);
    }
    (void)fputc('"', j->to);
    return utf8;
}

/* Writes bytes in base64 (RFC 4648, section 4). */
static void base64(json *j, const unsigned char *text, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    (void)fputc('"', j->to);
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const unsigned three = (unsigned)text[i] << 16 | (left > 1 ? text[i + 1] : 0U) << 8 |
                               (left > 2 ? text[i + 2] : 0U);
        (void)fputc(digits[three >> 18], j->to);
        (void)fputc(digits[three >> 12 & 63], j->to);
        (void)fputc(left > 1 ? digits[three >> 6 & 63] : '=', j->to);
        (void)fputc(left > 2 ? digits[three & 63] : '=', j->to);
    }
    (void)fputc('"', j->to);
}

/* Names are ASCII that needs no escapes. */
static void name_with(json *j, const char *name, const char *suffix) {
    comma(j);
    if (name)
        (void)fprintf(j->to, "\"%s%s\":", name, suffix);
}

static void name_of(json *j, const char *name) {
    name_with(j, name, "");
}

json json_begin(FILE *to) {
    (void)fputc('{', to);
    return (json){to, false};
}

void json_end(json *j) {
    (void)fputs("}\n", j->to);
}

void json_bytes(json *j, const char *name, bly_bytes value) {
    name_of(j, name);
    if (!string(j, value.data, value.size)) {
        name_with(j, name, base64_suffix);
        base64(j, value.data, value.size);
    }
}

void json_text(json *j, const char *name, const char *value) {
    if (value)
        json_bytes(j, name, (bly_bytes){value, strlen(value)});
    else
        json_null(j, name);
}

void json_texts(json *j, const char *name, char *const *values, size_t n) {
    bool utf8 = true;
    name_of(j, name);
    for (size_t i = 0; i < n; i++) {
        (void)fputc(i ? ',' : '[', j->to);
        utf8 = string(j, (const unsigned char *)values[i], strlen(values[i])) && utf8;
    }
    (void)fputs(n ? "]" : "[]", j->to);
    if (utf8)
        return;
    name_with(j, name, base64_suffix);
    for (size_t i = 0; i < n; i++) {
        (void)fputc(i ? ',' : '[', j->to);
        base64(j, (const unsigned char *)values[i], strlen(values[i]));
    }
    (void)fputc(']', j->to);
}

void json_integer(json *j, const char *name, uint64_t value) {
    name_of(j, name);
    (void)fprintf(j->to, "%llu", (unsigned long long)value);
}

void json_real(json *j, const char *name, double value) {
    char text[32];
    name_of(j, name);
    if (!isfinite(value)) {
        (void)fputs("null", j->to);
        return;
    }
    for (int digits = 6; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    (void)fputs(text, j->to);
}

void json_bool(json *j, const char *name, bool value) {
    name_of(j, name);
    (void)fputs(value ? "true" : "false", j->to);
}

void json_null(json *j, const char *name) {
    name_of(j, name);
    (void)fputs("null", j->to);
}

void json_integer_or_null(json *j, const char *name, bool known, uint64_t value) {
    if (known)
        json_integer(j, name, value);
    else
        json_null(j, name);
}

void json_open(json *j, const char *name, char bracket) {
    name_of(j, name);
    (void)fputc(bracket, j->to);
    j->comma = false;
}

void json_close(json *j, char bracket) {
    (void)fputc(bracket, j->to);
    j->comma = true;
}
