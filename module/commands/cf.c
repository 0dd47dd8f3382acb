/* cf.c - CF.RESERVE, ADD, ADDNX, INSERT, INSERTNX, EXISTS, MEXISTS, COUNT, DEL and COMPACT.
 *
 * An add always stores a copy of the item, and so always changes the filter. The NX commands look
 * the item up first, and add it only if it seems to be absent.
 *
 * Replication: bm_create_filter replicates the creation of a filter. Successful adds are
 * replicated. If a batch had options, or some of its items could not be added, it is replicated as
 * an INSERT of the items that were added: options have no effect once the filter exists, and a
 * replica, which has no memory limits, would add items that its master refused. A replayed creation
 * comes from RedisBloom: see bf.c.
 */
#include "command_table.h"
#include "commands/bf_cf_common.h"
#include "commands/command_args.h"
#include "commands/command_reply.h"
#include "commands/create_params.h"
#include "commands/value_query.h"
#include "config.h"
#include "runtime/prefetch_cache.h"
#include "runtime/server_state.h"

#include <bloomery/filter.h>
#include <bloomery/host/redisbloom.h>
#include <inttypes.h>
#include <string.h>

/* ---- adding ---------------------------------------------------------------------------------- */

/* Values of bm_items.answers. */
enum { PRESENT = 0, ADDED = 1, FAILED = 2 };

/* Adds the items that are not in the filter. One batched lookup finds the items that are in it
 * already, and prefetches the blocks of the rest. Each of the rest is looked up again just before
 * it is added, because it may occur earlier in the same batch. */
static bly_status add_absent(bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *answers,
                             size_t *done) {
    bly_filter_contains_many(f, keys, n, answers);
    for (*done = 0; *done < n; ++*done) {
        const bly_bytes *key = keys + *done;
        if (answers[*done] || bly_filter_contains(f, key->data, key->size)) {
            answers[*done] = PRESENT;
            continue;
        }
        bly_status status = bly_filter_add(f, key->data, key->size, NULL);
        if (status != BLY_OK)
            return status;
        answers[*done] = ADDED;
    }
    return BLY_OK;
}

static bly_rb_cuckoo_how rb_add_options(rm_ctx *ctx, const bm_value *value, bool absent) {
    return (bly_rb_cuckoo_how){
        .absent = absent, .max_filters = value->type == BM_RB_CUCKOO ? bm_max_rb_filters(ctx) : 0};
}

/* Adds the items from number *done on, and increases *done by the number of items that were
 * processed. */
static bly_status add_rest(bm_value *value, bm_items *items, const bly_rb_cuckoo_how *how,
                           size_t *done) {
    const bly_bytes *keys = items->keys + *done;
    uint8_t *answers = items->answers + *done;
    size_t n = items->n - *done;
    bly_batch_result tally = {0};
    bly_status status;
    if (value->type == BM_RB_CUCKOO) {
        status = bly_rb_cuckoo_add_many(value->as.cuckoo, keys, n, how, answers, &tally);
    } else if (how->absent) {
        status = add_absent(value->as.filter, keys, n, answers, &tally.done);
    } else {
        status = bly_filter_add_many(value->as.filter, keys, n, NULL, &tally);
        memset(answers, ADDED, tally.done);
    }
    *done += tally.done;
    return status;
}

/* Adds a batch. An item for which there is neither a free slot nor memory to grow does not end the
 * batch, because there may be a free slot for the next item. Returns BLY_OK, or why the last of the
 * failed items was not added. */
static bly_status add_items(rm_ctx *ctx, bm_value *value, bm_items *items, bool absent) {
    bly_rb_cuckoo_how how = rb_add_options(ctx, value, absent);
    bly_status failure = BLY_OK;
    for (size_t done = 0; done < items->n; done++) {
        bly_status status = add_rest(value, items, &how, &done);
        if (status == BLY_OK)
            break;
        failure = status;
        items->answers[done] = FAILED;
    }
    return failure;
}

static bly_status add_one(rm_ctx *ctx, bm_value *value, const bm_prefetch *prefetch, bool absent,
                          bool *added) {
    if (value->type == BM_RB_CUCKOO) {
        bly_rb_cuckoo_how how = rb_add_options(ctx, value, absent);
        return bly_rb_cuckoo_add(value->as.cuckoo, prefetch->item.data, prefetch->item.size, &how,
                                 added);
    }
    *added = !(absent && bm_prefetch_contains(prefetch, value->as.filter));
    return *added ? bm_prefetch_add(prefetch, value->as.filter, NULL) : BLY_OK;
}

