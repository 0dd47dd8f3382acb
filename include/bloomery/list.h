/* list.h - typed lists: filters of domains, IP blocks, e-mail addresses, URLs, phone numbers or
 * lines, as `bloomery build` makes and `bloomery check` reads them. Opt-in: bloomery.h does not
 * include it.
 *
 * A list is a filter whose keys have one canonical form per type, however they were written:
 * "WWW.Example.COM." and "www.example.com" are the same domain. A domain is in a list if it or a
 * parent domain is listed, an IP address if it or a block (CIDR) around it is. The filter file
 * records the type, and its keys tell which levels are listed: prefix lengths, numbers of labels
 * (docs/format.md, section 1).
 *
 *     bly_list *list = NULL;
 *     bly_list_reader *reader = NULL;
 *     bly_list_result result;
 *     if (bly_list_open("blocked.bly", NULL, &list) == BLY_OK &&
 *         bly_list_reader_create(&reader) == BLY_OK &&
 *         bly_list_check(list, reader, text, strlen(text), &result) == BLY_OK &&
 *         result.answer == BLY_LIST_MAYBE)
 *             ... result.entry is the entry that matches ...
 *     bly_list_reader_destroy(reader);
 *     bly_list_close(list);
 *
 * To build a list, and to use it without a file:
 *
 *     status = bly_list_builder_create(BLY_LIST_DOMAIN, 0.001, NULL, &builder);
 *     status = bly_list_builder_add(builder, "bad.example", 11, NULL);       for each line
 *     status = bly_list_builder_finish(builder, &filter);
 *     bly_list_builder_destroy(builder);
 *     status = bly_list_from_filter(filter, BLY_LIST_NONE, &list);           borrows the filter
 *
 * docs/lists.md has the rules of the canonical forms.
 *
 * Threads: a bly_list does not change after it was opened; any number of threads may use it at
 * once, each with a bly_list_reader of its own. Readers and builders are for one thread at a time.
 *
 * Names in other letters than ASCII need libidn2. A library that was built without it refuses them
 * as malformed, with a reason that says so.
 */
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

/* What the keys of a list are. Values are stable. */
typedef enum bly_list_type {
    BLY_LIST_NONE = 0, /* not given, or not known */
    BLY_LIST_IP = 1,
    BLY_LIST_PHONE = 2,
    BLY_LIST_EMAIL = 3,
    BLY_LIST_DOMAIN = 4,
    BLY_LIST_URL = 5,
    BLY_LIST_LINE = 6, /* lines, or any other bytes, as they are */
    /* The states of `bloomery dedup` and `count`. They can be checked, but not built here. */
    BLY_LIST_RECORD = 7,       /* as LINE, but blank lines may be keys, too */
    BLY_LIST_RECORD_URL = 8,   /* the same in canonical form where it is a URL */
    BLY_LIST_RECORD_CRAWL = 9, /* the same at the level BLY_URL_CRAWL */
    BLY_LIST_OTHER = 10        /* parts of lines, or lines in lower case: only the command that made
                                  the state can make such keys */
} bly_list_type;

/* "ip", "phone", "email", "domain", "url", "line", "record", "record-url", "record-crawl",
 * "other"; NULL for BLY_LIST_NONE and for values that are no type. */
BLY_API const char *bly_list_type_name(bly_list_type type);
/* BLY_LIST_NONE if no type has this name. */
BLY_API bly_list_type bly_list_type_by_name(const char *name);

/* What a filter's header records of such keys, and the other way round. BLY_LIST_NONE is
 * BLY_KEYS_UNRECORDED. */
BLY_API bly_key_rule bly_list_key_rule(bly_list_type type);
BLY_API bly_list_type bly_list_type_of_rule(bly_key_rule rule);

/* ---- from text to a key --------------------------------------------------------------------- */

