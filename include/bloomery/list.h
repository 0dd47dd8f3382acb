/* list.h - typed lists: filters of domains, IP blocks, e-mail addresses, URLs, phone numbers or
 * lines. `bloomery build` creates such lists, and `bloomery check` reads them.
 *
 * A list is a filter whose keys are in the canonical form of their type: "WWW.Example.COM." and
 * "www.example.com" are the same domain (docs/lists.md). A domain is in a list if the list has the
 * domain or one of its parent domains. An IP address is in a list if the list has the address or a
 * block (CIDR) that contains it. A list also has keys called marks, which record its type and the
 * levels (prefix lengths, numbers of labels) of its entries.
 *
 * Open a list with bly_list_open, then check lines with bly_list_check: examples/blocklist.c is a
 * complete program. bly_list_builder_create starts building a list, and bly_list_from_filter opens
 * a list that is a filter in memory.
 *
 * Threads. A bly_list never changes: any number of threads may use it at once, each with its own
 * bly_list_reader. A reader or a builder is for one thread at a time.
 *
 * Host names with letters outside ASCII need libidn2. A library that was built without it treats
 * them as malformed. */
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

/* What the keys of a list are. The values never change. */
typedef enum bly_list_type {
    BLY_LIST_NONE = 0,   /* not given, or unknown */
    BLY_LIST_IP = 1,     /* addresses and blocks */
    BLY_LIST_PHONE = 2,  /* phone numbers */
    BLY_LIST_EMAIL = 3,  /* e-mail addresses */
    BLY_LIST_DOMAIN = 4, /* domain names */
    BLY_LIST_URL = 5,    /* URLs */
    BLY_LIST_LINE = 6,   /* lines, or any other bytes, unchanged */
    /* States of `bloomery dedup` and `count`. bly_list_check accepts them; a bly_list_builder does
     * not. */
    BLY_LIST_RECORD = 7,       /* like LINE, but blank lines may be keys */
    BLY_LIST_RECORD_URL = 8,   /* like RECORD, but URLs are in canonical form */
    BLY_LIST_RECORD_CRAWL = 9, /* like RECORD_URL, at the level BLY_URL_CRAWL */
    BLY_LIST_OTHER = 10 /* parts of lines, or lines in lower case: only the command that created the
                           state can make these keys */
} bly_list_type;

/* Returns the name of a type: "ip", "phone", "email", "domain", "url", "line", "record",
 * "record-url", "record-crawl" or "other"; NULL for BLY_LIST_NONE and unknown values. */
BLY_API const char *bly_list_type_name(bly_list_type type);
/* Returns the type that has this name; BLY_LIST_NONE if no type has it. */
BLY_API bly_list_type bly_list_type_by_name(const char *name);

/* Returns the key rule that the header of a list of this type records; BLY_KEYS_UNRECORDED for
 * BLY_LIST_NONE. */
BLY_API bly_key_rule bly_list_key_rule(bly_list_type type);
/* Returns the type of a list whose header records this key rule; BLY_LIST_NONE for
 * BLY_KEYS_UNRECORDED. */
BLY_API bly_list_type bly_list_type_of_rule(bly_key_rule rule);

/* ---- from text to a key --------------------------------------------------------------------- */

/* Scratch memory for bly_list_read and bly_list_check. Their results point into the reader or into
 * the text that was passed, and are valid until the next call with the same reader. A reader grows
 * to six times the length of the longest URL: limit the length of untrusted lines. */
typedef struct bly_list_reader bly_list_reader;
/* Creates a reader. The caller destroys it with bly_list_reader_destroy. Errors: BLY_ENOMEM. */
BLY_CHECKED bly_status bly_list_reader_create(bly_list_reader **out);
/* Destroys a reader. NULL does nothing. */
BLY_API void bly_list_reader_destroy(bly_list_reader *r);

