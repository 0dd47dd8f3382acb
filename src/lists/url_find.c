/* url_find.c - finds http and https URLs in running text, mark-up and program text.
 *
 * A URL begins with its scheme, in upper or lower case, at any position: also directly after a
 * letter, for lists whose line ends were lost. Where it ends is a guess. These rules fit how people
 * and programs write:
 *
 *  - It ends at blanks, control characters, " < > ` and bytes that are not UTF-8; before the path,
 *    also at any character that hosts, ports and users do not have.
 *  - It ends at a closing bracket that was not opened within the URL: this is right for both "(see
 *    http://a/b)" and Markdown's [text](http://a/b_(c)).
 *  - If ' or | or a comma precedes it, it ends at the next such character: attributes, tables, CSV.
 *  - It ends at punctuation of other scripts, full-width forms and wide spaces. A Han, Kana or
 *    Hangul letter ends it directly after an ASCII letter or digit, since such text has no space
 *    after a URL. After a slash, "=", or another non-ASCII letter it belongs to the URL.
 *  - It ends where another URL begins: "http://a.exampleshttp://b.example" is two. But a URL
 *    directly after one of / = ? & : # @ + - _ ~ $ or a percent-encoded byte is an argument of the
 *    first URL, and does not end it.
 *  - Punctuation at its end does not belong to it: . , ; : ! ? ' * and opening brackets.
 *
 * Escapes are undone: "&amp;" and numeric references of HTML, "\/" and "\u0026" of JSON, and "\_",
 * a backslash before punctuation, of Markdown. The rules apply to the characters that the escapes
 * stand for, so "&quot;" and "&lt;" end a URL. Any other backslash ends it, too.
 *
 * Speed. memchr finds the colon of "http:", so that most of a text is not examined in any other
 * way. Within a URL, bytes that can neither end it nor change what may end it are called easy: a
 * run of easy bytes is skipped with one table lookup per byte, and the rules are applied only to
 * the bytes between runs. The time is linear in the size of any text, because the rules look ahead
 * by at most one escape, and back by at most one run.
 */
#include "lists/url_text.h"

#include <string.h>

/* ---- classes of characters ------------------------------------------------------------------ */

enum {
    FIND_ENDING = 1 << 0,         /* ends a URL */
    FIND_AUTHORITY = 1 << 1,      /* may be in the authority (user, host, port), or ends it */
    FIND_TRAILING = 1 << 2,       /* never the last character of a URL */
    FIND_BACKSLASHED = 1 << 3,    /* may have a backslash before it */
    FIND_EASY_AUTHORITY = 1 << 4, /* easy before the path */
    FIND_EASY_PATH = 1 << 5,      /* easy in the path and after it */
    FIND_EASY_QUOTED = 1 << 6     /* the same, if find_search.quote is not 0 */
};

#define FIND_REST (FIND_EASY_PATH | FIND_EASY_QUOTED)

enum {
    F_EN = FIND_ENDING,    /* controls, space " < > ` and a backslash that is no escape */
    F_HH = FIND_AUTHORITY, /* H h, which may begin another URL */
    F_AN = FIND_AUTHORITY | FIND_EASY_AUTHORITY | FIND_REST, /* other letters, digits */
    F_UN = F_AN | FIND_BACKSLASHED,                          /* % + - @ _ ~ */
    F_DC = F_UN | FIND_TRAILING,                             /* . : */
    F_SL = F_UN & ~FIND_EASY_AUTHORITY,                      /* # / */
    F_QU = F_DC & ~FIND_EASY_AUTHORITY,                      /* ? */
    F_EQ = FIND_BACKSLASHED | FIND_REST,                     /* $ = */
    F_EX = F_EQ | FIND_TRAILING,                             /* ! * */
    F_SE = FIND_TRAILING | FIND_REST,                        /* ; */
    F_CI = FIND_REST,                                        /* ^ */
    F_BA = FIND_EASY_PATH,                                   /* | */
    F_CO = F_BA | FIND_TRAILING,                             /* ' , */
    F_BS = FIND_BACKSLASHED,                                 /* & ) } */
    F_OP = F_BS | FIND_TRAILING,                             /* ( { */
    F_LB = F_OP | FIND_AUTHORITY,                            /* [ */
    F_RB = F_BS | FIND_AUTHORITY                             /* ] */
};

