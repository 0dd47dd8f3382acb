/* test_dedup_state.c - states of dedup in cases that a transcript cannot produce: no random numbers
 * are available; files of fingerprints do not record their key rule; an estimate is absurdly high;
 * and the time it takes to compute the rate of an overfull filter. */
#include "store_support.h"

#include "dedup/dedup_plan.h"
#include "dedup/state.h"

/* ---- no random numbers ----------------------------------------------------------------------- */

static bool no_random;

bly_status __real_bly_random_key(uint8_t key[16]);
bly_status __wrap_bly_random_key(uint8_t key[16]);
bly_status __wrap_bly_random_key(uint8_t key[16]) {
    return no_random ? BLY_EUNSUPPORTED : __real_bly_random_key(key);
}

static bool opens(const state_request *request) {
    dedup_state *s = state_open(request);
    state_close(s);
    return s != NULL;
}

/* Without random numbers, a state without a given seed cannot be opened: a predictable seed would
 * be worse than an error. */
static void test_no_random_seed(void **state) {
    (void)state;
    const state_request filter = {.keys = 1000, .rule = ""}, all = {.exact = true, .rule = ""};
    const state_request seeded = {.keys = 1000, .seed = 7, .rule = ""};
    const state_request kept = {.exact = true, .file = at("exact"), .rule = ""};
    const state_request confirmed = {.confirm = at("confirm"), .rule = ""};
    no_random = true;
    bool any = opens(&filter) || opens(&all) || opens(&kept) || opens(&confirmed);
    bool with_seed = opens(&seeded);
    no_random = false;
    assert_false(any);
    assert_true(with_seed);
    assert_int_equal(access(at("exact"), F_OK), -1);
    assert_int_equal(access(at("confirm"), F_OK), -1);
    assert_true(opens(&filter) && opens(&all) && opens(&kept) && opens(&confirmed));
}

/* ---- what a state records -------------------------------------------------------------------- */

/* Opens a state, adds one key and saves. Returns false if it cannot be opened. */
static bool run(const state_request *request, bool *keeps_return) {
    const bly_bytes key = {"a line", 6};
    uint8_t fresh;
    dedup_state *s = state_open(request);
    if (s) {
        *keeps_return = s->keeps_return;
        assert_true(state_add(s, &key, 1, &fresh) && state_save(s));
    }
    state_close(s);
    return s != NULL;
}

/* A new state records its key rule, and is refused if the request has another rule. A state of an
 * older version records no rule; it is used with the rule of that time (lines keep their carriage
 * return). */
static void test_rules(void **state) {
    (void)state;
    const state_request requests[] = {
        {.keys = 1000, .file = at("filter")},
        {.exact = true, .file = at("exact")},
        {.confirm = at("confirm")},
    };
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        bool old;
        state_request request = requests[i];
        const char *path = request.file ? request.file : request.confirm;
        request.rule = "";
        request.key_rule = BLY_KEYS_RECORD_URL;
        assert_true(run(&request, &old) && !old);
        assert_true(run(&request, &old) && !old);
        request.key_rule = BLY_KEYS_RECORD;
        assert_false(run(&request, &old));
        assert_int_equal(unlink(path), 0);
        request.key_rule = BLY_KEYS_UNRECORDED;
        assert_true(run(&request, &old));
        request.key_rule = BLY_KEYS_RECORD;
        assert_true(run(&request, &old) && old);
        assert_true(run(&request, &old) && old);
    }
}

/* ---- an absurd estimate ---------------------------------------------------------------------- */

static uint64_t bytes_of(const state_request *request) {
    state_facts facts;
    dedup_state *s = state_open(request);
    assert_non_null(s);
    state_get_facts(s, &facts);
    state_close(s);
    return facts.bytes;
}

static void test_estimate(void **state) {
    (void)state;
    const state_request confirmed = {.confirm = at("f"), .estimate = UINT64_C(1) << 40, .rule = ""};
    const state_request growing = {.estimate = UINT64_C(1) << 40, .rule = ""};
    assert_true(bytes_of(&confirmed) < 4 * dedup_max_estimate);
    assert_true(bytes_of(&growing) < 4 * dedup_max_estimate);
}

/* ---- the rate of an overfull filter ---------------------------------------------------------- */

static unsigned passes; /* passes over all bits of a filter */

bly_status __real_bly_filter_get_info(const bly_filter *f, bly_filter_info *out);
bly_status __wrap_bly_filter_get_info(const bly_filter *f, bly_filter_info *out);
bly_status __wrap_bly_filter_get_info(const bly_filter *f, bly_filter_info *out) {
    passes++;
    return __real_bly_filter_get_info(f, out);
}

/* The estimate of the dropped keys needs the filter's rate, which takes a pass over all bits. Such
 * a pass takes about as long as one lookup per 64 bytes, so there is at most one pass for that many
 * keys. */
static void test_passes(void **state) {
    (void)state;
    enum { BYTES = 16 << 20, KEYS = 1500000 };
    const state_request request = {
        .keys = 1000, .seed = 1, .memory = BYTES + dedup_overhead, .overhead = dedup_overhead};
    dedup_state *s = state_open(&request);
    uint64_t *words = malloc(INPUT_BATCH * sizeof *words);
    bly_bytes *keys = malloc(INPUT_BATCH * sizeof *keys);
    uint8_t *fresh = malloc(INPUT_BATCH);
    assert_true(s && words && keys && fresh);
    uint64_t rng = 5;
    passes = 0;
    for (size_t added = 0; added < KEYS; added += INPUT_BATCH) {
        for (size_t i = 0; i < INPUT_BATCH; i++) {
            words[i] = blyt_next(&rng);
            keys[i] = (bly_bytes){words + i, sizeof *words};
        }
        assert_true(state_add(s, keys, INPUT_BATCH, fresh));
    }
    assert_in_range(passes, 1, KEYS / (BYTES / 64) + 1);
    state_close(s);
    free(fresh);
    free(keys);
    free(words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_no_random_seed),
        IN_SCRATCH(test_rules),
        IN_SCRATCH(test_estimate),
        cmocka_unit_test(test_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
