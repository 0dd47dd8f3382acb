/* fuzz_use.c - uses a filter that was loaded from a mutated payload: every command replies, every
 * method of its type returns, and the invariants of filters hold. */
#include "config.h"
#include "fuzz.h"
#include "types_support.h"

enum { LIMIT = 1 << 20, SLACK = 1 << 18, WORDS = 128, LINE = 4096 };

const char *fuzz_run(const char *line) {
    rm_string *argv[WORDS] = {0};
    int argc = 0;
    for (const char *at = line;
         at && argc < WORDS;) { /* after a space at the end, there is an empty word */
        const char *end = strchr(at, ' ');
        argv[argc++] = fake_string(at, end ? (size_t)(end - at) : strlen(at));
        at = end ? end + 1 : NULL;
    }
    const char *reply = fake_run_strings(argv, argc);
    for (int i = 0; i < argc; i++)
        fake_string_free(argv[i]);
    return reply;
}

/* ---- commands -------------------------------------------------------------------------------- */

static const char *const lines[] = {
    "BF.ADD f a",
    "BF.MADD f a b c store-key-1",
    "BF.INSERT f ITEMS p q",
    "BF.INSERT g CAPACITY 9 ITEMS p q",
    "BF.RESERVE f 0.01 50",
    "BF.EXISTS f a",
    "BF.MEXISTS f a b store-key-1 store-key-2",
    "BF.INFO f",
    "BF.INFO f Capacity",
    "BF.CARD f",
    "BF.DEBUG f",
    "BF.SCANDUMP f 0",
    "BF.SCANDUMP f 1",
    "BF.SCANDUMP f 65",
    "CF.ADD f a",
    "CF.ADDNX f a",
    "CF.INSERT f ITEMS a a a b key-1",
    "CF.INSERTNX f ITEMS a c d",
    "CF.RESERVE g 50",
    "CF.EXISTS f a",
    "CF.MEXISTS f a b key-1 key-2",
    "CF.COUNT f a",
    "CF.COUNT f key-1",
    "CF.DEL f a",
    "CF.DEL f key-1",
    "CF.COMPACT f",
    "CF.INFO f",
    "CF.DEBUG f",
    "CF.SCANDUMP f 0",
    "CF.SCANDUMP f 1",
    "BLY.ADD f a b store-key-1",
    "BLY.CHECK f a b store-key-1",
    "BLY.DEL f a store-key-1",
    "BLY.DEL f store-key-2 made-key-1 key-3",
    "BLY.COUNT f a store-key-1",
    "BLY.CARD f",
    "BLY.AGE f a store-key-39",
    "BLY.INFO f",
    "BLY.STATS f",
    "BLY.MERGE g f",
    "BLY.MERGE f g",
    "BLY.MERGE f f",
    "BLY.MERGE h f g",
    "BLY.CLEAR f",
    "BLY.DUMP f 0",
    "BLY.DUMP f 60 COUNT 10",
    "BLY.DUMP f 18446744073709551615",
    "BLY.RESERVE h KIND overlay BASE f",
    "BLY.RESERVE g KIND window CAPACITY 30 SPAN 1000",
    "BLY.NOOP f a",
    "BF.LOADCHUNK f 3 ab",
    "BF.LOADCHUNK f 1 abcd",
    "CF.LOADCHUNK f 5 abcd",
    "CF.LOADCHUNK f -1 ",
    "BLY.LOAD f 128 64 abcd",
    "BLY.LOAD f 0 0 ",
};

void fuzz_run_any(uint64_t *rng) {
    (void)fuzz_run(lines[blyt_next(rng) % COUNT_OF(lines)]);
}

static void run_some(uint64_t *rng, size_t n) {
    while (n--)
        fuzz_run_any(rng);
}

/* Runs a command with 100 items. Some or all of them may be new. */
static void add_many(const char *command, uint64_t *rng) {
    char line[LINE];
    int at = snprintf(line, sizeof line, "%s", command);
    unsigned first = (unsigned)(blyt_next(rng) % 1000);
    for (unsigned i = 0; i < 100; i++)
        at += snprintf(line + at, sizeof line - (size_t)at, " more-%u", first + i);
    (void)fuzz_run(line);
}

