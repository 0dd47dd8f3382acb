/* redisbloom_support.h - reads the files of tests/golden/redisbloom (redisbloom_reader.py describes
 * them). Also gives RedisBloom's Bloom and cuckoo filters one set of calls (any_...), so that the
 * properties that they share are tested once. */
#ifndef BLYT_REDISBLOOM_SUPPORT_H
#define BLYT_REDISBLOOM_SUPPORT_H

#include "support.h"

#include <bloomery/host/redisbloom.h>
#include <dirent.h>
#include <inttypes.h>

/* A Bloom or a cuckoo filter; the other pointer is NULL. */
typedef struct any {
    bly_rb_bloom *bloom;
    bly_rb_cuckoo *cuckoo;
} any;

static inline any any_bloom(double error, uint64_t capacity, uint32_t growth) {
    any f = {NULL, NULL};
    assert_ok(
        bly_rb_bloom_create(&(bly_rb_bloom_spec){error, capacity, growth, false}, NULL, &f.bloom));
    return f;
}

static inline any any_cuckoo(uint64_t capacity, uint32_t size, uint32_t steps, uint32_t expansion) {
    any f = {NULL, NULL};
    assert_ok(bly_rb_cuckoo_create(&(bly_rb_cuckoo_spec){capacity, size, steps, expansion}, NULL,
                                   &f.cuckoo));
    return f;
}

static inline void any_destroy(any f) {
    bly_rb_bloom_destroy(f.bloom);
    bly_rb_cuckoo_destroy(f.cuckoo);
}

static inline bly_status any_clone(any f, const bly_allocator *a, any *out) {
    *out = (any){NULL, NULL};
    return f.bloom ? bly_rb_bloom_clone(f.bloom, a, &out->bloom)
                   : bly_rb_cuckoo_clone(f.cuckoo, a, &out->cuckoo);
}

static inline bool any_equal(any f, any g) {
    return f.bloom ? bly_rb_bloom_equal(f.bloom, g.bloom) : bly_rb_cuckoo_equal(f.cuckoo, g.cuckoo);
}

static inline bly_status any_add(any f, const void *key, size_t len, bool *added) {
    return f.bloom ? bly_rb_bloom_add(f.bloom, key, len, added)
                   : bly_rb_cuckoo_add(f.cuckoo, key, len, NULL, added);
}

static inline bool any_contains(any f, const void *key, size_t len) {
    return f.bloom ? bly_rb_bloom_contains(f.bloom, key, len)
                   : bly_rb_cuckoo_contains(f.cuckoo, key, len);
}

static inline size_t any_contains_many(any f, const bly_bytes *keys, size_t n, uint8_t *found) {
    return f.bloom ? bly_rb_bloom_contains_many(f.bloom, keys, n, found)
                   : bly_rb_cuckoo_contains_many(f.cuckoo, keys, n, found);
}

static inline bly_status any_add_many(any f, const bly_bytes *keys, size_t n, uint8_t *added,
                                      bly_batch_result *tally) {
    return f.bloom ? bly_rb_bloom_add_many(f.bloom, keys, n, added, tally)
                   : bly_rb_cuckoo_add_many(f.cuckoo, keys, n, NULL, added, tally);
}

static inline uint64_t any_memory(any f) {
    return f.bloom ? bly_rb_bloom_get_info(f.bloom).memory
                   : bly_rb_cuckoo_get_info(f.cuckoo).memory;
}

static inline uint64_t any_data_bytes(any f) {
    return f.bloom ? bly_rb_bloom_get_info(f.bloom).data_bytes
                   : bly_rb_cuckoo_get_info(f.cuckoo).data_bytes;
}

static inline uint64_t any_parts(any f) {
    return f.bloom ? bly_rb_bloom_get_info(f.bloom).links
                   : bly_rb_cuckoo_get_info(f.cuckoo).filters;
}

static inline bly_bytes any_part(any f, uint64_t i) {
    return f.bloom ? bly_rb_bloom_link(f.bloom, i).bitmap : bly_rb_cuckoo_sub(f.cuckoo, i).slots;
}

static inline bly_bytes any_read(any f, uint64_t offset, size_t most) {
    return f.bloom ? bly_rb_bloom_read(f.bloom, offset, most)
                   : bly_rb_cuckoo_read(f.cuckoo, offset, most);
}

static inline bly_status any_write(any f, uint64_t offset, const void *data, size_t size) {
    return f.bloom ? bly_rb_bloom_write(f.bloom, offset, data, size)
                   : bly_rb_cuckoo_write(f.cuckoo, offset, data, size);
}

