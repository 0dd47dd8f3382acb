/* Lists of addresses, numbers and names: one thing is one key however it is spelled, what is not of
 * the type is refused, what contains a key is tried, and a filter knows what it holds. */
#include "support.h"

#include "build_keys.h"
#include "keytype.h"

#include <limits.h>

#ifndef BLOOMERY_WITH_IDN2
#define BLOOMERY_WITH_IDN2 0
#endif

/* ---- canonical forms ------------------------------------------------------------------------- */

typedef struct spelling {
    keytype type;
    const char *line;
    const char *words; /* of its key; NULL: malformed; "": a blank line */
} spelling;

static const spelling spellings[] = {
    {KEYTYPE_IP, "192.0.2.1", "192.0.2.1"},
    {KEYTYPE_IP, " \t192.0.2.1 \r", "192.0.2.1"},
    {KEYTYPE_IP, "\xEF\xBB\xBF 192.0.2.1", "192.0.2.1"}, /* a byte order mark */
    {KEYTYPE_IP, "\xEF\xBB\xBF", ""},
    {KEYTYPE_IP, "\xEF\xBB", NULL},
    {KEYTYPE_IP, "192.0.2.1\xEF\xBB\xBF", NULL},
    {KEYTYPE_PHONE, "\xEF\xBB\xBF+49 30 901820", "+4930901820"},
    {KEYTYPE_EMAIL, "\xEF\xBB\xBF<Bob@Example.org>", "bob@example.org"},
    {KEYTYPE_DOMAIN, "\xEF\xBB\xBF*.Example.org", "example.org"},
    {KEYTYPE_URL, "\xEF\xBB\xBFhttp://example.org/", "http://example.org/"},
    {KEYTYPE_LINE, "\xEF\xBB\xBFline", "\xEF\xBB\xBFline"},
    {KEYTYPE_IP, "192.0.2.1/32", "192.0.2.1"},
    {KEYTYPE_IP, "::ffff:192.0.2.1", "192.0.2.1"},
    {KEYTYPE_IP, "::FFFF:c000:201", "192.0.2.1"},
    {KEYTYPE_IP, "0:0:0:0:0:ffff:192.0.2.1/128", "192.0.2.1"},
    {KEYTYPE_IP, "[::ffff:192.0.2.1]", "192.0.2.1"},
    {KEYTYPE_IP, "::ffff:192.0.2.0/120", "192.0.2.0/24"},
    {KEYTYPE_IP, "::ffff:0:0/96", "0.0.0.0/0"},
    {KEYTYPE_IP, "0.0.0.0/0", "0.0.0.0/0"},
    {KEYTYPE_IP, "10.128.0.0/9", "10.128.0.0/9"},
    {KEYTYPE_IP, "10.0.0.254/31", "10.0.0.254/31"},
    {KEYTYPE_IP, "2001:DB8:0:0:0:0:0:1", "2001:db8::1"},
    {KEYTYPE_IP, "2001:db8::1/128", "2001:db8::1"},
    {KEYTYPE_IP, "[2001:db8::1]", "2001:db8::1"},
    {KEYTYPE_IP, "2001:db8::/33", "2001:db8::/33"},
    {KEYTYPE_IP, "::/0", "::/0"},
    {KEYTYPE_IP, "::1", "::1"},
    {KEYTYPE_IP, "::192.0.2.1", "::192.0.2.1"},
    {KEYTYPE_IP, "", ""},
    {KEYTYPE_IP, " \t ", ""},
    {KEYTYPE_IP, "192.0.2", NULL},
    {KEYTYPE_IP, "192.0.2.256", NULL},
    {KEYTYPE_IP, "192.0.02.1", NULL},
    {KEYTYPE_IP, "0x7f.1", NULL},
    {KEYTYPE_IP, "192.0.2.1.", NULL},
    {KEYTYPE_IP, "192.0.2.1:80", NULL},
    {KEYTYPE_IP, "[192.0.2.1]", NULL},
    {KEYTYPE_IP, "[]", NULL},
    {KEYTYPE_IP, "[::1", NULL},
    {KEYTYPE_IP, "fe80::1%eth0", NULL},
    {KEYTYPE_IP, "1::2::3", NULL},
    {KEYTYPE_IP, "12345::", NULL},
    {KEYTYPE_IP, "192.0.2.1/33", NULL},
    {KEYTYPE_IP, "2001:db8::/129", NULL},
    {KEYTYPE_IP, "192.0.2.0/", NULL},
    {KEYTYPE_IP, "192.0.2.0/+24", NULL},
    {KEYTYPE_IP, "192.0.2.0/024", NULL},
    {KEYTYPE_IP, "192.0.2.0/24/24", NULL},
    {KEYTYPE_IP, "192.0.2.0/255.255.255.0", NULL},
    {KEYTYPE_IP, "192.0.2.1/24", NULL},
    {KEYTYPE_IP, "192.0.2.1/0", NULL},
    {KEYTYPE_IP, "2001:db8::1/32", NULL},
    {KEYTYPE_IP, "::ffff:192.0.2.0/95", NULL},
    {KEYTYPE_IP, "/24", NULL},
    {KEYTYPE_IP, "example.com", NULL},
    {KEYTYPE_IP, "1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:18:19:20:21:22", NULL},

    {KEYTYPE_PHONE, "+49 30 901820", "+4930901820"},
    {KEYTYPE_PHONE, "+49 (0)30 90-18-20", "+4930901820"},
    {KEYTYPE_PHONE, "0049 (0) 30/901820", "+4930901820"},
    {KEYTYPE_PHONE, "(+49) 30.901820", "+4930901820"},
    {KEYTYPE_PHONE, "tel:+4930901820", "+4930901820"},
    {KEYTYPE_PHONE, "TEL:+49-30-901820", "+4930901820"},
    {KEYTYPE_PHONE, "030 901820", "030901820"},
    {KEYTYPE_PHONE, "(0)30 901820", "030901820"},
    {KEYTYPE_PHONE, "(030) 901820", "030901820"},
    {KEYTYPE_PHONE, "110", "110"},
    {KEYTYPE_PHONE, "+123456789012345", "+123456789012345"},
    {KEYTYPE_PHONE, "00123456789012345", "+123456789012345"},
    {KEYTYPE_PHONE, "00123", "+123"},
    {KEYTYPE_PHONE, "12", NULL},
    {KEYTYPE_PHONE, "0012", NULL},
    {KEYTYPE_PHONE, "+", NULL},
    {KEYTYPE_PHONE, "()", NULL},
    {KEYTYPE_PHONE, "+1234567890123456", NULL},
    {KEYTYPE_PHONE, "1234567890123456789012345678901234567890", NULL},
    {KEYTYPE_PHONE, "001234567890123456", NULL},
    {KEYTYPE_PHONE, "1-800-FLOWERS", NULL},
    {KEYTYPE_PHONE, "++49123", NULL},
    {KEYTYPE_PHONE, "49+123", NULL},
    {KEYTYPE_PHONE, "123 456 x7", NULL},
    {KEYTYPE_PHONE, "123\t456", NULL},

    {KEYTYPE_EMAIL, "bob@example.com", "bob@example.com"},
    {KEYTYPE_EMAIL, "Bob.Smith+Tag@Example.COM.", "bob.smith+tag@example.com"},
    {KEYTYPE_EMAIL, " <bob@example.com> ", "bob@example.com"},
    {KEYTYPE_EMAIL, "mailto:bob@example.com", "bob@example.com"},
    {KEYTYPE_EMAIL, "<MailTo:bob@example.com>", "bob@example.com"},
    {KEYTYPE_EMAIL, "root@localhost", "root@localhost"},
    {KEYTYPE_EMAIL, "\"a b\"@example.com", "\"a b\"@example.com"},
    {KEYTYPE_EMAIL, "\"a@b\"@example.com", "\"a@b\"@example.com"},
    {KEYTYPE_EMAIL, "bob", NULL},
    {KEYTYPE_EMAIL, "bob@", NULL},
    {KEYTYPE_EMAIL, "@example.com", NULL},
    {KEYTYPE_EMAIL, "@", NULL},
    {KEYTYPE_EMAIL, "<>", NULL},
    {KEYTYPE_EMAIL, "a@b@example.com", NULL},
    {KEYTYPE_EMAIL, "bob smith@example.com", NULL},
    {KEYTYPE_EMAIL, "Bob <bob@example.com>", NULL},
    {KEYTYPE_EMAIL, "bob@exa mple.com", NULL},
    {KEYTYPE_EMAIL, "bob@192.0.2.1", NULL},
    {KEYTYPE_EMAIL, "bob@[192.0.2.1]", NULL},
    {KEYTYPE_EMAIL, "bob@example..com", NULL},
    {KEYTYPE_EMAIL, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@b.de", NULL},
    {KEYTYPE_EMAIL, "a,b@example.com", NULL},

    {KEYTYPE_DOMAIN, "example.com", "example.com"},
    {KEYTYPE_DOMAIN, "Example.COM.", "example.com"},
    {KEYTYPE_DOMAIN, "*.example.com", "example.com"},
    {KEYTYPE_DOMAIN, ".example.com", "example.com"},
    {KEYTYPE_DOMAIN, " www.example.com\r", "www.example.com"},
    {KEYTYPE_DOMAIN, "_dmarc.example.com", "_dmarc.example.com"},
    {KEYTYPE_DOMAIN, "r3---sn-x.example.com", "r3---sn-x.example.com"},
    {KEYTYPE_DOMAIN, "XN--EXMPLE-CUA.de", "xn--exmple-cua.de"},
    {KEYTYPE_DOMAIN, "1.2.3.example", "1.2.3.example"},
    {KEYTYPE_DOMAIN, "3com", "3com"},
    {KEYTYPE_DOMAIN, "zip", "zip"},
    {KEYTYPE_DOMAIN, "http://example.com/", NULL},
    {KEYTYPE_DOMAIN, "example.com/path", NULL},
    {KEYTYPE_DOMAIN, "192.0.2.1", NULL},
    {KEYTYPE_DOMAIN, "192.0.2.0/24", NULL},
    {KEYTYPE_DOMAIN, "127.1", NULL},
    {KEYTYPE_DOMAIN, "0x7f.1", NULL},
    {KEYTYPE_DOMAIN, "example.1", NULL},
    {KEYTYPE_DOMAIN, "::1", NULL},
    {KEYTYPE_DOMAIN, "bob@example.com", NULL},
    {KEYTYPE_DOMAIN, "example.com:80", NULL},
    {KEYTYPE_DOMAIN, "example..com", NULL},
    {KEYTYPE_DOMAIN, "example.com..", NULL},
    {KEYTYPE_DOMAIN, "..example.com", NULL},
    {KEYTYPE_DOMAIN, "*.*.example.com", NULL},
    {KEYTYPE_DOMAIN, "www.*.example.com", NULL},
    {KEYTYPE_DOMAIN, "||example.com^", NULL},
    {KEYTYPE_DOMAIN, "0.0.0.0 example.com", NULL},
    {KEYTYPE_DOMAIN, ".", NULL},
    {KEYTYPE_DOMAIN, "*.", NULL},
    {KEYTYPE_DOMAIN, "example%2ecom", NULL},
    {KEYTYPE_DOMAIN, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.de", NULL},

    {KEYTYPE_URL, "HTTP://Example.COM:80/a/../b#c", "http://example.com/b"},
    {KEYTYPE_URL, "http://example.com", "http://example.com/"},
    {KEYTYPE_URL, "example.com", NULL},

    {KEYTYPE_LINE, "Any  Line ", "Any  Line "},
    {KEYTYPE_LINE, " indented", " indented"},
    {KEYTYPE_LINE, "text\r", "text"},
    {KEYTYPE_LINE, "text\r\r", "text\r"},
    {KEYTYPE_LINE, "# text", "# text"},
    {KEYTYPE_LINE, "", ""},
    {KEYTYPE_LINE, "\r", ""},
    {KEYTYPE_LINE, " \t\r", ""},
};

static const spelling idn_spellings[] = {
    {KEYTYPE_DOMAIN, "ex\xC3\xA4mple.de", "xn--exmple-cua.de"},
    {KEYTYPE_DOMAIN, "EX\xC3\x84MPLE.DE", "xn--exmple-cua.de"},
    {KEYTYPE_DOMAIN, "exa\xCC\x88mple.de", "xn--exmple-cua.de"},
    {KEYTYPE_DOMAIN,
     "*.ex\xC3\xA4mple\xE3\x80\x82"
     "de\xE3\x80\x82",
     "xn--exmple-cua.de"},
    {KEYTYPE_EMAIL, "Bob@EX\xC3\x84MPLE.de", "bob@xn--exmple-cua.de"},
    {KEYTYPE_DOMAIN, "ex\xFFmple.de", NULL},
};

static bly_bytes bytes_of(const char *text) {
    return (bly_bytes){text, strlen(text)};
}

/* Longer than any line here, and ending where it ends: a read past it is seen by a sanitizer. */
static bly_bytes copy_of(const char *text) {
    char *copy = malloc(strlen(text) + 1);
    memcpy(copy, text, strlen(text));
    copy = realloc(copy, strlen(text) ? strlen(text) : 1);
    return (bly_bytes){copy, strlen(text)};
}

static void check_spelling(const spelling *s, bool exact) {
    keytype_reader r = {.type = s->type, .exact = exact};
    keytype_key key;
    char room[KEYTYPE_TEXT];
    bly_bytes line = copy_of(s->line);
    keytype_result result = keytype_read(&r, line, &key);
    if (!s->words) {
        if (result != KEYTYPE_MALFORMED)
            fail_msg("'%s' was taken for a %s", s->line, keytype_name(s->type));
        assert_true(strlen(r.why) > 5 && strlen(r.why) < KEYTYPE_WHY - 1);
    } else if (!*s->words) {
        assert_int_equal(result, KEYTYPE_BLANK);
    } else {
        if (result != KEYTYPE_KEY)
            fail_msg("'%s' is no %s", s->line, keytype_name(s->type));
        bly_bytes words = keytype_words(s->type, key.bytes, room);
        if (words.size != strlen(s->words) || memcmp(words.data, s->words, words.size) != 0)
            fail_msg("'%s' became '%.*s'", s->line, (int)words.size, (const char *)words.data);
    }
    free((void *)(uintptr_t)line.data);
    keytype_reader_free(&r);
}

static void every_spelling_has_its_key(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(spellings); i++)
        check_spelling(&spellings[i], false);
    for (size_t i = 0; BLOOMERY_WITH_IDN2 && i < COUNT_OF(idn_spellings); i++)
        check_spelling(&idn_spellings[i], false);
}

/* What a key is in words is a spelling of the same key. */
static void keys_are_their_own_spelling(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(spellings); i++)
        if (spellings[i].words)
            check_spelling(&(spelling){spellings[i].type, spellings[i].words, spellings[i].words},
                           true);
}

