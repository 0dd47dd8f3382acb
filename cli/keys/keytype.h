/* keytype.h - what the lines of a list are (addresses, phone numbers, names ...), the form in which
 * they are hashed, and how a list remembers it. keytype.c tells the rules. */
#ifndef BLOOMERY_CLI_KEYTYPE_H
#define BLOOMERY_CLI_KEYTYPE_H

#include "url.h"
#include <bloomery/bloomery.h>

/* In the order of KEYTYPE_CHOICES, which is what a CLI_CHOICE takes. */
typedef enum keytype {
    KEYTYPE_NONE, /* not said, or not known */
    KEYTYPE_IP,
    KEYTYPE_PHONE,
    KEYTYPE_EMAIL,
    KEYTYPE_DOMAIN,
    KEYTYPE_URL,
    KEYTYPE_LINE,
    /* Of the states of dedup and count, and not to be chosen: */
    KEYTYPE_RECORD,       /* as LINE, but blank lines may be keys, too */
    KEYTYPE_RECORD_URL,   /* the same in canonical form where it is a URL */
    KEYTYPE_RECORD_CRAWL, /* as url.h writes it at the crawl level */
    KEYTYPE_OTHER         /* parts of lines, or lines in small letters: only the command that made
                             the state knows */
} keytype;
#define KEYTYPE_CHOICES "ip|phone|email|domain|url|line"

/* "line" for a record, too; "dedup --url" and the like for the other states; NULL for
 * KEYTYPE_NONE. */
const char *keytype_name(keytype type);

/* What a filter's header records, as a type, and the other way round. Nothing recorded:
 * KEYTYPE_NONE. */
keytype keytype_of_rule(bly_key_rule rule);
bly_key_rule keytype_rule(keytype type);

/* Whether keys have a form of their own, as of a list that was built with such a type. */
static inline bool keytype_is_typed(keytype type) {
    return type > KEYTYPE_NONE && type < KEYTYPE_LINE;
}

/* Whether keys are lines as they stand. */
static inline bool keytype_is_lines(keytype type) {
    return type == KEYTYPE_LINE || type == KEYTYPE_RECORD;
}

/* ---- from a line to a key -------------------------------------------------------------------- */

enum { KEYTYPE_TEXT = 512, KEYTYPE_WHY = 160 };

/* Set `type`, `comments`, `exact`, `cut` and `blanks`; zero the rest. One thread at a time. */
typedef struct keytype_reader {
    keytype type;
    bool comments;         /* "#" and (but for lines) ";" begin a comment */
    bool exact;            /* records, not lines: a carriage return at the end is part of one */
    bool cut;              /* lines whose carriage return has been dealt with */
    bool blanks;           /* lines of blanks, or of nothing, are keys as well: of a state */
    char why[KEYTYPE_WHY]; /* after KEYTYPE_MALFORMED: what is wrong, in words that fit before
                              ": 'the line'" */
    unsigned char address[17];
    char text[KEYTYPE_TEXT];
    url_buffer buffer;
} keytype_reader;

/* How wide a key is: an IPv4 block's prefix length, KEYTYPE_V6 and an IPv6 block's, the number of a
 * domain's labels; 0 for the types whose keys contain no others. */
enum { KEYTYPE_V6 = 64, KEYTYPE_LEVELS = 256 };

typedef struct keytype_key {
    bly_bytes bytes; /* what is hashed: in the line or in the reader, until its next use */
    unsigned level;
} keytype_key;

typedef enum keytype_result {
    KEYTYPE_KEY,
    KEYTYPE_BLANK,     /* nothing on this line, or a comment */
    KEYTYPE_MALFORMED, /* see `why` */
    KEYTYPE_NOMEM
} keytype_result;

keytype_result keytype_read(keytype_reader *r, bly_bytes line, keytype_key *out);
void keytype_reader_free(keytype_reader *r);

/* A key in words, for people: an IP key as an address or block, any other as it is. */
bly_bytes keytype_words(keytype type, bly_bytes key, char room[KEYTYPE_TEXT]);

/* Hostile bytes for a message: cut to 60, control characters as \xNN. */
enum { KEYTYPE_QUOTE = 256 };
char *keytype_quote(bly_bytes text, char out[KEYTYPE_QUOTE]);

/* "FILE:12: not an IP address: 'x'", after KEYTYPE_MALFORMED. path NULL: there is no file. An
 * error, or with `note` a message_note. */
void keytype_complain(const keytype_reader *r, const char *path, uint64_t number, bly_bytes line,
                      bool note);

/* ---- from a key to the keys that contain it -------------------------------------------------- */

/* A set of levels; and, as KEYTYPE_LEVELS + N, what is recorded with them: that the rate of the
 * list was requested for lines of up to N lookups. */