static inline size_t any_move(any f, size_t from, size_t most, bly_defrag_move move, void *ctx) {
    return f.bloom ? bly_rb_bloom_defrag(f.bloom, from, most, move, ctx)
                   : bly_rb_cuckoo_defrag(f.cuckoo, from, most, move, ctx);
}

static inline any any_move_handle(any f, bly_defrag_move move, void *ctx) {
    if (f.bloom)
        f.bloom = bly_rb_bloom_defrag_handle(f.bloom, move, ctx);
    else
        f.cuckoo = bly_rb_cuckoo_defrag_handle(f.cuckoo, move, ctx);
    return f;
}

static inline blyt_buffer any_header(any f) {
    blyt_buffer b = {NULL, f.bloom ? bly_rb_bloom_header_size(f.bloom) : BLY_RB_CUCKOO_HEADER};
    b.data = malloc(b.size);
    assert_non_null(b.data);
    if (f.bloom)
        bly_rb_bloom_header(f.bloom, b.data);
    else
        bly_rb_cuckoo_header(f.cuckoo, b.data);
    return b;
}

static inline bly_status any_parse(bool bloom, const void *header, size_t size, uint64_t max_bytes,
                                   const bly_allocator *a, any *out) {
    *out = (any){NULL, NULL};
    return bloom ? bly_rb_bloom_parse(header, size, max_bytes, a, &out->bloom)
                 : bly_rb_cuckoo_parse(header, size, max_bytes, a, &out->cuckoo);
}

/* ---- the files ------------------------------------------------------------------------------- */

enum { MAX_FIELDS = 200, MAX_STEPS = 8 };

typedef struct field {
    char type;       /* U, D or S */
    uint64_t number; /* the value of U, or the 64 bits of the double of D */
    blyt_buffer bytes;
} field;

typedef struct step {
    char op[16];
    unsigned from, to;
} step;

typedef struct program {
    size_t n;
    step steps[MAX_STEPS];
} program;

typedef struct golden {
    char name[64], prefix[64], create[128];
    bool bloom;
    uint64_t encoding, iterations, expansion;
    size_t n;
    field fields[MAX_FIELDS];
    program before, after;
    blyt_buffer header, data, after_header, after_data;
} golden;

static inline blyt_buffer from_hex(const char *hex) {
    blyt_buffer b = {malloc(strlen(hex) / 2 + 1), strlen(hex) / 2};
    assert_non_null(b.data);
    for (size_t i = 0; i < b.size; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        b.data[i] = (uint8_t)byte;
    }
    return b;
}

static inline void golden_step(program *p, const char *text) {
    step *s = &p->steps[p->n++];
    assert_true(p->n <= MAX_STEPS);
    assert_int_equal(sscanf(text, "%15s %u %u", s->op, &s->from, &s->to), 3);
}

static inline void golden_field(golden *g, char type, const char *text) {
    field *f = &g->fields[g->n++];
    assert_true(g->n <= MAX_FIELDS);
    f->type = type;
    if (type == 'S') {
        f->bytes = from_hex(text);
        assert_ok(blyt_sink(&g->data, f->bytes.data, f->bytes.size));
    } else {
        f->number = strtoull(text, NULL, type == 'U' ? 10 : 16);
    }
}

static inline void golden_line(golden *g, char *line) {
    char *text = strchr(line, ' ');
    assert_non_null(text);
    *text++ = '\0';
    if (strlen(line) == 1)
        golden_field(g, *line, text);
    else if (strcmp(line, "type") == 0)
        g->bloom = strcmp(text, "bloom") == 0;
    else if (strcmp(line, "encoding") == 0)
        g->encoding = strtoull(text, NULL, 10);
    else if (strcmp(line, "settings") == 0)
        assert_int_equal(sscanf(text, "%" SCNu64 " %" SCNu64, &g->iterations, &g->expansion), 2);
    else if (strcmp(line, "prefix") == 0)
        snprintf(g->prefix, sizeof g->prefix, "%s", text);
    else if (strcmp(line, "create") == 0)
        snprintf(g->create, sizeof g->create, "%s", text);
    else if (strcmp(line, "before") == 0)
        golden_step(&g->before, text);
    else if (strcmp(line, "after") == 0)
        golden_step(&g->after, text);
    else if (strcmp(line, "header") == 0)
        g->header = from_hex(text);
    else if (strcmp(line, "after-header") == 0)
        g->after_header = from_hex(text);
    else if (strcmp(line, "after-data") == 0)
        g->after_data = from_hex(text);
    else
        fail_msg("%s: what is %s?", g->name, line);
}

