/* seen_plan.h - which filter `dedup` makes, from what the user said and what the input looks like.
 */
#ifndef BLOOMERY_CLI_SEEN_PLAN_H
#define BLOOMERY_CLI_SEEN_PLAN_H

#include "dedup/seen.h"

/* What the program itself takes besides its filter: code, libraries, and buffers with a line of up
 * to seen_longest_line in them. */
static const uint64_t seen_overhead = 6u << 20;
static const size_t seen_longest_line = 1u << 19;

/* How much of --memory decompressing may take. The same for every input, since a state must fit
 * beside any of them. */
uint64_t seen_decoder_memory(uint64_t memory);

/* The most keys that are believed of an estimate: lines may be repeats, and filters can grow. */
static const uint64_t seen_most_estimate = 16000000;

/* false: it cannot be done, reported. */
bool seen_plan(const seen_wish *wish, bly_spec *out);

/* Says what the filter made within --memory is good for. */
void seen_plan_note(const seen_wish *wish, const bly_filter *f);

#endif