static void malformed_lines_get_advice(void **state) {
    static const struct {
        keytype type;
        const char *line, *advice;
    } cases[] = {
        {KEYTYPE_IP, "10.0.0.5/24", "10.0.0.0/24"},
        {KEYTYPE_IP, "2001:db8::1/32", "2001:db8::/32"},
        {KEYTYPE_IP, "::ffff:10.0.0.5/120", "10.0.0.0/24"},
        {KEYTYPE_IP, "10.0.0.0/33", "at most 32"},
        {KEYTYPE_IP, "2001:db8::/129", "at most 128"},
        {KEYTYPE_DOMAIN, "http://example.com/", "--type url"},
        {KEYTYPE_DOMAIN, "192.0.2.1", "--type ip"},
        {KEYTYPE_DOMAIN, "192.0.2.0/24", "--type ip"},
        {KEYTYPE_DOMAIN, "2001:db8::1", "--type ip"},
        {KEYTYPE_DOMAIN, "bob@example.com", "--type email"},
        {KEYTYPE_PHONE, "12", "too few"},
        {KEYTYPE_PHONE, "1234567890123456", "too many"},
        {KEYTYPE_EMAIL, "bob@", "no domain"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        keytype_reader r = {.type = cases[i].type};
        keytype_key key;
        assert_int_equal(keytype_read(&r, bytes_of(cases[i].line), &key), KEYTYPE_MALFORMED);
        if (!strstr(r.why, cases[i].advice))
            fail_msg("'%s': '%s' lacks '%s'", cases[i].line, r.why, cases[i].advice);
        keytype_reader_free(&r);
    }
}

static void comments_are_no_keys(void **state) {
    static const struct {
        keytype type;
        const char *line;
        keytype_result plain, commented;
    } cases[] = {
        {KEYTYPE_IP, "# blocks", KEYTYPE_MALFORMED, KEYTYPE_BLANK},
        {KEYTYPE_IP, "  ; blocks", KEYTYPE_MALFORMED, KEYTYPE_BLANK},
        {KEYTYPE_IP, "192.0.2.0/24 ; SBL1", KEYTYPE_MALFORMED, KEYTYPE_KEY},
        {KEYTYPE_IP, "192.0.2.1\t# spam", KEYTYPE_MALFORMED, KEYTYPE_KEY},
        {KEYTYPE_IP, "192.0.2.1#spam", KEYTYPE_MALFORMED, KEYTYPE_MALFORMED},
        {KEYTYPE_URL, "http://example.com/#top", KEYTYPE_KEY, KEYTYPE_KEY},
        {KEYTYPE_LINE, "# text", KEYTYPE_KEY, KEYTYPE_BLANK},
        {KEYTYPE_LINE, "; text", KEYTYPE_KEY, KEYTYPE_KEY},
        {KEYTYPE_LINE, "text # more", KEYTYPE_KEY, KEYTYPE_KEY},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        keytype_reader r = {.type = cases[i].type};
        keytype_key key;
        assert_int_equal(keytype_read(&r, bytes_of(cases[i].line), &key), cases[i].plain);
        r.comments = true;
        assert_int_equal(keytype_read(&r, bytes_of(cases[i].line), &key), cases[i].commented);
        if (cases[i].type == KEYTYPE_LINE && cases[i].commented == KEYTYPE_KEY)
            assert_int_equal(key.bytes.size, strlen(cases[i].line));
        keytype_reader_free(&r);
    }
}

static void records_keep_their_carriage_return(void **state) {
    keytype_reader r = {.type = KEYTYPE_LINE, .exact = true};
    keytype_key key;
    (void)state;
    assert_int_equal(keytype_read(&r, bytes_of("text\r"), &key), KEYTYPE_KEY);
    assert_int_equal(key.bytes.size, 5);
}

/* Bytes that a program may ask the filter for itself. */
static void ip_keys_are_network_bytes(void **state) {
    static const struct {
        const char *line, *bytes;
        size_t size;
        unsigned level;
    } cases[] = {
        {"192.0.2.1", "\xC0\x00\x02\x01", 4, 32},
        {"192.0.2.0/24", "\xC0\x00\x02\x00\x18", 5, 24},
        {"2001:db8::1", "\x20\x01\x0D\xB8\0\0\0\0\0\0\0\0\0\0\0\x01", 16, KEYTYPE_V6 + 128},
        {"2001:db8::/32", "\x20\x01\x0D\xB8\0\0\0\0\0\0\0\0\0\0\0\0\x20", 17, KEYTYPE_V6 + 32},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        keytype_reader r = {.type = KEYTYPE_IP};
        keytype_key key;
        assert_int_equal(keytype_read(&r, bytes_of(cases[i].line), &key), KEYTYPE_KEY);
        assert_int_equal(key.bytes.size, cases[i].size);
        assert_memory_equal(key.bytes.data, cases[i].bytes, cases[i].size);
        assert_int_equal(key.level, cases[i].level);
    }
}

/* Any bytes: no crash, and what is taken is its own spelling. */
static void any_bytes_are_read_safely(void **state) {
    static const char alphabet[] = "0123456789abcfABF.:/@-+()[]*%<>_ \t\r#;\"x\xC3\xA4\x80\xFF";
    uint64_t seed = 1;
    (void)state;
    for (int round = 0; round < 200000 / BLYT_SLOW; round++) {
        char text[64], room[KEYTYPE_TEXT], again[KEYTYPE_TEXT];
        size_t size = blyt_next(&seed) % sizeof text;
        keytype type = (keytype)(KEYTYPE_IP + blyt_next(&seed) % 6);
        for (size_t i = 0; i < size; i++)
            text[i] = alphabet[blyt_next(&seed) % (sizeof alphabet)];
        keytype_reader r = {.type = type}, s = {.type = type, .exact = true};
        keytype_key key, other;
        char *copy = malloc(size ? size : 1);
        memcpy(copy, text, size);
        if (keytype_read(&r, (bly_bytes){copy, size}, &key) == KEYTYPE_KEY) {
            bly_bytes words = keytype_words(type, key.bytes, room);
            memcpy(again, words.data, words.size);
            assert_int_equal(keytype_read(&s, (bly_bytes){again, words.size}, &other), KEYTYPE_KEY);
            assert_int_equal(other.bytes.size, key.bytes.size);
            assert_memory_equal(other.bytes.data, key.bytes.data, key.bytes.size);
            assert_int_equal(other.level, key.level);
        }
        free(copy);
        keytype_reader_free(&r);
        keytype_reader_free(&s);
    }
}

/* ---- quoting --------------------------------------------------------------------------------- */

static void quoting_is_safe(void **state) {
    char out[KEYTYPE_QUOTE], text[200];
    (void)state;
    assert_string_equal(keytype_quote(bytes_of("plain"), out), "plain");
    assert_string_equal(keytype_quote(bytes_of("\033[31mred\x7F"), out), "\\x1b[31mred\\x7f");
    assert_string_equal(keytype_quote(bytes_of("\xC2\x9B"
                                               "2J \xC3\xA4"),
                                      out),
                        "\\xc2\x9B"
                        "2J \xC3\xA4");
    memset(text, 1, sizeof text);
    (void)keytype_quote((bly_bytes){text, sizeof text}, out);
    assert_int_equal(strlen(out), 60 * 4 + 3);
    memset(text, 'a', sizeof text);
    text[59] = '\xC3'; /* the cut must not fall between these two */
    text[60] = '\xA4';
    (void)keytype_quote((bly_bytes){text, sizeof text}, out);
    assert_int_equal(strlen(out), 59 + 3);
}

/* ---- containment ----------------------------------------------------------------------------- */

static void assert_tries(keytype type, const char *line, const keytype_levels *present,
                         const char *wanted) {
    keytype_reader r = {.type = type};
    keytype_key key;
    keytype_tries *tries = malloc(sizeof *tries);
    char seen[4096] = "", room[KEYTYPE_TEXT];
    assert_int_equal(keytype_read(&r, bytes_of(line), &key), KEYTYPE_KEY);
    keytype_widen(type, &key, present, tries);
    for (size_t i = 0; i < tries->count; i++) {
        bly_bytes words = keytype_words(type, tries->keys[i], room);
        (void)snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s%.*s", i ? " " : "",
                       (int)words.size, (const char *)words.data);
    }
    assert_string_equal(seen, wanted);
    free(tries);
    keytype_reader_free(&r);
}

