/* Lines of lists of addresses, numbers and names: one thing is one key however it is spelled, and
 * what is not of the type is refused with advice, and quoted safely. test_keytype_lists.c has the
 * lists. */
#include "support.h"

#include "keytype.h"

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
        assert_int_equal(keytype_read(&r, blyt_text(cases[i].line), &key), KEYTYPE_MALFORMED);
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
        assert_int_equal(keytype_read(&r, blyt_text(cases[i].line), &key), cases[i].plain);
        r.comments = true;
        assert_int_equal(keytype_read(&r, blyt_text(cases[i].line), &key), cases[i].commented);
        if (cases[i].type == KEYTYPE_LINE && cases[i].commented == KEYTYPE_KEY)
            assert_int_equal(key.bytes.size, strlen(cases[i].line));
        keytype_reader_free(&r);
    }
}

static void records_keep_their_carriage_return(void **state) {
    keytype_reader r = {.type = KEYTYPE_LINE, .exact = true};
    keytype_key key;
    (void)state;
    assert_int_equal(keytype_read(&r, blyt_text("text\r"), &key), KEYTYPE_KEY);
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
        assert_int_equal(keytype_read(&r, blyt_text(cases[i].line), &key), KEYTYPE_KEY);
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
    assert_string_equal(keytype_quote(blyt_text("plain"), out), "plain");
    assert_string_equal(keytype_quote(blyt_text("\033[31mred\x7F"), out), "\\x1b[31mred\\x7f");
    assert_string_equal(keytype_quote(blyt_text("\xC2\x9B"
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