static inline void golden_read(const char *name, golden *g) {
    static char line[1 << 16];
    char path[512];
    snprintf(path, sizeof path, "%s/../redisbloom/%s", BLYT_GOLDEN_DIR, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    memset(g, 0, sizeof *g);
    snprintf(g->name, sizeof g->name, "%s", name);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        golden_line(g, line);
    }
    fclose(file);
}

static inline void golden_free(golden *g) {
    for (size_t i = 0; i < g->n; i++)
        free(g->fields[i].bytes.data);
    free(g->header.data);
    free(g->data.data);
    free(g->after_header.data);
    free(g->after_data.data);
}

/* Calls `test` for every file. Returns the number of files. */
static inline size_t for_each_golden(void (*test)(const golden *g)) {
    static golden g;
    DIR *dir = opendir(BLYT_GOLDEN_DIR "/../redisbloom");
    size_t n = 0;
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        golden_read(e->d_name, &g);
        test(&g);
        golden_free(&g);
        n++;
    }
    closedir(dir);
    return n;
}

static inline double golden_double(const field *f) {
    double value;
    assert_int_equal(f->type, 'D');
    memcpy(&value, &f->number, sizeof value);
    return value;
}

/* Loads a Bloom filter from the fields of an RDB file. */
static inline bly_status golden_load_bloom(const golden *g, uint64_t max_bytes,
                                           const bly_allocator *a, bly_rb_bloom **out) {
    const field *at = g->fields;
    bly_rb_bloom_fields head = {.encoding = g->encoding};
    head.items = at++->number;
    head.links = at++->number;
    head.options = g->encoding >= 2 ? at++->number : 99;
    head.growth = g->encoding >= 4 ? at++->number : 99;
    bly_status status = bly_rb_bloom_load(&head, max_bytes, a, out);
    while (status == BLY_OK && at < g->fields + g->n) {
        bly_rb_link link = {.bits = 99, .n2 = 99};
        link.capacity = at++->number;
        link.error = golden_double(at++);
        link.hashes = at++->number;
        link.bpe = golden_double(at++);
        if (g->encoding >= 1) {
            link.bits = at++->number;
            link.n2 = at++->number;
        }
        link.bitmap = (bly_bytes){at->bytes.data, at->bytes.size};
        at++;
        link.items = at++->number;
        status = bly_rb_bloom_load_link(*out, &link);
    }
    return status == BLY_OK ? bly_rb_bloom_load_end(*out) : status;
}

static inline bly_status golden_load_cuckoo(const golden *g, uint64_t max_bytes,
                                            const bly_allocator *a, bly_rb_cuckoo **out) {
    const field *at = g->fields;
    bly_rb_cuckoo_fields head = {.encoding = g->encoding,
                                 .deletes = 99,
                                 .bucket_size = 7,
                                 .max_iterations = g->iterations,
                                 .expansion = 8};
    head.filters = at++->number;
    head.buckets = at++->number;
    head.items = at++->number;
    if (g->encoding >= 4) {
        head.deletes = at++->number;
        head.bucket_size = at++->number;
        head.max_iterations = at++->number;
        head.expansion = at++->number;
    } else if (head.filters == 1) { /* with more filters, it follows from the numbers of slots */
        head.expansion = g->expansion;
    }
    bly_status status = bly_rb_cuckoo_load(&head, max_bytes, a, out);
    while (status == BLY_OK && at < g->fields + g->n) {
        bly_rb_sub sub = {.buckets = g->encoding >= 4 ? at++->number : 99};
        sub.slots = (bly_bytes){at->bytes.data, at->bytes.size};
        at++;
        status = bly_rb_cuckoo_load_sub(*out, &sub);
    }
    return status == BLY_OK ? bly_rb_cuckoo_load_end(*out) : status;
}

/* Loads a filter of either type. If it fails, there is nothing to destroy. */
static inline bly_status golden_load(const golden *g, uint64_t max_bytes, const bly_allocator *a,
                                     any *out) {
    *out = (any){NULL, NULL};
    bly_status status = g->bloom ? golden_load_bloom(g, max_bytes, a, &out->bloom)
                                 : golden_load_cuckoo(g, max_bytes, a, &out->cuckoo);
    if (status) {
        any_destroy(*out);
        *out = (any){NULL, NULL};
    }
    return status;
}

static inline size_t golden_key(const golden *g, unsigned i, char *key, size_t room) {
    return (size_t)snprintf(key, room, "%s%u", g->prefix, i);
}

#endif
