/* seen.h - the memory of `dedup`: which keys have come up before.
 *
 * A filter (of a fixed size, growing, or a window that forgets what is old), or all fingerprints in
 * memory (exact.h), or a filter before fingerprints on disk (confirm.h). Whichever it is, a key
 * that was seen (in the window) is always known again; only the first may take a new key for a seen
 * one.
 */
#ifndef BLOOMERY_CLI_SEEN_H
#define BLOOMERY_CLI_SEEN_H

#include "dedup/confirm.h"
#include "dedup/exact.h"
#include "filters/rule_marks.h"
#include "io/input.h"
#include "io/lock.h"

/* The most that a window can keep beside the one being filled. */
enum { SEEN_GENERATIONS = 32 };

typedef struct seen {
    bly_filter *filter; /* exactly one of these three is not NULL */
    exact *exact;
    confirm *confirm;
    bly_hasher hasher;
    lock lock;         /* on the state */
    const char *state; /* the file it is kept in, or NULL */
    double lost;       /* new keys expected to have been taken for seen ones */
    double expected;   /* the same, by the rates alone */
    double repeats;    /* keys that were taken for seen ones: no more can have been lost */
    double rate;       /* of the filter when it had rate_keys keys */
    uint64_t rate_keys;
    uint64_t asked, rate_asked; /* keys asked for: so far, and when the rate was computed */
    double worst;               /* the highest rate there was */
    bly_hash mark;              /* says how keys are made of lines, when there is a state */
    bool keeps_return;          /* the state does not record that keys lack a carriage return */
    bool window, timed;         /* the filter is a window; by time */
    bool clock_told;            /* that the clock went back */
    uint64_t slice;             /* of a window: the generation for which the next two were found: */
    double older;               /* by time, the rate of those before it; */
    double full_keys[SEEN_GENERATIONS]; /* by number, the keys of those, the newest first */
    bly_hash hashes[INPUT_BATCH];
    uint64_t fingerprints[INPUT_BATCH];
} seen;

/* What is wanted, as far as the user said: 0 means that he did not. */
typedef struct seen_wish {
    uint64_t keys;
    double rate;
    uint64_t memory;   /* bytes in all that may be used */
    uint64_t overhead; /* of those, what is not there for the filter */
    bool exact;
    uint64_t window_keys;  /* a window of so many lines; */
    uint64_t window_span;  /* or of so many milliseconds, within which `keys` are expected */
    uint64_t seed;         /* of a new filter; 0: a random one */
    bly_key_rule key_rule; /* how keys are made of lines: a state is good for one rule; */
    const char *rule;      /* and the same in any words, in more detail */
    const char *confirm, *state;
    uint64_t estimate; /* about how many records there are; 0: no way to tell */
} seen_wish;

static const double seen_default_rate = 0.001;
/* No filter can be told to be better than this, 2^-40, though it may be. */
static const double seen_best_rate = 0x1p-40;

/* Strangers choose the lines of a crawl, and whoever knows the seed can make some that hash alike.
 * false: reported. */
bool seen_random_seed(uint64_t *out);

/* What outlives a run records by which rule its keys were made (bly_key_rule). One key more says it
 * in words, for rules that have no code of their own. That it is there may be an error, as with any
 * key; that it is not is sure, unless the filter comes from elsewhere. Returns the length; a rule
 * is shorter than KEY_OPTIONS_WORDS. */
enum { SEEN_MARK = RULE_MARK };
size_t seen_mark_text(const char *rule, char out[SEEN_MARK]);

/* Takes up the state where there is one. All messages have been printed when it is false. */
bool seen_open(seen *s, const seen_wish *wish);
void seen_close(seen *s);

/* Time has passed: what is too old for a window by time is forgotten. To be called before each
 * batch. */
void seen_tick(seen *s);

/* fresh[i] = 1 where keys[i] had not been seen; they have been now. n is at most INPUT_BATCH.
 * false: reported. */
bool seen_keys(seen *s, const bly_bytes *keys, size_t n, uint8_t *fresh);
/* The same for keys hashed by s->hasher, which are in s->hashes. */
bool seen_hashes(seen *s, size_t n, uint8_t *fresh);

/* Writes what has been seen to the state, or to the file that confirms. Everything seen so far
 * must have been printed and flushed. seen_is_due says when it must happen; it may happen at any
 * time. */
bool seen_is_due(const seen *s);
bool seen_save(seen *s);

uint64_t seen_bytes(const seen *s);       /* of memory */
double seen_rate_now(const seen *s);      /* at which a new key would be taken for a seen one */
double seen_rate_promised(const seen *s); /* 0 when there is no filter that decides */

#endif
