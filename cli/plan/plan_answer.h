/* plan_answer.h - what `plan` found out, and how it is told. */
#ifndef BLOOMERY_CLI_PLAN_ANSWER_H
#define BLOOMERY_CLI_PLAN_ANSWER_H

#include <bloomery/filter.h>
#include <bloomery/redis/filter.h>
#include <stdio.h>

enum { PLAN_KINDS = 32 };

typedef struct plan_line {
    bly_kind kind;
    bly_status status; /* not BLY_OK: it does not fit, and `advice` is empty */
    bly_advice advice;
} plan_line;

typedef struct plan_answer {
    bly_needs needs; /* as asked: what was to be found is 0 */
    bly_hash_id hash;
    uint64_t seconds;      /* of a window by time; 0: there is none */
    bool own_kind;         /* the user chose the kind */
    uint32_t counter_bits; /* and how wide its counters are; 0: as is usual */
    bly_advice choice;     /* the planner's, or of the user's kind */
    bly_kind suggested;    /* the planner's kind; BLY_KIND_NONE when it found none */
    bool on_server;        /* it is to be strings of a server: only kinds that can be are planned */
    bly_bitmap bitmap;     /* and how they are cut */
    plan_line lines[PLAN_KINDS];
    size_t count;
} plan_answer;

/* bly_advise_kind, for p->needs and p->counter_bits. */
bly_status plan_kind(const plan_answer *p, bly_kind kind, bly_advice *out);

/* Fills in `lines` for p->needs. */
void plan_fill_lines(plan_answer *p);

/* Of an answer for a server: chooses among the kinds that can be there, and cuts the filter into so
 * many strings (0: as few as will do). *why, on failure, is what to say of it, or NULL. */
bly_status plan_on_server(plan_answer *p, bly_kind kind, uint64_t shards, const char **why);

void plan_print(const plan_answer *p, FILE *to);
void plan_json(const plan_answer *p, FILE *to);

/* Why there is no plan, in words and with what to do about it. Returns CLI_ERROR. */
int plan_refuse(const bly_needs *needs, bly_kind kind, bly_hash_id hash, bly_status status);

/* The most keys that the filter takes, whatever the rate; UINT64_MAX: any number. */
uint64_t plan_most_keys(const bly_advice *a);

/* The words for what a kind that does not fit lacks. */
const char *plan_why_not(const plan_answer *p, const plan_line *line);

#endif
