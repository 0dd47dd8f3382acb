/* key.h - from a record to the bytes that are compared: one of its fields, in small letters, as a
 * canonical URL, or simply the record. */
#ifndef BLOOMERY_CLI_KEY_H
#define BLOOMERY_CLI_KEY_H

#include "url.h"
#include <bloomery/hash.h>

typedef struct key_rule {
    uint64_t field; /* counted from 1; 0: the whole record */
    char delimiter;
    bool ignore_case; /* of ASCII letters */
    bool url;
    url_level level;
    uint64_t not_urls;  /* records that are no URLs, and so were compared as they stand */
    uint64_t fieldless; /* records without that field, compared whole */
    url_buffer canonical, small;
} key_rule;

/* Whether every key is simply the record. */
bool key_is_record(const key_rule *rule);

/* The key of a record: valid until the next call. false: out of memory, reported. */
bool key_of(key_rule *rule, bly_bytes record, bly_bytes *key);

/* Whether every key lies in its record, so that it is valid as long as that is. */
bool key_is_part(const key_rule *rule);

/* The hashes of the keys of n records. false: out of memory, reported. */
bool key_hashes(key_rule *rule, const bly_hasher *hasher, const bly_bytes *records, size_t n,
                bly_hash *out);

void key_rule_free(key_rule *rule);

#endif
