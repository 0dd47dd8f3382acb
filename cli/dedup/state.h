/* state.h - what `dedup` remembers: which keys have come before.
 *
 * Five implementations behind one interface:
 *
 *   state_filter.c   a filter, of a fixed size or growing
 *   state_window.c   a filter that forgets what is older than so many lines, or than a time
 *   state_exact.c    all fingerprints, in memory
 *   state_confirm.c  a filter, and all fingerprints on disk
 *   state_redis.c    a filter on a server, which many processes share, or only look lines up in
 *
 * A key that was added is always found again (in the window). The filters may take a new key for a
 * known one: then its line is dropped. What a state tells of itself (state_facts) has all that
 * reports need, so that nobody asks which implementation it is.
 */
#ifndef BLOOMERY_CLI_DEDUP_STATE_H
#define BLOOMERY_CLI_DEDUP_STATE_H

#include "filters/rule_marks.h"
#include "io/autosave.h"
#include "io/input.h"
#include "text/numbers.h"

#include <bloomery/redis/url.h>

/* ---- what is wanted -------------------------------------------------------------------------- */

/* What becomes of lines whose key a server did not answer for; as --on-error's choices. */
typedef enum state_policy { STATE_STOP = 1, STATE_PRINT = 2, STATE_DROP = 3 } state_policy;

/* What the user has requested; 0 where he has not. */
typedef struct state_request {
    const char *file, *confirm, *address; /* where it is kept: one of them, or none */
    bool exact;
    uint64_t window_lines, window_span; /* the last so many lines, or milliseconds */
    uint64_t keys;
    double rate;
    uint64_t memory;       /* bytes in all that may be used; */
    uint64_t overhead;     /* of those, what is not there for the dedup_state */
    uint64_t seed;         /* of a new filter; 0: a random one */
    uint64_t estimate;     /* about how many records there are; 0: unknown */
    bly_key_rule key_rule; /* how keys are made of records: a state is good for one rule; */
    const char *rule;      /* and the same in words (key_options_words) */
    bool print_repeats;    /* repeats are printed, and new lines are not */
    /* With an address: */
    uint64_t shards, expire_seconds, replicas;
    state_policy policy;
    bool only_lookups; /* nothing is added to the filter, which may be a replica's */
} state_request;

static const double state_default_rate = 0.001;
/* No filter can be requested to be better than this, 2^-40, though it may be. */
static const double state_min_rate = 0x1p-40;

/* ---- what a state tells of itself ------------------------------------------------------------ */

/* Of a filter on a server. */
typedef struct state_server {
    const char *name;         /* the address, without a password; */
    const bly_redis_url *url; /* and its parts */
    const char *kind;
    uint64_t keys, capacity, bytes, trips;
    uint32_t shards, servers;
    double expires_seconds;   /* below 0: never */
    uint64_t unsure, unknown; /* lines without an answer, as in bly_answer */
} state_server;

typedef struct state_facts {
    const char *method;        /* for JSON */
    const char *description;   /* in words */
    uint64_t bytes;            /* of memory in this process; 0: not told */
    bool approximate;          /* a filter decides; then: */
    double dropped;            /* how many new keys are expected to have been taken for known ones;
                                  NAN: most */
    double rate, requested;    /* false-positive rates: now, and as requested */
    double worst;              /* the highest that there was; below 0: not told */
    const char *dropped_scope; /* " of the window", or "" */
    const char *alternative;   /* what drops no new line; NULL: this state does not */
    bool confirms;             /* fingerprints on disk were read; then: */
    uint64_t confirmed, pages_read;
    bool on_server; /* then: */
    state_server server;
} state_facts;

/* ---- use ------------------------------------------------------------------------------------- */

typedef struct state_ops state_ops;

