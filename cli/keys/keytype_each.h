/* keytype_each.h - what the files of keytype.h share: one reader per type. */
#ifndef BLOOMERY_CLI_KEYTYPE_EACH_H
#define BLOOMERY_CLI_KEYTYPE_EACH_H

#include "keytype.h"

/* Each takes a text without blanks around it and at least a byte long, and answers KEYTYPE_KEY,
 * KEYTYPE_MALFORMED (by keytype_refuse) or KEYTYPE_NOMEM. */
keytype_result keytype_read_ip(keytype_reader *r, bly_bytes text, keytype_key *out);
keytype_result keytype_read_phone(keytype_reader *r, bly_bytes text, keytype_key *out);
keytype_result keytype_read_email(keytype_reader *r, bly_bytes text, keytype_key *out);
keytype_result keytype_read_domain(keytype_reader *r, bly_bytes text, keytype_key *out);
keytype_result keytype_read_url(keytype_reader *r, bly_bytes text, keytype_key *out);

/* Sets r->why; returns KEYTYPE_MALFORMED. */
keytype_result keytype_refuse(keytype_reader *r, const char *why);

/* Takes `prefix`, in small letters, off the front of the text, where it is in any case. */
bly_bytes keytype_without(bly_bytes text, const char *prefix);

void keytype_widen_ip(const keytype_key *key, const keytype_levels *present, keytype_tries *out);
void keytype_widen_domain(const keytype_key *key, const keytype_levels *present,
                          keytype_tries *out);
bly_bytes keytype_words_ip(bly_bytes key, char room[KEYTYPE_TEXT]);

#endif
