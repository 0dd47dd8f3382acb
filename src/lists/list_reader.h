/* list_reader.h - shared by the files of typed lists: the scratch memory of a reader, one function
 * per type that makes a key from text, and functions that list the blocks or parents of a key.
 * Internal. */
#ifndef BLYI_LISTS_LIST_READER_H
#define BLYI_LISTS_LIST_READER_H

#include <bloomery/host/lists.h>

#include "lists/url_text.h"

enum { BLYI_LIST_TEXT = 512, BLYI_LIST_REASON = 160, BLYI_LIST_BATCH = 1024 };

struct bly_list_reader {
    char reason[BLYI_LIST_REASON]; /* a text after which ": 'the line'" can follow */
    unsigned char address[17];     /* the key, for ip */
    char text[BLYI_LIST_TEXT];     /* the key, for phone and email */
    bly_url_buffer buffer;         /* the key, for domain and url */
    /* For lookups: */
    char words[BLY_LIST_WORDS];
    bly_list_entries entries; /* of one line */
    bly_hash hashes[BLYI_LIST_BATCH];
    size_t owner[BLYI_LIST_BATCH]; /* the index of the line that a hash belongs to */
    uint8_t found[BLYI_LIST_BATCH];
};

/* Each makes a key from a text that is not empty and has no blanks around it. Returns BLY_OK,
 * BLY_ENOMEM, or BLY_EINVAL if the text is malformed; then the reader stores the reason. */
bly_status blyi_list_read_ip(bly_list_reader *r, bly_bytes text, bly_list_key *out);
bly_status blyi_list_read_phone(bly_list_reader *r, bly_bytes text, bly_list_key *out);
bly_status blyi_list_read_email(bly_list_reader *r, bly_bytes text, bly_list_key *out);
bly_status blyi_list_read_domain(bly_list_reader *r, bly_bytes text, bly_list_key *out);
bly_status blyi_list_read_url(bly_list_reader *r, bly_bytes text, bly_list_key *out);

/* Stores the reason. Returns BLY_EINVAL. */
bly_status blyi_list_refuse(bly_list_reader *r, const char *reason);
/* As blyi_list_refuse, for a non-ASCII host in a library without libidn2. */
bly_status blyi_list_refuse_non_ascii(bly_list_reader *r);

/* Returns the text without `prefix` at its start, ignoring case, if it has that prefix. `prefix`
 * must be in lower case. */
bly_bytes blyi_list_without(bly_bytes text, const char *prefix);

/* Implement bly_list_widen for these types. */
void blyi_list_widen_ip(const bly_list_key *key, const bly_list_levels *present,
                        bly_list_entries *out);
void blyi_list_widen_domain(const bly_list_key *key, const bly_list_levels *present,
                            bly_list_entries *out);
/* Implements bly_list_words for BLY_LIST_IP. */
bly_bytes blyi_list_words_ip(bly_bytes key, char room[BLY_LIST_WORDS]);

#endif