static void what_contains_a_key_is_tried(void **state) {
    keytype_levels two = {{0}}, blocks = {{0}}, none = {{0}}, all = keytype_levels_all();
    (void)state;
    keytype_levels_add(&two, 2);
    keytype_levels_add(&two, 3);
    assert_tries(KEYTYPE_DOMAIN, "a.b.example.com", &two, "b.example.com example.com");
    assert_tries(KEYTYPE_DOMAIN, "example.com", &two, "example.com");
    assert_tries(KEYTYPE_DOMAIN, "com", &two, "");
    assert_tries(KEYTYPE_DOMAIN, "a.example.com", &all, "a.example.com example.com com");
    assert_tries(KEYTYPE_DOMAIN, "a.example.com", &none, "");
    keytype_levels_add(&blocks, 0);
    keytype_levels_add(&blocks, 9);
    keytype_levels_add(&blocks, 32);
    keytype_levels_add(&blocks, KEYTYPE_V6 + 29);
    keytype_levels_add(&blocks, KEYTYPE_V6 + 128);
    assert_tries(KEYTYPE_IP, "10.255.0.1", &blocks, "10.255.0.1 10.128.0.0/9 0.0.0.0/0");
    assert_tries(KEYTYPE_IP, "10.255.0.0/16", &blocks, "10.128.0.0/9 0.0.0.0/0");
    assert_tries(KEYTYPE_IP, "10.0.0.0/8", &blocks, "0.0.0.0/0");
    assert_tries(KEYTYPE_IP, "2001:dbf::1", &blocks, "2001:dbf::1 2001:db8::/29");
    assert_tries(KEYTYPE_IP, "::ffff:10.0.0.1", &blocks, "10.0.0.1 10.0.0.0/9 0.0.0.0/0");
    assert_tries(KEYTYPE_PHONE, "+49 30 1234", &none, "+49301234");
    assert_tries(KEYTYPE_EMAIL, "bob@www.example.com", &two, "bob@www.example.com");
    assert_int_equal(keytype_most_tries(KEYTYPE_DOMAIN, &two), 2);
    assert_int_equal(keytype_most_tries(KEYTYPE_DOMAIN, &none), 1);
    assert_int_equal(keytype_most_tries(KEYTYPE_IP, &blocks), 3);
    assert_int_equal(keytype_most_tries(KEYTYPE_URL, &two), 1);
}

