/* json.h - writes JSON: stable order, exact integers, any bytes.
 *
 * One object at a time, on one line, flat or nested. Strings are strict JSON: UTF-8 without lone
 * surrogates. A value that is not UTF-8 is written twice: first under its name, with U+FFFD for
 * each invalid byte, then under its name with "_base64" appended, with all its bytes in base64 (RFC
 * 4648, section 4). A value that is UTF-8 has no such second field.
 */
#ifndef BLOOMERY_CLI_JSON_H
#define BLOOMERY_CLI_JSON_H

#include <bloomery/base.h>
#include <stdio.h>

typedef struct json {
    FILE *to;
    bool comma; /* a value was already written at this depth */
} json;

json json_begin(FILE *to); /* "{" */
void json_end(json *j);    /* "}" and a newline */

/* `name` is NULL inside an array. Strings in arrays are written by json_texts only. */
void json_text(json *j, const char *name, const char *value); /* NULL: null */
void json_bytes(json *j, const char *name, bly_bytes value);
/* An array of strings. If one of them is not UTF-8, an array of all in base64 follows. */
void json_texts(json *j, const char *name, char *const *values, size_t n);
void json_integer(json *j, const char *name, uint64_t value);
void json_integer_or_null(json *j, const char *name, bool known, uint64_t value);
/* Writes the fewest digits that give the same double; null if it is not finite. */
void json_real(json *j, const char *name, double value);
void json_bool(json *j, const char *name, bool value);
void json_null(json *j, const char *name);
void json_open(json *j, const char *name, char bracket /* '{' or '[' */);
void json_close(json *j, char bracket /* '}' or ']' */);

#endif