/* Scratch memory for reading and checking. What a call hands out points into it, or into the text,
 * until the next call with the same reader. It keeps up to six times the longest URL that it has
 * read, until it is destroyed: limit the length of lines from untrusted sources. */
typedef struct bly_list_reader bly_list_reader;
BLY_CHECKED bly_status bly_list_reader_create(bly_list_reader **out); /* BLY_ENOMEM */
BLY_API void bly_list_reader_destroy(bly_list_reader *r);             /* NULL does nothing */

/* How a line is read. */
enum {
    BLY_LIST_COMMENTS = 1u << 0,    /* "#", and for types other than LINE also ";", begins a comment
                                       at the start of a line; for the other types also after a
                                       blank */
    BLY_LIST_RECORDS = 1u << 1,     /* LINE: a carriage return at the end is part of the key, and a
                                       record of blanks is a key */
    BLY_LIST_KEEP_RETURN = 1u << 2, /* LINE: a carriage return at the end is part of
                                       the key */
    BLY_LIST_BLANK_KEYS = 1u << 3   /* LINE: lines of blanks, and empty ones, are keys */
};

typedef struct bly_list_key {
    bly_bytes bytes; /* the canonical form: what is hashed */
    unsigned level;  /* see bly_list_levels */
    bool blank;      /* there is no key: a blank line, or a comment */
} bly_list_key;

/* The key of a line without its newline. BLY_EINVAL: it is malformed, and bly_list_reader_reason
 * says why; or there is no such type or flag. BLY_ENOMEM. */
BLY_CHECKED bly_status bly_list_read(bly_list_reader *r, bly_list_type type, uint32_t flags,
                                     const void *line, size_t len, bly_list_key *out);

/* After BLY_EINVAL, or BLY_LIST_MALFORMED: what is wrong, such as "not an IP address". Never NULL;
 * valid until the reader's next use. */
BLY_API const char *bly_list_reader_reason(const bly_list_reader *r);

/* A key in words: an IP key as an address or block, any other as it is. The result points into
 * `key` or `room`. */
enum { BLY_LIST_WORDS = 64 };
BLY_API bly_bytes bly_list_words(bly_list_type type, bly_bytes key, char room[BLY_LIST_WORDS]);

/* ---- levels --------------------------------------------------------------------------------- */

/* How wide a key is. IP: the prefix length of an IPv4 block, BLY_LIST_V6 plus that of an IPv6 one
 * (addresses are /32 and /128). DOMAIN: the number of labels. 0 for the other types. A set of
 * levels has room for a second group of as many numbers: BLY_LIST_LEVELS + n records that the rate
 * of the list was requested for lines of up to n lookups. */
enum { BLY_LIST_V6 = 64, BLY_LIST_LEVELS = 256, BLY_LIST_MARKABLE = 2 * BLY_LIST_LEVELS };
typedef struct bly_list_levels {
    uint64_t bits[BLY_LIST_MARKABLE / 64];
} bly_list_levels;

static inline bool bly_list_levels_contain(const bly_list_levels *set, unsigned level) {
    return (set->bits[level / 64] >> (level % 64) & 1) != 0;
}

/* ---- lists ---------------------------------------------------------------------------------- */

typedef struct bly_list bly_list;

/* Maps a list file (bly_map_open) and finds out its type and levels. options may be NULL. The file
 * must not be shortened while it is open. All of bly_map_open's statuses; those of
 * bly_list_from_filter. */
BLY_CHECKED bly_status bly_list_open(const char *path, const bly_open_options *options,
                                     bly_list **out);

/* The same for a filter in memory, which is borrowed until bly_list_close. `as`: BLY_LIST_NONE
 * uses the type that the list records, any other value overrides it. Pass it for a filter that
 * records no rule (bly_filter_set_key_rule) and whose keys others choose: keys can be chosen that
 * make it look like a list of another type.
 *
 * The levels are those at the time of this call. To add a key of a new level to a list, add its
 * marks too (bly_list_add_new_marks in host/lists.h), or the key will not be found; then make a new
 * bly_list. BLY_EUNSUPPORTED: a kind that only counts; or keys that only `bloomery dedup` or
 * `count` can make (BLY_LIST_OTHER); or keys of several types, or too many keys to tell: pass the
 * type in `as`. BLY_EKEY: the filter was opened without its key. BLY_EINVAL: no such type.
 * BLY_ENOMEM. */