/* How a line is read: flags of bly_list_read and bly_list_build_options. */
enum {
    BLY_LIST_COMMENTS = 1u << 0, /* "#" at the start of a line begins a comment. For types other
                                    than LINE, so does ";", and each of the two also after a
                                    blank */
    BLY_LIST_RECORDS = 1u << 1,  /* LINE: a carriage return at the end is part of the key, and lines
                                    of blanks (but not empty lines) are keys */
    BLY_LIST_KEEP_RETURN = 1u << 2, /* LINE: a carriage return at the end is part of the key */
    BLY_LIST_BLANK_KEYS = 1u << 3   /* LINE: lines of blanks and empty lines are keys */
};

/* The key of a line. */
typedef struct bly_list_key {
    bly_bytes bytes; /* the canonical form: what is hashed */
    unsigned level;  /* the level of the key: see BLY_LIST_V6 */
    bool blank;      /* true: the line has no key, because it is blank or a comment */
} bly_list_key;

/* Reads the key of a line, which is passed without its newline. Errors: BLY_EINVAL (the line is
 * malformed, and bly_list_reader_reason says why; or the type or a flag is unknown), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_list_read(bly_list_reader *r, bly_list_type type, uint32_t flags,
                                     const void *line, size_t len, bly_list_key *out);

/* Returns what was wrong with the last malformed line, such as "not an IP address". It is never
 * NULL, and valid until the next call with the reader. */
BLY_API const char *bly_list_reader_reason(const bly_list_reader *r);

/* The size of the buffer that bly_list_words needs. */
enum { BLY_LIST_WORDS = 64 };

/* Returns the readable form of a key: for type IP the text of the address or block, for other types
 * the key itself. The result points into `key` or `room`. */
BLY_API bly_bytes bly_list_words(bly_list_type type, bly_bytes key, char room[BLY_LIST_WORDS]);

/* ---- levels --------------------------------------------------------------------------------- */

/* The level of a key says how much it covers. For type IP it is the prefix length of an IPv4 block,
 * or BLY_LIST_V6 plus the prefix length of an IPv6 block (an address has the length 32 or 128). For
 * DOMAIN it is the number of labels; for other types it is 0. In a set of levels, the number
 * BLY_LIST_LEVELS + n records that the false-positive rate of the list was requested for lines that
 * need up to n lookups. */
enum { BLY_LIST_V6 = 64, BLY_LIST_LEVELS = 256, BLY_LIST_MARKABLE = 2 * BLY_LIST_LEVELS };

/* A set of levels, one bit per level. */
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

/* Maps the file of a list (bly_map_open), and determines its type and levels. The file must not be
 * shortened while the list is open. `options` may be NULL. The caller closes *out with
 * bly_list_close.
 * Errors: those of bly_map_open and bly_list_from_filter. */
BLY_CHECKED bly_status bly_list_open(const char *path, const bly_open_options *options,
                                     bly_list **out);

/* Opens a filter in memory as a list. The filter is borrowed until bly_list_close. The type of the
 * list is `as`, or, if `as` is BLY_LIST_NONE, the type that the filter records. Pass `as` if the
 * filter records no key rule (bly_filter_set_key_rule) and its keys are untrusted: an attacker can
 * choose keys so that the filter looks like a list of another type.
 *
 * The levels are determined by this call and not updated. After adding a key of a new level to the
 * filter, add the marks of that level too (bly_list_add_new_marks in host/lists.h), and open a new
 * bly_list.
 * Errors: BLY_EUNSUPPORTED (a kind with BLY_CARDINALITY_ONLY; or type BLY_LIST_OTHER, whose keys
 * only `bloomery dedup` or `count` can make; or marks of several types, or a filter too full to
 * recognise its marks: then pass `as`), BLY_EKEY (the filter was opened without its key),
 * BLY_EINVAL (no such type), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_list_from_filter(const bly_filter *f, bly_list_type as, bly_list **out);
/* Closes a list. NULL does nothing. */
BLY_API void bly_list_close(bly_list *l);
/* Returns the filter of a list, borrowed until bly_list_close. */
BLY_API const bly_filter *bly_list_filter(const bly_list *l);