/* clang-format off */
static const uint8_t find_class[256] = {
    F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN,
    F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN, F_EN,
/*        !     "     #     $     %     &     '     (     )     *     +     ,     -     .     /   */
    F_EN, F_EX, F_EN, F_SL, F_EQ, F_UN, F_BS, F_CO, F_OP, F_BS, F_EX, F_UN, F_CO, F_UN, F_DC, F_SL,
    F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_DC, F_SE, F_EN, F_EQ, F_EN, F_QU,
    F_UN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_HH, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN,
    F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_LB, F_EN, F_RB, F_CI, F_UN,
    F_EN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_HH, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN,
    F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_AN, F_OP, F_BA, F_BS, F_UN, F_EN,
};
/* clang-format on */

/* Whether an ASCII character or a byte is in one of the classes. */
static inline bool find_is_of(uint32_t c, unsigned set) {
    return (find_class[c] & set) != 0;
}

static bool find_is_among(uint32_t c, const char *set) {
    return c != 0 && c < 0x80 && strchr(set, (int)c) != NULL;
}

/* ---- reading characters --------------------------------------------------------------------- */

/* One character of the text, with its escape undone. */
typedef struct find_character {
    uint32_t code; /* FIND_SPACE: a character that cannot be in a URL */
    size_t size;   /* in the text, before unescaping */
    bool escaped;
} find_character;

enum { FIND_SPACE = ' ' };

/* Reads an HTML reference: "&name;" for some names, "&#38;", "&#x26;". If it is not a reference,
 * returns the character "&". */
static find_character find_read_reference(const char *at, const char *end) {
    static const struct {
        const char *name;
        char code;
    } names[] = {{"amp", '&'},  {"lt", '<'},    {"gt", '>'},
                 {"quot", '"'}, {"apos", '\''}, {"nbsp", ' '}};
    enum { LONGEST = 8 };
    const find_character literal = {'&', 1, false};
    size_t room = (size_t)(end - at - 1);
    const char *semicolon = memchr(at + 1, ';', room < LONGEST ? room : LONGEST);
    if (semicolon == NULL)
        return literal;
    size_t size = (size_t)(semicolon - at) + 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (blyi_url_equals(at + 1, size - 2, names[i].name))
            return (find_character){(unsigned char)names[i].code, size, true};
    }
    if (at[1] != '#')
        return literal;
    bool hex = (at[2] | 32) == 'x';
    const char *digit = at + (hex ? 3 : 2);
    uint32_t code = 0;
    if (digit == semicolon)
        return literal;
    for (; digit < semicolon; digit++) {
        if (hex ? !blyi_url_is(*digit, BLYI_URL_HEX) : !blyi_url_is_digit(*digit))
            return literal;
        code = code * (hex ? 16 : 10) + blyi_url_hex(*digit);
    }
    return (find_character){code > ' ' && code < 0x7F ? code : FIND_SPACE, size, true};
}

/* Reads an escape such as "\/", "\u002f" or "\_". For any other backslash returns FIND_SPACE, which
 * ends the URL. */
static find_character find_read_backslash(const char *at, const char *end) {
    const find_character ending = {FIND_SPACE, 1, false};
    if (end - at < 2)
        return ending;
    if (at[1] == 'u' && end - at >= 6 && at[2] == '0' && at[3] == '0' &&
        blyi_url_is(at[4], BLYI_URL_HEX) && blyi_url_is(at[5], BLYI_URL_HEX)) {
        uint32_t code = blyi_url_hex(at[4]) << 4 | blyi_url_hex(at[5]);
        return (find_character){code > ' ' && code < 0x7F ? code : FIND_SPACE, 6, true};
    }
    if (find_is_of((unsigned char)at[1], FIND_BACKSLASHED))
        return (find_character){(unsigned char)at[1], 2, true};
    return ending;
}

/* Reads a UTF-8 character of two to four bytes. Returns FIND_SPACE, with size 1, for a byte that is
 * not UTF-8. */
static find_character find_read_utf8(const char *at, const char *end) {
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)*at;
    size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    uint32_t code = first & (0x7Fu >> size);
    if (first < 0xC2 || first > 0xF4 || (size_t)(end - at) < size)
        return (find_character){FIND_SPACE, 1, false};
    for (size_t i = 1; i < size; i++) {
        if (((unsigned char)at[i] & 0xC0) != 0x80)
            return (find_character){FIND_SPACE, 1, false};
        code = code << 6 | ((unsigned char)at[i] & 0x3F);
    }
    if (code < least[size] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        return (find_character){FIND_SPACE, 1, false};
    return (find_character){code, size, false};
}

