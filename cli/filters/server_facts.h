/* live_facts.h - what is known of a filter on a plain server.
 *
 * Every function here that fails has printed why.
 */
#ifndef BLOOMERY_CLI_LIVE_FACTS_H
#define BLOOMERY_CLI_LIVE_FACTS_H

#include "filters/rule_marks.h"
#include "filters/server_filter.h"

#include <bloomery/redis/filter.h>

bool live_facts_look(const remote *r, bly_redis_filter_info *out);

/* What the filter says of itself, as bly_list_recognise. Not for go-zero's, which say nothing. */
bool live_facts_type(const remote *r, bly_list_type *type, bly_list_levels *levels);
/* The same, as rule_marks_read. */
bool live_facts_rule(const remote *r, rule_marks *out);
/* The same, and what bly_list_examine tells. */
bool live_facts_examine(const remote *r, bly_list_info *out);

/* The numbers as of a filter in memory, as far as they are known: the rate now is the one to be
 * expected of so many keys, and the bits set are known of go-zero's alone. */
bly_filter_info live_facts_stats(const bly_bitmap *b, const bly_redis_filter_info *facts);

#endif
