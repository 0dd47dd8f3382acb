/* output.h - data on its way to standard output or to a file that appears only when it is whole. */
#ifndef BLOOMERY_CLI_OUTPUT_H
#define BLOOMERY_CLI_OUTPUT_H

#include <bloomery/host/files.h>

typedef struct output {
    int fd;
    const char *path; /* NULL: standard output */
    bly_file_writer *file;
    bool force;
    bool failed; /* something could not be written: nothing succeeds any more */
    char *buffer;
    size_t used, room;
} output;

/* path NULL or "-": standard output. Else a temporary file beside `path`, by the rules of
 * bloomery/file.h; an existing `path` is refused unless `force`. false: reported. */
bool output_open(output *o, const char *path, bool force);

/* Both report what went wrong, the first time; but not that the reader has gone away (EPIPE), of
 * which the process dies in the end (interrupt_watch_pipe). After an interrupt (interrupt.h) a
 * reader that takes nothing is waited for no longer than a second. */
bool output_put(output *o, const void *data, size_t size);
bool output_flush(output *o);

/* Forgets what was put so far: for a file, not for standard output. false: reported. */
bool output_restart(output *o);

/* Flushes, and renames the temporary file to its place. false: reported, and the old file, if there
 * was one, is as it was. */
bool output_commit(output *o);

/* Frees; removes the temporary file if it was not committed. */
void output_close(output *o);

/* For what goes to standard output through stdio: whether all of it could be written so far, or,
 * flushed, at all. Reports once if not, unless the reader has gone away. */
bool output_stdio_is_well(void);
bool output_stdio_flush(void);

/* Reports and is false if `path` exists and `force` is not set, if it is a link to nothing or one
 * that must not be followed, or if its folder takes no files: for commands that write a filter by
 * bly_filter_save. */
bool output_may_replace(const char *path, bool force);

/* Reports why errno says that `path` cannot be written to: by bly_filter_save, or as above. */
void output_refused(const char *path);

/* "path/to/." for "path/to/file"; to be freed. NULL: no memory. */
char *output_folder_of(const char *path);
/* Whether files can be made in the folder of `path`. */
bool output_folder_writable(const char *path);

/* Whether two paths, of which either may be NULL or not exist yet, mean one file. */
bool output_same_file(const char *a, const char *b);

#endif
