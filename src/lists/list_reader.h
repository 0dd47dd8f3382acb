/* list_reader.h - what the files of typed lists share: the scratch memory of a reader, one function
 * per type that reads text, and what widens keys. Internal. */
#ifndef BLYI_LISTS_LIST_READER_H
#define BLYI_LISTS_LIST_READER_H

#include <bloomery/host/lists.h>

#include "lists/url_text.h"

enum { BLYI_LIST_TEXT = 512, BLYI_LIST_REASON = 160, BLYI_LIST_BATCH = 1024 };

struct bly_list_reader {
    char reason[BLYI_LIST_REASON]; /* in words that fit before ": 'the line'" */
    unsigned char address[17];     /* the keys of ip */
    char text[BLYI_LIST_TEXT];     /* those of phone and email */
    bly_url_buffer buffer;         /* those of domain and url */
    /* Of checks: */
    char words[BLY_LIST_WORDS];
    bly_list_entries entries; /* of one line */
    bly_hash hashes[BLYI_LIST_BATCH];
    size_t owner[BLYI_LIST_BATCH]; /* the line that a hash belongs to */
    uint8_t found[BLYI_LIST_BATCH];
};

/* Each takes a text without blanks around it and at least a byte long. BLY_EINVAL: it is malformed,
 * and the reader has the reason. BLY_ENOMEM. */
bly_status blyi_list_read_ip(bly_list_reader *r, bly_bytes text, bly_list_key *out);
bly_status blyi_list_read_phone(bly_list_reader *r, bly_bytes text, bly_list_key *out);
bly_status blyi_list_read_email(bly_list_reader *r, bly_bytes text, bly_list_key *out);
bly_status blyi_list_read_domain(bly_list_reader *r, bly_bytes text, bly_list_key *out);
bly_status blyi_list_read_url(bly_list_reader *r, bly_bytes text, bly_list_key *out);

/* Stores the reason; returns BLY_EINVAL. */
bly_status blyi_list_refuse(bly_list_reader *r, const char *reason);
/* The same for a host in other letters than ASCII, in a library without libidn2. */
bly_status blyi_list_refuse_non_ascii(bly_list_reader *r);

/* Takes `prefix`, in lower case, off the front of the text, where it is in any case. */
bly_bytes blyi_list_without(bly_bytes text, const char *prefix);

void blyi_list_widen_ip(const bly_list_key *key, const bly_list_levels *present,
                        bly_list_entries *out);
void blyi_list_widen_domain(const bly_list_key *key, const bly_list_levels *present,
                            bly_list_entries *out);
bly_bytes blyi_list_words_ip(bly_bytes key, char room[BLY_LIST_WORDS]);

#endif
