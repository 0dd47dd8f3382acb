/* list.h - typed lists: filters of domains, IP blocks, e-mail addresses, URLs, phone numbers or
 * lines, as `bloomery build` makes them and `bloomery check` reads them.
 *
 * A list is a filter whose keys have one canonical form per type: "WWW.Example.COM." and
 * "www.example.com" are the same domain (docs/lists.md). A domain is in a list if it or a parent
 * domain is listed; an IP address, if it or a block (CIDR) around it is listed. Keys called marks
 * record the type, and which levels (prefix lengths, numbers of labels) are listed.
 *
 * Open a list with bly_list_open, then check lines with bly_list_check: examples/blocklist.c is a
 * complete program. bly_list_builder_create builds a list, and bly_list_from_filter opens one in
 * memory.
 *
 * Threads. A bly_list never changes: any number of threads may use it at once, each with its own
 * bly_list_reader. A reader or a builder is for one thread at a time.
 *
 * Names with letters outside ASCII need libidn2. A library without it refuses them as malformed. */
#ifndef BLOOMERY_LIST_H
#define BLOOMERY_LIST_H

#include "base.h"
#include "filter.h"
#include "hash.h"
#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types ---------------------------------------------------------------------------------- */

/* What the keys of a list are. The values are stable. */
typedef enum bly_list_type {
    BLY_LIST_NONE = 0,   /* not given, or unknown */
    BLY_LIST_IP = 1,     /* addresses and blocks */
    BLY_LIST_PHONE = 2,  /* phone numbers */
    BLY_LIST_EMAIL = 3,  /* e-mail addresses */
    BLY_LIST_DOMAIN = 4, /* domain names */
    BLY_LIST_URL = 5,    /* URLs */
    BLY_LIST_LINE = 6,   /* lines, or any other bytes, unchanged */
    /* States of `bloomery dedup` and `count`, which can be checked but not built here. */
    BLY_LIST_RECORD = 7,       /* as LINE, but blank lines may be keys */
    BLY_LIST_RECORD_URL = 8,   /* the same; URLs in canonical form */
    BLY_LIST_RECORD_CRAWL = 9, /* the same, at the level BLY_URL_CRAWL */
    BLY_LIST_OTHER = 10 /* parts of lines, or lines in lower case, which only the command that
                           made the state can make */
} bly_list_type;

/* Returns the name of a type: "ip", "phone", "email", "domain", "url", "line", "record",
 * "record-url", "record-crawl" or "other"; NULL for BLY_LIST_NONE and unknown values. */
BLY_API const char *bly_list_type_name(bly_list_type type);
/* Returns the type of that name; BLY_LIST_NONE if the name is unknown. */
BLY_API bly_list_type bly_list_type_by_name(const char *name);

/* Convert between a type and the rule that a filter's header records. BLY_LIST_NONE corresponds to
 * BLY_KEYS_UNRECORDED. */
BLY_API bly_key_rule bly_list_key_rule(bly_list_type type);
BLY_API bly_list_type bly_list_type_of_rule(bly_key_rule rule);

/* ---- from text to a key --------------------------------------------------------------------- */

/* Scratch memory for reading and checking. Results point into it, or into the text, until the next
 * call with the same reader. It grows to six times the longest URL: limit the length of untrusted
 * lines. */
typedef struct bly_list_reader bly_list_reader;
/* Creates a reader. The caller destroys it with bly_list_reader_destroy. Errors: BLY_ENOMEM. */
BLY_CHECKED bly_status bly_list_reader_create(bly_list_reader **out);
/* Destroys a reader. NULL does nothing. */
BLY_API void bly_list_reader_destroy(bly_list_reader *r);

/* How a line is read: flags of bly_list_read and bly_list_build_options. */
enum {
    BLY_LIST_COMMENTS = 1u << 0,    /* "#" at the start of a line begins a comment; for types other
                                       than LINE also ";", and both after a blank */
    BLY_LIST_RECORDS = 1u << 1,     /* LINE: a carriage return at the end is part of the key, and
                                       blank lines are keys */
    BLY_LIST_KEEP_RETURN = 1u << 2, /* LINE: a carriage return at the end is part of the key */
    BLY_LIST_BLANK_KEYS = 1u << 3   /* LINE: blank and empty lines are keys */
};

/* The key of a line. */
typedef struct bly_list_key {
    bly_bytes bytes; /* the canonical form: what is hashed */
    unsigned level;  /* BLY_LIST_V6 and so on: see below */
    bool blank;      /* no key: a blank line or a comment */
} bly_list_key;

/* Reads the key of a line without its newline. Errors: BLY_EINVAL (malformed:
 * bly_list_reader_reason says why; or no such type or flag), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_list_read(bly_list_reader *r, bly_list_type type, uint32_t flags,
                                     const void *line, size_t len, bly_list_key *out);

/* Returns what was wrong in the last line that was malformed, such as "not an IP address". Never
 * NULL; valid until the next call with the reader. */
BLY_API const char *bly_list_reader_reason(const bly_list_reader *r);

