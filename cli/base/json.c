#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void comma(json *j) {
    if (j->comma)
        (void)fputc(',', j->to);
    j->comma = true;
}

/* The length of the UTF-8 character at text[0..size), 0 when there is none. */
static size_t character(const unsigned char *text, size_t size) {
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

/* How many of the first bytes are ASCII that stands for itself. */
static size_t plain(const unsigned char *text, size_t size) {
    size_t n = 0;
    while (n < size && text[n] >= 0x20 && text[n] < 0x7F && text[n] != '"' && text[n] != '\\')
        n++;
    return n;
}

static void string(json *j, const unsigned char *text, size_t size) {
    (void)fputc('"', j->to);
    for (size_t i = 0, n; i < size; i += n) {
        n = plain(text + i, size - i);
        if (n > 0) {
            (void)fwrite(text + i, 1, n, j->to);
            continue;
        }
        n = character(text + i, size - i);
        if (n == 0) {
            n = 1;
            (void)fprintf(j->to, "\\udc%02x", text[i]);
        } else if (text[i] < 0x20 || text[i] == 0x7F)
            (void)fprintf(j->to, "\\u%04x", text[i]);
        else if (text[i] == '"' || text[i] == '\\')
            (void)fprintf(j->to, "\\%c", text[i]);
        else
            (void)fwrite(text + i, 1, n, j->to);
    }
    (void)fputc('"', j->to);
}

static void name_of(json *j, const char *name) {
    comma(j);
    if (name) {
        string(j, (const unsigned char *)name, strlen(name));
        (void)fputc(':', j->to);
    }
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
    string(j, value.data, value.size);
}

void json_text(json *j, const char *name, const char *value) {
    json_bytes(j, name, (bly_bytes){value, strlen(value)});
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

void json_open(json *j, const char *name, char bracket) {
    name_of(j, name);
    (void)fputc(bracket, j->to);
    j->comma = false;
}

void json_close(json *j, char bracket) {
    (void)fputc(bracket, j->to);
    j->comma = true;
}