/* Checks that an added item is found, unless one of the replies is an error or nil. */
static void check_added(const char *add, const char *check) {
    char added[64];
    snprintf(added, sizeof added, "%s", fuzz_run(add));
    if (strchr(added, '-'))
        return;
    const char *found = fuzz_run(check);
    if (!strstr(found, "true") && !strstr(found, "nil") && !strchr(found, '-'))
        fail_msg("%s: %s, but %s: %s", add, added, check, found);
}

static bool only_counts(const bm_value *value) {
    return value->type == BM_FILTER && value->as.filter &&
           bly_kind_capabilities(bly_filter_geometry(value->as.filter).kind) & BLY_CARDINALITY_ONLY;
}

/* Advances time. Windows advance by the module's timer, and by a BLY.TICK as a master would send
 * it. */
static void pass_time(uint64_t *rng) {
    char line[64];
    fake_now += (long long)(blyt_next(rng) % 100000);
    fake_timers_fire();
    fake_flags = RM_CTX_REPLICATED;
    snprintf(line, sizeof line, "BLY.TICK f %llu", (unsigned long long)blyt_next(rng) >> 22);
    (void)fuzz_run(line);
    fake_flags = RM_CTX_MASTER;
}

static void use_by_commands(uint64_t *rng) {
    run_some(rng, 20);
    bm_value *value = fake_get("f", NULL);
    if (value && !only_counts(value))
        check_added("BLY.ADD f probe", "BLY.CHECK f probe");
    value = fake_get("f", NULL);
    if (value && !only_counts(value)) {
        check_added("BF.ADD f trial", "BF.EXISTS f trial");
        check_added("CF.ADD f other", "CF.EXISTS f other");
    }
    if (blyt_next(rng) % 4 == 0)
        add_many(blyt_next(rng) % 2 ? "BLY.ADD f" : "BF.MADD f", rng);
    if (blyt_next(rng) % 4 == 0)
        pass_time(rng);
    run_some(rng, 10);
}

/* ---- methods --------------------------------------------------------------------------------- */

/* Runs the commands of an AOF rewrite of the value. They may be refused. */
static void replay(bm_value *value) {
    fake_commands commands = {0};
    rm_io *io = fake_io_new();
    io->commands = &commands;
    rm_string *key = fake_string("aof", 3);
    type_of(value)->methods.aof_rewrite(io, key, value);
    fake_flags = RM_CTX_MASTER | RM_CTX_LOADING;
    for (size_t i = 0; i < commands.n; i++)
        (void)fake_run_strings(commands.all[i].argv, commands.all[i].argc);
    fake_flags = RM_CTX_MASTER;
    fake_set("aof", NULL, NULL);
    fake_commands_clear(&commands);
    fake_string_free(key);
    fake_io_free(io);
}

static void use_by_methods(bm_value *value, uint64_t *rng) {
    bm_value_drop_image(value);
    check_round_trip(value);
    check_numbers(value);
    if (blyt_next(rng) % 2)
        check_defrag(value);
    bm_value *copy = copied(value);
    assert_non_null(copy);
    assert_true(digest_of(copy) == digest_of(value));
    fake_set("g", type_of(copy), copy);
    if (blyt_next(rng) % 2)
        replay(value);
}

void fuzz_use(uint64_t *rng) {
    bm_value *value = fake_get("f", NULL);
    if (!value)
        return;
    size_t has = (size_t)bm_value_bytes(value);
    fake_heap_reset();
    fake_heap.max_request = 2 * has + LIMIT + SLACK;
    use_by_methods(value, rng);
    bm_configs.max_filter = LIMIT;
    use_by_commands(rng);
    bm_configs.max_filter = 0;
    value = fake_get("f", NULL);
    if (value)
        use_by_methods(value, rng);
    assert_true(atomic_load(&fake_heap.largest) <= atomic_load(&fake_heap.max_request));
    fake_heap_reset();
}
