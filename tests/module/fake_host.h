/* fake_host.h - a fake engine: the calls of engine_api.h in plain C, so that the module's own
 * code runs in a test program, under sanitizers, with streams that break off and memory that runs
 * out.
 *
 * fake_host_start loads the module as an engine would, through RedisModule_OnLoad. From then on
 * commands can be called (fake_run), and the methods of the data types (fake_type). There is one
 * database, one client, one thread; memory alone may be used from any.
 */
#ifndef BLYT_FAKE_HOST_H
#define BLYT_FAKE_HOST_H

#include "engine_api.h"

#include <stdatomic.h>
#include <stdbool.h>

/* ---- starting -------------------------------------------------------------------------------- */

/* Once per program. Arguments of loadmodule, ended by NULL; RM_ERR when the module refuses. */
int fake_host_start(const char *const *arguments);
rm_ctx *fake_context(void);
/* As CONFIG SET bf.<name>. */
int fake_config_set(const char *name, const char *value);
/* What GetContextFlags answers; RM_CTX_MASTER at the start. */
extern int fake_flags;
extern long long fake_now; /* of Milliseconds */
extern bool fake_verbose;  /* the log goes to stderr; otherwise nowhere */
extern char fake_last_log[512];
extern rm_string *fake_loading; /* the key whose value is loaded, as streams tell; NULL: none */
void fake_timers_fire(void);    /* all that wait now, once */

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct fake_memory {
    atomic_size_t live, blocks; /* bytes as MallocSize tells them, and blocks, that are not freed */
    atomic_size_t largest;      /* the largest request, also of those that were refused */
    atomic_size_t requests;
    atomic_size_t fail_at;     /* the request that fails, once `requests` gets there; 0: none */
    atomic_size_t max_request; /* requests above it fail; 0: any may */
} fake_memory;
extern fake_memory fake_heap;
/* largest, requests, fail_at and max_request back to 0. */
void fake_heap_reset(void);

/* ---- streams --------------------------------------------------------------------------------- */

/* What a type's methods write and read: bytes as in an RDB file, an opcode before each value (2
 * unsigned, 4 double, 5 string), lengths as RDB's. To be cut and changed at will. */
struct rm_io {
    uint8_t *data;
    size_t size, capacity;
    size_t at; /* where reading goes on */
    bool error;
    size_t reads, fail_at; /* reading fails at this one, from 1 on; 0: at none */
    size_t *fields;        /* where values begin, as they were written */
    size_t n_fields, fields_capacity;
    struct fake_commands *commands; /* where EmitAOF puts what it gets */
};
rm_io *fake_io_new(void);
rm_io *fake_io_of(const void *data, size_t size);
void fake_io_rewind(rm_io *io); /* to the start, without an error */
void fake_io_free(rm_io *io);   /* NULL does nothing */

/* ---- types, digests, defragmentation --------------------------------------------------------- */

struct rm_type {
    char name[10];
    int encver;
    rm_type_methods methods;
};
/* By name; NULL when there is none. */
rm_type *fake_type(const char *name);

struct rm_digest {
    uint64_t sum;
};

struct rm_defrag {
    bool late; /* there is a cursor */
    unsigned long cursor;
    size_t moves;      /* blocks moved so far */
    size_t stop_after; /* DefragShouldStop says so after this many calls in a row; 0: never */
    size_t calls;
    bool stay; /* nothing is moved */
};

/* ---- commands and the database --------------------------------------------------------------- */

struct rm_string {
    char *data; /* a zero follows */
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
/* What was replicated since it was last cleared. */
extern fake_commands fake_replicated;

/* Runs a command; words ended by NULL. Returns the reply: integers, booleans and strings by
 * themselves, arrays between brackets, nil, and errors, which begin with "-". Valid until the
 * next. */
const char *fake_run(const char *name, ...);
const char *fake_run_strings(rm_string *const *argv, int argc);

/* The value under a key, and its type; NULL when there is none. */
void *fake_get(const char *key, rm_type **type);
/* Sets a value, of that type, under a key; NULL deletes it. */
void fake_set(const char *key, rm_type *type, void *value);
long long fake_expiry(const char *key); /* -1: none */
void fake_expire(const char *key, long long at);
void fake_flush(void);

#endif