/* Each implementation's struct begins with one. */
typedef struct dedup_state {
    const state_ops *ops;
    state_request request; /* without `rule` */
    const char *name;      /* of the file or the address; NULL: the state ends with the process */
    bool keeps_return;     /* it does not record that keys lack a line's carriage return, so they do
                              not */
    uint64_t records, unique, unanswered;
    autosave autosave;
} dedup_state;

/* Whether it is opened before a line has been read, since it needs no estimate, and what is wrong
 * with a server is told at once. */
bool state_opens_first(const state_request *r);

/* Whether it remembers for the next run. */
bool state_outlives(const state_request *r);

/* Goes on with a state that is there, or begins a new one. NULL: reported. */
dedup_state *state_open(const state_request *r);
void state_close(dedup_state *s); /* NULL does nothing */

/* Adds keys; fresh[i] = 1 where keys[i] is new. Where a server has not answered it is as if the
 * line were to be printed, or not, by the policy. n is at most INPUT_BATCH. false: reported. */
bool state_add(dedup_state *s, const bly_bytes *keys, size_t n, uint8_t *fresh);

/* Where the lines of a batch come from. */
typedef struct state_lines {
    const char *path;
    uint64_t first, last;
    bool exact; /* line `first` is the first record, and so on: they are no links */
} state_lines;

/* Whether other processes share the state: then what is new is to be printed before the next
 * batch. */
bool state_is_shared(const dedup_state *s);
/* To be called after each batch; `printed`: whether it could be. false: the run ends here,
 * reported. */
bool state_printed(dedup_state *s, const state_lines *lines, bool printed);

/* Writes what is new to the file. Everything added so far must have been printed and flushed. It
 * may happen at any time, and should when it is due. false: reported. */
bool state_save_due(const dedup_state *s);
bool state_save(dedup_state *s);

/* At the end; may ask a server, and warn. */
void state_get_facts(dedup_state *s, state_facts *out);

/* Warns of a filter that has more keys than it was made for. false: most new lines were dropped. */
bool state_judge(const dedup_state *s, const state_facts *facts);

/* ---- for implementations --------------------------------------------------------------------- */

struct state_ops {
    size_t size;       /* of its struct */
    bool opens_first;  /* as state_opens_first; */
    bool shared;       /* as state_is_shared */
    bool records_rule; /* an empty state can be made to record another rule, by set_rule */
    /* The struct is zeroed but for `request`. false: reported; it is closed all the same. */
    bool (*open)(dedup_state *s);
    void (*close)(dedup_state *s);
    /* By which rule its keys were made, and how many it has. */
    bool (*get_rule)(dedup_state *s, bly_key_rule *rule, uint64_t *keys);
    bool (*set_rule)(dedup_state *s, bly_key_rule rule);
    /* Adds the mark of the rule (rule_marks.h), which is no line. */
    bool (*add_mark)(dedup_state *s, bly_bytes mark, bool *known);
    /* As state_add; counts s->unique and s->unanswered. */
    bool (*add)(dedup_state *s, const bly_bytes *keys, size_t n, uint8_t *fresh);
    /* These four may be NULL. */
    bool (*printed)(dedup_state *s, const state_lines *lines, bool printed);
    bool (*save_due)(const dedup_state *s); /* it cannot wait any longer */
    bool (*save)(dedup_state *s);
    bool (*judge)(const dedup_state *s, const state_facts *facts);
    void (*get_facts)(dedup_state *s, state_facts *out);
};

/* "about 1,450" new keys; of NAN "most". */
char *state_dropped_text(double dropped, char out[NUMBER_TEXT]);

extern const state_ops state_filter_ops, state_window_ops, state_exact_ops, state_confirm_ops,
    state_redis_ops;

/* Above the rate that was requested, with some room for the formula's error. */
bool state_is_overfull(const state_facts *facts);
/* A rate at which a filter has failed. */
static const double state_useless_rate = 0.5;

/* Attackers choose the lines of a crawl, and who knows the seed can make some that hash alike.
 * false: reported. */
bool state_random_seed(uint64_t *out);

#endif
