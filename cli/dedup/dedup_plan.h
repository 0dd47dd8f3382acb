/* dedup_plan.h - which filter `dedup` makes, from what the user said and what the input looks like.
 */
#ifndef BLOOMERY_CLI_DEDUP_PLAN_H
#define BLOOMERY_CLI_DEDUP_PLAN_H

#include "dedup/state.h"

/* What the program itself takes besides its filter: code, libraries, and buffers with a line of up
 * to dedup_max_line in them. */
static const uint64_t dedup_overhead = 6u << 20;
static const size_t dedup_max_line = 1u << 19;

/* How much of --memory decompressing may take. The same for every input, since a state must fit
 * beside any of them. */
uint64_t dedup_decoder_memory(uint64_t memory);

/* The most keys that are believed of an estimate: lines may be repeats, and filters can grow. */
static const uint64_t dedup_max_estimate = 16000000;

/* false: it cannot be done, reported. */
bool dedup_plan(const state_request *r, bly_spec *out);

/* Says what the filter made within --memory is good for. */
void dedup_plan_note(const state_request *r, const bly_filter *f);

#endif
