/* Typed lists as a program uses them: building, opening, and checking single lines and batches.
 * Also malicious files, and failure of every allocation (-Wl,--wrap). list_cli.py checks that the
 * command line gives the same answers. */
#include "support.h"

#include <bloomery/host/lists.h>

#include <limits.h>
#include <unistd.h>

/* ---- memory that runs out -------------------------------------------------------------------- */

/* allocations that succeed before all others fail; UINT_MAX: all succeed */
static unsigned allowed = UINT_MAX;

static bool refused(void) {
    if (allowed == UINT_MAX)
        return false;
    if (allowed == 0)
        return true;
    allowed--;
    return false;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *data, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *data, size_t size);
void *__wrap_malloc(size_t size) {
    return refused() ? NULL : __real_malloc(size);
}
void *__wrap_calloc(size_t n, size_t size) {
    return refused() ? NULL : __real_calloc(n, size);
}
void *__wrap_realloc(void *data, size_t size) {
    return refused() ? NULL : __real_realloc(data, size);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static bly_filter *build(bly_list_type type, double fpr, const char *const *lines) {
    bly_list_builder *b;
    bly_filter *f;
    assert_ok(bly_list_builder_create(type, fpr, NULL, &b));
    for (; *lines; lines++) {
        bool added = false;
        assert_ok(bly_list_builder_add(b, *lines, strlen(*lines), &added));
        assert_int_equal(added, **lines != 0);
    }
    assert_ok(bly_list_builder_finish(b, &f));
    bly_list_builder_destroy(b);
    return f;
}

typedef struct list_question {
    const char *line;
    bly_list_answer answer;
    const char *words; /* MAYBE: the entry; MALFORMED: what the reason contains */
} list_question;

static void check(const bly_list *l, bly_list_reader *r, const list_question *q) {
    bly_list_result result;
    uint8_t answer = 99;
    const bly_bytes line = blyt_text(q->line);
    assert_ok(bly_list_check_many(l, r, &line, 1, &answer));
    assert_int_equal(answer, q->answer);
    assert_ok(bly_list_check(l, r, line.data, line.size, &result));
    assert_int_equal(result.answer, q->answer);
    if (q->answer == BLY_LIST_MAYBE) {
        assert_int_equal(result.entry.size, strlen(q->words));
        assert_memory_equal(result.entry.data, q->words, result.entry.size);
    } else
        assert_int_equal(result.entry.size, 0);
    if (q->answer == BLY_LIST_MALFORMED)
        assert_non_null(strstr(result.reason, q->words));
    else
        assert_string_equal(result.reason, "");
}

typedef struct list_case {
    bly_list_type type;
    const char *lines[6];
    unsigned lookups;
    list_question questions[6];
} list_case;

static const list_case list_cases[] = {
    {BLY_LIST_DOMAIN,
     {"*.Example.COM.", "a.b.example.org", ""},
     2,
     {{"www.EXAMPLE.com", BLY_LIST_MAYBE, "example.com"},
      {"x.a.b.example.org.", BLY_LIST_MAYBE, "a.b.example.org"},
      {"b.example.org", BLY_LIST_NO, NULL},
      {" ", BLY_LIST_NO, NULL},
      {"192.0.2.1", BLY_LIST_MALFORMED, "type ip"}}},
    {BLY_LIST_IP,
     {"192.0.2.0/24", "10.0.0.1", "2001:db8::/32"},
     2,
     {{"192.0.2.77", BLY_LIST_MAYBE, "192.0.2.0/24"},
      {"::ffff:10.0.0.1", BLY_LIST_MAYBE, "10.0.0.1"},
      {"2001:db8:1::5", BLY_LIST_MAYBE, "2001:db8::/32"},
      {"192.0.3.1", BLY_LIST_NO, NULL},
      {"10.0.0.1/24", BLY_LIST_MALFORMED, "did you mean 10.0.0.0/24?"}}},
    {BLY_LIST_EMAIL,
     {"Bob@Example.com"},
     1,
     {{"<bob@EXAMPLE.com>", BLY_LIST_MAYBE, "bob@example.com"},
      {"eve@example.com", BLY_LIST_NO, NULL},
      {"bob@", BLY_LIST_MALFORMED, "no valid domain"}}},
    {BLY_LIST_URL,
     {"HTTP://Example.com:80/a/../b#c"},
     1,
     {{"http://example.com/b", BLY_LIST_MAYBE, "http://example.com/b"},
      {"http://example.com/c", BLY_LIST_NO, NULL},
      {"example.com/b", BLY_LIST_MALFORMED, "not a URL"}}},
    {BLY_LIST_PHONE,
     {"+49 (0)30 901820"},
     1,
     {{"0049 30 901820", BLY_LIST_MAYBE, "+4930901820"},
      {"030 901820", BLY_LIST_NO, NULL},
      {"12", BLY_LIST_MALFORMED, "too few"}}},
    {BLY_LIST_LINE,
     {"some line\r", " x"},
     1,
     {{"some line", BLY_LIST_MAYBE, "some line"},
      {"some line\r", BLY_LIST_MAYBE, "some line"},
      {" x", BLY_LIST_MAYBE, " x"},
      {"x", BLY_LIST_NO, NULL},
      {"", BLY_LIST_NO, NULL}}},
};

static bool is_near(double a, double b) {
    return fabs(a - b) < 1e-6 * b;
}

static void check_case(const list_case *c, const bly_list *l, bly_list_reader *r) {
    bly_list_info info = {.struct_size = sizeof info};
    bly_list_get_info(l, &info);
    assert_int_equal(info.struct_size, sizeof info);
    assert_int_equal(info.type, c->type);
    assert_int_equal(info.lookups, c->lookups);
    assert_int_equal(info.requested_lookups, c->lookups);
    assert_true(is_near(info.per_line, 1e-6));
    assert_true(is_near(info.per_lookup, 1e-6 / c->lookups));
    assert_int_equal(info.marks, bly_list_mark_count(c->type, &info.levels));
    for (const list_question *q = c->questions; q->line; q++)
        check(l, r, q);
}

static void lists_are_built_opened_and_checked(void **state) {
    char path[] = "/tmp/bloomery-list-XXXXXX";
    const int fd = mkstemp(path);
    bly_list_reader *r;
    (void)state;
    assert_true(fd >= 0);
    (void)close(fd);
    assert_ok(bly_list_reader_create(&r));
    for (size_t i = 0; i < COUNT_OF(list_cases); i++) {
        const list_case *c = &list_cases[i];
        bly_filter *f = build(c->type, 1e-6, c->lines);
        bly_list *l;
        assert_int_equal(bly_filter_key_rule(f), bly_list_key_rule(c->type));
        assert_ok(bly_list_from_filter(f, BLY_LIST_NONE, &l));
        assert_ptr_equal(bly_list_filter(l), f);
        check_case(c, l, r);
        bly_list_close(l);
        assert_ok(bly_filter_save(f, path));
        bly_filter_destroy(f);
        assert_ok(bly_list_open(path, NULL, &l));
        check_case(c, l, r);
        bly_list_close(l);
    }
    bly_list_reader_destroy(r);
    (void)unlink(path);
}

/* A filter that records no type is recognised by its marks. Without marks, the caller names the
 * type; if the caller does not, keys are lines. */
static void lists_without_a_record_are_recognised(void **state) {
    bly_filter *f = build(BLY_LIST_DOMAIN, 1e-6, (const char *const[]){"example.com", NULL});
    const list_question question = {"a.example.com", BLY_LIST_MAYBE, "example.com"};
    bly_list_reader *r;
    bly_list *l;
    (void)state;
    assert_ok(bly_list_reader_create(&r));
    assert_ok(bly_filter_set_key_rule(f, BLY_KEYS_UNRECORDED));
    assert_ok(bly_list_from_filter(f, BLY_LIST_NONE, &l));
    check(l, r, &question);
    bly_list_close(l);
    bly_filter_destroy(f);
    assert_ok(bly_filter_new(1000, 1e-6, &f));
    assert_ok(bly_filter_add(f, "example.com", 11, NULL));
    assert_ok(bly_filter_add(f, "dos\r", 4, NULL));
    assert_ok(bly_list_from_filter(f, BLY_LIST_DOMAIN, &l));
    check(l, r, &question);
    bly_list_close(l);
    assert_ok(bly_list_from_filter(f, BLY_LIST_NONE, &l));
    check(l, r, &(list_question){"a.example.com", BLY_LIST_NO, NULL});
    check(l, r, &(list_question){"dos\r", BLY_LIST_MAYBE, "dos\r"});
    bly_list_close(l);
    bly_list_reader_destroy(r);
    bly_filter_destroy(f);
}

static void other_filters_are_refused(void **state) {
    bly_filter *f;
    bly_list *l;
    bly_spec spec = bly_spec_for(BLY_HLL, 1000, 0.01);
    (void)state;
    assert_ok(bly_filter_create(&spec, &f));
    assert_int_equal(bly_list_from_filter(f, BLY_LIST_NONE, &l), BLY_EUNSUPPORTED);
    assert_null(l);
    bly_filter_destroy(f);
    assert_ok(bly_filter_new(100, 0.01, &f));
    assert_int_equal(bly_list_from_filter(f, (bly_list_type)11, &l), BLY_EINVAL);
    assert_ok(bly_filter_set_key_rule(f, BLY_KEYS_OTHER));
    assert_int_equal(bly_list_from_filter(f, BLY_LIST_NONE, &l), BLY_EUNSUPPORTED);
    assert_ok(bly_list_from_filter(f, BLY_LIST_LINE, &l));
    bly_list_close(l);
    bly_filter_destroy(f);
    assert_int_equal(bly_list_open("/nonexistent", NULL, &l), BLY_EIO);
    assert_null(l);
    bly_list_close(NULL);
    bly_list_reader_destroy(NULL);
    bly_list_builder_destroy(NULL);
}

/* ---- building -------------------------------------------------------------------------------- */

static void builders_tell_blank_and_malformed_lines(void **state) {
    const bly_list_build_options options = {.struct_size = sizeof options,
                                            .flags = BLY_LIST_COMMENTS};
    bly_list_builder *b;
    bly_filter *f;
    bool added = true;
    (void)state;
    assert_ok(bly_list_builder_create(BLY_LIST_IP, 0.01, &options, &b));
    assert_ok(bly_list_builder_add(b, "# text", 6, &added));
    assert_false(added);
    assert_int_equal(bly_list_builder_add(b, "text", 4, &added), BLY_EINVAL);
    assert_string_equal(bly_list_builder_reason(b), "not an IP address");
    assert_ok(bly_list_builder_add(b, "::1 # x", 7, &added));
    assert_true(added);
    assert_ok(bly_list_builder_finish(b, &f));
    assert_int_equal(bly_list_builder_add(b, "::1", 3, NULL), BLY_EINVAL);
    bly_filter *again;
    assert_int_equal(bly_list_builder_finish(b, &again), BLY_EINVAL);
    assert_null(again);
    bly_list_builder_destroy(b);
    assert_int_equal(bly_filter_count(f), 1 + 16 + 4 + 4);
    bly_filter_destroy(f);
}

static void builders_refuse_what_is_no_list(void **state) {
    bly_list_build_options options = {.struct_size = sizeof options};
    bly_list_builder *b;
    bly_filter *f;
    (void)state;
    assert_int_equal(bly_list_builder_create(BLY_LIST_NONE, 0.01, NULL, &b), BLY_EINVAL);
    assert_int_equal(bly_list_builder_create(BLY_LIST_RECORD, 0.01, NULL, &b), BLY_EINVAL);
    assert_int_equal(bly_list_builder_create(BLY_LIST_LINE, 0, NULL, &b), BLY_ERATE);
    assert_int_equal(bly_list_builder_create(BLY_LIST_LINE, 1, NULL, &b), BLY_ERATE);
    options.flags = 1u << 9;
    assert_int_equal(bly_list_builder_create(BLY_LIST_LINE, 0.01, &options, &b), BLY_EINVAL);
    options.flags = 0;
    options.kind = BLY_HLL;
    assert_int_equal(bly_list_builder_create(BLY_LIST_LINE, 0.01, &options, &b), BLY_EUNSUPPORTED);
    options.kind = BLY_WINDOW;
    assert_int_equal(bly_list_builder_create(BLY_LIST_LINE, 0.01, &options, &b), BLY_EUNSUPPORTED);
    options.kind = (bly_kind)9999;
    assert_int_equal(bly_list_builder_create(BLY_LIST_LINE, 0.01, &options, &b), BLY_EKIND);
    assert_null(b);
    options.kind = BLY_KIND_NONE;
    options.capacity = 1;
    assert_ok(bly_list_builder_create(BLY_LIST_LINE, 0.01, &options, &b));
    assert_ok(bly_list_builder_add(b, "a", 1, NULL));
    assert_ok(bly_list_builder_add(b, "b", 1, NULL));
    assert_int_equal(bly_list_builder_finish(b, &f), BLY_EFULL);
    assert_null(f);
    bly_list_builder_destroy(b);
    options.capacity = UINT64_MAX - 5; /* leaves no room for the marks */
    assert_ok(bly_list_builder_create(BLY_LIST_DOMAIN, 0.01, &options, &b));
    assert_ok(bly_list_builder_add(b, "a.example", 9, NULL));
    assert_int_equal(bly_list_builder_finish(b, &f), BLY_ETOOBIG);
    assert_null(f);
    bly_list_builder_destroy(b);
}

/* For types with addresses, bly_list_words returns bytes of any other size unchanged. Bytes are not
 * read past their end. */
static void words_of_no_address_are_the_bytes(void **state) {
    char room[BLY_LIST_WORDS];
    (void)state;
    for (size_t size = 0; size <= 20; size++) {
        const bool address = size == 4 || size == 5 || size == 16 || size == 17;
        unsigned char *bytes = calloc(size ? size : 1, 1);
        assert_non_null(bytes);
        bly_list_key key = {{bytes, size}, 0, false};
        bly_list_entries entries;
        const bly_bytes words = bly_list_words(BLY_LIST_IP, key.bytes, room);
        assert_int_equal(words.data == bytes, !address);
        if (size == 5 || size == 17)
            bytes[size - 1] = 255;
        const bly_list_levels all = bly_list_levels_all();
        bly_list_widen(BLY_LIST_IP, &key, &all, &entries);
        assert_int_equal(entries.count, size == 4 ? 33 : size == 16 ? 129 : 1);
        free(bytes);
    }
}

/* An empty list has a limited rate per lookup, although a very high rate was requested. */
static void empty_lists_match_nothing(void **state) {
    bly_filter *f = build(BLY_LIST_DOMAIN, 0.9, (const char *const[]){NULL});
    bly_list_info info = {.struct_size = sizeof info};
    (void)state;
    bly_list_examine(f, &info);
    assert_true(is_near(info.per_lookup, BLY_LIST_MAX_RATE));
    bly_filter_destroy(f);
}

/* A caller's struct that is too short is refused. If it is longer than this version's, its other
 * members are not written. */
static void info_fits_the_struct_of_the_caller(void **state) {
    bly_filter *f = build(BLY_LIST_URL, 0.01, (const char *const[]){"http://a.example/", NULL});
    struct {
        bly_list_info info;
        uint64_t more;
    } later;
    (void)state;
    memset(&later, 0x55, sizeof later);
    later.info.struct_size = offsetof(bly_list_info, levels);
    assert_int_equal(bly_list_examine(f, &later.info), BLY_EINVAL);
    assert_int_equal(later.info.lookups, 0x55555555);
    later.info.struct_size = sizeof later;
    assert_ok(bly_list_examine(f, &later.info));
    assert_int_equal(later.info.struct_size, sizeof later);
    assert_int_equal(later.info.type, BLY_LIST_URL);
    assert_int_equal(later.more, 0x5555555555555555);
    bly_filter_destroy(f);
}

/* In records that end in a NUL byte, a carriage return at the end is a part of the key. */
static void records_with_returns_are_found(void **state) {
    const bly_list_build_options options = {.struct_size = sizeof options,
                                            .flags = BLY_LIST_RECORDS};
    const bly_bytes lines[] = {{"foo\r", 4}, {"bar", 3}, {"none\r", 5}};
    uint8_t answers[3];
    bly_list_builder *b;
    bly_list_reader *r;
    bly_list_result result;
    bly_filter *f;
    bly_list *l;
    (void)state;
    assert_ok(bly_list_builder_create(BLY_LIST_LINE, 1e-6, &options, &b));
    assert_ok(bly_list_builder_add(b, "foo\r", 4, NULL));
    assert_ok(bly_list_builder_add(b, "bar", 3, NULL));
    assert_ok(bly_list_builder_finish(b, &f));
    bly_list_builder_destroy(b);
    assert_ok(bly_list_from_filter(f, BLY_LIST_NONE, &l));
    assert_ok(bly_list_reader_create(&r));
    for (size_t i = 0; i < 3; i++) {
        assert_ok(bly_list_check(l, r, lines[i].data, lines[i].size, &result));
        assert_int_equal(result.answer, i < 2 ? BLY_LIST_MAYBE : BLY_LIST_NO);
    }
    assert_ok(bly_list_check_many(l, r, lines, 3, answers));
    assert_true(answers[0] && answers[1] && !answers[2]);
    bly_list_reader_destroy(r);
    bly_list_close(l);
    bly_filter_destroy(f);
}

static bly_hash length_hash(void *user, const void *key, size_t len) {
    (void)user;
    return (bly_hash){len, *(const unsigned char *)key};
}

/* A hasher of zeros means the default hash; a hasher with an id but without functions is refused.
 * Mixed hashes of a custom function are refused for a textbook filter, which uses unmixed ones. */
static void unfit_hashers_are_refused(void **state) {
    bly_hasher hasher = {0};
    bly_list_build_options options = {.struct_size = sizeof options, .hasher = &hasher};
    bly_list_builder *b;
    bly_filter *f;
    (void)state;
    assert_ok(bly_list_builder_create(BLY_LIST_LINE, 0.01, &options, &b));
    assert_ok(bly_list_builder_add(b, "a", 1, NULL));
    bly_list_builder_destroy(b);
    hasher.id = BLY_HASH_XXH64;
    assert_int_equal(bly_list_builder_create(BLY_LIST_LINE, 0.01, &options, &b), BLY_EHASHER);
    bly_spec spec = bly_spec_for(BLY_CLASSIC, 0, 0.01);
    spec.geometry.options = BLY_TEXTBOOK;
    assert_ok(bly_hasher_custom(&spec.hasher, length_hash, NULL, 128, 1));
    bly_hash hash = bly_hash_key(&spec.hasher, "a", 1);
    const bly_list_contents contents = {.struct_size = sizeof contents,
                                        .type = BLY_LIST_LINE,
                                        .hashes = &hash,
                                        .count = 1,
                                        .distinct = 1};
    assert_int_equal(bly_list_fill(&contents, &spec, &f), BLY_EHASHER);
    assert_null(f);
}

/* ---- batches --------------------------------------------------------------------------------- */

static void batches_answer_as_single_checks_do(void **state) {
    enum { LINES = 5000 };
    static char text[LINES][64];
    static bly_bytes lines[LINES];
    static uint8_t answers[LINES];
    bly_list_builder *b;
    bly_list_reader *r;
    bly_filter *f;
    bly_list *l;
    uint64_t seed = 7;
    size_t counts[3] = {0};
    (void)state;
    assert_ok(bly_list_reader_create(&r));
    assert_ok(bly_list_builder_create(BLY_LIST_IP, 0.05, NULL, &b));
    for (unsigned i = 0; i < LINES; i++) {
        const unsigned prefix = (unsigned)(blyt_next(&seed) % 33);
        const uint32_t address =
            (uint32_t)blyt_next(&seed) & (prefix ? UINT32_MAX << (32 - prefix) : 0);
        (void)snprintf(text[i], sizeof text[i], "%u.%u.%u.%u%s", address >> 24, address >> 16 & 255,
                       address >> 8 & 255, address & 255, i % 7 == 0 ? "x" : "");
        lines[i] = blyt_text(text[i]);
        char block[80];
        (void)snprintf(block, sizeof block, "%s/%u", text[i], prefix);
        if (i % 7 && i % 16 == 1 && prefix > 7)
            assert_ok(bly_list_builder_add(b, block, strlen(block), NULL));
    }
    assert_ok(bly_list_builder_finish(b, &f));
    assert_ok(bly_list_from_filter(f, BLY_LIST_NONE, &l));
    assert_ok(bly_list_check_many(l, r, lines, LINES, answers));
    for (unsigned i = 0; i < LINES; i++) {
        bly_list_result result;
        assert_ok(bly_list_check(l, r, lines[i].data, lines[i].size, &result));
        assert_int_equal(result.answer, answers[i]);
        counts[answers[i]]++;
        if (i % 7 == 0)
            assert_int_equal(answers[i], BLY_LIST_MALFORMED);
    }
    assert_true(counts[BLY_LIST_NO] > 100 && counts[BLY_LIST_MAYBE] > 100);
    assert_ok(bly_list_check_many(l, r, NULL, 0, NULL));
    bly_list_close(l);
    bly_list_builder_destroy(b);
    bly_list_reader_destroy(r);
    bly_filter_destroy(f);
}

/* ---- hostile files --------------------------------------------------------------------------- */

static void write_file(const char *path, const unsigned char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* A malicious file is either refused, or every line can be checked. */
static void hostile_files_are_harmless(void **state) {
    char path[] = "/tmp/bloomery-list-XXXXXX";
    static unsigned char good[8192], bytes[8192];
    bly_filter *f =
        build(BLY_LIST_DOMAIN, 0.01, (const char *const[]){"example.com", "b.c.d", NULL});
    bly_list_reader *r;
    uint64_t seed = 3;
    unsigned opened = 0;
    (void)state;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_ok(bly_filter_save(f, path));
    bly_filter_destroy(f);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(good, 1, sizeof good, file);
    (void)fclose(file);
    assert_ok(bly_list_reader_create(&r));
    for (unsigned round = 0; round < 600; round++) {
        const size_t some = round % 3 == 0 ? blyt_next(&seed) % (size + 1) : size;
        bly_list_result result;
        bly_list *l;
        memcpy(bytes, good, size);
        /* In turn: a truncated file, one changed byte, random bytes after a valid header. */
        if (round % 3 == 1)
            bytes[blyt_next(&seed) % size] ^= (unsigned char)(1 + blyt_next(&seed) % 255);
        for (size_t i = 64; round % 3 == 2 && i < size; i++)
            bytes[i] = (unsigned char)blyt_next(&seed);
        write_file(path, bytes, some);
        if (bly_list_open(path, NULL, &l) != BLY_OK) {
            assert_null(l);
            continue;
        }
        opened++;
        assert_ok(bly_list_check(l, r, "a.b.c.d.example.com", 19, &result));
        assert_true(result.answer == BLY_LIST_NO || result.answer == BLY_LIST_MAYBE);
        bly_list_close(l);
    }
    assert_true(opened > 100);
    bly_list_reader_destroy(r);
    (void)unlink(path);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Uses all functions. Stops with BLY_ENOMEM at the first one that fails for lack of memory. */
static bly_status use_everything(void) {
    static const char line[] = "WWW.Example.com";
    bly_list_builder *b = NULL;
    bly_list_reader *r = NULL;
    bly_filter *f = NULL;
    bly_list *l = NULL;
    bly_list_result result;
    uint8_t answer;
    const bly_bytes text = {line, sizeof line - 1};
    bly_status status = bly_list_builder_create(BLY_LIST_DOMAIN, 0.01, NULL, &b);
    if (status == BLY_OK)
        status = bly_list_builder_add(b, line, text.size, NULL);
    if (status == BLY_OK)
        status = bly_list_builder_finish(b, &f);
    if (status == BLY_OK)
        status = bly_list_from_filter(f, BLY_LIST_NONE, &l);
    if (status == BLY_OK)
        status = bly_list_reader_create(&r);
    if (status == BLY_OK)
        status = bly_list_check_many(l, r, &text, 1, &answer);
    if (status == BLY_OK)
        status = bly_list_check(l, r, line, text.size, &result);
    if (status == BLY_OK)
        assert_int_equal(result.answer, BLY_LIST_MAYBE);
    bly_list_close(l);
    bly_list_reader_destroy(r);
    bly_filter_destroy(f);
    bly_list_builder_destroy(b);
    return status;
}

static void want_of_memory_is_told_at_every_step(void **state) {
    unsigned failures = 0;
    (void)state;
    for (unsigned i = 0;; i++) {
        allowed = i;
        const bly_status status = use_everything();
        allowed = UINT_MAX;
        if (status == BLY_OK)
            break;
        assert_int_equal(status, BLY_ENOMEM);
        failures++;
    }
    assert_true(failures >= 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_built_opened_and_checked),
        cmocka_unit_test(lists_without_a_record_are_recognised),
        cmocka_unit_test(other_filters_are_refused),
        cmocka_unit_test(builders_tell_blank_and_malformed_lines),
        cmocka_unit_test(builders_refuse_what_is_no_list),
        cmocka_unit_test(words_of_no_address_are_the_bytes),
        cmocka_unit_test(empty_lists_match_nothing),
        cmocka_unit_test(info_fits_the_struct_of_the_caller),
        cmocka_unit_test(records_with_returns_are_found),
        cmocka_unit_test(unfit_hashers_are_refused),
        cmocka_unit_test(batches_answer_as_single_checks_do),
        cmocka_unit_test(hostile_files_are_harmless),
        cmocka_unit_test(want_of_memory_is_told_at_every_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
