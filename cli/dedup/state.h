/* state.h - what `dedup` remembers: which keys have come before.
 *
 * Five implementations behind one interface:
 *
 *   state_filter.c   a filter, of a fixed size or growing
 *   state_window.c   a filter that forgets what is older than a number of lines, or than a time
 *   state_exact.c    all fingerprints, in memory
 *   state_confirm.c  a filter, and all fingerprints on disk
 *   state_redis.c    a filter on a server, which many processes share, or only look lines up in
 *
 * A key that was added is always found again (in a window, while the window reaches back to it). A
 * filter may mistake a new key for a known one; then its line is dropped. Reports use state_facts
 * and do not depend on the implementation.
 */
#ifndef BLOOMERY_CLI_DEDUP_STATE_H
#define BLOOMERY_CLI_DEDUP_STATE_H

#include "filters/rule_marks.h"
#include "io/autosave.h"
#include "io/input.h"
#include "text/numbers.h"

#include <bloomery/redis/url.h>

/* ---- the request ----------------------------------------------------------------------------- */

/* What to do with a line if the server gave no answer for its key: the choices of --on-error. */
typedef enum state_policy { STATE_STOP = 1, STATE_PRINT = 2, STATE_DROP = 3 } state_policy;

/* The options of the user; 0 or NULL if not given. */
typedef struct state_request {
    const char *file, *confirm, *address; /* where the state is: at most one is given */
    bool exact;
    uint64_t window_lines, window_span; /* the size of the window, in lines or in milliseconds */
    uint64_t keys;
    double rate;
    uint64_t memory;       /* the limit of the whole process in bytes */
    uint64_t overhead;     /* the part of it that is not for the state */
    uint64_t seed;         /* seed of a new filter; 0: a random one */
    uint64_t estimate;     /* estimated number of records; 0: unknown */
    bly_key_rule key_rule; /* how records become keys; a state has one rule */
    const char *rule;      /* the same rule in words (key_options_words) */
    bool print_repeats;    /* repeats are printed, and new lines are not */
    bool prints_at_end;    /* nothing is printed if the run fails (-o, --count) */
    /* With an address: */
    uint64_t shards, expire_seconds, replicas;
    unsigned policy;   /* a state_policy */
    bool only_lookups; /* nothing is added to the filter, which may be a replica's */
} state_request;

static const double state_default_rate = 0.001;
/* The lowest false-positive rate that can be requested. A filter may have a lower one. */
static const double state_min_rate = 0x1p-40;

/* ---- facts for reports ----------------------------------------------------------------------- */

/* Facts about a filter on a server. */
typedef struct state_server {
    const char *name;         /* the address, without a password */
    const bly_redis_url *url; /* its parts */
    const char *kind;
    uint64_t keys, capacity, bytes, trips;
    uint32_t shards, servers;
    double expires_seconds;   /* negative: never */
    uint64_t unsure, unknown; /* lines with the answers BLY_UNSURE and BLY_UNKNOWN */
} state_server;

typedef struct state_facts {
    const char *method;      /* for JSON */
    const char *description; /* in words */
    uint64_t bytes;          /* memory in this process; 0: unknown */
    bool approximate;       /* a filter decides; the fields up to `alternative` are set only then */
    double dropped;         /* expected number of new keys mistaken for known ones; NAN: most */
    double rate, requested; /* current and requested false-positive rate */
    double worst;           /* the highest rate so far; negative: unknown */
    const char *dropped_scope; /* " of the window", or "" */
    const char *alternative;   /* the options that drop no new line; NULL: this state drops none */
    bool confirms; /* possible repeats are looked up on disk; else the next two fields are 0 */
    uint64_t confirmed, pages_read;
    bool on_server; /* the next field is set only then */
    state_server server;
} state_facts;

/* ---- use ------------------------------------------------------------------------------------- */

typedef struct state_ops state_ops;

/* Each implementation's struct begins with one. */
typedef struct dedup_state {
    const state_ops *ops;
    state_request request; /* without `rule` */
    const char *name;  /* name of the file, or the address; NULL: the state ends with the process */
    bool keeps_return; /* an old state: carriage returns at the ends of lines are part of keys */
    uint64_t records, unique, unanswered;
    autosave autosave;
} dedup_state;