BLY_CHECKED bly_status bly_list_from_filter(const bly_filter *f, bly_list_type as, bly_list **out);

BLY_API void bly_list_close(bly_list *l);                     /* NULL does nothing */
BLY_API const bly_filter *bly_list_filter(const bly_list *l); /* borrowed until close */

typedef struct bly_list_info {
    size_t struct_size;
    bly_list_type type;
    bly_list_levels levels;
    unsigned lookups; /* the most that a line needs; 0: not known, since the type is not */
    unsigned requested_lookups; /* the lookups per line that the rate was requested for; 0: not
                                   known */
    uint64_t marks;             /* keys that are not entries, but tell type and levels */
    bool chance_levels;         /* it is too full: some levels may seem to be listed by chance. Then
                                   `marks` counts only those of the type. */
    double per_lookup;          /* requested false-positive rate per lookup; 0: not known */
    double per_line;            /* and per line; 0: not known */
} bly_list_info;

/* Takes one pass over the filter's bits. BLY_EINVAL (struct_size). */
BLY_API bly_status bly_list_get_info(const bly_list *l, bly_list_info *out);

typedef enum bly_list_answer {
    BLY_LIST_NO = 0,       /* certainly not in the list; also a blank line */
    BLY_LIST_MAYBE = 1,    /* in the list, or a false positive */
    BLY_LIST_MALFORMED = 2 /* not of the list's type, and so not in it */
} bly_list_answer;

typedef struct bly_list_result {
    bly_list_answer answer;
    bly_bytes entry; /* MAYBE: the entry that matches, in words: the key, a parent domain, a block;
                        else empty. It may contain any bytes. */
    const char *reason; /* MALFORMED: what is wrong; else "" */
} bly_list_result;

/* The answer of `bloomery check` for one line. (A list that records no rule is taken for one of
 * lines, also if an early version of `bloomery dedup` made it. In such a list, and in one of
 * records, a line that ends in a carriage return is looked up with and without it: one lookup more
 * than bly_list_info says.) *out points into the text and the
 * reader until the reader's next use. BLY_ENOMEM. */
BLY_CHECKED bly_status bly_list_check(const bly_list *l, bly_list_reader *r, const void *text,
                                      size_t len, bly_list_result *out);

/* The same for n lines, several times faster with large lists: answers[i] is a bly_list_answer.
 * BLY_ENOMEM: no answer is valid. */
BLY_CHECKED bly_status bly_list_check_many(const bly_list *l, bly_list_reader *r,
                                           const bly_bytes *lines, size_t n, uint8_t *answers);

/* ---- building ------------------------------------------------------------------------------- */

typedef struct bly_list_builder bly_list_builder;

/* Zero means the default, apart from struct_size. */
typedef struct bly_list_build_options {
    size_t struct_size;
    uint32_t flags;                 /* BLY_LIST_COMMENTS, BLY_LIST_RECORDS; no others */
    bly_kind kind;                  /* BLY_KIND_NONE: the layout that suits the rate */
    uint64_t capacity;              /* keys to make room for; 0: those that were added */
    uint64_t seed;                  /* of the default hash function */
    const bly_hasher *hasher;       /* NULL: the default one; it is copied */
    const bly_allocator *allocator; /* of the filter; copied */
} bly_list_build_options;