/* Reads the character at `at`, which is before `end`. */
static find_character find_read_character(const char *at, const char *end) {
    if (*at == '&')
        return find_read_reference(at, end);
    if (*at == '\\')
        return find_read_backslash(at, end);
    if ((unsigned char)*at >= 0x80)
        return find_read_utf8(at, end);
    return (find_character){(unsigned char)*at, 1, false};
}

/* ---- beginnings ----------------------------------------------------------------------------- */

/* Returns the size of "://" at `at`, including its escapes, or 0 if it is not there. */
static size_t find_separator(const char *at, const char *end) {
    const char *from = at;
    for (const char *wanted = "://"; *wanted != 0; wanted++) {
        if (at == end)
            return 0;
        find_character c = find_read_character(at, end);
        if (c.code != (unsigned char)*wanted)
            return 0;
        at += c.size;
    }
    return (size_t)(at - from);
}

/* Returns the size of "http://" or "https://" at `at`, or 0 if neither is there. */
static size_t find_opening_at(const char *at, const char *end) {
    if (end - at < 7 || !blyi_url_equals(at, 4, "http"))
        return 0;
    size_t name = (at[4] | 32) == 's' ? 5 : 4;
    size_t rest = find_separator(at + name, end);
    return rest == 0 ? 0 : name + rest;
}

/* A quick test whether the colon at `at` can belong to "http://" or "https://". */
static inline bool find_is_likely(const char *from, const char *at, const char *end) {
    if (at - from < 4 || end - at < 3 || (at[1] != '/' && at[1] != '\\' && at[1] != '&'))
        return false;
    int before = at[-1] | 32;
    return before == 's' || before == 'p' || at[-1] == '\\';
}

/* Returns the first "http://" or "https://" in [at, end), and sets *size to its size. Returns NULL
 * if neither occurs. */
static const char *find_opening(const char *at, const char *end, size_t *size) {
    const char *from = at;
    while (at < end && (at = memchr(at, ':', (size_t)(end - at))) != NULL) {
        for (int name = find_is_likely(from, at, end) ? 5 : 0; name >= 4; name--) {
            if (at - from >= name && (*size = find_opening_at(at - name, end)) != 0)
                return at - name;
        }
        at++;
    }
    return NULL;
}

/* ---- endings -------------------------------------------------------------------------------- */

/* Whether c is a non-ASCII space or punctuation character. */
static bool find_is_other_punctuation(uint32_t c) {
    static const struct {
        uint32_t from, to;
    } ranges[] = {{0x80, 0xBF},     {0x2000, 0x206F}, {0x2E00, 0x2E7F}, {0x3000, 0x3004},
                  {0x3008, 0x303F}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE6F}, {0xFEFF, 0xFF0F},
                  {0xFF1A, 0xFF20}, {0xFF3B, 0xFF40}, {0xFF5B, 0xFF65}, {0xFFE0, 0xFFFF}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (c <= ranges[i].to)
            return c >= ranges[i].from;
    }
    return false;
}

/* The state of the search for the end of a URL. */
typedef struct find_search {
    const char *body; /* after "://" */
    const char *at, *end;
    const char *kept;   /* the end of the URL so far, without trailing punctuation */
    char quote;         /* the ', | or comma before the URL, which also ends it; 0: none */
    bool authority;     /* still before the path */
    uint32_t before[3]; /* the last three characters */
    int open[3];        /* how many of ( [ { are open */
    bool escaped;
} find_search;

/* Returns the index in find_search.open of an opening bracket, or -1 for another character. */
static int find_opened_by(uint32_t c) {
    return c == '(' ? 0 : c == '[' ? 1 : c == '{' ? 2 : -1;
}

/* Returns the index in find_search.open of a closing bracket, or -1 for another character. */
static int find_closed_by(uint32_t c) {
    return c == ')' ? 0 : c == ']' ? 1 : c == '}' ? 2 : -1;
}

/* Whether another URL that begins here is an argument of this one. */
static bool find_is_argument(const find_search *s) {
    const uint32_t *b = s->before;
    bool triplet = b[2] == '%' && b[1] < 0x80 && b[0] < 0x80 &&
                   blyi_url_is((char)b[1], BLYI_URL_HEX) && blyi_url_is((char)b[0], BLYI_URL_HEX);
    return triplet || find_is_among(b[0], "/=?&:#@+-_~$");
}

/* Whether a non-ASCII character ends the URL. */
static bool find_ends_at_other(const find_search *s, uint32_t c) {
    enum { WIDE = 0x2E80 };
    if (find_is_other_punctuation(c))
        return true;
    if (c < WIDE || s->before[0] >= 0x80)
        return false;
    return !find_is_among(s->before[0], s->authority ? "/.@-" : "/=-_+&#?~:@(");
}

