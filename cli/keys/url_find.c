/* url_find.c - http and https URLs in running text, mark-up and program text.
 *
 * A URL begins with its scheme, in any case, wherever that stands: also right behind a letter, for
 * lists whose line ends were lost. Nothing tells for certain where it ends. These rules are right
 * for how people and programs write:
 *
 *  - It ends at blanks, control characters, " < > ` and bytes that are not UTF-8; within the host
 *    at anything that hosts, ports and users do not have.
 *  - It ends at a closing bracket that was not opened in it: "(see http://a/b)" and Markdown's
 *    [text](http://a/b_(c)) both come out right.
 *  - Right behind ' or | or a comma, it ends at the next of these: attributes, tables, CSV.
 *  - It ends at punctuation of other scripts, full-width forms and wide spaces. A Han, Kana or
 *    Hangul letter ends it right behind an ASCII letter or digit, since such text puts no space
 *    after a URL; behind a slash, "=", or another such letter it belongs to it.
 *  - It ends where another begins, "http://a.exampleshttp://b.example" being two, unless that one
 *    is an argument: right behind one of / = ? & : # @ + - _ ~ $ or a triplet.
 *  - Punctuation at its end does not belong to it: . , ; : ! ? ' * and opening brackets.
 *
 * Escapes are undone: "&amp;" and numeric references of HTML, "\/" and "\u0026" of JSON, and "\_",
 * a backslash before punctuation, of Markdown. What they stand for counts as if it stood there, so
 * "&quot;" and "&lt;" end a URL. Every other backslash ends it too.
 */
#include <string.h>

#include "url_text.h"

/* One character of the text after its escapes were undone. */
typedef struct character {
    uint32_t code; /* ENDING: nothing that could be in a URL */
    size_t size;   /* of what stands for it in the text */
    bool escaped;
} character;

enum { ENDING = ' ' };

/* ---- reading characters --------------------------------------------------------------------- */

/* "&name;" for the names that matter, and "&#38;", "&#x26;". */
static character read_reference(const char *at, const char *end) {
    static const struct {
        const char *name;
        char code;
    } names[] = {{"amp", '&'},  {"lt", '<'},    {"gt", '>'},
                 {"quot", '"'}, {"apos", '\''}, {"nbsp", ' '}};
    enum { LONGEST = 8 };
    const character literal = {'&', 1, false};
    size_t room = (size_t)(end - at - 1);
    const char *semicolon = memchr(at + 1, ';', room < LONGEST ? room : LONGEST);
    if (semicolon == NULL)
        return literal;
    size_t size = (size_t)(semicolon - at) + 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (url_equals(at + 1, size - 2, names[i].name))
            return (character){(unsigned char)names[i].code, size, true};
    }
    if (at[1] != '#')
        return literal;
    bool hex = (at[2] | 32) == 'x';
    const char *digit = at + (hex ? 3 : 2);
    uint32_t code = 0;
    if (digit == semicolon)
        return literal;
    for (; digit < semicolon; digit++) {
        if (hex ? !url_is(*digit, URL_HEX) : !url_is_digit(*digit))
            return literal;
        code = code * (hex ? 16 : 10) + url_hex(*digit);
    }
    return (character){code > ' ' && code < 0x7F ? code : ENDING, size, true};
}

/* "\/", "\u002f", "\_"; any other backslash is an ending. */
static character read_backslash(const char *at, const char *end) {
    const character ending = {ENDING, 1, false};
    if (end - at < 2)
        return ending;
    if (at[1] == 'u' && end - at >= 6 && at[2] == '0' && at[3] == '0' && url_is(at[4], URL_HEX) &&
        url_is(at[5], URL_HEX)) {
        uint32_t code = url_hex(at[4]) << 4 | url_hex(at[5]);
        return (character){code > ' ' && code < 0x7F ? code : ENDING, 6, true};
    }
    if (strchr("/_*~()[]{}#+-.!&=?:@$%", at[1]) != NULL && at[1] != 0)
        return (character){(unsigned char)at[1], 2, true};
    return ending;
}

