/* json.h - writes JSON: stable order, exact integers, any bytes.
 *
 * One object at a time, on one line, flat or nested. A string that is not UTF-8 is written with
 * U+DC80 + (byte - 0x80) escapes for the bytes that are not, as Python's surrogateescape does.
 */
#ifndef BLOOMERY_CLI_JSON_H
#define BLOOMERY_CLI_JSON_H

#include <bloomery/base.h>
#include <stdio.h>

typedef struct json {
    FILE *to;
    bool comma; /* a value came before, at this depth */
} json;

json json_begin(FILE *to); /* "{" */
void json_end(json *j);    /* "}" and a newline */

/* `name` is NULL inside an array. */
void json_text(json *j, const char *name, const char *value);
void json_bytes(json *j, const char *name, bly_bytes value);
void json_integer(json *j, const char *name, uint64_t value);
void json_real(json *j, const char *name, double value); /* shortest exact; null unless finite */
void json_bool(json *j, const char *name, bool value);
void json_null(json *j, const char *name);
void json_open(json *j, const char *name, char bracket /* '{' or '[' */);
void json_close(json *j, char bracket /* '}' or ']' */);

#endif