/* ---- ADD, ADDNX, INSERT, INSERTNX ------------------------------------------------------------ */

static const char TOO_MANY[] = "Maximum expansions reached";

static bool at_max_filters(const bm_value *value) {
    return value->type == BM_RB_CUCKOO && bly_rb_cuckoo_get_info(value->as.cuckoo).filters >=
                                              (uint64_t)bm_configs.cf_max_expansions;
}

/* For RedisBloom's layout, and if `compat` is on, the text is that of RedisBloom. */
static void reply_full(rm_ctx *ctx, const bm_value *value, bly_bytes item) {
    bool rb_text = bm_configs.compat || value->type != BM_FILTER;
    uint64_t copies = rb_text ? 0 : bm_value_max_copies(value, item);
    if (copies)
        bm_error(ctx,
                 "Filter is full for this item: it has %" PRIu64
                 " copies of it, and a larger filter would not help; remove copies with CF.DEL, "
                 "or use CF.ADDNX, which adds an item only once",
                 copies);
    else
        rm.ReplyWithError(ctx, "Filter is full");
}

static void reply_failure(rm_ctx *ctx, const bm_value *value, bly_bytes item, bly_status status) {
    bm_refusal refusal = value->account.refusal;
    if (status == BLY_ENOMEM && refusal != BM_REFUSED_NOT && refusal != BM_REFUSED_SYSTEM)
        rm.ReplyWithError(ctx, bm_refusal_text(refusal));
    else if (status == BLY_ENOMEM)
        rm.ReplyWithError(ctx, "ERR Insufficient memory");
    else if (status != BLY_EFULL && status != BLY_ETOOBIG)
        bm_status_error(ctx, status);
    else if (at_max_filters(value) && bly_rb_cuckoo_get_info(value->as.cuckoo).expansion)
        rm.ReplyWithError(ctx, TOO_MANY);
    else
        reply_full(ctx, value, item);
}

/* The options for creating a filter. */
typedef struct cf_options {
    double error;
    long long capacity, bucket_size, max_iterations, expansion;
    bool capacity_known, nocreate;
} cf_options;

static cf_options default_options(void) {
    return (cf_options){.error = bm_configs.cf_error_rate,
                        .capacity = bm_configs.cf_initial_size,
                        .bucket_size = bm_configs.cf_bucket_size,
                        .max_iterations = bm_configs.cf_max_iterations,
                        .expansion = bm_configs.cf_expansion};
}

static bool create_cf(rm_ctx *ctx, bm_key *key, const cf_options *options) {
    bm_create_params params = bm_create_params_cf(
        options->error, (uint64_t)options->capacity, (uint16_t)options->bucket_size,
        (uint16_t)options->max_iterations, (uint32_t)options->expansion, options->capacity_known);
    if (bm_is_replayed(ctx))
        params.layout = BM_LAYOUT_RB_CUCKOO;
    return bm_create_filter(ctx, key, &params, "cuckoo.reserve");
}

/* Opens the key for an add, and creates the filter if the key does not exist. Returns false after
 * replying with an error. The caller closes the key in either case. If `compat` is on, nothing is
 * added to a filter that has the maximum number of sub-filters, even if it has free slots, as in
 * RedisBloom. */
static bool open_to_add(rm_ctx *ctx, rm_string *name, const cf_options *options, bm_key *key) {
    *key = bm_key_open(ctx, name, RM_READ | RM_WRITE);
    const char *error = NULL;
    if (key->type == BM_MISSING) {
        cf_options defaults = default_options();
        if (!options || !options->nocreate)
            return create_cf(ctx, key, options ? options : &defaults);
        error = "ERR not found";
    } else if (!bm_cf_accepts(key)) {
        error = BM_WRONGTYPE;
    } else if (bm_configs.compat && at_max_filters(key->value) && !bm_is_replayed(ctx)) {
        error = TOO_MANY;
    }
    if (!error)
        return bm_may_write(ctx, key);
    rm.ReplyWithError(ctx, error);
    return false;
}

