/* test_url.c - canonical forms of URLs: the tables in tests/lists/url/, and properties that hold
 * for every text. Canonicalising a canonical form does not change it; the crawl form can be made
 * from the standard form; and the fast path gives the same result as the slow one. Allocation is
 * wrapped (-Wl,--wrap=realloc), so that tests can make it fail. */
#include "support.h"

#include "lists/idn.h"
#include "lists/url_text.h"

#include <sys/resource.h>

#ifndef BLYT_URL_DIR
#error "BLYT_URL_DIR must name tests/lists/url"
#endif

enum { MAX_COLUMNS = 8 };

static bool no_memory;

void *__real_realloc(void *data, size_t size);
void *__wrap_realloc(void *data, size_t size);
void *__wrap_realloc(void *data, size_t size) {
    return no_memory ? NULL : __real_realloc(data, size);
}

static bool have_idn(void) {
    char out[BLYI_IDN_ROOM];
    return blyi_idn_to_ascii("\xC3\xA9", out) != BLYI_IDN_ABSENT;
}

/* ---- tables --------------------------------------------------------------------------------- */

typedef struct row {
    const char *file;
    int line;
    int columns;
    bly_bytes column[MAX_COLUMNS];
} row;

typedef void (*row_test)(const row *r);

/* Replaces each \xNN by its byte, in place. Returns the size. */
static size_t unescape(char *text) {
    char *out = text;
    for (const char *at = text; *at != 0;) {
        unsigned byte;
        if (at[0] == '\\' && sscanf(at, "\\x%2x", &byte) == 1) {
            *out++ = (char)byte;
            at += 4;
        } else {
            *out++ = *at++;
        }
    }
    return (size_t)(out - text);
}

static void split(row *r, char *line) {
    r->columns = 0;
    for (char *at = line, *tab; at != NULL; at = tab) {
        assert_true(r->columns < MAX_COLUMNS);
        tab = strchr(at, '\t');
        if (tab != NULL)
            *tab++ = 0;
        r->column[r->columns++] = (bly_bytes){at, unescape(at)};
    }
}

/* Runs a test on every row of a table. Returns the number of rows. */
static int each_row(const char *name, row_test test) {
    char path[4096], line[4096];
    int rows = 0;
    row r = {.file = name};
    (void)snprintf(path, sizeof path, "%s/%s", BLYT_URL_DIR, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        r.line++;
        line[strcspn(line, "\n")] = 0;
        if (line[0] == 0 || line[0] == '#')
            continue;
        split(&r, line);
        test(&r);
        rows++;
    }
    (void)fclose(file);
    return rows;
}

static bool is_text(bly_bytes bytes, const char *text) {
    return bytes.size == strlen(text) && memcmp(bytes.data, text, bytes.size) == 0;
}

