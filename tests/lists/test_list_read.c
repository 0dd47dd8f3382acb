/* Reading lines of typed lists: all spellings of an entry give the same key, and a line of another
 * type is refused with advice. test_list_marks.c tests the lists. */
#include "support.h"

#include "lists/idn.h"
#include "lists/list_reader.h"

/* The outcome of reading a line. */
typedef enum outcome { KEY, BLANK, MALFORMED } outcome;

/* Reads a line. The key stays valid during the next call, so that two keys can be compared. */
static outcome read_text(bly_list_type type, uint32_t flags, bly_bytes line, bly_list_key *out) {
    static bly_list_reader *readers[2]; /* used in turn */
    static unsigned calls;
    bly_list_reader **r = &readers[calls++ % 2];
    bly_list_reader_destroy(*r);
    assert_ok(bly_list_reader_create(r));
    const bly_status status = bly_list_read(*r, type, flags, line.data, line.size, out);
    if (status == BLY_OK)
        return out->blank ? BLANK : KEY;
    assert_int_equal(status, BLY_EINVAL);
    const char *reason = bly_list_reader_reason(*r);
    assert_true(strlen(reason) > 5 && strlen(reason) < BLYI_LIST_REASON - 1);
    out->bytes = (bly_bytes){reason, strlen(reason)};
    return MALFORMED;
}

static bool have_idn(void) {
    char out[BLYI_IDN_ROOM];
    return blyi_idn_to_ascii("\xC3\xA9", out) != BLYI_IDN_ABSENT;
}

/* ---- canonical forms ------------------------------------------------------------------------- */

typedef struct spelling {
    bly_list_type type;
    const char *line;
    const char *words; /* the key as text; NULL: the line is malformed; "": it is blank */
} spelling;

