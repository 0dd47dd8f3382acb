/* fake_host.h - a fake engine: the calls of engine_api.h in plain C, so that the module's own code
 * runs in a test program, under sanitizers, with truncated streams and allocations that fail.
 *
 * fake_host_start loads the module as an engine would, through RedisModule_OnLoad. From then on the
 * test can run commands (fake_run) and call the methods of the data types (fake_type). There is one
 * database, one client, and one thread; only the allocator is thread-safe.
 */
#ifndef BLYT_FAKE_HOST_H
#define BLYT_FAKE_HOST_H

#include "engine_api.h"

#include <stdatomic.h>
#include <stdbool.h>

/* ---- starting -------------------------------------------------------------------------------- */

/* Call it once per program. `arguments` are those of loadmodule, ended by NULL. Returns RM_ERR if
 * the module refuses to load. */
int fake_host_start(const char *const *arguments);
rm_ctx *fake_context(void);
/* Does what CONFIG SET bf.<name> does. */
int fake_config_set(const char *name, const char *value);
/* The result of GetContextFlags; RM_CTX_MASTER at the start. */
extern int fake_flags;
extern long long fake_now; /* the result of Milliseconds */
extern bool fake_verbose;  /* print the log to stderr */
extern char fake_last_log[512];
extern rm_string *fake_loading; /* the result of GetKeyNameFromIO; NULL: none */
void fake_timers_fire(void);    /* fires all present timers once */

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct fake_memory {
    atomic_size_t live, blocks; /* allocated bytes (as MallocSize gives them) and blocks */
    atomic_size_t largest;      /* the largest request, also if it was refused */
    atomic_size_t requests;
    atomic_size_t fail_at;     /* the number of the request that fails, from 1 on; 0: none */
    atomic_size_t max_request; /* requests for more bytes fail; 0: no limit */
} fake_memory;
extern fake_memory fake_heap;
/* Sets largest, requests, fail_at and max_request to 0. */
void fake_heap_reset(void);

/* ---- streams --------------------------------------------------------------------------------- */

/* A stream that a type's methods write and read. Its bytes are those of an RDB file: lengths as in
 * RDB, and an opcode before each value (2 unsigned, 4 double, 5 string). Tests may truncate and
 * change it. */
struct rm_io {
    uint8_t *data;
    size_t size, capacity;
    size_t at; /* where the next read begins */
    bool error;
    size_t reads, fail_at; /* the number of the read that fails, from 1 on; 0: none */
    size_t *fields;        /* where the written values begin */
    size_t n_fields, fields_capacity;
    struct fake_commands *commands; /* receives the commands of EmitAOF */
};
rm_io *fake_io_new(void);
rm_io *fake_io_of(const void *data, size_t size);
void fake_io_rewind(rm_io *io); /* back to the start; clears the error */
void fake_io_free(rm_io *io);   /* NULL does nothing */

/* ---- types, digests, defragmentation --------------------------------------------------------- */

struct rm_type {
    char name[10];
    int encver;
    rm_type_methods methods;
};
/* Returns a type by its name; NULL if it is unknown. */
rm_type *fake_type(const char *name);

struct rm_digest {
    uint64_t sum;
};

struct rm_defrag {
    bool late; /* defragmentation in several steps: a cursor is available */
    unsigned long cursor;
    size_t moves;      /* blocks moved so far */
    size_t stop_after; /* DefragShouldStop is true after this many calls in a row; 0: never */
    size_t calls;
    bool stay; /* move nothing */
};

/* ---- commands and the database --------------------------------------------------------------- */

struct rm_string {
    char *data; /* followed by a zero byte */
    size_t size;
    int holders;
};
rm_string *fake_string(const void *data, size_t size);
void fake_string_free(rm_string *s);

typedef struct fake_command {
    rm_string **argv;
    int argc;
} fake_command;
typedef struct fake_commands {
    fake_command *all;
    size_t n, capacity;
} fake_commands;
void fake_commands_clear(fake_commands *commands);
/* The commands that were replicated since the last fake_commands_clear. */
extern fake_commands fake_replicated;

/* Runs a command. Its words are the arguments, ended by NULL. Returns the reply as text: integers,
 * booleans and strings as they are, arrays in brackets, "nil", and errors with a leading "-". The
 * text is valid until the next call. */
const char *fake_run(const char *name, ...);
const char *fake_run_strings(rm_string *const *argv, int argc);

/* Returns the value of a key and sets *type to its type. NULL: the key has no value. */
void *fake_get(const char *key, rm_type **type);
/* Gives a key a value of that type. If the value is NULL, the key is deleted. */
void fake_set(const char *key, rm_type *type, void *value);
long long fake_expiry(const char *key); /* -1: none */
void fake_expire(const char *key, long long at);
void fake_flush(void);

#endif