/* The most there can be. */
static void the_longest_rows_of_tries_fit(void **state) {
    keytype_levels all = keytype_levels_all();
    keytype_reader r = {.type = KEYTYPE_IP};
    keytype_tries *tries = malloc(sizeof *tries);
    keytype_key key;
    char name[254] = "";
    (void)state;
    assert_int_equal(keytype_read(&r, bytes_of("2001:db8::1"), &key), KEYTYPE_KEY);
    keytype_widen(KEYTYPE_IP, &key, &all, tries);
    assert_int_equal(tries->count, KEYTYPE_TRIES);
    for (size_t i = 0; i < 253; i++)
        name[i] = i % 2 ? '.' : 'a';
    r.type = KEYTYPE_DOMAIN;
    assert_int_equal(keytype_read(&r, bytes_of(name), &key), KEYTYPE_KEY);
    assert_int_equal(key.level, 127);
    keytype_widen(KEYTYPE_DOMAIN, &key, &all, tries);
    assert_int_equal(tries->count, 127);
    free(tries);
    keytype_reader_free(&r);
}

/* ---- marks ----------------------------------------------------------------------------------- */

static bly_filter *filter_for(uint64_t keys) {
    bly_filter *f;
    assert_ok(bly_blocked_create(keys, 0.01, &f));
    return f;
}

