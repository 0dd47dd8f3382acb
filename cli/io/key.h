/* key.h - from a record to the bytes that are compared: one of its fields, in small letters, as a
 * canonical URL, or simply the record.
 *
 * A record is a line, or with -0 what ends in a NUL byte. One carriage return before the newline is
 * not part of a key: files with the line ends of DOS and of Unix have the same keys, in every
 * command. What is printed keeps it. */
#ifndef BLOOMERY_CLI_KEY_H
#define BLOOMERY_CLI_KEY_H

#include "text/json.h"

#include <bloomery/hash.h>
#include <bloomery/host/lists.h>

typedef struct key_rule {
    bool exact;     /* a carriage return at the end is part of the record: with -0, and for states
                       that do not record the rule above */
    bool met;       /* a record ended in one while `exact` was set */
    uint64_t field; /* counted from 1; 0: the whole record */
    char delimiter;
    bool ignore_case; /* of ASCII letters */
    bool url;
    bly_url_level level;
    bool warned;        /* that a host is not ASCII, and there is no libidn2 */
    uint64_t not_urls;  /* records that are no URLs, and so were compared as they stand */
    uint64_t fieldless; /* records without that field, compared whole */
    bly_url_buffer canonical;
    char *small; /* keys in lower case */
    size_t small_room;
} key_rule;

/* Whether every key is simply the record, as key_texts gives it. */
bool key_is_record(const key_rule *rule);

/* n records as keys: the records themselves where none of them ends in a carriage return that must
 * go, else copies in `room`, which point to the same bytes. */
const bly_bytes *key_texts(key_rule *rule, const bly_bytes *records, size_t n, bly_bytes *room);

/* The key of a record: valid until the next call. false: out of memory, reported. */
bool key_of(key_rule *rule, bly_bytes record, bly_bytes *key);

/* Whether every key lies in its record, so that it is valid as long as that is. */
bool key_is_part(const key_rule *rule);

/* The hashes of the keys of n records. false: out of memory, reported. */
bool key_hashes(key_rule *rule, const bly_hasher *hasher, const bly_bytes *records, size_t n,
                bly_hash *out);

/* How many records have no key as the rule wants it, for --stats and --json: nothing where that
 * cannot be. */
void key_rule_print(const key_rule *rule, FILE *to);
void key_rule_json(const key_rule *rule, json *out);

void key_rule_free(key_rule *rule);

#endif