/* Whether the state is opened before the first line is read. True for servers: they need no
 * estimate, and their errors should be reported at once. */
bool state_opens_first(const state_request *r);

/* Whether the state remains for the next run. */
bool state_outlives(const state_request *r);

/* Opens an existing state, or creates one. On failure, reports the error and returns NULL. */
dedup_state *state_open(const state_request *r);
void state_close(dedup_state *s); /* NULL does nothing */

/* Adds keys; fresh[i] = 1 if keys[i] is new. If a server did not answer, the policy decides. n is
 * at most INPUT_BATCH. On failure, reports the error and returns false. */
bool state_add(dedup_state *s, const bly_bytes *keys, size_t n, uint8_t *fresh);

/* The source of a batch, for messages. */
typedef struct state_lines {
    const char *path;
    uint64_t first, last;
    bool exact; /* record i is line first + i; false for links */
} state_lines;

/* Whether other processes share the state. New lines must then be printed before the next batch. */
bool state_is_shared(const dedup_state *s);
/* Call it after each batch; `printed` says whether the batch could be printed. If the run must end,
 * reports why and returns false. */
bool state_printed(dedup_state *s, const state_lines *lines, bool printed);

/* Whether state_save should be called now. */
bool state_save_due(const dedup_state *s);
/* Writes new keys to the file. All lines added so far must have been printed and flushed. May be
 * called at any time. On failure, reports the error and returns false. */
bool state_save(dedup_state *s);

/* Call it at the end of a run. It may query a server, and may print a warning. */
void state_get_facts(dedup_state *s, state_facts *out);

/* Warns if a filter has more keys than its capacity. Returns false if most new lines were dropped.
 */
bool state_judge(const dedup_state *s, const state_facts *facts);

/* ---- for implementations --------------------------------------------------------------------- */

struct state_ops {
    size_t size;       /* size of the implementation's struct */
    bool opens_first;  /* see state_opens_first */
    bool shared;       /* see state_is_shared */
    bool records_rule; /* set_rule can change the rule of an empty state */
    /* Before the call, the struct is zero except for `request`. On failure, reports the error and
     * returns false; `close` is called nevertheless. */
    bool (*open)(dedup_state *s);
    void (*close)(dedup_state *s);
    /* Gets the rule by which the keys of the state were made, and their number. */
    bool (*get_rule)(dedup_state *s, bly_key_rule *rule, uint64_t *keys);
    /* Records another rule. NULL unless records_rule is set. */
    bool (*set_rule)(dedup_state *s, bly_key_rule rule);
    /* Adds the mark of the rule (rule_marks.h), a key that no line can have. NULL: `add` adds the
     * mark. */
    bool (*add_mark)(dedup_state *s, bly_bytes mark, bool *known);
    /* See state_add; also counts s->unique and s->unanswered. */
    bool (*add)(dedup_state *s, const bly_bytes *keys, size_t n, uint8_t *fresh);
    /* These four may be NULL. */
    bool (*printed)(dedup_state *s, const state_lines *lines, bool printed);
    bool (*save_due)(const dedup_state *s); /* whether to save now, whatever autosave says */
    bool (*save)(dedup_state *s);
    bool (*judge)(const dedup_state *s, const state_facts *facts);
    void (*get_facts)(dedup_state *s, state_facts *out);
};

/* Writes "about 1,450", or "most" if `dropped` is NAN. */
char *state_dropped_text(double dropped, char out[NUMBER_TEXT]);

extern const state_ops state_filter_ops, state_window_ops, state_exact_ops, state_confirm_ops,
    state_redis_ops;

/* Whether the rate is more than a tenth above the requested one. A smaller excess may be an error
 * of the formula. */
bool state_is_overfull(const state_facts *facts);
/* A run with a false-positive rate above this counts as failed. */
static const double state_useless_rate = 0.5;
/* Above this rate, too few keys are found to be new to estimate how many were dropped. */
static const double state_unknown_rate = 0.9;

/* Makes a random seed: an attacker who knows the seed can choose lines that are mistaken for
 * others. On failure, reports the error and returns false. */
bool state_random_seed(uint64_t *out);

#endif
