/* pipeline.h - reads lines from files and passes them to a command in batches.
 *
 * Files are read one after another, decompressed, and cut into records; links are extracted if
 * requested. The command receives batches of records and asks for their keys or hashes. The
 * pipeline shows progress, counts totals, and ends the reading between two batches after a signal.
 */
#ifndef BLOOMERY_CLI_PIPELINE_H
#define BLOOMERY_CLI_PIPELINE_H

#include "io/gathered_keys.h"
#include "io/input.h"
#include "io/key.h"
#include "text/progress.h"

#include <stdio.h>

typedef struct pipeline_options {
    const key_options *keys; /* how keys are made from records; NULL: the whole record. Used only
                                by pipeline_open */
    const char *text;        /* read this one record instead of files; NULL: read files */
    bool null;               /* records end in a NUL byte; also if keys->null is set */
    bool prints;             /* the command writes data to standard output meanwhile */
    bool catch_signals;      /* SIGINT, SIGTERM and SIGHUP end the reading after the current batch
                                instead of ending the process */
    size_t max_record;       /* longer records are errors; 0: the default of input_open */
    size_t max_copied;       /* a batch with more bytes is divided if its keys must be copied; 0: no
                                limit */
    bool (*idle)(void *ctx); /* see input.h; may be NULL */
    void *idle_ctx;
} pipeline_options;

/* Takes a batch. Returns false to end the run. */
typedef bool pipeline_take(void *ctx, const bly_bytes *records, size_t n);

typedef struct pipeline {
    input in;       /* in.path is the file of a batch, NULL for a text */
    key_rule rule;  /* counts records that are not URLs, or lack the field */
    uint64_t count; /* lines or links passed on so far, including those of the current batch */
    uint64_t first, last; /* lines of the batch: record i is line first + i, unless it is a link */
    bool failed;          /* after pipeline_run: a file could not be read completely */
    bool stop;            /* set by the command to end the reading */
    progress progress;
    /* For pipeline.c alone: */
    pipeline_options options;
    pipeline_take *take;
    void *ctx;
    bool begun, more;      /* the first batch was read; there is a batch to pass on */
    char *text;            /* instead of files: one record and its separator */
    const char *old_state; /* see pipeline_keep_returns; NULL: no warning is due */
    byte_strings made;     /* copies of keys that are not parts of their records */
    bly_bytes keys[INPUT_BATCH];
    bool takes_links;
    bly_bytes links[INPUT_BATCH]; /* not passed on yet */
    size_t link_count;
    bly_url_buffer scratch;
    char *copies; /* copies of links that are not in the text byte for byte */
    size_t copies_used, copies_room;
} pipeline;

/* No files: standard input. On failure, reports the error and returns false. Close *p in any case.
 */
bool pipeline_open(pipeline *p, const pipeline_options *o, cli_operands files);
void pipeline_close(pipeline *p);

/* Continues with other files, with the same options and counts. On failure, reports the error and
 * returns false. */
bool pipeline_reopen(pipeline *p, cli_operands files);

/* Reads the first batch, but does not pass it on yet: for commands that need pipeline_estimate
 * before they create their filter. */
void pipeline_begin(pipeline *p);

/* The estimated number of records in all, judged by the first batch; 0: unknown. */
uint64_t pipeline_estimate(const pipeline *p);

/* Passes everything to `take`, at most INPUT_BATCH records at a time, in order; those of a batch
 * are from one file. Unless they are links, each is followed by its separator. Returns false if
 * `take` did, or if memory ran out (which is reported). A file that cannot be read is reported and
 * skipped (p->failed). After a signal the result is true. */
bool pipeline_run(pipeline *p, pipeline_take *take, void *ctx);

/* The keys of n records of the current batch, valid until the next call. If memory runs out,
 * reports that and returns NULL. */
const bly_bytes *pipeline_keys(pipeline *p, const bly_bytes *records, size_t n);

/* From now on a carriage return at the end of a record is part of its key, because the state
 * `state` does not record that it is dropped. The first one causes a warning, unless records end in
 * NUL or `state` is NULL. The name must outlive the pipeline. */
void pipeline_keep_returns(pipeline *p, const char *state);

/* Whether the records passed on are links extracted from lines. */
bool pipeline_takes_links(const pipeline *p);

/* For commands that report what they have read so far: prints a note if a signal has ended the
 * reading. */
void pipeline_note_signal(void);

/* For --stats: "time       3.1 s, 26.5M lines a second". */
void pipeline_print_time(const pipeline *p, FILE *to);

#endif