static void lists_know_themselves(void **state) {
    (void)state;
    for (int type = KEYTYPE_IP; type <= KEYTYPE_LINE; type++) {
        keytype_levels levels = {{0}}, seen;
        bly_filter *f = filter_for(2000);
        keytype_levels_add(&levels, 2);
        keytype_levels_add(&levels, 24);
        if (type == KEYTYPE_IP)
            keytype_levels_add(&levels, KEYTYPE_V6 + 48);
        assert_ok(keytype_mark(f, (keytype)type, &levels));
        assert_true(bly_filter_count(f) <= keytype_mark_count((keytype)type, &levels));
        assert_true(bly_filter_count(f) + 1 >= keytype_mark_count((keytype)type, &levels));
        for (int i = 0; i < 1000; i++)
            assert_ok(bly_filter_add(f, &i, sizeof i, NULL));
        assert_int_equal(keytype_recognise(f, &seen), type);
        bool leveled = type == KEYTYPE_IP || type == KEYTYPE_DOMAIN;
        keytype_levels wanted = leveled ? levels : (keytype_levels){{0}};
        assert_memory_equal(&seen, &wanted, sizeof seen);
        bly_filter_destroy(f);
    }
}

/* More than any list may need: all levels at once. */
static void all_levels_are_remembered(void **state) {
    keytype_levels all = {{0}}, seen;
    bly_filter *f = filter_for(4000);
    (void)state;
    for (unsigned i = 0; i <= 32; i++)
        keytype_levels_add(&all, i);
    for (unsigned i = 0; i <= 128; i++)
        keytype_levels_add(&all, KEYTYPE_V6 + i);
    assert_int_equal(keytype_mark_count(KEYTYPE_IP, &all), 16 + 4 * (33 + 129));
    assert_ok(keytype_mark(f, KEYTYPE_IP, &all));
    assert_int_equal(keytype_recognise(f, &seen), KEYTYPE_IP);
    for (unsigned i = 0; i <= 128; i++)
        assert_true(keytype_levels_have(&seen, KEYTYPE_V6 + i) &&
                    (i > 32 || keytype_levels_have(&seen, i)));
    bly_filter_destroy(f);
}