static const spelling spellings[] = {
    {BLY_LIST_IP, "192.0.2.1", "192.0.2.1"},
    {BLY_LIST_IP, " \t192.0.2.1 \r", "192.0.2.1"},
    {BLY_LIST_IP, "\xEF\xBB\xBF 192.0.2.1", "192.0.2.1"}, /* a byte order mark */
    {BLY_LIST_IP, "\xEF\xBB\xBF", ""},
    {BLY_LIST_IP, "\xEF\xBB", NULL},
    {BLY_LIST_IP, "192.0.2.1\xEF\xBB\xBF", NULL},
    {BLY_LIST_PHONE, "\xEF\xBB\xBF+49 30 901820", "+4930901820"},
    {BLY_LIST_EMAIL, "\xEF\xBB\xBF<Bob@Example.org>", "bob@example.org"},
    {BLY_LIST_DOMAIN, "\xEF\xBB\xBF*.Example.org", "example.org"},
    {BLY_LIST_URL, "\xEF\xBB\xBFhttp://example.org/", "http://example.org/"},
    {BLY_LIST_LINE, "\xEF\xBB\xBFline", "\xEF\xBB\xBFline"},
    {BLY_LIST_IP, "192.0.2.1/32", "192.0.2.1"},
    {BLY_LIST_IP, "::ffff:192.0.2.1", "192.0.2.1"},
    {BLY_LIST_IP, "::FFFF:c000:201", "192.0.2.1"},
    {BLY_LIST_IP, "0:0:0:0:0:ffff:192.0.2.1/128", "192.0.2.1"},
    {BLY_LIST_IP, "[::ffff:192.0.2.1]", "192.0.2.1"},
    {BLY_LIST_IP, "::ffff:192.0.2.0/120", "192.0.2.0/24"},
    {BLY_LIST_IP, "::ffff:0:0/96", "0.0.0.0/0"},
    {BLY_LIST_IP, "0.0.0.0/0", "0.0.0.0/0"},
    {BLY_LIST_IP, "10.128.0.0/9", "10.128.0.0/9"},
    {BLY_LIST_IP, "10.0.0.254/31", "10.0.0.254/31"},
    {BLY_LIST_IP, "2001:DB8:0:0:0:0:0:1", "2001:db8::1"},
    {BLY_LIST_IP, "2001:db8::1/128", "2001:db8::1"},
    {BLY_LIST_IP, "[2001:db8::1]", "2001:db8::1"},
    {BLY_LIST_IP, "2001:db8::/33", "2001:db8::/33"},
    {BLY_LIST_IP, "::/0", "::/0"},
    {BLY_LIST_IP, "::1", "::1"},
    {BLY_LIST_IP, "::192.0.2.1", "::192.0.2.1"},
    {BLY_LIST_IP, "", ""},
    {BLY_LIST_IP, " \t ", ""},
    {BLY_LIST_IP, "192.0.2", NULL},
    {BLY_LIST_IP, "192.0.2.256", NULL},
    {BLY_LIST_IP, "192.0.02.1", NULL},
    {BLY_LIST_IP, "0x7f.1", NULL},
    {BLY_LIST_IP, "192.0.2.1.", NULL},
    {BLY_LIST_IP, "192.0.2.1:80", NULL},
    {BLY_LIST_IP, "[192.0.2.1]", NULL},
    {BLY_LIST_IP, "[]", NULL},
    {BLY_LIST_IP, "[::1", NULL},
    {BLY_LIST_IP, "fe80::1%eth0", NULL},
    {BLY_LIST_IP, "1::2::3", NULL},
    {BLY_LIST_IP, "12345::", NULL},
    {BLY_LIST_IP, "192.0.2.1/33", NULL},
    {BLY_LIST_IP, "2001:db8::/129", NULL},
    {BLY_LIST_IP, "192.0.2.0/", NULL},
    {BLY_LIST_IP, "192.0.2.0/+24", NULL},
    {BLY_LIST_IP, "192.0.2.0/024", NULL},
    {BLY_LIST_IP, "192.0.2.0/24/24", NULL},
    {BLY_LIST_IP, "192.0.2.0/255.255.255.0", NULL},
    {BLY_LIST_IP, "192.0.2.1/24", NULL},
    {BLY_LIST_IP, "192.0.2.1/0", NULL},
    {BLY_LIST_IP, "2001:db8::1/32", NULL},
    {BLY_LIST_IP, "::ffff:192.0.2.0/95", NULL},
    {BLY_LIST_IP, "/24", NULL},
    {BLY_LIST_IP, "example.com", NULL},
    {BLY_LIST_IP, "1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17:18:19:20:21:22", NULL},

    {BLY_LIST_PHONE, "+49 30 901820", "+4930901820"},
    {BLY_LIST_PHONE, "+49 (0)30 90-18-20", "+4930901820"},
    {BLY_LIST_PHONE, "0049 (0) 30/901820", "+4930901820"},
    {BLY_LIST_PHONE, "(+49) 30.901820", "+4930901820"},
    {BLY_LIST_PHONE, "tel:+4930901820", "+4930901820"},
    {BLY_LIST_PHONE, "TEL:+49-30-901820", "+4930901820"},
    {BLY_LIST_PHONE, "030 901820", "030901820"},
    {BLY_LIST_PHONE, "(0)30 901820", "030901820"},
    {BLY_LIST_PHONE, "(030) 901820", "030901820"},
    {BLY_LIST_PHONE, "110", "110"},
    {BLY_LIST_PHONE, "+123456789012345", "+123456789012345"},
    {BLY_LIST_PHONE, "00123456789012345", "+123456789012345"},
    {BLY_LIST_PHONE, "00123", "+123"},
    {BLY_LIST_PHONE, "12", NULL},
    {BLY_LIST_PHONE, "0012", NULL},
    {BLY_LIST_PHONE, "+", NULL},
    {BLY_LIST_PHONE, "()", NULL},
    {BLY_LIST_PHONE, "+1234567890123456", NULL},
    {BLY_LIST_PHONE, "1234567890123456789012345678901234567890", NULL},
    {BLY_LIST_PHONE, "001234567890123456", NULL},
    {BLY_LIST_PHONE, "1-800-FLOWERS", NULL},
    {BLY_LIST_PHONE, "++49123", NULL},
    {BLY_LIST_PHONE, "49+123", NULL},
    {BLY_LIST_PHONE, "123 456 x7", NULL},
    {BLY_LIST_PHONE, "123\t456", NULL},

    {BLY_LIST_EMAIL, "bob@example.com", "bob@example.com"},
    {BLY_LIST_EMAIL, "Bob.Smith+Tag@Example.COM.", "bob.smith+tag@example.com"},
    {BLY_LIST_EMAIL, " <bob@example.com> ", "bob@example.com"},
    {BLY_LIST_EMAIL, "mailto:bob@example.com", "bob@example.com"},
    {BLY_LIST_EMAIL, "<MailTo:bob@example.com>", "bob@example.com"},
    {BLY_LIST_EMAIL, "root@localhost", "root@localhost"},
    {BLY_LIST_EMAIL, "\"a b\"@example.com", "\"a b\"@example.com"},
    {BLY_LIST_EMAIL, "\"a@b\"@example.com", "\"a@b\"@example.com"},
    {BLY_LIST_EMAIL, "bob", NULL},
    {BLY_LIST_EMAIL, "bob@", NULL},
    {BLY_LIST_EMAIL, "@example.com", NULL},
    {BLY_LIST_EMAIL, "@", NULL},
    {BLY_LIST_EMAIL, "<>", NULL},
    {BLY_LIST_EMAIL, "a@b@example.com", NULL},
    {BLY_LIST_EMAIL, "bob smith@example.com", NULL},
    {BLY_LIST_EMAIL, "Bob <bob@example.com>", NULL},
    {BLY_LIST_EMAIL, "bob@exa mple.com", NULL},
    {BLY_LIST_EMAIL, "bob@192.0.2.1", NULL},
    {BLY_LIST_EMAIL, "bob@[192.0.2.1]", NULL},
    {BLY_LIST_EMAIL, "bob@example..com", NULL},
    {BLY_LIST_EMAIL, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@b.de",
     NULL},
    {BLY_LIST_EMAIL, "a,b@example.com", NULL},

    {BLY_LIST_DOMAIN, "example.com", "example.com"},
    {BLY_LIST_DOMAIN, "Example.COM.", "example.com"},
    {BLY_LIST_DOMAIN, "*.example.com", "example.com"},
    {BLY_LIST_DOMAIN, ".example.com", "example.com"},
    {BLY_LIST_DOMAIN, " www.example.com\r", "www.example.com"},
    {BLY_LIST_DOMAIN, "_dmarc.example.com", "_dmarc.example.com"},
    {BLY_LIST_DOMAIN, "r3---sn-x.example.com", "r3---sn-x.example.com"},
    {BLY_LIST_DOMAIN, "XN--EXMPLE-CUA.de", "xn--exmple-cua.de"},
    {BLY_LIST_DOMAIN, "1.2.3.example", "1.2.3.example"},
    {BLY_LIST_DOMAIN, "3com", "3com"},
    {BLY_LIST_DOMAIN, "zip", "zip"},
    {BLY_LIST_DOMAIN, "http://example.com/", NULL},
    {BLY_LIST_DOMAIN, "example.com/path", NULL},
    {BLY_LIST_DOMAIN, "192.0.2.1", NULL},
    {BLY_LIST_DOMAIN, "192.0.2.0/24", NULL},
    {BLY_LIST_DOMAIN, "127.1", NULL},
    {BLY_LIST_DOMAIN, "0x7f.1", NULL},
    {BLY_LIST_DOMAIN, "example.1", NULL},
    {BLY_LIST_DOMAIN, "::1", NULL},
    {BLY_LIST_DOMAIN, "bob@example.com", NULL},
    {BLY_LIST_DOMAIN, "example.com:80", NULL},
    {BLY_LIST_DOMAIN, "example..com", NULL},
    {BLY_LIST_DOMAIN, "example.com..", NULL},
    {BLY_LIST_DOMAIN, "..example.com", NULL},
    {BLY_LIST_DOMAIN, "*.*.example.com", NULL},
    {BLY_LIST_DOMAIN, "www.*.example.com", NULL},
    {BLY_LIST_DOMAIN, "||example.com^", NULL},
    {BLY_LIST_DOMAIN, "0.0.0.0 example.com", NULL},
    {BLY_LIST_DOMAIN, ".", NULL},
    {BLY_LIST_DOMAIN, "*.", NULL},
    {BLY_LIST_DOMAIN, "example%2ecom", NULL},
    {BLY_LIST_DOMAIN, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.de", NULL},

    {BLY_LIST_URL, "HTTP://Example.COM:80/a/../b#c", "http://example.com/b"},
    {BLY_LIST_URL, "http://example.com", "http://example.com/"},
    {BLY_LIST_URL, "example.com", NULL},

    {BLY_LIST_LINE, "Any  Line ", "Any  Line "},
    {BLY_LIST_LINE, " indented", " indented"},
    {BLY_LIST_LINE, "text\r", "text"},
    {BLY_LIST_LINE, "text\r\r", "text\r"},
    {BLY_LIST_LINE, "# text", "# text"},
    {BLY_LIST_LINE, "", ""},
    {BLY_LIST_LINE, "\r", ""},
    {BLY_LIST_LINE, " \t\r", ""},
};

static const spelling idn_spellings[] = {
    {BLY_LIST_DOMAIN, "ex\xC3\xA4mple.de", "xn--exmple-cua.de"},
    {BLY_LIST_DOMAIN, "EX\xC3\x84MPLE.DE", "xn--exmple-cua.de"},
    {BLY_LIST_DOMAIN, "exa\xCC\x88mple.de", "xn--exmple-cua.de"},
    {BLY_LIST_DOMAIN,
     "*.ex\xC3\xA4mple\xE3\x80\x82"
     "de\xE3\x80\x82",
     "xn--exmple-cua.de"},
    {BLY_LIST_EMAIL, "Bob@EX\xC3\x84MPLE.de", "bob@xn--exmple-cua.de"},
    {BLY_LIST_DOMAIN, "ex\xFFmple.de", NULL},
};

/* Returns a copy that ends where its allocation ends, so that a sanitizer reports reads past it. */
static bly_bytes copy_of(const char *text) {
    char *copy = malloc(strlen(text) + 1);
    memcpy(copy, text, strlen(text));
    copy = realloc(copy, strlen(text) ? strlen(text) : 1);
    return (bly_bytes){copy, strlen(text)};
}

static void check_spelling(const spelling *s, bool exact) {
    bly_list_key key;
    char room[BLY_LIST_WORDS];
    bly_bytes line = copy_of(s->line);
    const outcome result = read_text(s->type, exact ? BLY_LIST_RECORDS : 0, line, &key);
    if (!s->words) {
        if (result != MALFORMED)
            fail_msg("'%s' was taken for a %s", s->line, bly_list_type_name(s->type));
    } else if (!*s->words) {
        assert_int_equal(result, BLANK);
    } else {
        if (result != KEY)
            fail_msg("'%s' is no %s", s->line, bly_list_type_name(s->type));
        bly_bytes words = bly_list_words(s->type, key.bytes, room);
        if (words.size != strlen(s->words) || memcmp(words.data, s->words, words.size) != 0)
            fail_msg("'%s' became '%.*s'", s->line, (int)words.size, (const char *)words.data);
    }
    free((void *)(uintptr_t)line.data);
}

static void every_spelling_has_its_key(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(spellings); i++)
        check_spelling(&spellings[i], false);
    for (size_t i = 0; have_idn() && i < COUNT_OF(idn_spellings); i++)
        check_spelling(&idn_spellings[i], false);
}