/* A list of IP, PHONE, EMAIL, DOMAIN, URL or LINE with the false-positive rate `fpr` per line.
 * options may be NULL. The filter is the one that `bloomery build --type TYPE -p FPR` makes of the
 * same lines, to the last byte; -n, --seed, --kind and --comments are `options`.
 *
 * A line that needs several lookups (a domain, an address) has a rate per lookup that is lower in
 * proportion, and at most BLY_LIST_MAX_RATE.
 *
 * BLY_EINVAL: another type, unknown flags, struct_size. BLY_ERATE. BLY_EKIND. BLY_EUNSUPPORTED: a
 * kind that only counts, or that forgets. BLY_EHASHER: a hasher that was not filled in.
 * BLY_ENOMEM. */
BLY_CHECKED bly_status bly_list_builder_create(bly_list_type type, double fpr,
                                               const bly_list_build_options *options,
                                               bly_list_builder **out);

/* The highest rate per lookup of a new list whose keys have levels. The marks of a level that is
 * not listed seem to be there with the probability rate^4. At this rate that happens to one of all
 * levels in one list of 800, and each such level costs a needless lookup per line. */
#define BLY_LIST_MAX_RATE 0.05

/* Adds the key of a line without its newline. *added (may be NULL): false for a blank line or a
 * comment. BLY_EINVAL: it is malformed, and bly_list_builder_reason says why; the builder is as
 * before, and can go on. BLY_ENOMEM. */
BLY_CHECKED bly_status bly_list_builder_add(bly_list_builder *b, const void *line, size_t len,
                                            bool *added);
BLY_API const char *bly_list_builder_reason(const bly_list_builder *b);

/* Makes the filter, which the caller owns. The builder can then only be destroyed, also after a
 * failure. bly_filter_create's and bly_builder_finish's statuses; BLY_EFULL: more different keys
 * than options.capacity has room for (kinds that grow, and those that are built, take them all).
 * BLY_EINVAL once it has finished. bly_filter_count of the
 * result includes the marks: the number of entries is that count without bly_list_info.marks. */
BLY_CHECKED bly_status bly_list_builder_finish(bly_list_builder *b, bly_filter **out);

BLY_API void bly_list_builder_destroy(bly_list_builder *b); /* NULL does nothing */

/* ---- URLs ----------------------------------------------------------------------------------- */

/* How much two spellings may differ and still be one URL. docs/lists.md has the rules. */
typedef enum bly_url_level {
    BLY_URL_STANDARD = 0, /* the same resource by the URL standard and by RFC 3986 */
    BLY_URL_CRAWL = 1     /* also without tracking parameters and sessions, parameters sorted */
} bly_url_level;

/* Memory to write to: begins as {NULL, 0}, grows as needed and is used again for the next URL. For
 * one thread at a time. */
typedef struct bly_url_buffer {
    char *data;
    size_t room;
} bly_url_buffer;
BLY_API void bly_url_buffer_free(bly_url_buffer *b);

/* The canonical form of text[0..size) in *out. It points into the text if a part of the text is its
 * own canonical form, else into the buffer, where it is valid until the buffer's next use. The text
 * must not be in the buffer. If the call fails *out is the text as it is.
 * BLY_EINVAL: no absolute URL (no scheme, a bad host, a bad port). BLY_EUNSUPPORTED: a host in
 * other letters than ASCII, in a library without libidn2. BLY_ENOMEM. */
BLY_CHECKED bly_status bly_url_canonical(bly_url_buffer *b, bly_url_level level, const char *text,
                                         size_t size, bly_bytes *out);

/* The next http or https URL in [*at, end); moves *at after it. An empty *out: there is none left.
 * The URL is as it was written, not canonical. It points into the text, or into the buffer if
 * "&amp;" or "\/" had to be undone; bly_url_canonical then needs another buffer. After BLY_ENOMEM
 * *at is after the URL, too. src/lists/url_find.c says where a URL ends. */
BLY_CHECKED bly_status bly_url_find(bly_url_buffer *b, const char **at, const char *end,
                                    bly_bytes *out);

#ifdef __cplusplus
}
#endif
#endif
