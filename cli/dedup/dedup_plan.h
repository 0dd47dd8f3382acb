/* dedup_plan.h - the filter that `dedup` creates, from the options and the estimated input. */
#ifndef BLOOMERY_CLI_DEDUP_PLAN_H
#define BLOOMERY_CLI_DEDUP_PLAN_H

#include "dedup/state.h"

/* The memory of the program without its filter: code, libraries, buffers for lines of up to
 * dedup_max_line bytes, and copies of keys from up to dedup_max_copied bytes of lines. */
static const uint64_t dedup_overhead = 6u << 20;
static const size_t dedup_max_line = 1u << 19, dedup_max_copied = 1u << 16;

/* The part of --memory that decompression may take. It does not depend on the input, because a
 * state must fit with any input. */
uint64_t dedup_decoder_memory(uint64_t memory);

/* Larger estimates are reduced to this number of keys: lines may be repeats, and filters can grow.
 */
static const uint64_t dedup_max_estimate = 16000000;

/* Plans the filter. If none is possible, reports why and returns false. */
bool dedup_plan(const state_request *r, bly_spec *out);

/* Prints the capacity and the rate of a filter that was planned for --memory. */
void dedup_plan_note(const state_request *r, const bly_filter *f);

#endif
