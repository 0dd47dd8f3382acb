/* test_seen.c - the memory of dedup where no transcript reaches: no random numbers, fingerprints
 * from before files recorded what their keys are made from, an estimate beyond belief, and what it
 * costs to know the rate of an overfull filter. */
#include "store_support.h"

#include "dedup/seen.h"
#include "dedup/seen_plan.h"

/* ---- no random numbers ----------------------------------------------------------------------- */

static bool no_random;

bly_status __real_bly_random_key(uint8_t key[16]);
bly_status __wrap_bly_random_key(uint8_t key[16]);
bly_status __wrap_bly_random_key(uint8_t key[16]) {
    return no_random ? BLY_EUNSUPPORTED : __real_bly_random_key(key);
}

static bool opens(const seen_wish *wish) {
    seen *s = malloc(sizeof *s);
    assert_non_null(s);
    bool good = seen_open(s, wish);
    if (good)
        seen_close(s);
    free(s);
    return good;
}

/* A seed that everybody knows would be worse than an error. */
static void test_no_random_seed(void **state) {
    (void)state;
    const seen_wish filter = {.keys = 1000, .rule = ""}, all = {.exact = true, .rule = ""};
    const seen_wish seeded = {.keys = 1000, .seed = 7, .rule = ""};
    const seen_wish kept = {.exact = true, .state = at("exact"), .rule = ""};
    const seen_wish confirmed = {.confirm = at("confirm"), .rule = ""};
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

/* Opens, adds one key and saves. */
static bool run(const seen_wish *wish, bool *keeps_return) {
    const bly_bytes key = {"a line", 6};
    seen *s = malloc(sizeof *s);
    uint8_t fresh;
    assert_non_null(s);
    bool good = seen_open(s, wish);
    if (good) {
        *keeps_return = s->keeps_return;
        assert_true(seen_keys(s, &key, 1, &fresh) && seen_save(s));
        seen_close(s);
    }
    free(s);
    return good;
}

/* A new one the rule of its keys; one from before nothing, so that it is used by the old rule. */
static void test_rules(void **state) {
    (void)state;
    const seen_wish wishes[] = {
        {.keys = 1000, .state = at("filter")},
        {.exact = true, .state = at("exact")},
        {.confirm = at("confirm")},
    };
    for (size_t i = 0; i < COUNT_OF(wishes); i++) {
        bool old;
        seen_wish wish = wishes[i];
        const char *path = wish.state ? wish.state : wish.confirm;
        wish.rule = "";
        wish.key_rule = BLY_KEYS_RECORD_URL;
        assert_true(run(&wish, &old) && !old);
        assert_true(run(&wish, &old) && !old);
        wish.key_rule = BLY_KEYS_RECORD;
        assert_false(run(&wish, &old));
        assert_int_equal(unlink(path), 0);
        wish.key_rule = BLY_KEYS_UNRECORDED;
        assert_true(run(&wish, &old));
        wish.key_rule = BLY_KEYS_RECORD;
        assert_true(run(&wish, &old) && old);
        assert_true(run(&wish, &old) && old);
    }
}

/* ---- an estimate beyond belief --------------------------------------------------------------- */

static void test_estimate(void **state) {
    (void)state;
    seen *s = malloc(sizeof *s);
    assert_non_null(s);
    const seen_wish confirmed = {.confirm = at("f"), .estimate = UINT64_C(1) << 40, .rule = ""};
    assert_true(seen_open(s, &confirmed));
    assert_true(seen_bytes(s) < 4 * seen_most_estimate);
    seen_close(s);
    const seen_wish growing = {.estimate = UINT64_C(1) << 40, .rule = ""};
    assert_true(seen_open(s, &growing));
    assert_true(seen_bytes(s) < 4 * seen_most_estimate);
    seen_close(s);
    free(s);
}

/* ---- the rate of an overfull filter ---------------------------------------------------------- */

static unsigned passes; /* over all bits of a filter */

bly_status __real_bly_filter_get_info(const bly_filter *f, bly_filter_info *out);
bly_status __wrap_bly_filter_get_info(const bly_filter *f, bly_filter_info *out);
bly_status __wrap_bly_filter_get_info(const bly_filter *f, bly_filter_info *out) {
    passes++;
    return __real_bly_filter_get_info(f, out);
}

/* To read all bits takes about as long as to ask for a key for each 64 bytes of them, so no more
 * than one pass goes with so many; and not so few that the estimate of what was lost is wrong. */
static void test_passes(void **state) {
    (void)state;
    enum { BYTES = 16 << 20, KEYS = 1500000 };
    seen *s = malloc(sizeof *s);
    uint8_t *fresh = malloc(INPUT_BATCH);
    assert_true(s && fresh);
    const seen_wish wish = {
        .keys = 1000, .seed = 1, .memory = BYTES + seen_overhead, .overhead = seen_overhead};
    assert_true(seen_open(s, &wish));
    uint64_t rng = 5;
    passes = 0;
    for (size_t asked = 0; asked < KEYS; asked += INPUT_BATCH) {
        for (size_t i = 0; i < INPUT_BATCH; i++)
            s->hashes[i] = (bly_hash){blyt_next(&rng), blyt_next(&rng)};
        assert_true(seen_hashes(s, INPUT_BATCH, fresh));
    }
    assert_in_range(passes, 1, KEYS / (BYTES / 64) + 1);
    seen_close(s);
    free(fresh);
    free(s);
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