static void two_types_are_none(void **state) {
    keytype_levels levels = {{0}}, seen;
    bly_filter *f = filter_for(100);
    (void)state;
    keytype_levels_add(&levels, 2);
    assert_ok(keytype_mark(f, KEYTYPE_DOMAIN, &levels));
    assert_ok(keytype_mark(f, KEYTYPE_EMAIL, &levels));
    assert_int_equal(keytype_recognise(f, &seen), KEYTYPE_NONE);
    assert_int_equal(keytype_marks_in(f), 0);
    seen = keytype_recognise_levels(f, KEYTYPE_DOMAIN);
    assert_true(keytype_levels_have(&seen, 2) && !keytype_levels_have(&seen, 3));
    seen = keytype_recognise_levels(f, KEYTYPE_IP); /* none is marked: all are tried */
    assert_true(keytype_levels_have(&seen, 32) && keytype_levels_have(&seen, KEYTYPE_V6));
    bly_filter_destroy(f);
}

/* A list far away: questions come together, and may go without an answer. */
typedef struct far_list {
    bly_filter *filter;
    unsigned calls, answered;
} far_list;

static bool ask_far(void *ctx, const bly_bytes *keys, size_t n, uint8_t *found) {
    far_list *list = ctx;
    if (list->calls++ == list->answered)
        return false;
    (void)bly_filter_contains_many(list->filter, keys, n, found);
    return true;
}