/* The text written for a key is read back as the same key. */
static void keys_are_their_own_spelling(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT_OF(spellings); i++)
        if (spellings[i].words)
            check_spelling(&(spelling){spellings[i].type, spellings[i].words, spellings[i].words},
                           true);
}

static void malformed_lines_get_advice(void **state) {
    static const struct {
        bly_list_type type;
        const char *line, *advice;
    } cases[] = {
        {BLY_LIST_IP, "10.0.0.5/24", "10.0.0.0/24"},
        {BLY_LIST_IP, "2001:db8::1/32", "2001:db8::/32"},
        {BLY_LIST_IP, "::ffff:10.0.0.5/120", "10.0.0.0/24"},
        {BLY_LIST_IP, "10.0.0.0/33", "at most 32"},
        {BLY_LIST_IP, "2001:db8::/129", "at most 128"},
        {BLY_LIST_DOMAIN, "http://example.com/", "type url"},
        {BLY_LIST_DOMAIN, "192.0.2.1", "type ip"},
        {BLY_LIST_DOMAIN, "192.0.2.0/24", "type ip"},
        {BLY_LIST_DOMAIN, "2001:db8::1", "type ip"},
        {BLY_LIST_DOMAIN, "bob@example.com", "type email"},
        {BLY_LIST_PHONE, "12", "too few"},
        {BLY_LIST_PHONE, "1234567890123456", "too many"},
        {BLY_LIST_EMAIL, "bob@", "no valid domain"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bly_list_key key;
        assert_int_equal(read_text(cases[i].type, 0, blyt_text(cases[i].line), &key), MALFORMED);
        if (!strstr(key.bytes.data, cases[i].advice))
            fail_msg("'%s': '%s' lacks '%s'", cases[i].line, (const char *)key.bytes.data,
                     cases[i].advice);
    }
}

/* The key of a subdomain ends in the key of its parent, because lists look up parents. */
static void names_end_in_the_key_of_their_parent(void **state) {
    static const char *const parents[] = {
        "example.com",     "stra\303\237e.example", "\xCE\xB2\xCF\x8C\xCE\xBB\xCE\xBF\xCF\x82.gr",
        "xn--53h.example", "\xE2\x98\x95.example",  "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D.example",
        "ab--c.example",   "B\303\234CHER.example",
    };
    static const char *const labels[] = {
        "www", "\xE2\x98\x95", "\xC3\xA9", "stra\303\237e",    "-a",       "ab--cd", "xn--bad",
        "1",   "\xE4\xBE\x8B", "_dmarc",   "\xF0\x9F\x92\xA9", "\xD7\xA9",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(parents); i++) {
        for (size_t j = 0; j < COUNT_OF(labels); j++) {
            char name[64];
            bly_list_key parent, key;
            (void)snprintf(name, sizeof name, "%s.%s", labels[j], parents[i]);
            const outcome of_parent = read_text(BLY_LIST_DOMAIN, 0, blyt_text(parents[i]), &parent);
            const outcome of_name = read_text(BLY_LIST_DOMAIN, 0, blyt_text(name), &key);
            if (!have_idn() && (of_parent == MALFORMED || of_name == MALFORMED))
                continue;
            assert_int_equal(of_parent, KEY);
            assert_int_equal(of_name, KEY);
            assert_true(key.bytes.size > parent.bytes.size);
            const char *tail = (const char *)key.bytes.data + key.bytes.size - parent.bytes.size;
            assert_memory_equal(tail, parent.bytes.data, parent.bytes.size);
            assert_int_equal(tail[-1], '.');
            assert_int_equal(key.level, parent.level + 1);
        }
    }
}

static void comments_are_no_keys(void **state) {
    static const struct {
        bly_list_type type;
        const char *line;
        outcome plain, commented;
    } cases[] = {
        {BLY_LIST_IP, "# blocks", MALFORMED, BLANK},
        {BLY_LIST_IP, "  ; blocks", MALFORMED, BLANK},
        {BLY_LIST_IP, "192.0.2.0/24 ; SBL1", MALFORMED, KEY},
        {BLY_LIST_IP, "192.0.2.1\t# spam", MALFORMED, KEY},
        {BLY_LIST_IP, "192.0.2.1#spam", MALFORMED, MALFORMED},
        {BLY_LIST_URL, "http://example.com/#top", KEY, KEY},
        {BLY_LIST_LINE, "# text", KEY, BLANK},
        {BLY_LIST_LINE, "; text", KEY, KEY},
        {BLY_LIST_LINE, "text # more", KEY, KEY},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const bly_bytes line = blyt_text(cases[i].line);
        bly_list_key key;
        assert_int_equal(read_text(cases[i].type, 0, line, &key), cases[i].plain);
        assert_int_equal(read_text(cases[i].type, BLY_LIST_COMMENTS, line, &key),
                         cases[i].commented);
        if (cases[i].type == BLY_LIST_LINE && cases[i].commented == KEY)
            assert_int_equal(key.bytes.size, strlen(cases[i].line));
    }
}

static void records_keep_their_carriage_return(void **state) {
    bly_list_key key;
    (void)state;
    assert_int_equal(read_text(BLY_LIST_LINE, BLY_LIST_RECORDS, blyt_text("text\r"), &key), KEY);
    assert_int_equal(key.bytes.size, 5);
    assert_int_equal(read_text(BLY_LIST_LINE, BLY_LIST_KEEP_RETURN, blyt_text("text\r"), &key),
                     KEY);
    assert_int_equal(key.bytes.size, 5);
    assert_int_equal(read_text(BLY_LIST_LINE, BLY_LIST_KEEP_RETURN, blyt_text(" \r"), &key), BLANK);
    assert_int_equal(read_text(BLY_LIST_LINE, BLY_LIST_RECORDS, blyt_text(" \r"), &key), KEY);
    assert_int_equal(read_text(BLY_LIST_LINE, BLY_LIST_RECORDS, blyt_text(""), &key), BLANK);
    assert_int_equal(read_text(BLY_LIST_LINE, BLY_LIST_BLANK_KEYS, blyt_text(" \r"), &key), KEY);
    assert_int_equal(key.bytes.size, 1);
}

/* These bytes are documented, so that a program may compute them itself and look them up. */
static void ip_keys_are_network_bytes(void **state) {
    static const struct {
        const char *line, *bytes;
        size_t size;
        unsigned level;
    } cases[] = {
        {"192.0.2.1", "\xC0\x00\x02\x01", 4, 32},
        {"192.0.2.0/24", "\xC0\x00\x02\x00\x18", 5, 24},
        {"2001:db8::1", "\x20\x01\x0D\xB8\0\0\0\0\0\0\0\0\0\0\0\x01", 16, BLY_LIST_V6 + 128},
        {"2001:db8::/32", "\x20\x01\x0D\xB8\0\0\0\0\0\0\0\0\0\0\0\0\x20", 17, BLY_LIST_V6 + 32},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bly_list_key key;
        assert_int_equal(read_text(BLY_LIST_IP, 0, blyt_text(cases[i].line), &key), KEY);
        assert_int_equal(key.bytes.size, cases[i].size);
        assert_memory_equal(key.bytes.data, cases[i].bytes, cases[i].size);
        assert_int_equal(key.level, cases[i].level);
    }
}

/* Reading any bytes does not crash. If a key is accepted, the text written for that key is read
 * back as the same key. */
static void any_bytes_are_read_safely(void **state) {
    static const char alphabet[] = "0123456789abcfABF.:/@-+()[]*%<>_ \t\r#;\"x\xC3\xA4\x80\xFF";
    uint64_t seed = 1;
    (void)state;
    for (int round = 0; round < 200000 / BLYT_SLOW; round++) {
        char text[64], room[BLY_LIST_WORDS], again[BLYI_LIST_TEXT];
        size_t size = blyt_next(&seed) % sizeof text;
        bly_list_type type = (bly_list_type)(BLY_LIST_IP + blyt_next(&seed) % 6);
        for (size_t i = 0; i < size; i++)
            text[i] = alphabet[blyt_next(&seed) % (sizeof alphabet)];
        bly_list_key key, other;
        char *copy = malloc(size ? size : 1);
        memcpy(copy, text, size);
        if (read_text(type, 0, (bly_bytes){copy, size}, &key) == KEY) {
            bly_bytes words = bly_list_words(type, key.bytes, room);
            memcpy(again, words.data, words.size);
            assert_int_equal(
                read_text(type, BLY_LIST_RECORDS, (bly_bytes){again, words.size}, &other), KEY);
            assert_int_equal(other.bytes.size, key.bytes.size);
            assert_memory_equal(other.bytes.data, key.bytes.data, key.bytes.size);
            assert_int_equal(other.level, key.level);
        }
        free(copy);
    }
}

/* ---- without libidn2 ------------------------------------------------------------------------- */

static void other_letters_need_libidn2(void **state) {
    static const char reason[] =
        "non-ASCII host name; this build has no libidn2: write it in ASCII "
        "(xn--...)";
    static const struct {
        bly_list_type type;
        const char *line;
    } cases[] = {
        {BLY_LIST_DOMAIN, "b\xC3\xBC"
                          "cher.example"},
        {BLY_LIST_DOMAIN, "*.b\xC3\xBC"
                          "cher.example"},
        {BLY_LIST_EMAIL, "bob@b\xC3\xBC"
                         "cher.example"},
        {BLY_LIST_URL, "http://b\xC3\xBC"
                       "cher.example/"},
        {BLY_LIST_URL, "http://b%C3%BCcher.example/"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bly_list_key key;
        const outcome result = read_text(cases[i].type, 0, blyt_text(cases[i].line), &key);
        assert_int_equal(result, have_idn() ? KEY : MALFORMED);
        if (result == MALFORMED)
            assert_string_equal(key.bytes.data, reason);
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

static void types_have_names_and_rules(void **state) {
    (void)state;
    for (int type = BLY_LIST_IP; type <= BLY_LIST_OTHER; type++) {
        const char *name = bly_list_type_name((bly_list_type)type);
        assert_int_equal(bly_list_type_by_name(name), type);
        const bly_key_rule rule = bly_list_key_rule((bly_list_type)type);
        assert_int_not_equal(rule, BLY_KEYS_UNRECORDED);
        assert_int_equal(bly_list_type_of_rule(rule), type);
    }
    assert_null(bly_list_type_name(BLY_LIST_NONE));
    assert_null(bly_list_type_name((bly_list_type)11));
    assert_int_equal(bly_list_type_by_name("no type"), BLY_LIST_NONE);
    assert_int_equal(bly_list_key_rule((bly_list_type)99), BLY_KEYS_UNRECORDED);
    assert_int_equal(bly_list_type_of_rule((bly_key_rule)99), BLY_LIST_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_has_its_key),
        cmocka_unit_test(keys_are_their_own_spelling),
        cmocka_unit_test(malformed_lines_get_advice),
        cmocka_unit_test(names_end_in_the_key_of_their_parent),
        cmocka_unit_test(comments_are_no_keys),
        cmocka_unit_test(records_keep_their_carriage_return),
        cmocka_unit_test(ip_keys_are_network_bytes),
        cmocka_unit_test(any_bytes_are_read_safely),
        cmocka_unit_test(other_letters_need_libidn2),
        cmocka_unit_test(types_have_names_and_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
