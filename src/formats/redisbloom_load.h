/* redisbloom_load.h - what is checked of numbers from outside, whichever way they come. Internal.
 */
#ifndef BLYI_FORMATS_REDISBLOOM_LOAD_H
#define BLYI_FORMATS_REDISBLOOM_LOAD_H

#include "formats/redisbloom_bloom.h"
#include "formats/redisbloom_cuckoo.h"

/* Whether there can be such a chain, as far as these tell. */
bool blyi_rb_bloom_sound(const bly_rb_bloom_fields *fields);

/* The same, when all of the fields are given. BLY_ECORRUPT; BLY_ENOMEM: more than max_bytes. */
bly_status blyi_rb_cuckoo_check(const bly_rb_cuckoo_fields *fields, uint64_t max_bytes);

#endif
