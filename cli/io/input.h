/* input.h - reads the records (usually lines) of several files, one file after another, in batches.
 *
 * A file that cannot be read is reported and skipped, as grep does.
 */
#ifndef BLOOMERY_CLI_INPUT_H
#define BLOOMERY_CLI_INPUT_H

#include "io/source.h"

enum { INPUT_BATCH = 4096 };

typedef struct input {
    char **paths;
    size_t path_count, next_path;
    char separator;   /* '\n' or '\0' */
    size_t longest;   /* a longer record is an error and is skipped */
    source *current;  /* NULL between files */
    const char *path; /* of `current`, for messages */
    char *buffer;
    size_t room, begin, scanned, end; /* begin..end is unread; begin..scanned has no separator */
    bly_bytes records[INPUT_BATCH];   /* the batch: without their separators */
    size_t count;
    uint64_t number;         /* line number of records[0] in its file, counted from 1 */
    uint64_t records_read;   /* in all files, this batch included */
    uint64_t bytes_read;     /* stored bytes of all files before `current` */
    uint64_t bytes_total;    /* stored bytes of all files, or 0 if one is not regular */
    bool (*idle)(void *ctx); /* may be set: called before a read that has to wait, so that the
                                results so far can be shown; false ends the reading */
    void *idle_ctx;
    bool failed;        /* a file could not be read, or not to its end */
    bool short_records; /* those of the last batch were short on average */
    bool skipping;      /* the current record is too long, and its rest is skipped */
    bool ended;         /* the current source is exhausted */
} input;

/* Prepares to read the files, or standard input if no file is given. `longest` 0 means a gigabyte.
 * If memory runs out, reports that and returns false. */
bool input_open(input *in, char **paths, size_t count, char separator, size_t longest);

/* Reads the next batch into in->records[0 .. in->count): records of one file, in order, each
 * followed by one separator (added if the last line of the file has none). They are valid until the
 * next call. Returns false if there are no more. */
bool input_next(input *in);

/* The estimated number of records in all, judged by the first batch; 0: unknown (a pipe, a
 * compressed file). Call it after the first input_next. */
uint64_t input_estimate(const input *in);

/* Bytes read so far, of the files as stored (compressed ones included). */
uint64_t input_position(const input *in);

void input_close(input *in);

#endif
