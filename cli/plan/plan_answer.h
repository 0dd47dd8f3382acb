/* plan_answer.h - the result of `plan`: the recommended filter, and a plan of every other kind to
 * compare it with. */
#ifndef BLOOMERY_CLI_PLAN_ANSWER_H
#define BLOOMERY_CLI_PLAN_ANSWER_H

#include <bloomery/filter.h>
#include <bloomery/redis/filter.h>

enum {
    PLAN_KINDS = 32,
    PLAN_SHOWN = 6 /* kinds that `plan` compares without --all */
};

typedef struct plan_line {
    bly_kind kind;
    bly_status status; /* not BLY_OK: the kind does not fit, and `advice` is empty */
    bly_advice advice;
    bool shown; /* also without --all */
} plan_line;

typedef struct plan_answer {
    bly_needs needs; /* as stated; 0 for the value to be computed */
    bly_hash_id hash;
    uint64_t seconds;      /* length of a window by time; 0: the plan has no such window */
    bool own_kind;         /* the user chose the kind */
    uint32_t counter_bits; /* width of its counters; 0: the default width */
    bly_advice choice;     /* the planner's kind, or the user's */
    bly_kind suggested;    /* the planner's kind; BLY_KIND_NONE if it found none */
    bool on_server;        /* for a plain server: only kinds that it can store */
    bly_bitmap bitmap;     /* how the filter is divided into strings there */
    plan_line lines[PLAN_KINDS];
    size_t count;
    size_t shown[PLAN_SHOWN]; /* indexes of lines: the chosen kind first, then by size */
    size_t shown_count;
} plan_answer;

/* Like bly_advise_kind, for p->needs and p->counter_bits. */
bly_status plan_kind(const plan_answer *p, bly_kind kind, bly_advice *out);

/* Fills in `lines` and `shown` for p->needs and p->choice. */
void plan_fill_lines(plan_answer *p);

/* For a plain server: chooses among the kinds that it can store, and divides the filter into
 * `shards` strings (0: as few as possible). On failure, *why is the message, or NULL if plan_refuse
 * should explain the status. */
bly_status plan_on_server(plan_answer *p, bly_kind kind, uint64_t shards, const char **why);

/* Prints the plan on standard output; with `all` every kind, not only those in `shown`. */
void plan_print(const plan_answer *p, bool all);
/* Prints the plan with every kind as one JSON object on standard output. */
void plan_json(const plan_answer *p);

/* Prints why there is no plan, of this kind or of any, and what to do. Returns CLI_ERROR. */
int plan_refuse(const plan_answer *p, bly_kind kind, bly_status status);

/* For a filter on a plain server, before planning: CLI_OK if the needs, the kind and the number of
 * shards are possible there. Otherwise prints why not, and returns CLI_ERROR. */
int plan_check_server(uint32_t flags, bly_kind kind, uint64_t shards);

/* Whether the filter is a window by number: at most needs.keys keys are ever within it. */
bool plan_is_counted_window(const plan_answer *p, const bly_advice *a);

/* The maximum number of keys, whatever the rate; UINT64_MAX: unlimited. */
uint64_t plan_max_keys(const bly_advice *a);

/* The expected false-positive rate after `keys` keys. */
double plan_rate_at(const bly_advice *a, uint64_t keys);

/* Returns why a kind does not meet the needs. */
const char *plan_why_not(const plan_answer *p, const plan_line *line);

#endif