static bool same(bly_bytes a, bly_bytes b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static void print_bytes(const char *what, bly_bytes bytes) {
    const unsigned char *p = bytes.data;
    print_error("    %s ", what);
    for (size_t i = 0; i < bytes.size; i++)
        print_error(p[i] < ' ' || p[i] > '~' ? "\\x%02X" : "%c", p[i]);
    print_error("\n");
}

static void expect(const row *r, bly_bytes wanted, bly_bytes got) {
    if (same(wanted, got))
        return;
    print_error("%s:%d\n", r->file, r->line);
    print_bytes("text", r->column[0]);
    print_bytes("wanted", wanted);
    print_bytes("got", got);
    fail();
}

/* ---- what holds for every text -------------------------------------------------------------- */

/* Returns a copy in a block of exactly its size, so that a sanitizer reports reads past its end. */
static char *copy_of(bly_bytes text) {
    char *copy = malloc(text.size > 0 ? text.size : 1);
    assert_non_null(copy);
    if (text.size > 0)
        memcpy(copy, text.data, text.size);
    return copy;
}

static void expect_same(bly_bytes text, bly_bytes wanted, bly_bytes got) {
    row r = {.file = "made", .columns = 1, .column = {text}};
    expect(&r, wanted, got);
}

/* Returns the canonical form at a level, and checks that canonicalising it again does not change
 * it. The caller frees it. */
static bly_bytes stable(bly_bytes text, bly_url_level level, bly_status *result) {
    bly_url_buffer first = {NULL, 0}, second = {NULL, 0};
    bly_bytes once, twice;
    char *copy = copy_of(text);
    *result = bly_url_canonical(&first, level, copy, text.size, &once);
    once = (bly_bytes){copy_of(once), once.size};
    assert_int_equal(bly_url_canonical(&second, level, once.data, once.size, &twice), *result);
    expect_same(text, once, twice);
    free(copy);
    bly_url_buffer_free(&first);
    bly_url_buffer_free(&second);
    return once;
}

/* Checks that the slow path gives the same result. A capital in the scheme, and a tab before the
 * last byte, prevent the fast path. */
static void check_long_way(bly_bytes text, bly_bytes canonical) {
    bly_url_buffer b = {NULL, 0};
    bly_bytes out;
    if (text.size < 9 || memcmp(text.data, "http", 4) != 0)
        return;
    char *longer = malloc(text.size + 1);
    assert_non_null(longer);
    memcpy(longer, text.data, text.size - 1);
    longer[0] = 'H';
    longer[text.size - 1] = '\t';
    longer[text.size] = ((const char *)text.data)[text.size - 1];
    assert_int_equal(bly_url_canonical(&b, BLY_URL_STANDARD, longer, text.size + 1, &out), BLY_OK);
    expect_same(text, canonical, out);
    free(longer);
    bly_url_buffer_free(&b);
}

static void check_find(bly_bytes text) {
    bly_url_buffer b = {NULL, 0};
    bly_bytes out;
    char *copy = copy_of(text);
    const char *at = copy, *last = at;
    while (bly_url_find(&b, &at, copy + text.size, &out) == BLY_OK && out.size > 0) {
        assert_true(at > last && at <= copy + text.size);
        assert_true(out.size > strlen("http://"));
        last = at;
    }
    assert_ptr_equal(at, copy + text.size);
    bly_url_buffer_free(&b);
    free(copy);
}

/* Returns the text with most of its characters written as \uNNNN; NULL if it has non-ASCII
 * characters, '&' or '\'. Letters of schemes, and some punctuation, stay, because they have a
 * meaning only unescaped. */
static char *all_escaped(bly_bytes text, size_t *size) {
    const unsigned char *from = text.data;
    char *escaped = malloc(text.size * 6 + 1), *out = escaped;
    assert_non_null(escaped);
    for (size_t i = 0; i < text.size; i++) {
        if (from[i] >= 0x80 || from[i] == '&' || from[i] == '\\') {
            free(escaped);
            return NULL;
        }
        if (from[i] != 0 && strchr("htpsHTPS:',|", from[i]) != NULL)
            *out++ = (char)from[i];
        else {
            memcpy(out, "\\u00", 4);
            out[4] = "0123456789abcdef"[from[i] / 16];
            out[5] = "0123456789abcdef"[from[i] % 16];
            out += 6;
        }
    }
    *size = (size_t)(out - escaped);
    return escaped;
}

/* The search for URLs reads escaped characters one by one, others in runs. Both ways must find the
 * same URLs. */
static void check_find_escaped(bly_bytes text) {
    bly_url_buffer b = {NULL, 0}, b2 = {NULL, 0};
    size_t size;
    char *escaped = all_escaped(text, &size);
    if (escaped == NULL)
        return;
    const char *at = text.data, *end = at + text.size, *at2 = escaped;
    bly_bytes out, out2;
    do {
        assert_ok(bly_url_find(&b, &at, end, &out));
        assert_ok(bly_url_find(&b2, &at2, escaped + size, &out2));
        expect_same(text, out, out2);
    } while (out.size > 0);
    bly_url_buffer_free(&b);
    bly_url_buffer_free(&b2);
    free(escaped);
}

static void check_host(bly_bytes text) {
    bly_url_buffer b = {NULL, 0}, b2 = {NULL, 0};
    bly_bytes once, twice;
    char *copy = copy_of(text);
    bly_status result = blyi_url_host(&b, copy, text.size, &once);
    assert_int_equal(blyi_url_host(&b2, once.data, once.size, &twice), result);
    expect_same(text, once, twice);
    bly_url_buffer_free(&b);
    bly_url_buffer_free(&b2);
    free(copy);
}

static void check_text(bly_bytes text) {
    bly_status result, crawl_result, again;
    bly_bytes standard = stable(text, BLY_URL_STANDARD, &result);
    bly_bytes crawl = stable(text, BLY_URL_CRAWL, &crawl_result);
    bly_bytes from_standard = stable(standard, BLY_URL_CRAWL, &again);
    assert_int_equal(result, crawl_result);
    assert_int_equal(result, again);
    expect_same(text, crawl, from_standard);
    if (result == BLY_OK)
        check_long_way(text, standard);
    else
        expect_same(text, text, standard);
    check_find(text);
    check_find_escaped(text);
    check_host(text);
    free((void *)(uintptr_t)standard.data);
    free((void *)(uintptr_t)crawl.data);
    free((void *)(uintptr_t)from_standard.data);
}

/* ---- the tables' rows ----------------------------------------------------------------------- */

static void expect_status(bly_status status, bool refused) {
    const bool unsupported = refused && !have_idn() && status == BLY_EUNSUPPORTED;
    if (!unsupported)
        assert_int_equal(status, refused ? BLY_EINVAL : BLY_OK);
}

static void check_row(const row *r, bly_url_level level) {
    bly_url_buffer b = {NULL, 0};
    bly_bytes out, wanted = r->column[1];
    bool no_url = is_text(wanted, "-");
    char *copy = copy_of(r->column[0]);
    bly_status result = bly_url_canonical(&b, level, copy, r->column[0].size, &out);
    expect(r, no_url ? r->column[0] : wanted, out);
    expect_status(result, no_url);
    free(copy);
    bly_url_buffer_free(&b);
    check_text(r->column[0]);
}

static void standard_row(const row *r) {
    if (r->columns == 4) {
        assert_true(is_text(r->column[3], "idn"));
        if (!have_idn())
            return;
    } else {
        assert_int_equal(r->columns, 3);
    }
    check_row(r, BLY_URL_STANDARD);
}

static void crawl_row(const row *r) {
    assert_int_equal(r->columns, 2);
    check_row(r, BLY_URL_CRAWL);
}

static void host_row(const row *r) {
    bly_url_buffer b = {NULL, 0};
    bly_bytes out;
    bool no_host = is_text(r->column[1], "-");
    if (r->columns == 3 && !have_idn())
        return;
    bly_status result = blyi_url_host(&b, r->column[0].data, r->column[0].size, &out);
    expect(r, no_host ? r->column[0] : r->column[1], out);
    expect_status(result, no_host);
    bly_url_buffer_free(&b);
    check_text(r->column[0]);
}

static void find_row(const row *r) {
    bly_url_buffer b = {NULL, 0};
    char *copy = copy_of(r->column[0]);
    const char *at = copy, *end = copy + r->column[0].size;
    for (int i = 1; i < r->columns; i++) {
        bly_bytes out = {"nothing", 7};
        bly_status result = bly_url_find(&b, &at, end, &out);
        expect(r, r->column[i], out);
        assert_int_equal(result, BLY_OK);
    }
    bly_bytes more = {"", 0};
    assert_ok(bly_url_find(&b, &at, end, &more));
    if (more.size > 0)
        expect(r, (bly_bytes){"nothing more", 12}, more);
    assert_ptr_equal(at, end);
    free(copy);
    bly_url_buffer_free(&b);
    check_text(r->column[0]);
}

static void test_standard(void **state) {
    (void)state;
    assert_true(each_row("cases.tsv", standard_row) >= 450);
}

static void test_crawl(void **state) {
    (void)state;
    assert_true(each_row("crawl.tsv", crawl_row) >= 80);
}

static void test_hosts(void **state) {
    (void)state;
    assert_true(each_row("hosts.tsv", host_row) >= 50);
}

static void test_find(void **state) {
    (void)state;
    assert_true(each_row("find.tsv", find_row) >= 110);
}

/* ---- more ----------------------------------------------------------------------------------- */

static void test_canonical_is_not_copied(void **state) {
    static const struct {
        const char *text;
        size_t from, size;
    } cases[] = {{"http://example.com/", 0, 19},
                 {"https://example.com/a/b.html?id=1&x=%C3%A9", 0, 42},
                 {"http://example.com:8080/.a/..b", 0, 30},
                 {"http://example.com/a?b=1#c", 0, 24},
                 {"  http://example.com/\r", 2, 19}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int level = BLY_URL_STANDARD; level <= BLY_URL_CRAWL; level++) {
            bly_url_buffer b = {NULL, 0};
            bly_bytes out;
            const char *text = cases[i].text;
            assert_int_equal(bly_url_canonical(&b, (bly_url_level)level, text, strlen(text), &out),
                             BLY_OK);
            assert_ptr_equal(out.data, text + cases[i].from);
            assert_int_equal(out.size, cases[i].size);
            assert_null(b.data);
        }
    }
}