static void lists_far_away_are_recognised(void **state) {
    keytype_levels levels = {{0}}, seen;
    keytype type;
    (void)state;
    far_list list = {filter_for(2000), 0, UINT_MAX};
    keytype_levels_add(&levels, 24);
    keytype_levels_add(&levels, KEYTYPE_V6 + 128);
    assert_ok(keytype_mark(list.filter, KEYTYPE_IP, &levels));
    assert_true(keytype_recognise_by(ask_far, &list, &type, &seen));
    assert_int_equal(type, KEYTYPE_IP);
    assert_memory_equal(&seen, &levels, sizeof seen);
    const unsigned calls = list.calls;
    assert_true(calls <= 5);
    for (unsigned i = 0; i < calls; i++) {
        list.calls = 0;
        list.answered = i;
        assert_false(keytype_recognise_by(ask_far, &list, &type, &seen));
    }
    list.calls = list.answered = 0;
    assert_false(keytype_recognise_levels_by(ask_far, &list, KEYTYPE_IP, &seen));
    bly_filter_destroy(list.filter);
}

/* Published in the documentation: they never change. */
static void marks_are_these_keys(void **state) {
    static const char type[] = "\0bloomery\0type\0domain\0a";
    static const char level[] = "\0bloomery\0level\0labels/2\0d";
    keytype_levels levels = {{0}};
    bly_filter *f = filter_for(1000);
    (void)state;
    keytype_levels_add(&levels, 2);
    assert_ok(keytype_mark(f, KEYTYPE_DOMAIN, &levels));
    assert_int_equal(bly_filter_count(f), 20);
    assert_int_equal(keytype_marks_in(f), 20);
    assert_true(bly_filter_contains(f, type, sizeof type - 1));
    assert_true(bly_filter_contains(f, level, sizeof level - 1));
    bly_filter_destroy(f);
}

