/* state_exact.c - a state that has all fingerprints in memory. A new line is dropped only if its
 * fingerprint equals another by chance (fingerprint_set.h). The file has the format of
 * fingerprint_file.h, and each save replaces it. */
#include "dedup/state_exact.h"

#include "dedup/state.h"
#include "io/output.h"
#include "text/message.h"

/* ---- the file -------------------------------------------------------------------------------- */

static bly_status add_from_file(void *ctx, const uint64_t *fingerprints, size_t n) {
    return fingerprint_set_add(ctx, fingerprints, n, NULL);
}

/* Counts first: adding sorted fingerprints to a table that must grow takes quadratic time. */
static bool read_all(exact_file *f, uint64_t expected, uint64_t max_bytes) {
    static const uint64_t zero = 0;
    pages *file = &f->pages;
    if (!pages_scan(file, NULL, NULL))
        return false;
    if (max_bytes) /* the limit includes the buffers of the file, which stays open. 1 is too little
                      for a set */
        max_bytes = max_bytes > pages_bytes() ? max_bytes - pages_bytes() : 1;
    const uint64_t need = expected > file->count ? expected : file->count;
    f->set = fingerprint_set_create(need, max_bytes);
    if (!f->set)
        return message_fail(
            "%s: not enough memory for %llu fingerprints (%llu are in the file); give a larger "
            "--memory or a smaller -n, or use --confirm FILE, which stores fingerprints on disk",
            file->path, (unsigned long long)need, (unsigned long long)file->count);
    return pages_scan(file, add_from_file, f->set) &&
           (!file->shape.zero || fingerprint_set_add(f->set, &zero, 1, NULL) == BLY_OK);
}

bool exact_file_open(exact_file *f, const char *path, uint64_t expected, uint64_t max_bytes) {
    *f = (exact_file){0};
    f->open = pages_open(&f->pages, path);
    const bool good = f->open && read_all(f, expected, max_bytes);
    if (!good)
        exact_file_close(f);
    return good;
}

static size_t fill_page(void *ctx, uint64_t first, uint64_t last, uint64_t *out, size_t room) {
    return fingerprint_set_range(ctx, first ? first : 1, last, out, room);
}

bool exact_file_save(exact_file *f) {
    pages_shape shape = {.seed = f->pages.shape.seed,
                         .zero = fingerprint_set_contains(f->set, 0),
                         .rule = f->pages.shape.rule};
    return pages_replace(&f->pages, shape, fingerprint_set_count(f->set) - shape.zero, fill_page,
                         f->set);
}

void exact_file_close(exact_file *f) {
    if (f->open)
        pages_close(&f->pages);
    fingerprint_set_destroy(f->set);
    *f = (exact_file){0};
}

uint64_t exact_file_bytes(const exact_file *f) {
    return fingerprint_set_bytes(f->set) + (f->open ? pages_bytes() : 0);
}

/* ---- the state ------------------------------------------------------------------------------- */

typedef struct exact_state {
    dedup_state base;
    exact_file file; /* without --state, only its set is used */
    bly_hasher hasher;
    bly_hash hashes[INPUT_BATCH];
    uint64_t fingerprints[INPUT_BATCH];
} exact_state;

static bool create_set(exact_state *s, uint64_t max_bytes) {
    s->file.set = fingerprint_set_create(s->base.request.keys, max_bytes);
    if (!s->file.set)
        (void)message_error(
            max_bytes ? "not enough memory for the fingerprints; give a larger --memory or a "
                        "smaller -n, or use --confirm FILE, which stores fingerprints on disk"
                      : "out of memory; give a smaller -n, or use --confirm FILE, which stores "
                        "fingerprints on disk");
    return s->file.set && state_random_seed(&s->file.pages.shape.seed);
}

static bool open_exact(dedup_state *base) {
    exact_state *s = (exact_state *)base;
    const state_request *r = &base->request;
    uint64_t max_bytes = 0;
    if (r->memory)
        max_bytes = r->memory > r->overhead ? r->memory - r->overhead : 1;
    const bool good = r->file ? output_may_replace(r->file, true) &&
                                    exact_file_open(&s->file, r->file, r->keys, max_bytes)
                              : create_set(s, max_bytes);
    return good && bly_hasher_init(&s->hasher, BLY_HASH_XXH3, s->file.pages.shape.seed) == BLY_OK;
}

static void close_exact(dedup_state *base) {
    exact_file_close(&((exact_state *)base)->file);
}

static bool get_rule(dedup_state *base, bly_key_rule *rule, uint64_t *keys) {
    const exact_state *s = (exact_state *)base;
    *rule = s->file.pages.shape.rule;
    *keys = fingerprint_set_count(s->file.set);
    return true;
}

static bool set_rule(dedup_state *base, bly_key_rule rule) {
    ((exact_state *)base)->file.pages.shape.rule = rule;
    return true;
}

static bool add(dedup_state *base, const bly_bytes *keys, size_t n, uint8_t *fresh) {
    exact_state *s = (exact_state *)base;
    const uint64_t before = fingerprint_set_count(s->file.set);
    bly_hash_keys(&s->hasher, keys, n, s->hashes);
    for (size_t i = 0; i < n; i++)
        s->fingerprints[i] = s->hashes[i].lo;
    const bly_status status = fingerprint_set_add(s->file.set, s->fingerprints, n, fresh);
    if (status == BLY_EFULL)
        return message_fail("the limit of --memory is reached; give a larger one, or use --confirm "
                            "FILE, which stores fingerprints on disk");
    if (status != BLY_OK)
        return message_fail("out of memory; use --confirm FILE, which stores fingerprints on disk");
    base->unique += fingerprint_set_count(s->file.set) - before;
    return true;
}

static bool save(dedup_state *base) {
    return exact_file_save(&((exact_state *)base)->file);
}

static void get_facts(dedup_state *base, state_facts *out) {
    out->method = "exact";
    out->description = "fingerprints in memory";
    out->bytes = exact_file_bytes(&((exact_state *)base)->file);
}

const state_ops state_exact_ops = {
    .size = sizeof(exact_state),
    .records_rule = true,
    .open = open_exact,
    .close = close_exact,
    .get_rule = get_rule,
    .set_rule = set_rule,
    .add = add,
    .save = save,
    .get_facts = get_facts,
};