static void test_nothing(void **state) {
    bly_url_buffer b = {NULL, 0};
    const char *at = NULL;
    bly_bytes out;
    (void)state;
    assert_int_equal(bly_url_canonical(&b, BLY_URL_CRAWL, NULL, 0, &out), BLY_EINVAL);
    assert_int_equal(out.size, 0);
    assert_int_equal(blyi_url_host(&b, NULL, 0, &out), BLY_EINVAL);
    assert_ok(bly_url_find(&b, &at, NULL, &out));
    assert_int_equal(out.size, 0);
    assert_null(b.data);
}

/* Without libidn2, a non-ASCII host is refused, and the text is returned unchanged. */
static void test_hosts_without_idn(void **state) {
    static const char text[] = "http://B\xC3\x9C"
                               "CHER%C3%9c.\xFF:80/";
    bly_url_buffer b = {NULL, 0};
    bly_bytes out;
    (void)state;
    if (have_idn())
        skip();
    assert_int_equal(bly_url_canonical(&b, BLY_URL_STANDARD, text, sizeof text - 1, &out),
                     BLY_EUNSUPPORTED);
    assert_true(is_text(out, text));
    bly_url_buffer_free(&b);
}

static void test_no_memory(void **state) {
    static const char *const texts[] = {"HTTP://example.com/", "http://example.com/?b&a",
                                        "http://example.com/?a=1&amp;b", "EXAMPLE.com"};
    (void)state;
    no_memory = true;
    for (size_t i = 0; i < 4; i++) {
        bly_url_buffer b = {NULL, 0};
        bly_bytes out;
        const char *text = texts[i], *at = text;
        size_t size = strlen(text);
        bly_status result = i == 2   ? bly_url_find(&b, &at, text + size, &out)
                            : i == 3 ? blyi_url_host(&b, text, size, &out)
                                     : bly_url_canonical(&b, BLY_URL_CRAWL, text, size, &out);
        assert_int_equal(result, BLY_ENOMEM);
        assert_null(b.data);
        if (i == 2)
            assert_ptr_equal(at, text + size);
        else
            assert_true(is_text(out, text));
    }
    no_memory = false;
}