static bool find_ends_at(const find_search *s, const find_character *c) {
    if (c->code >= 0x80)
        return find_ends_at_other(s, c->code);
    if (find_is_of(c->code, FIND_ENDING) || (s->authority && !find_is_of(c->code, FIND_AUTHORITY)))
        return true;
    if (s->quote != 0 && c->code == (unsigned char)s->quote)
        return true;
    int closing = find_closed_by(c->code);
    if (closing >= 0 && s->open[closing] == 0)
        return true;
    if ((c->code | 32) != 'h' || find_opening_at(s->at, s->end) == 0)
        return false;
    return s->at == s->body || !find_is_argument(s);
}

static void find_push(find_search *s, uint32_t code) {
    s->before[2] = s->before[1];
    s->before[1] = s->before[0];
    s->before[0] = code;
}

static void find_take(find_search *s, const find_character *c) {
    int opened = find_opened_by(c->code), closed = find_closed_by(c->code);
    if (opened >= 0)
        s->open[opened]++;
    if (closed >= 0)
        s->open[closed]--;
    if (c->code == '/' || c->code == '?' || c->code == '#')
        s->authority = false;
    find_push(s, c->code);
    s->escaped |= c->escaped;
    s->at += c->size;
    if (c->code >= 0x80 || !find_is_of(c->code, FIND_TRAILING))
        s->kept = s->at;
}

/* Returns the end of the easy bytes at `at`. An h is easy unless "http" may begin there. */
static const char *find_skip_easy(const char *at, const char *end, unsigned easy) {
    for (;; at++) {
        while (at < end && find_is_of((unsigned char)*at, easy))
            at++;
        if (at == end || (*at | 32) != 'h')
            return at;
        if (end - at >= 4 && (at[1] | 32) == 't' && (at[2] | 32) == 't')
            return at;
    }
}

/* Adds the easy bytes up to `to` to the URL. */
static void find_take_easy(find_search *s, const char *to) {
    const char *kept = to;
    if (to == s->at)
        return;
    while (kept > s->at && find_is_of((unsigned char)kept[-1], FIND_TRAILING))
        kept--;
    if (kept > s->at)
        s->kept = kept;
    for (const char *last = to - s->at > 3 ? to - 3 : s->at; last < to; last++)
        find_push(s, (unsigned char)*last);
    s->at = to;
}

/* Moves s->at to the end of the URL, and s->kept to its end without trailing punctuation. */
static void find_end(find_search *s) {
    for (;;) {
        unsigned easy = s->authority    ? FIND_EASY_AUTHORITY
                        : s->quote != 0 ? FIND_EASY_QUOTED
                                        : FIND_EASY_PATH;
        find_take_easy(s, find_skip_easy(s->at, s->end, easy));
        if (s->at == s->end)
            return;
        find_character c = find_read_character(s->at, s->end);
        if (find_ends_at(s, &c))
            return;
        find_take(s, &c);
    }
}

/* Copies [at, end) without its escapes. */
static bly_status find_unescape(bly_url_buffer *b, const char *at, const char *end,
                                bly_bytes *out) {
    if (!blyi_url_reserve(b, (size_t)(end - at)))
        return BLY_ENOMEM;
    char *o = b->data;
    while (at < end) {
        if (*at != '&' && *at != '\\') {
            *o++ = *at++;
            continue;
        }
        find_character c = find_read_character(at, end);
        *o++ = (char)c.code;
        at += c.size;
    }
    *out = (bly_bytes){b->data, (size_t)(o - b->data)};
    return BLY_OK;
}

bly_status bly_url_find(bly_url_buffer *b, const char **at, const char *end, bly_bytes *out) {
    const char *begin = *at, *from;
    size_t size;
    while ((from = find_opening(*at, end, &size)) != NULL) {
        const char *body = from + size;
        find_search s = {.body = body, .at = body, .end = end, .kept = body, .authority = true};
        s.before[0] = '/';
        s.quote =
            (char)(from > begin && find_is_among((unsigned char)from[-1], "'|,") ? from[-1] : 0);
        find_end(&s);
        *at = s.at;
        if (s.kept == s.body)
            continue;
        if (s.escaped || size > sizeof "https://" - 1 || memchr(from, '\\', size) != NULL)
            return find_unescape(b, from, s.kept, out);
        *out = (bly_bytes){from, (size_t)(s.kept - from)};
        return BLY_OK;
    }
    *at = end;
    *out = (bly_bytes){NULL, 0};
    return BLY_OK;
}