/* ---- gathering keys -------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
    const bly_hash *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    return x->hi < y->hi ? -1 : x->hi > y->hi;
}

static void assert_sorted_like(build_keys *k, size_t n) {
    bly_hash *wanted = malloc(n * sizeof *wanted);
    size_t distinct = 0;
    memcpy(wanted, k->hashes, n * sizeof *wanted);
    qsort(wanted, n, sizeof *wanted, by_value);
    for (size_t i = 0; i < n; i++)
        if (distinct == 0 || by_value(&wanted[distinct - 1], &wanted[i]) != 0)
            wanted[distinct++] = wanted[i];
    assert_int_equal(build_keys_settle(k), n - distinct);
    assert_int_equal(k->count, distinct);
    assert_memory_equal(k->hashes, wanted, distinct * sizeof *wanted);
    for (size_t i = 0; i < distinct; i++)
        assert_true(build_keys_have(k, wanted[i]));
    free(wanted);
}

/* Few different values, values that differ in the last byte alone, and any values. */
static void hashes_are_sorted_and_repeats_dropped(void **state) {
    static const uint64_t masks[][2] = {
        {0, 0}, {7, 0}, {0, 0xFF}, {0xFF00, 1}, {~UINT64_C(0), ~UINT64_C(0)}};
    const size_t sizes[] = {1, 2, 31, 32, 33, 1000, 100000 / BLYT_SLOW};
    uint64_t seed = 7;
    (void)state;
    for (size_t m = 0; m < COUNT_OF(masks); m++)
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            build_keys k = {0};
            for (size_t i = 0; i < sizes[s]; i++) {
                bly_hash h = {blyt_next(&seed) & masks[m][0], blyt_next(&seed) & masks[m][1]};
                assert_true(build_keys_add(&k, (bly_bytes){NULL, 0}, h));
            }
            assert_sorted_like(&k, sizes[s]);
            build_keys_free(&k);
        }
}

static void kept_keys_are_hashed_again(void **state) {
    bly_hasher first, second;
    build_keys k = {.keep = true};
    (void)state;
    assert_ok(bly_hasher_init(&first, BLY_HASH_XXH3, 1));
    assert_ok(bly_hasher_init(&second, BLY_HASH_XXH3, 2));
    for (unsigned i = 0; i < 3000; i++) {
        unsigned key = i % 2000;
        bly_bytes bytes = {&key, i % 3 ? sizeof key : 0};
        assert_true(build_keys_add(&k, bytes, bly_hash_key(&first, bytes.data, bytes.size)));
    }
    (void)build_keys_settle(&k);
    size_t count = k.count;
    build_keys_rehash(&k, &second);
    assert_int_equal(k.count, count);
    for (unsigned key = 0; key < 4000; key++) {
        bool there = key < 2000 && (key % 3 || (key < 1000 && (key + 2000) % 3));
        bly_bytes bytes = {&key, sizeof key};
        assert_int_equal(build_keys_hold(&k, bytes), there);
        assert_int_equal(build_keys_have(&k, bly_hash_key(&second, &key, sizeof key)), there);
        assert_false(build_keys_have(&k, bly_hash_key(&first, &key, sizeof key)));
    }
    assert_true(build_keys_hold(&k, (bly_bytes){"", 0}));
    build_keys_free(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_has_its_key),
        cmocka_unit_test(keys_are_their_own_spelling),
        cmocka_unit_test(malformed_lines_get_advice),
        cmocka_unit_test(comments_are_no_keys),
        cmocka_unit_test(records_keep_their_carriage_return),
        cmocka_unit_test(ip_keys_are_network_bytes),
        cmocka_unit_test(any_bytes_are_read_safely),
        cmocka_unit_test(quoting_is_safe),
        cmocka_unit_test(what_contains_a_key_is_tried),
        cmocka_unit_test(the_longest_rows_of_tries_fit),
        cmocka_unit_test(lists_know_themselves),
        cmocka_unit_test(all_levels_are_remembered),
        cmocka_unit_test(two_types_are_none),
        cmocka_unit_test(lists_far_away_are_recognised),
        cmocka_unit_test(marks_are_these_keys),
        cmocka_unit_test(hashes_are_sorted_and_repeats_dropped),
        cmocka_unit_test(kept_keys_are_hashed_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