/* Memory is not reserved for a text that is too long to be a host name. */
static void test_long_hosts(void **state) {
    enum { SIZE = 1 << 20, MAX_ROOM = 8192 };
    char *text = malloc(SIZE);
    bly_url_buffer b = {NULL, 0};
    bly_bytes out;
    (void)state;
    assert_non_null(text);
    memset(text, 'A', SIZE);
    assert_int_equal(blyi_url_host(&b, text, SIZE, &out), BLY_EINVAL);
    assert_int_equal(blyi_url_host(&b, text, 1025, &out), BLY_EINVAL);
    assert_ok(blyi_url_host(&b, text, 1024, &out));
    assert_int_equal(out.size, 1024);
    assert_true(b.room <= MAX_ROOM);
    memset(text, ' ', SIZE - 9);
    memcpy(text + SIZE - 9, "EXAMPLE.B", 9);
    assert_ok(blyi_url_host(&b, text, SIZE, &out));
    assert_true(is_text(out, "example.b"));
    assert_true(b.room <= MAX_ROOM);
    bly_url_buffer_free(&b);
    free(text);
}

/* From now on, limits the processor time of the program to `seconds` more, after which SIGXCPU ends
 * it. 0: no limit. */
static void limit_seconds(unsigned seconds) {
    struct rlimit limit;
    struct rusage used;
    assert_int_equal(getrlimit(RLIMIT_CPU, &limit), 0);
    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    limit.rlim_cur = limit.rlim_max;
    if (seconds > 0)
        limit.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + seconds);
    assert_int_equal(setrlimit(RLIMIT_CPU, &limit), 0);
}

/* The time for long texts must be linear. All of these texts then take about 0.3 s. If a part
 * were quadratic, a single text would need 6 times 2^33 steps, which is 25 s at two steps per
 * nanosecond; the limit is 15 s. */