static int add_command(rm_ctx *ctx, rm_string **argv, int argc, bool absent) {
    if (argc != 3)
        return rm.WrongArity(ctx);
    bm_key key;
    bm_prefetch prefetch;
    bm_prefetch_begin(&prefetch, argv[1], bm_bytes(argv[2]));
    if (open_to_add(ctx, argv[1], NULL, &key)) {
        bool added = false;
        bly_status status = add_one(ctx, key.value, &prefetch, absent, &added);
        if (status != BLY_OK) {
            if (!bm_write_failed(ctx, &key, status))
                reply_failure(ctx, key.value, prefetch.item, status);
        } else {
            if (added) {
                rm.ReplicateVerbatim(ctx);
                bm_key_changed(ctx, &key, "cuckoo.add");
            }
            rm.ReplyWithBool(ctx, added);
        }
    }
    bm_key_close(&key);
    return RM_OK;
}

int bm_cf_add(rm_ctx *ctx, rm_string **argv, int argc) {
    return add_command(ctx, argv, argc, false);
}

int bm_cf_addnx(rm_ctx *ctx, rm_string **argv, int argc) {
    return add_command(ctx, argv, argc, true);
}

/* Replicates the items that were added: in one command or, if there is no memory for a list of
 * them, in one command per item. */
static void replicate_added(rm_ctx *ctx, rm_string *name, rm_string **argv, const bm_items *items,
                            bool absent) {
    const char *command = absent ? "CF.INSERTNX" : "CF.INSERT";
    rm_string **list = rm.TryAlloc(items->n * sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < items->n; i++) {
        if (items->answers[i] != ADDED)
            continue;
        if (list)
            list[n++] = argv[i];
        else
            rm.Replicate(ctx, command, "sccs", name, "NOCREATE", "ITEMS", argv[i]);
    }
    if (list)
        rm.Replicate(ctx, command, "sccv", name, "NOCREATE", "ITEMS", list, n);
    rm.Free(list);
}

/* For an item that was not added, INSERT replies -1 in RESP2 and false in RESP3. INSERTNX replies
 * with numbers in both. */
static void reply_added(rm_ctx *ctx, const bm_items *items, bool absent) {
    rm.ReplyWithArray(ctx, (long)items->n);
    bool numbers = absent || !bm_resp3(ctx);
    for (size_t i = 0; i < items->n; i++) {
        uint8_t answer = items->answers[i];
        if (numbers)
            rm.ReplyWithLongLong(ctx, answer == FAILED ? -1 : answer);
        else
            rm.ReplyWithBool(ctx, answer == ADDED);
    }
}

/* Executes INSERT or INSERTNX for the items from argv[first] on. */
static int insert_items(rm_ctx *ctx, rm_string **argv, int argc, int first,
                        const cf_options *options, bool absent) {
    bm_items items;
    if (!bm_items_init(&items, argv + first, argc - first))
        return bm_status_error(ctx, BLY_ENOMEM);
    bm_key key;
    if (open_to_add(ctx, argv[1], options, &key)) {
        bly_status status = add_items(ctx, key.value, &items, absent);
        bool tombstone = bm_write_failed(ctx, &key, status);
        if (!tombstone && memchr(items.answers, ADDED, items.n)) {
            if (status == BLY_OK && bm_is(argv[2], "ITEMS"))
                rm.ReplicateVerbatim(ctx);
            else
                replicate_added(ctx, argv[1], argv + first, &items, absent);
            bm_key_changed(ctx, &key, "cuckoo.add");
        }
        if (!tombstone)
            reply_added(ctx, &items, absent);
    }
    bm_key_close(&key);
    bm_items_free(&items);
    return RM_OK;
}

/* Whether the argument is this option: the whole word or, if `lax`, any word with the same first
 * letter, as in RedisBloom. */
static bool is_option(const rm_string *arg, const char *word, bool lax) {
    char letter[] = {word[0], 0};
    return lax ? bm_starts(arg, letter) : bm_is(arg, word);
}

static bool insert_capacity(rm_ctx *ctx, const rm_string *arg, cf_options *options) {
    if (!bm_integer(arg, &options->capacity)) {
        rm.ReplyWithError(ctx, "Bad capacity");
        return false;
    }
    if (options->capacity < 2 * options->bucket_size || options->capacity > bm_max_capacity()) {
        bm_error(ctx, "Capacity must be in the range [cf-bucket-size * 2, %lld]",
                 bm_max_capacity());
        return false;
    }
    options->capacity_known = true;
    return true;
}

