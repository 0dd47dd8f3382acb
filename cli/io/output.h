/* output.h - writes data to standard output, or to a file that appears only when it is complete. */
#ifndef BLOOMERY_CLI_OUTPUT_H
#define BLOOMERY_CLI_OUTPUT_H

#include <bloomery/host/files.h>

typedef struct output {
    int fd;
    const char *path; /* NULL: standard output */
    bly_file_writer *file;
    bool force;
    bool failed; /* a write has failed, and every further one fails */
    char *buffer;
    size_t used, room;
} output;

/* Opens standard output if `path` is NULL or "-", otherwise a temporary file beside `path`, by the
 * rules of bloomery/file.h; an existing `path` is refused unless `force`. On failure, reports the
 * error and returns false. */
bool output_open(output *o, const char *path, bool force);

/* output_put and output_flush report the first failure, except that the reader has closed the pipe
 * (EPIPE), which ends the process later (interrupt_watch_pipe). After a signal (interrupt.h) they
 * wait at most a second for a reader that does not read. */
bool output_put(output *o, const void *data, size_t size);
bool output_flush(output *o);

/* Discards what was written so far; only for a file. On failure, reports the error and returns
 * false. */
bool output_restart(output *o);

/* Flushes, and renames the temporary file. On failure, reports the error and returns false; an
 * existing file is then unchanged. */
bool output_commit(output *o);

/* Frees the buffer, and removes the temporary file if it was not committed. */
void output_close(output *o);

/* For output through stdio: whether no write to standard output has failed so far. The first
 * failure is reported, unless the reader has closed the pipe. */
bool output_stdio_is_well(void);
/* Writes what stdio has buffered for standard output, and returns output_stdio_is_well(). */
bool output_stdio_flush(void);

/* Whether a command may write a filter to `path` with bly_filter_save. Refuses, and reports, a file
 * that exists if `force` is not set, a link to a file that does not exist, a link that must not be
 * followed, a file in a folder that is not writable, and "-". (Commands that can write to standard
 * output do not call this for "-".) */
bool output_may_replace(const char *path, bool force);

/* Reports why `path` cannot be written, according to errno. */
void output_refused(const char *path);

/* "path/to/." for "path/to/file", which the caller frees. NULL: out of memory. */
char *output_folder_of(const char *path);
/* Whether files can be created in the folder of `path`. */
bool output_folder_writable(const char *path);

/* Whether two paths mean the same file. Either may be NULL, or not exist yet. */
bool output_same_file(const char *a, const char *b);

#endif