/* The properties of a list. */
typedef struct bly_list_info {
    size_t struct_size;
    bly_list_type type;
    bly_list_levels levels;
    unsigned lookups; /* maximum number of lookups for a line; 0: unknown, because the type is
                         unknown */
    unsigned requested_lookups; /* number of lookups for a line that was assumed when the rate was
                                   requested; 0: unknown */
    uint64_t marks;             /* number of keys that are marks, not entries */
    bool chance_levels; /* true: the filter is so full that levels without entries may seem to have
                           marks, by chance. `marks` then counts only the marks of the type */
    double per_lookup;  /* requested false-positive rate per lookup; 0: unknown */
    double per_line;    /* requested false-positive rate per line; 0: unknown */
} bly_list_info;

/* Describes a list. It reads all bits of the filter. Errors: BLY_EINVAL (struct_size). */
BLY_API bly_status bly_list_get_info(const bly_list *l, bly_list_info *out);

/* The answer for one line. */
typedef enum bly_list_answer {
    BLY_LIST_NO = 0,       /* the line is certainly not in the list; also for a blank line */
    BLY_LIST_MAYBE = 1,    /* the line is in the list, or it is a false positive */
    BLY_LIST_MALFORMED = 2 /* the line is not of the list's type, so it is not in the list */
} bly_list_answer;

/* The answer for one line, with its reason. */
typedef struct bly_list_result {
    bly_list_answer answer;
    bly_bytes entry; /* for MAYBE: the entry that matches (the line's own key, a parent domain or a
                        block), in readable form; it may contain any bytes. Empty for other
                        answers */
    const char *reason; /* for MALFORMED: what is wrong with the line; else "" */
} bly_list_result;

/* Checks one line, as `bloomery check` does. *out points into the text or the reader, and is valid
 * until the next call with the reader. A list that has neither a recorded key rule nor marks is
 * treated as a list of lines. In such a list, and in a list of records, a line that ends with a
 * carriage return is looked up both with and without it: one lookup more than
 * bly_list_info.lookups. Errors: BLY_ENOMEM. */
BLY_CHECKED bly_status bly_list_check(const bly_list *l, bly_list_reader *r, const void *text,
                                      size_t len, bly_list_result *out);

/* Checks n lines. In large lists this is several times faster than checking them one by one.
 * answers[i] becomes the bly_list_answer for line i. Errors: BLY_ENOMEM (then no answer is
 * valid). */
BLY_CHECKED bly_status bly_list_check_many(const bly_list *l, bly_list_reader *r,
                                           const bly_bytes *lines, size_t n, uint8_t *answers);

/* ---- building ------------------------------------------------------------------------------- */

/* Collects the entries of a new list. */
typedef struct bly_list_builder bly_list_builder;

/* How to build a list. Every member but struct_size may be 0, which selects its default. */
typedef struct bly_list_build_options {
    size_t struct_size;
    uint32_t flags;           /* BLY_LIST_COMMENTS and BLY_LIST_RECORDS; other flags are refused */
    bly_kind kind;            /* BLY_KIND_NONE: the kind that suits the rate */
    uint64_t capacity;        /* planned number of keys; 0: the number of keys that are added */
    uint64_t seed;            /* seed of the default hash function */
    const bly_hasher *hasher; /* the hash function, which is copied; NULL: the default one */
    const bly_allocator *allocator; /* allocator of the filter, which is copied; NULL: the default
                                       one */
} bly_list_build_options;

