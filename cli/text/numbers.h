/* numbers.h - reads and prints numbers as people write them. */
#ifndef BLOOMERY_CLI_NUMBERS_H
#define BLOOMERY_CLI_NUMBERS_H

#include <bloomery/base.h>

/* All of `text` must be the number. These functions return NULL, or the reason why the text is not
 * valid, which fits after "--option cannot be 'text': ". See cli_type for the formats. */
const char *number_count(const char *text, uint64_t *out);
const char *number_integer(const char *text, uint64_t *out);
const char *number_size(const char *text, uint64_t *out);
const char *number_rate(const char *text, double *out);
const char *number_duration(const char *text, uint64_t *out);

uint64_t number_common_divisor(uint64_t a, uint64_t b); /* the greatest */

/* Each writes to a buffer of NUMBER_TEXT bytes, and returns the buffer for use in a printf. */
enum { NUMBER_TEXT = 32 };
char *number_grouped(uint64_t value, char out[NUMBER_TEXT]); /* 12,345,678 */
char *number_bytes(uint64_t value, char out[NUMBER_TEXT]);   /* 512 B, 9.8 MiB */
char *number_percent(double rate, char out[NUMBER_TEXT]);    /* 0.1%, 0.00012% */
char *number_one_in(double rate, char out[NUMBER_TEXT]);     /* 1 in 1,000 */
char *number_estimate(double value, char out[NUMBER_TEXT]);  /* 0, 0.03, 1,450 */
char *number_short(double value, char out[NUMBER_TEXT]);     /* 950, 12.3k, 4.5M, 1.2G */
char *number_span(uint64_t seconds, char out[NUMBER_TEXT]);  /* 90s, 15m, 24h, 7d */
char *number_time(double seconds, char out[NUMBER_TEXT]);    /* 0.42 s, 3:05, 1:02:03 */

/* The same without a variable for the buffer: the text exists until the end of the block. */
#define NUMBER_ROOM           ((char[NUMBER_TEXT]){0})
#define NUMBER_GROUPED(value) number_grouped((value), NUMBER_ROOM)
#define NUMBER_BYTES(value)   number_bytes((value), NUMBER_ROOM)
#define NUMBER_PERCENT(rate)  number_percent((rate), NUMBER_ROOM)
#define NUMBER_ONE_IN(rate)   number_one_in((rate), NUMBER_ROOM)
#define NUMBER_SPAN(seconds)  number_span((seconds), NUMBER_ROOM)
#define NUMBER_TIME(seconds)  number_time((seconds), NUMBER_ROOM)

#endif