/* The bytes that bly_list_words needs. */
enum { BLY_LIST_WORDS = 64 };

/* Returns the readable form of a key: an IP key as an address or block, any other unchanged. The
 * result points into `key` or `room`. */
BLY_API bly_bytes bly_list_words(bly_list_type type, bly_bytes key, char room[BLY_LIST_WORDS]);

/* ---- levels --------------------------------------------------------------------------------- */

/* Levels: how wide a key is. IP: the prefix length of an IPv4 block, or BLY_LIST_V6 plus that of an
 * IPv6 block (addresses are /32 and /128). DOMAIN: the number of labels. Other types: 0.
 * BLY_LIST_LEVELS + n in a set records that the rate of the list was requested for lines of up to n
 * lookups. */
enum { BLY_LIST_V6 = 64, BLY_LIST_LEVELS = 256, BLY_LIST_MARKABLE = 2 * BLY_LIST_LEVELS };

/* A set of levels, one bit each. */
typedef struct bly_list_levels {
    uint64_t bits[BLY_LIST_MARKABLE / 64];
} bly_list_levels;

/* Returns true if a set contains a level. */
static inline bool bly_list_levels_contain(const bly_list_levels *set, unsigned level) {
    return (set->bits[level / 64] >> (level % 64) & 1) != 0;
}

/* ---- lists ---------------------------------------------------------------------------------- */

/* A list that is open for checking. */
typedef struct bly_list bly_list;

/* Maps a list file (bly_map_open), and finds out its type and levels. The file must not be
 * shortened while it is open. `options` may be NULL. The caller closes *out with bly_list_close.
 * Errors: those of bly_map_open and bly_list_from_filter. */
BLY_CHECKED bly_status bly_list_open(const char *path, const bly_open_options *options,
                                     bly_list **out);

/* Opens a list over a filter in memory, which is borrowed until bly_list_close. The type is the one
 * that the filter records, unless `as` is another one than BLY_LIST_NONE. Pass `as` for a filter
 * that records no rule (bly_filter_set_key_rule) and has untrusted keys: they can be chosen so that
 * it looks like a list of another type.
 *
 * The levels are those at the time of this call. After adding a key of a new level, add its marks
 * too (bly_list_add_new_marks in host/lists.h), and make a new bly_list.
 * Errors: BLY_EUNSUPPORTED (a kind with BLY_CARDINALITY_ONLY; or keys that only `bloomery dedup` or
 * `count` can make, BLY_LIST_OTHER; or keys of several types, or too many keys to tell: pass `as`),
 * BLY_EKEY (the filter was opened without its key), BLY_EINVAL (no such type), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_list_from_filter(const bly_filter *f, bly_list_type as, bly_list **out);
/* Closes a list. NULL does nothing. */
BLY_API void bly_list_close(bly_list *l);
/* Returns the filter of a list, borrowed until bly_list_close. */
BLY_API const bly_filter *bly_list_filter(const bly_list *l);

/* What is known of a list. */
typedef struct bly_list_info {
    size_t struct_size;
    bly_list_type type;
    bly_list_levels levels;
    unsigned lookups;           /* that a line needs at most; 0: unknown, since the type is */
    unsigned requested_lookups; /* lookups per line that the rate was requested for; 0: unknown */
    uint64_t marks;             /* keys that record type and levels, not entries */
    bool chance_levels; /* too full: some levels may seem to be listed by chance. `marks` then
                           counts only those of the type */
    double per_lookup;  /* requested false-positive rate per lookup; 0: unknown */
    double per_line;    /* and per line; 0: unknown */
} bly_list_info;

/* Describes a list, in one pass over the filter's bits. Errors: BLY_EINVAL (struct_size). */
BLY_API bly_status bly_list_get_info(const bly_list *l, bly_list_info *out);

/* The answer for one line. */
typedef enum bly_list_answer {
    BLY_LIST_NO = 0,       /* certainly not in the list; also a blank line */
    BLY_LIST_MAYBE = 1,    /* in the list, or a false positive */
    BLY_LIST_MALFORMED = 2 /* not of the list's type, so not in it */
} bly_list_answer;

/* The answer for one line, with its reason. */
typedef struct bly_list_result {
    bly_list_answer answer;
    bly_bytes entry; /* MAYBE: the entry that matches, in readable form: the key, a parent domain or
                        a block. Else empty. It may contain any bytes */
    const char *reason; /* MALFORMED: what is wrong; else "" */
} bly_list_result;

/* Checks one line, as `bloomery check` does. *out points into the text and the reader, until the
 * reader's next use. A list with neither a recorded rule nor marks is treated as one of lines. In
 * such a list, and in one of records, a line that ends in a carriage return is looked up with and
 * without it, one lookup more than bly_list_info says. Errors: BLY_ENOMEM. */
BLY_CHECKED bly_status bly_list_check(const bly_list *l, bly_list_reader *r, const void *text,
                                      size_t len, bly_list_result *out);

/* Checks n lines, several times faster than one by one in large lists. answers[i] is a
 * bly_list_answer. Errors: BLY_ENOMEM (no answer is valid). */