/* A character of two to four bytes. */
static character read_utf8(const char *at, const char *end) {
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)*at;
    size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    uint32_t code = first & (0x7Fu >> size);
    if (first < 0xC2 || first > 0xF4 || (size_t)(end - at) < size)
        return (character){ENDING, 1, false};
    for (size_t i = 1; i < size; i++) {
        if (((unsigned char)at[i] & 0xC0) != 0x80)
            return (character){ENDING, 1, false};
        code = code << 6 | ((unsigned char)at[i] & 0x3F);
    }
    if (code < least[size] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        return (character){ENDING, 1, false};
    return (character){code, size, false};
}

/* The character at `at`, which is before `end`. */
static character read_character(const char *at, const char *end) {
    if (*at == '&')
        return read_reference(at, end);
    if (*at == '\\')
        return read_backslash(at, end);
    if ((unsigned char)*at >= 0x80)
        return read_utf8(at, end);
    return (character){(unsigned char)*at, 1, false};
}

/* ---- beginnings ----------------------------------------------------------------------------- */

/* The size of "://" at `at`, in whatever way it is escaped, or 0. */
static size_t separator(const char *at, const char *end) {
    const char *from = at;
    for (const char *wanted = "://"; *wanted != 0; wanted++) {
        if (at == end)
            return 0;
        character c = read_character(at, end);
        if (c.code != (unsigned char)*wanted)
            return 0;
        at += c.size;
    }
    return (size_t)(at - from);
}

/* The size of "http://" or "https://" at `at`, or 0. */
static size_t opening(const char *at, const char *end) {
    if (end - at < 7 || !url_equals(at, 4, "http"))
        return 0;
    size_t name = (at[4] | 32) == 's' ? 5 : 4;
    size_t rest = separator(at + name, end);
    return rest == 0 ? 0 : name + rest;
}

/* The first opening in [at, end), and its size; NULL when there is none. */
static const char *find_opening(const char *at, const char *end, size_t *size) {
    const char *from = at;
    while (at < end && (at = memchr(at, ':', (size_t)(end - at))) != NULL) {
        for (int name = 5; name >= 4; name--) {
            if (at - from >= name && (*size = opening(at - name, end)) != 0)
                return at - name;
        }
        at++;
    }
    return NULL;
}

/* ---- endings -------------------------------------------------------------------------------- */

static bool is_ascii_alnum(uint32_t c) {
    return c < 0x80 && (url_is_letter((char)c) || url_is_digit((char)c));
}

static bool is_among(uint32_t c, const char *set) {
    return c != 0 && c < 0x80 && strchr(set, (int)c) != NULL;
}

/* Spaces and punctuation beyond ASCII. */
static bool is_other_punctuation(uint32_t c) {
    static const struct {
        uint32_t from, to;
    } ranges[] = {{0x80, 0xBF},     {0x2000, 0x206F}, {0x2E00, 0x2E7F}, {0x3000, 0x3004},
                  {0x3008, 0x303F}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE6F}, {0xFEFF, 0xFF0F},
                  {0xFF1A, 0xFF20}, {0xFF3B, 0xFF40}, {0xFF5B, 0xFF65}, {0xFFE0, 0xFFFF}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (c >= ranges[i].from && c <= ranges[i].to)
            return true;
    }
    return false;
}

/* A URL while its end is looked for. */
typedef struct search {
    const char *body; /* behind "://" */
    const char *at, *end;
    char quote;         /* what stood before the URL and therefore ends it, or 0 */
    bool authority;     /* still before the path */
    uint32_t before[3]; /* the last three characters */
    int open[3];        /* how many of ( [ { are open */
    bool escaped;
} search;

/* The bracket pair that `c` belongs to, or -1. */
static int bracket(uint32_t c, const char *set) {
    const char *found = c < 0x80 && c != 0 ? strchr(set, (int)c) : NULL;
    return found == NULL ? -1 : (int)(found - set);
}