/* Creates a builder for a list of type IP, PHONE, EMAIL, DOMAIN, URL or LINE with the
 * false-positive rate `fpr` per line. If a line needs several lookups (domains and IP addresses
 * do), the rate per lookup is `fpr` divided by their number, and at most BLY_LIST_MAX_RATE. The
 * filter has the same bytes as the one that `bloomery build --type TYPE -p FPR` creates from the
 * same lines. `options` (may be NULL) corresponds to the options -n, --seed, --kind and --comments
 * of that command. Errors: BLY_EINVAL (another type, unknown flags, struct_size), BLY_ERATE,
 * BLY_EKIND, BLY_EUNSUPPORTED (a kind with BLY_CARDINALITY_ONLY or BLY_FORGETS), BLY_EHASHER (a
 * hasher that was not filled in), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_list_builder_create(bly_list_type type, double fpr,
                                               const bly_list_build_options *options,
                                               bly_list_builder **out);

/* The highest false-positive rate per lookup of a new list whose keys have levels. With the rate r
 * per lookup, all marks of a level without entries seem to be present with probability r^4. At this
 * rate, one list in 800 has one such level, which costs a needless lookup per line. */
#define BLY_LIST_MAX_RATE 0.05

/* Adds the key of a line, which is passed without its newline. *added (may be NULL) becomes false
 * for a blank line or a comment. Errors: BLY_EINVAL (the line is malformed, and
 * bly_list_builder_reason says why; more lines may be added), BLY_ENOMEM. */
BLY_CHECKED bly_status bly_list_builder_add(bly_list_builder *b, const void *line, size_t len,
                                            bool *added);
/* Returns what was wrong with the last malformed line. It is never NULL. */
BLY_API const char *bly_list_builder_reason(const bly_list_builder *b);

/* Creates the filter, which the caller destroys. Afterwards the builder can only be destroyed, even
 * if this call failed. bly_filter_count of the filter includes the marks: subtract
 * bly_list_info.marks to get the number of entries. Errors: those of bly_filter_create and
 * bly_builder_finish; BLY_EFULL (more distinct keys than options.capacity, in a kind that neither
 * grows nor is built), BLY_EINVAL (it has finished before). */
BLY_CHECKED bly_status bly_list_builder_finish(bly_list_builder *b, bly_filter **out);
/* Destroys a builder. NULL does nothing. */
BLY_API void bly_list_builder_destroy(bly_list_builder *b);

/* ---- URLs ----------------------------------------------------------------------------------- */

/* Which spellings count as the same URL (docs/lists.md). */
typedef enum bly_url_level {
    BLY_URL_STANDARD = 0, /* spellings that mean the same resource by the URL standard and RFC
                             3986 */
    BLY_URL_CRAWL = 1 /* also spellings that differ only in tracking parameters, session ids, or the
                         order of parameters */
} bly_url_level;

/* A buffer for results. Initialise it with {NULL, 0}. It grows as needed, and can be used for any
 * number of URLs, by one thread at a time. */
typedef struct bly_url_buffer {
    char *data;
    size_t room;
} bly_url_buffer;

/* Frees the memory of a buffer. */
BLY_API void bly_url_buffer_free(bly_url_buffer *b);

/* Computes the canonical form of the URL text[0..size). *out points into the text if a part of the
 * text is the canonical form. Otherwise it points into the buffer, and is valid until the next call
 * with the buffer. The text must not lie in the buffer. If the call fails, *out is the text itself.
 * Errors: BLY_EINVAL (not an absolute URL: it has no scheme, or a bad host or port),
 * BLY_EUNSUPPORTED (the host has letters outside ASCII, and the library was built without libidn2),
 * BLY_ENOMEM. */
BLY_CHECKED bly_status bly_url_canonical(bly_url_buffer *b, bly_url_level level, const char *text,
                                         size_t size, bly_bytes *out);

/* Finds the next http or https URL in [*at, end), and sets *at to its end, also after BLY_ENOMEM.
 * *out becomes the URL as written, not its canonical form; it is empty if no URL is left. *out
 * points into the text or, if "&amp;" or "\/" was decoded, into the buffer; so pass another buffer
 * to bly_url_canonical. src/lists/url_find.c says where a URL ends. Errors: BLY_ENOMEM. */
BLY_CHECKED bly_status bly_url_find(bly_url_buffer *b, const char **at, const char *end,
                                    bly_bytes *out);

#ifdef __cplusplus
}
#endif
#endif