BLY_CHECKED bly_status bly_list_check_many(const bly_list *l, bly_list_reader *r,
                                           const bly_bytes *lines, size_t n, uint8_t *answers);

/* ---- building ------------------------------------------------------------------------------- */

/* Collects the entries of a new list. */
typedef struct bly_list_builder bly_list_builder;

/* How to build a list. 0 is the default of every member, except struct_size. */
typedef struct bly_list_build_options {
    size_t struct_size;
    uint32_t flags;                 /* BLY_LIST_COMMENTS, BLY_LIST_RECORDS; no others */
    bly_kind kind;                  /* BLY_KIND_NONE: the one that suits the rate */
    uint64_t capacity;              /* planned number of keys; 0: the keys that were added */
    uint64_t seed;                  /* of the default hash function */
    const bly_hasher *hasher;       /* NULL: the default one; it is copied */
    const bly_allocator *allocator; /* of the filter; copied */
} bly_list_build_options;

/* Creates a builder for a list of IP, PHONE, EMAIL, DOMAIN, URL or LINE with the false-positive
 * rate `fpr` per line. If a line needs several lookups (a domain, an address), the rate per lookup
 * is lower in proportion, and at most BLY_LIST_MAX_RATE. The filter equals, to the last byte, the
 * one that `bloomery build --type TYPE -p FPR` makes of the same lines; `options` (may be NULL) are
 * its -n, --seed, --kind and --comments. Errors: BLY_EINVAL (another type, unknown flags,
 * struct_size), BLY_ERATE, BLY_EKIND, BLY_EUNSUPPORTED (a kind with BLY_CARDINALITY_ONLY or
 * BLY_FORGETS), BLY_EHASHER (a hasher that was not filled in), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_list_builder_create(bly_list_type type, double fpr,
                                               const bly_list_build_options *options,
                                               bly_list_builder **out);

/* The highest rate per lookup of a new list whose keys have levels. The marks of a level that is
 * not listed seem to be present with the probability rate^4: here, one level of one list in 800,
 * which costs a needless lookup per line. */
#define BLY_LIST_MAX_RATE 0.05

/* Adds the key of a line without its newline. *added (may be NULL) is false for a blank line or a
 * comment. Errors: BLY_EINVAL (malformed: bly_list_builder_reason says why, and the builder can
 * continue), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_list_builder_add(bly_list_builder *b, const void *line, size_t len,
                                            bool *added);
/* Returns what was wrong with the last malformed line; never NULL. */
BLY_API const char *bly_list_builder_reason(const bly_list_builder *b);

/* Creates the filter, which the caller owns. Afterwards, also after a failure, the builder can only
 * be destroyed. bly_filter_count of the filter includes the marks: subtract bly_list_info.marks to
 * get the number of entries. Errors: those of bly_filter_create and bly_builder_finish; BLY_EFULL
 * (more distinct keys than options.capacity, in a kind that neither grows nor is built), BLY_EINVAL
 * (it has finished before). */
BLY_CHECKED bly_status bly_list_builder_finish(bly_list_builder *b, bly_filter **out);
/* Destroys a builder. NULL does nothing. */
BLY_API void bly_list_builder_destroy(bly_list_builder *b);

/* ---- URLs ----------------------------------------------------------------------------------- */

/* How much two spellings of one URL may differ (docs/lists.md). */
typedef enum bly_url_level {
    BLY_URL_STANDARD = 0, /* the same resource by the URL standard and RFC 3986 */
    BLY_URL_CRAWL = 1     /* also without tracking parameters and sessions, and sorted parameters */
} bly_url_level;

/* A buffer for results: starts as {NULL, 0}, grows as needed, and is reused for the next URL. For
 * one thread. */
typedef struct bly_url_buffer {
    char *data;
    size_t room;
} bly_url_buffer;

/* Frees the memory of a buffer. */
BLY_API void bly_url_buffer_free(bly_url_buffer *b);

/* Stores the canonical form of the URL text[0..size) in *out. It points into the text if a part of
 * the text is canonical, else into the buffer, where it is valid until the buffer's next use. The
 * text must not lie in the buffer. After a failure *out is the text itself.
 * Errors: BLY_EINVAL (no absolute URL: no scheme, a bad host or port), BLY_EUNSUPPORTED (a host
 * with letters outside ASCII, in a library without libidn2), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_url_canonical(bly_url_buffer *b, bly_url_level level, const char *text,
                                         size_t size, bly_bytes *out);

/* Finds the next http or https URL in [*at, end), and moves *at after it, also after BLY_ENOMEM.
 * *out is empty if no URL is left. It is the URL as written, not canonical. It points into the
 * text, or into the buffer if "&amp;" or "\/" was decoded; bly_url_canonical then needs another
 * buffer. src/lists/url_find.c says where a URL ends. Errors: BLY_ENOMEM. */
BLY_CHECKED bly_status bly_url_find(bly_url_buffer *b, const char **at, const char *end,
                                    bly_bytes *out);

#ifdef __cplusplus
}
#endif
#endif