static int insert_command(rm_ctx *ctx, rm_string **argv, int argc, bool absent) {
    cf_options options = default_options();
    int i = 2;
    bool lax = argc > 2 && !bm_is(argv[2], "ITEMS") && bm_lax_options(ctx);
    for (; i < argc && !is_option(argv[i], "ITEMS", lax); i++) {
        if (is_option(argv[i], "NOCREATE", lax)) {
            options.nocreate = true;
        } else if (!is_option(argv[i], "CAPACITY", lax)) {
            return rm.ReplyWithError(ctx, "Unknown argument received");
        } else {
            if (++i == argc)
                return rm.WrongArity(ctx);
            if (!insert_capacity(ctx, argv[i], &options))
                return RM_OK;
        }
    }
    if (argc < 4 || i + 1 >= argc)
        return rm.WrongArity(ctx);
    return insert_items(ctx, argv, argc, i + 1, &options, absent);
}

int bm_cf_insert(rm_ctx *ctx, rm_string **argv, int argc) {
    return insert_command(ctx, argv, argc, false);
}

int bm_cf_insertnx(rm_ctx *ctx, rm_string **argv, int argc) {
    return insert_command(ctx, argv, argc, true);
}

/* ---- RESERVE --------------------------------------------------------------------------------- */

/* Parses the value of an option, a number from min to max, if the option is given. Returns false
 * after replying with an error. */
static bool reserve_number(rm_ctx *ctx, rm_string **argv, int argc, int step, const char *word,
                           long long min, long long max, long long *out) {
    int at = bm_find_word(argv, argc, 3, step, word);
    if (!at)
        return true;
    if (at + 1 == argc || !bm_integer(argv[at + 1], out)) {
        bm_error(ctx, "Couldn't parse %s", word);
        return false;
    }
    if (*out < min || *out > max) {
        bm_error(ctx, "%s: value must be in the range [%lld, %lld]", word, min, max);
        return false;
    }
    return true;
}

/* Parses ERROR, the requested false-positive rate. (RedisBloom does not have this option.) Returns
 * false after replying with an error. */
static bool reserve_error(rm_ctx *ctx, rm_string **argv, int argc, int step, cf_options *options) {
    int at = bm_find_word(argv, argc, 3, step, "ERROR");
    if (!at)
        return true;
    if (at + 1 == argc || !bm_double(argv[at + 1], &options->error)) {
        rm.ReplyWithError(ctx, "Couldn't parse ERROR");
        return false;
    }
    if (!(options->error > 0 && options->error < 1)) {
        rm.ReplyWithError(ctx, "ERROR: value must be in the range (0, 1)");
        return false;
    }
    return true;
}

/* Parses pairs of an option and its value. By RedisBloom's lax rules, options are searched among
 * all arguments, including values, and unknown words are ignored. Returns false after replying with
 * an error. */
static bool reserve_options(rm_ctx *ctx, rm_string **argv, int argc, cf_options *options) {
    bool lax = argc > 3 && bm_lax_options(ctx);
    int step = lax ? 1 : 2;
    if (!reserve_number(ctx, argv, argc, step, "MAXITERATIONS", 1, 65535,
                        &options->max_iterations) ||
        !reserve_number(ctx, argv, argc, step, "BUCKETSIZE", 1, 255, &options->bucket_size) ||
        !reserve_number(ctx, argv, argc, step, "EXPANSION", 0, BLY_RB_MAX_EXPANSION,
                        &options->expansion) ||
        !reserve_error(ctx, argv, argc, step, options))
        return false;
    for (int i = 3; i < argc && !lax; i += 2) {
        if (bm_is(argv[i], "MAXITERATIONS") || bm_is(argv[i], "BUCKETSIZE") ||
            bm_is(argv[i], "EXPANSION") || bm_is(argv[i], "ERROR"))
            continue;
        bm_unknown_word(ctx, argv[i]);
        return false;
    }
    return true;
}

int bm_cf_reserve(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc < 3 || argc % 2 == 0)
        return rm.WrongArity(ctx);
    cf_options options = default_options();
    options.capacity_known = true;
    if (!bm_integer(argv[2], &options.capacity))
        return rm.ReplyWithError(ctx, "Bad capacity");
    if (!reserve_options(ctx, argv, argc, &options))
        return RM_OK;
    if (options.capacity < 2 * options.bucket_size || options.capacity > bm_max_capacity())
        return bm_error(ctx, "Capacity must be in the range [2 * BUCKETSIZE, %lld]",
                        bm_max_capacity());
    bm_key key = bm_key_open(ctx, argv[1], RM_READ | RM_WRITE);
    if (key.type != BM_MISSING)
        rm.ReplyWithError(ctx, bm_cf_accepts(&key) ? "ERR item exists" : BM_WRONGTYPE);
    else if (create_cf(ctx, &key, &options))
        rm.ReplyWithSimpleString(ctx, "OK");
    bm_key_close(&key);
    return RM_OK;
}