static void test_long_texts(void **state) {
    static const char *const pieces[] = {
        "/a/..", "&b&a", "&",  "%", ";jsessionid=1", "a@",  "http:", "http://", "((((",
        "0.",    "\\",   "\t", ":", "http",          "\\/", "&amp;"};
    enum { SIZE = 1 << 17, SECONDS = 15 * BLYT_SLOW };
    char *text = malloc(SIZE);
    (void)state;
    assert_non_null(text);
    limit_seconds(SECONDS);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t piece = strlen(pieces[i]);
        for (const char *const *start =
                 (const char *const[]){"http://h/", "http://h/?", "http://", "foo:", "", NULL};
             *start != NULL; start++) {
            size_t size = strlen(*start);
            memcpy(text, *start, size);
            for (; size + piece <= SIZE; size += piece)
                memcpy(text + size, pieces[i], piece);
            check_text((bly_bytes){text, size});
        }
    }
    limit_seconds(0);
    free(text);
}

/* With more parameters than insertion sort handles, and with repeated names. Parameters of equal
 * name keep their order. */
static void test_many_parameters(void **state) {
    enum { COUNT = 5000, NAMES = 7 };
    char *text = malloc(COUNT * 8 + 16), *wanted = malloc(COUNT * 8 + 16);
    bly_url_buffer b = {NULL, 0};
    bly_bytes out;
    (void)state;
    assert_true(text != NULL && wanted != NULL);
    int size = sprintf(text, "http://h/"), sorted = sprintf(wanted, "http://h/");
    for (int i = 0; i < COUNT; i++)
        size += sprintf(text + size, "%c%c=%d", i == 0 ? '?' : '&', 'a' + i % NAMES, i);
    for (int name = 0; name < NAMES; name++) {
        for (int i = name; i < COUNT; i += NAMES)
            sorted += sprintf(wanted + sorted, "%c%c=%d", i == 0 ? '?' : '&', 'a' + name, i);
    }
    assert_int_equal(bly_url_canonical(&b, BLY_URL_CRAWL, text, (size_t)size, &out), BLY_OK);
    assert_int_equal(out.size, sorted);
    assert_memory_equal(out.data, wanted, out.size);
    bly_url_buffer_free(&b);
    free(text);
    free(wanted);
}

/* ---- random texts --------------------------------------------------------------------------- */

static uint64_t random_state;

static size_t random_below(size_t n) {
    uint64_t z = random_state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (size_t)((z ^ z >> 31) % n);
}

/* Changes the text of a row: inserts random pieces that have a meaning in URLs, and removes
 * others. */
static void mutate_row(const row *r) {
    static const char *const pieces[] = {"/",       "//",
                                         ".",       "..",
                                         "/../",    "/./",
                                         "%2e",     "%2E.",
                                         "\\",      "%41",
                                         "%7e",     "%",
                                         "%4",      "%zz",
                                         "?",       "#",
                                         "&",       "=",
                                         ":",       "@",
                                         "[",       "]",
                                         "|",       "'",
                                         "\"",      " ",
                                         "\t",      "\n",
                                         "\1",      "A",
                                         "z",       "0",
                                         "0x",      ":80",
                                         "C|",      "C:",
                                         ";",       ";jsessionid=",
                                         "utm_",    "\xC3\xA9",
                                         "\xFF",    "\xE3\x80\x82",
                                         "&amp;",   "\\/",
                                         "http://", "https://",
                                         "xn--",    "::",
                                         "1.",      "file:",
                                         "foo:",    "&a",
                                         "\xC2\xAD"};
    enum { ROUNDS = 60, ROOM = 8192 };
    char text[ROOM];
    for (int round = 0; round < ROUNDS; round++) {
        size_t size = r->column[0].size;
        memcpy(text, r->column[0].data, size);
        for (size_t change = 1 + random_below(4); change > 0; change--) {
            size_t at = random_below(size + 1), cut = random_below(3);
            if (cut > size - at)
                cut = size - at;
            const char *piece = pieces[random_below(sizeof pieces / sizeof *pieces)];
            size_t grown = random_below(3) == 0 ? 0 : strlen(piece);
            memmove(text + at + grown, text + at + cut, size - at - cut);
            memcpy(text + at, piece, grown);
            size += grown - cut;
        }
        check_text((bly_bytes){text, size});
    }
}

static void test_mutations(void **state) {
    (void)state;
    random_state = 1;
    (void)each_row("cases.tsv", mutate_row);
    random_state = 2;
    (void)each_row("crawl.tsv", mutate_row);
    random_state = 3;
    (void)each_row("find.tsv", mutate_row);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standard),
        cmocka_unit_test(test_crawl),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_canonical_is_not_copied),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_hosts_without_idn),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_long_hosts),
        cmocka_unit_test(test_long_texts),
        cmocka_unit_test(test_many_parameters),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
