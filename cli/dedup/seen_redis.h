/* seen_redis.h - the memory of `dedup --redis`: a filter on a plain Redis or Valkey, which any
 * number of machines share.
 *
 * Of every key exactly one of those who bring it is told that it is new. Where the server could not
 * say, because it is away or because an answer was lost on the way, the line is in doubt, and the
 * user has said what becomes of it: that ends the run, or such lines are printed, or left out.
 */
#ifndef BLOOMERY_CLI_SEEN_REDIS_H
#define BLOOMERY_CLI_SEEN_REDIS_H

#include "filters/server_filter.h"
#include "io/gathered_keys.h"
#include "io/input.h"
#include "io/key.h"

#include <bloomery/redis/filter.h>

/* What becomes of lines in doubt; as --on-error's choices. */
typedef enum seen_redis_policy {
    SEEN_REDIS_STOP = 1,
    SEEN_REDIS_PRINT = 2,
    SEEN_REDIS_DROP = 3
} seen_redis_policy;

/* What is wanted, as far as the user said: 0 means that he did not. */
typedef struct seen_redis_wish {
    const char *address;
    bly_key_rule key_rule; /* as seen_wish's, */
    const char *rule;      /* and this one */
    uint64_t keys;         /* without it only a filter that is there will do */
    double rate;
    uint64_t seed, shards, seconds, replicas;
    seen_redis_policy policy;
} seen_redis_wish;

typedef struct seen_redis {
    remote remote;
    bool keeps_return; /* as seen's */
    seen_redis_policy policy;
    bly_status status;  /* of the last batch; */
    size_t doubtful;    /* its lines in doubt, */
    size_t first, last; /* and where those begin and end in it */
    bool away;          /* the server was, at the last batch, and that has been said; */
    double again;       /* when to ask it again */
    bly_redis_filter_options options;
    uint64_t fresh;              /* lines that were new */
    uint64_t unsure, unknown;    /* lines in doubt, as in bly_answer */
    uint64_t trips;              /* times that a server was waited for */
    uint64_t before;             /* keys that the filter had */
    bly_redis_filter_info facts; /* as of opening, then of seen_redis_look; */
    double rate;                 /* from then on: at which new lines are lost by now, */
    double lost;                 /* and how many were in this run; NAN: no telling */
    byte_strings texts;          /* keys that do not lie in their records */
    bly_bytes keys[INPUT_BATCH];
    uint8_t answers[INPUT_BATCH];
} seen_redis;

/* Joins the filter, or makes it. Close it, whatever comes. false: reported. */
bool seen_redis_open(seen_redis *s, const seen_redis_wish *wish);
void seen_redis_close(seen_redis *s);

/* fresh[i] = 1 where the key of records[i] was new, 0 where it was not, and `doubt` where that is
 * not known. n is at most INPUT_BATCH. false: out of memory, reported. */
bool seen_redis_ask(seen_redis *s, key_rule *rule, const bly_bytes *records, size_t n,
                    uint8_t doubt, uint8_t *fresh);

/* After the batch has been printed: reports what is to be said of its lines in doubt, which are
 * among lines `from` to `to` of `path`. false: the run ends here. */
bool seen_redis_go_on(seen_redis *s, const char *path, uint64_t from, uint64_t to);

/* Looks at the filter, for what can be told at the end. Where it cannot, which a warning says, only
 * the keys of this run are known to be in it. */
void seen_redis_look(seen_redis *s);

double seen_redis_promised(const seen_redis *s); /* the filter's rate */

#endif