/* ---- EXISTS, MEXISTS, COUNT ------------------------------------------------------------------ */

int bm_cf_exists(rm_ctx *ctx, rm_string **argv, int argc) {
    return bm_exists(ctx, argv, argc, bm_cf_accepts);
}

int bm_cf_mexists(rm_ctx *ctx, rm_string **argv, int argc) {
    return bm_mexists(ctx, argv, argc, bm_cf_accepts);
}

int bm_cf_count(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc != 3)
        return rm.WrongArity(ctx);
    bm_key key = bm_key_open(ctx, argv[1], RM_READ);
    if (bm_cf_accepts(&key))
        bm_reply_count(ctx, bm_value_copies(key.value, bm_bytes(argv[2])));
    else if (!bm_reply_wrong_type(ctx, &key))
        rm.ReplyWithLongLong(ctx, 0);
    bm_key_close(&key);
    return RM_OK;
}

/* ---- DEL, COMPACT ---------------------------------------------------------------------------- */

/* Opens the key for a remove. Returns false after replying with an error. The caller closes the key
 * in either case. */
static bool open_to_remove(rm_ctx *ctx, rm_string *name, const char *missing, bm_key *key) {
    *key = bm_key_open(ctx, name, RM_READ | RM_WRITE);
    if (bm_cf_accepts(key))
        return bm_may_write(ctx, key);
    rm.ReplyWithError(ctx, key->type == BM_MISSING || bm_configs.compat ? missing : BM_WRONGTYPE);
    return false;
}

static bly_status remove_item(bm_value *value, bly_bytes item, bool *removed) {
    if (value->type == BM_RB_CUCKOO) {
        *removed = bly_rb_cuckoo_remove(value->as.cuckoo, item.data, item.size);
        return BLY_OK;
    }
    bly_status status = bly_filter_remove(value->as.filter, item.data, item.size, removed);
    if (status == BLY_OK && *removed)
        value->traits.deletes += value->traits.deletes < UINT64_MAX;
    return status;
}

int bm_cf_del(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc != 3)
        return rm.WrongArity(ctx);
    bm_key key;
    if (open_to_remove(ctx, argv[1], "Not found", &key)) {
        bool removed = false;
        bly_status status = remove_item(key.value, bm_bytes(argv[2]), &removed);
        if (status != BLY_OK) {
            if (!bm_write_failed(ctx, &key, status))
                reply_failure(ctx, key.value, bm_bytes(argv[2]), status);
        } else {
            if (removed) {
                rm.ReplicateVerbatim(ctx);
                bm_key_changed(ctx, &key, "cuckoo.del");
            }
            rm.ReplyWithBool(ctx, removed);
        }
    }
    bm_key_close(&key);
    return RM_OK;
}

/* Compacts a filter, and resets its number of deletes, as RedisBloom does. Returns whether anything
 * has changed. */
static bool compact_cf(bm_value *value) {
    if (value->type == BM_RB_CUCKOO) {
        bly_rb_cuckoo_compact(value->as.cuckoo);
        return true;
    }
    uint64_t cursor = 0, moved = 0;
    size_t levels = bly_filter_level_count(value->as.filter);
    bly_status status = bly_scalable_cuckoo_compact(value->as.filter, 0, &cursor, &moved);
    bool changed = (status == BLY_OK && moved) || value->traits.deletes ||
                   levels != bly_filter_level_count(value->as.filter);
    value->traits.deletes = 0;
    return changed;
}

int bm_cf_compact(rm_ctx *ctx, rm_string **argv, int argc) {
    if (argc != 2)
        return rm.WrongArity(ctx);
    bm_key key;
    if (open_to_remove(ctx, argv[1], "Cuckoo filter was not found", &key)) {
        if (compact_cf(key.value)) {
            rm.ReplicateVerbatim(ctx);
            bm_key_changed(ctx, &key, "cuckoo.compact");
        }
        rm.ReplyWithSimpleString(ctx, "OK");
    }
    bm_key_close(&key);
    return RM_OK;
}
