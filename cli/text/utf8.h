/* utf8.h - where a character of UTF-8 ends. */
#ifndef BLOOMERY_CLI_UTF8_H
#define BLOOMERY_CLI_UTF8_H

#include <stddef.h>

/* The length of the UTF-8 character at text[0..size), 0 when there is none. size is not 0. */
size_t utf8_length(const unsigned char *text, size_t size);

#endif