enum { KEYTYPE_MARKABLE = 2 * KEYTYPE_LEVELS };
typedef struct keytype_levels {
    uint64_t bits[KEYTYPE_MARKABLE / 64];
} keytype_levels;
void keytype_levels_add(keytype_levels *set, unsigned level);
bool keytype_levels_have(const keytype_levels *set, unsigned level);
keytype_levels keytype_levels_all(void); /* and nothing recorded */
keytype_levels keytype_levels_both(const keytype_levels *a, const keytype_levels *b);

/* The keys under which a key may be in a list: itself, and the blocks or parents it is in, from
 * narrow to wide, as far as the list has keys of that level. */
enum { KEYTYPE_TRIES = 129 };
typedef struct keytype_tries {
    size_t count;
    bly_bytes keys[KEYTYPE_TRIES]; /* in `key`'s bytes or in `room` */
    unsigned char room[KEYTYPE_TRIES][17];
} keytype_tries;
void keytype_widen(keytype type, const keytype_key *key, const keytype_levels *present,
                   keytype_tries *out);
/* The most tries that any key has in such a list; at least 1. */
unsigned keytype_most_tries(keytype type, const keytype_levels *present);

/* Whether keys have levels: of the types whose keys contain others. */
bool keytype_has_levels(keytype type);
/* The highest rate per lookup of a new list whose keys have levels. The marks of a level that is
 * not there seem to be there with the chance rate^4. At this rate that happens to one of all levels
 * in one list of 800, and each such level costs a needless lookup per line. */
#define KEYTYPE_MOST_RATE 0.05
/* Records the lookups of a line, which the rate was requested for; of types without levels nothing.
 */
void keytype_record_lookups(keytype type, keytype_levels *levels);

/* ---- what a list says of itself -------------------------------------------------------------- */

/* The marks of a list of that type with keys of those levels: how many there are, and the i-th of
 * them. Those of the type itself come first. */
enum { KEYTYPE_MARK = 64 };
uint64_t keytype_mark_count(keytype type, const keytype_levels *levels);
bly_bytes keytype_mark_at(keytype type, const keytype_levels *levels, uint64_t i,
                          char room[KEYTYPE_MARK]);
/* Writes into the filter which type its keys have, and of which levels they are, as
 * bly_filter_add's statuses; and takes one copy of each of these marks out again, where the kind
 * can. */
bly_status keytype_mark(bly_filter *f, keytype type, const keytype_levels *levels);
bly_status keytype_unmark(bly_filter *f, keytype type, const keytype_levels *levels);
/* For a list that is marked with the type and the levels `known`: marks those of `levels` that are
 * new. */
bly_status keytype_mark_more(bly_filter *f, keytype type, const keytype_levels *known,
                             const keytype_levels *levels);

/* What a filter says of itself: what its header records, or, where that is nothing, what it is
 * marked as. No marks: KEYTYPE_LINE. Marks of several types (lists were merged), or of one but the
 * filter is too full to trust them: KEYTYPE_NONE. The levels are those marked. */
keytype keytype_recognise(const bly_filter *f, keytype_levels *levels);
/* What `info` and `verify` tell of a list, besides. It takes one pass over the bits. */
typedef struct keytype_facts {
    keytype type;
    keytype_levels levels;
    bool by_chance;     /* it is too full: some of the levels may seem to be there by chance */
    uint64_t marks;     /* keys that are marks; if by_chance, those that certainly are */
    unsigned lookups;   /* the most that a line needs; 0: not known, since the type is not */
    unsigned requested; /* the lookups per line that its rate was requested for: as recorded, or,
                           where nothing is, `lookups`; 0: not known */
} keytype_facts;
keytype_facts keytype_examine(const bly_filter *f);
/* How many keys of a filter are marks, as far as it says of itself what it is; else 0. */
uint64_t keytype_marks_in(const bly_filter *f);
/* The levels of a list that is to be taken as `type`: those marked, or all if there are none. */
keytype_levels keytype_recognise_levels(const bly_filter *f, keytype type);

/* The levels to look up in a list whose header records its type: those marked, or, where a program
 * has marked none, all. */
keytype_levels keytype_levels_recorded(keytype type, const keytype_levels *marked);

/* The same of a list that is no filter in memory. `ask`: whether keys may be in it, one 0/1 byte
 * for each. `rate`: its false-positive rate now; it is asked only when marks seem to be there.
 * false: there is no answer, and there is none then of these either. */
typedef struct keytype_list {
    bool (*ask)(void *ctx, const bly_bytes *keys, size_t n, uint8_t *found);
    bool (*rate)(void *ctx, double *rate);
    void *ctx;
    bly_key_rule rule; /* what its header records */
} keytype_list;
/* A filter in memory as such a list; *f must outlive it. */
keytype_list keytype_list_of(const bly_filter **f);
bool keytype_recognise_by(const keytype_list *list, keytype *type, keytype_levels *levels);
bool keytype_recognise_levels_by(const keytype_list *list, keytype type, keytype_levels *out);
bool keytype_examine_by(const keytype_list *list, keytype_facts *out);

#endif