/* Whether another URL that begins here is an argument of this one. */
static bool is_argument(const search *s) {
    const uint32_t *b = s->before;
    bool triplet = b[2] == '%' && b[1] < 0x80 && b[0] < 0x80 && url_is((char)b[1], URL_HEX) &&
                   url_is((char)b[0], URL_HEX);
    return triplet || is_among(b[0], "/=?&:#@+-_~$");
}

/* Whether a character beyond ASCII ends the URL. */
static bool ends_at_other(const search *s, uint32_t c) {
    enum { WIDE = 0x2E80 };
    if (is_other_punctuation(c))
        return true;
    if (c < WIDE || s->before[0] >= 0x80)
        return false;
    return !is_among(s->before[0], s->authority ? "/.@-" : "/=-_+&#?~:@(");
}

static bool ends_at(const search *s, const character *c) {
    if (c->code >= 0x80)
        return ends_at_other(s, c->code);
    if (c->code <= ' ' || c->code == 0x7F || is_among(c->code, "\"<>`") || c->code == '\\')
        return true;
    if (s->quote != 0 && c->code == (unsigned char)s->quote)
        return true;
    int closing = bracket(c->code, ")]}");
    if (closing >= 0 && s->open[closing] == 0)
        return true;
    if (s->authority && !is_ascii_alnum(c->code) && !is_among(c->code, "-._~:@%[]+/?#"))
        return true;
    if ((c->code | 32) != 'h' || opening(s->at, s->end) == 0)
        return false;
    return s->at == s->body || !is_argument(s);
}

static void take(search *s, const character *c) {
    int opened = bracket(c->code, "([{"), closed = bracket(c->code, ")]}");
    if (opened >= 0)
        s->open[opened]++;
    if (closed >= 0)
        s->open[closed]--;
    if (is_among(c->code, "/?#"))
        s->authority = false;
    s->before[2] = s->before[1];
    s->before[1] = s->before[0];
    s->before[0] = c->code;
    s->escaped |= c->escaped;
    s->at += c->size;
}

/* Moves s->at to where the URL ends, and returns where it ends without punctuation. */
static const char *find_end(search *s) {
    const char *kept = s->body;
    while (s->at < s->end) {
        character c = read_character(s->at, s->end);
        if (ends_at(s, &c))
            break;
        take(s, &c);
        if (!is_among(c.code, ".,;:!?'*([{"))
            kept = s->at;
    }
    return kept;
}

/* Copies [at, end) without its escapes. */
static url_result unescape(url_buffer *b, const char *at, const char *end, bly_bytes *out) {
    if (!url_reserve(b, (size_t)(end - at)))
        return URL_NOMEM;
    char *o = b->data;
    while (at < end) {
        character c = read_character(at, end);
        if (c.code < 0x80) {
            *o++ = (char)c.code;
        } else {
            memcpy(o, at, c.size);
            o += c.size;
        }
        at += c.size;
    }
    *out = (bly_bytes){b->data, (size_t)(o - b->data)};
    return URL_OK;
}

url_result url_find(url_buffer *b, const char **at, const char *end, bly_bytes *out) {
    const char *begin = *at, *from;
    size_t size;
    while ((from = find_opening(*at, end, &size)) != NULL) {
        search s = {.body = from + size, .at = from + size, .end = end, .authority = true};
        s.before[0] = '/';
        s.quote = (char)(from > begin && is_among((unsigned char)from[-1], "'|,") ? from[-1] : 0);
        const char *kept = find_end(&s);
        *at = s.at;
        if (kept == s.body)
            continue;
        if (s.escaped || size > sizeof "https://" - 1 || memchr(from, '\\', size) != NULL)
            return unescape(b, from, kept, out);
        *out = (bly_bytes){from, (size_t)(kept - from)};
        return URL_OK;
    }
    *at = end;
    return URL_NOT;
}
