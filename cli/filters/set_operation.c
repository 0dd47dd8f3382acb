/* set_operation.c - compares the headers of filter files, folds the files to a common size if
 * necessary, combines them, and prints a report.
 *
 * The library combines two filters without knowing what their keys mean. So this file also compares
 * how the keys were made from lines (the recorded rule), and corrects the marks, which are keys
 * that record the type of a list.
 */
#include "filters/set_operation.h"

#include "filters/filter_file.h"
#include "filters/health.h"
#include "filters/kind_words.h"
#include "filters/rule_marks.h"
#include "io/fingerprint_file.h"
#include "io/interrupt.h"
#include "io/list_lines.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- whether the files were built alike ------------------------------------------------------ */

typedef struct inputs {
    const set_operation *op;
    char **paths;
    size_t count;
    bly_file_info first;   /* header of the first file */
    bly_list_info list;    /* of the result so far; valid after the first file was read */
    const char *state;     /* a file that records the rule of a state, or NULL */
    const char *old;       /* a file with keys that records no rule, or NULL */
    const bly_hasher *key; /* of keyed filters; NULL: not given */
    uint64_t common;       /* the greatest common divisor of the sizes */
    uint64_t largest;      /* the largest size */
    uint64_t keys;         /* the largest number of keys in a file */
} inputs;

/* Reports "B: differs from A in its WHAT (THIS, not THAT); ..." and returns false. */
static bool differs(const inputs *p, const char *path, const char *what, const char *is,
                    const char *was) {
    return message_fail("%s: differs from %s in its %s (%s, not %s); only filters built with the "
                        "same options can be %s",
                        path, p->paths[0], what, is, was, p->op->done);
}

static const char *hash_name(const bly_file_info *info) {
    const char *name = bly_hash_name(info->hash);
    return name ? name : "custom";
}

static const char *probing(const bly_file_info *info) {
    return info->geometry.options & BLY_TEXTBOOK ? "textbook double hashing" : "Bloomery's";
}

static const char *seed_label(const bly_file_info *info) {
    if (info->keyed)
        return "secret key";
    return bly_hash_is_custom(info->hash) ? "custom hash function" : "seed";
}

static char *seed_text(const bly_file_info *info, char out[NUMBER_TEXT]) {
    const unsigned long long seed = info->seed;
    if (info->keyed || bly_hash_is_custom(info->hash))
        (void)snprintf(out, NUMBER_TEXT, "id %016llx", seed);
    else
        (void)snprintf(out, NUMBER_TEXT, "%llu", seed);
    return out;
}

/* Whether both record the same rule, or one of them records none. The two rules for lines, with and
 * without blank lines, count as the same. */
static bool same_rule(bly_key_rule a, bly_key_rule b) {
    return a == b || a == BLY_KEYS_UNRECORDED || b == BLY_KEYS_UNRECORDED ||
           (bly_list_is_lines(bly_list_type_of_rule(a)) &&
            bly_list_is_lines(bly_list_type_of_rule(b)));
}

/* A state that records how keys were made from lines, and a file that does not, may have different
 * keys for the same line. An estimate of their overlap is still allowed: it is only less exact. */
static bool same_lines(inputs *p, const char *path, const bly_file_info *info) {
    const bly_list_type type = bly_list_type_of_rule(info->key_rule);
    if (type > BLY_LIST_LINE)
        p->state = path;
    else if (type == BLY_LIST_NONE && info->count > 0)
        p->old = path;
    if (!p->state || !p->old || p->op->operation == BLY_OP_OVERLAP)
        return true;
    return message_fail(
        "%s: does not record how its keys were made from lines, but %s does. A line that ends in a "
        "carriage return may have a different key in each, and would not be found in the result. "
        "Build %s again from its lines, or combine it only with files that do not record it either",
        p->old, p->state, p->old);
}

/* Compares everything except the size, which folding can change, and the shape of kinds that grow.
 */
static bool alike(const inputs *p, const char *path, const bly_file_info *b) {
    const bly_file_info *a = &p->first;
    char is[NUMBER_TEXT], was[NUMBER_TEXT], now[KINDS_SHAPE], then[KINDS_SHAPE];
    if (a->geometry.kind != b->geometry.kind)
        return differs(p, path, "kind", bly_kind_name(b->geometry.kind),
                       bly_kind_name(a->geometry.kind));
    if (a->hash != b->hash)
        return differs(p, path, "hash function", hash_name(b), hash_name(a));
    if (a->seed != b->seed)
        return differs(p, path, seed_label(a), seed_text(b, is), seed_text(a, was));
    if (!same_rule(a->key_rule, b->key_rule))
        return differs(p, path, "type of keys", line_type_words(bly_list_type_of_rule(b->key_rule)),
                       line_type_words(bly_list_type_of_rule(a->key_rule)));
    if (kinds_grow(a->geometry.kind)) { /* the header has the current shape, not the initial one */
        if (a->fpr != b->fpr)
            return differs(p, path, "requested false-positive rate", number_percent(b->fpr, is),
                           number_percent(a->fpr, was));
        return true;
    }
    if (a->geometry.hashes != b->geometry.hashes)
        return differs(p, path, kinds_hashes(a->geometry.kind),
                       number_grouped(b->geometry.hashes, is),
                       number_grouped(a->geometry.hashes, was));
    if (a->geometry.detail != b->geometry.detail && !kinds_can(a->geometry.kind, BLY_DETAIL_GROWS))
        return differs(p, path, "shape", kinds_shape(&b->geometry, now),
                       kinds_shape(&a->geometry, then));
    if (probing(a) != probing(b))
        return differs(p, path, "probe sequence", probing(b), probing(a));
    return true;
}

/* Finds the shape that all files can be folded to. Returns false if they have no such shape. */
static bool common_shape(const inputs *p, bly_geometry *out) {
    *out = p->first.geometry;
    out->size = p->common;
    return (bly_kind_capabilities(out->kind) & BLY_CAN_FOLD) && bly_plan_check(out) == BLY_OK;
}

static int refuse_sizes(const inputs *p, const char *path, const bly_file_info *b) {
    char is[KINDS_SIZE], was[KINDS_SIZE], small[KINDS_SIZE];
    bly_geometry g;
    (void)kinds_size(&b->geometry, is);
    (void)kinds_size(&p->first.geometry, was);
    if (!common_shape(p, &g))
        return message_error("%s: differs from %s in its size (%s, not %s), and there is no size "
                             "that both can be folded to; build both with the same -n and -p",
                             path, p->paths[0], is, was);
    (void)kinds_size(&g, small);
    const unsigned bits = bly_hash_is_custom(p->first.hash) ? 128 : bly_hash_bits(p->first.hash);
    const double fpr = bly_plan_fpr(&g, p->keys, bits);
    if (fpr > 0.5)
        return message_error(
            "%s: differs from %s in its size (%s, not %s), and the largest size that both can be "
            "folded to (%s) is too small for their keys; build both with the same -n and -p",
            path, p->paths[0], is, was, small);
    return message_error("%s: differs from %s in its size (%s, not %s); use --fold to fold them to "
                         "%s, with a false-positive rate per lookup of at least %s",
                         path, p->paths[0], is, was, small, NUMBER_PERCENT(fpr));
}

/* Reports the library's reason why filters of this kind cannot be combined. */
static bool refuse_kind(const inputs *p) {
    opened o;
    char kinds[KINDS_LIST];
    if (open_read(&o, p->paths[0], NULL, BLY_OPEN_WITHOUT_KEY) != BLY_OK)
        return false;
    const char *why = bly_filter_why_not(p->op->operation, o.filter, o.filter);
    (void)message_error("%s: %s filters cannot be %s: %s; these kinds can: %s", p->paths[0],
                        bly_kind_name(p->first.geometry.kind), p->op->done,
                        why ? why : "their keys cannot be combined",
                        kinds_that_can(p->op->needs, kinds));
    open_close(&o);
    return false;
}

/* Reads every header, and compares it with the first. */
static bool read_headers(inputs *p, const set_operation *op, bool fold, cli_operands files) {
    const char *odd = NULL;
    bly_file_info odd_info = {.struct_size = sizeof odd_info};
    *p = (inputs){.op = op, .paths = files.items, .count = files.count};
    for (size_t i = 0; i < p->count; i++) {
        bly_file_info info = {.struct_size = sizeof info};
        if (pages_recognise(p->paths[i]))
            return message_fail("%s: is a fingerprint file of dedup --exact or --confirm. These "
                                "cannot be %s, because each has its own random seed; run "
                                "bloomery dedup once on all the lines instead",
                                p->paths[i], op->done);
        if (open_header(p->paths[i], &info) != BLY_OK)
            return false;
        if (i == 0)
            p->first = info;
        if (i == 0 && !kinds_can(info.geometry.kind, op->needs))
            return refuse_kind(p);
        if (!alike(p, p->paths[i], &info) || !same_lines(p, p->paths[i], &info))
            return false;
        p->common = number_common_divisor(p->common, info.geometry.size);
        p->largest = info.geometry.size > p->largest ? info.geometry.size : p->largest;
        p->keys = info.count > p->keys ? info.count : p->keys;
        if (!odd && info.geometry.size != p->first.geometry.size) {
            odd = p->paths[i];
            odd_info = info;
        }
    }
    bly_geometry shape;
    if (odd && !kinds_grow(p->first.geometry.kind) && !(fold && common_shape(p, &shape)))
        return refuse_sizes(p, odd, &odd_info) == CLI_OK;
    return true;
}

/* ---- reading the files ----------------------------------------------------------------------- */

/* The factor by which the filter must be folded; 1: not at all. */
static uint64_t fold_by(const inputs *p, const bly_filter *f) {
    const bly_geometry g = bly_filter_geometry(f);
    return kinds_grow(g.kind) ? 1 : g.size / p->common;
}

static bly_filter *folded(const inputs *p, const char *path, const bly_filter *f) {
    bly_filter *small;
    char size[KINDS_SIZE];
    const uint64_t divisor = fold_by(p, f);
    bly_status status = bly_filter_fold(f, divisor, NULL, &small);
    if (status != BLY_OK) {
        (void)message_status(path, status);
        return NULL;
    }
    const bly_geometry g = bly_filter_geometry(small);
    message_note("%s: folded by a factor of %llu to %s", path, (unsigned long long)divisor,
                 kinds_size(&g, size));
    return small;
}

/* Subtracting adds the marks again, for which a keyed filter needs its secret key. */
static uint32_t without_key(const inputs *p) {
    return p->op->operation == BLY_OP_SUBTRACT ? 0 : BLY_OPEN_WITHOUT_KEY;
}

/* Opens the i-th file for reading, folded to the common size. */
static bool open_input(const inputs *p, size_t i, opened *o) {
    if (open_read(o, p->paths[i], p->key, BLY_OPEN_VERIFY | without_key(p)) != BLY_OK)
        return false;
    if (fold_by(p, o->filter) == 1)
        return true;
    bly_filter *small = folded(p, p->paths[i], o->filter);
    open_close(o);
    o->loaded = small;
    o->filter = small;
    return small != NULL;
}

/* Loads the first file, folded to the common size, so that it can be changed. */
static bly_filter *load_first(const inputs *p) {
    opened o;
    if (kinds_grow(p->first.geometry.kind) || p->first.geometry.size == p->common)
        return open_load(p->paths[0], p->key, without_key(p));
    if (!open_input(p, 0, &o))
        return NULL;
    if (!o.loaded) { /* it was not folded, so its size has changed since its header was read */
        (void)message_error("%s: was replaced while it was being read; try again", p->paths[0]);
        open_close(&o);
        return NULL;
    }
    return o.loaded;
}

/* ---- combining them -------------------------------------------------------------------------- */

static bly_list_info examine(const bly_filter *f) {
    bly_list_info facts = {.struct_size = sizeof facts};
    bly_list_examine(f, &facts);
    return facts;
}

static void compare_types(const inputs *p, bly_list_type b, const char *path) {
    const bly_list_type a = p->list.type;
    const bool lines = bly_list_is_lines(a) && bly_list_is_lines(b);
    if (a != b && a != BLY_LIST_NONE && b != BLY_LIST_NONE && !lines)
        message_warn("%s: has keys of type %s, but %s has keys of type %s, so no type fits all "
                     "keys of the result; look lines up in it with bloomery check --type TYPE",
                     path, line_type_words(b), p->paths[0], line_type_words(a));
}

/* Corrects the rule that the result records. The library records no rule if the two rules differ.
 * That is right if one file records none, unless its marks show that it has the same type. Two
 * recorded rules differ only in blank lines, so the result records the one that includes them. */
static bly_status record_rule(const inputs *p, bly_filter *f, bly_list_type type,
                              bly_key_rule before, bly_key_rule other) {
    const bool recorded = before != BLY_KEYS_UNRECORDED && other != BLY_KEYS_UNRECORDED;
    if (p->op->operation == BLY_OP_SUBTRACT || before == other)
        return BLY_OK;
    if (recorded)
        return bly_filter_set_key_rule(f, BLY_KEYS_RECORD);
    return type == p->list.type && bly_list_is_typed(type)
               ? bly_filter_set_key_rule(f, bly_list_key_rule(type))
               : BLY_OK;
}

/* A list must contain each mark exactly once. In a kind that stores copies, the marks that both
 * filters have are stored twice after a union, and are gone after a subtraction. */
static bly_status correct_marks(inputs *p, bly_filter *f, const bly_list_info *other) {
    const bly_list_levels both = bly_list_levels_common(&p->list.levels, &other->levels);
    if (other->type != p->list.type || !kinds_hold_copies(p->first.geometry.kind))
        return BLY_OK;
    if (p->op->operation == BLY_OP_SUBTRACT)
        return bly_list_add_marks(f, other->type, &both);
    /* Removing a mark that is a false positive would remove another key. */
    if (p->op->operation != BLY_OP_UNION || examine(f).chance_levels)
        return BLY_OK;
    bly_status status = bly_list_remove_marks(f, other->type, &both);
    p->list.levels = examine(f).levels;
    return status;
}

/* Reports that the keys do not fit. If their number is within the limit, the reason is that one key
 * has too many copies. */
static int refuse_full(const inputs *p, size_t i, const bly_filter *into, uint64_t more) {
    const uint64_t all = bly_filter_count(into) + more, most = bly_filter_max_keys(into);
    const char *keys = NUMBER_GROUPED(all);
    if (all > most)
        return message_error(
            "%s: its keys do not fit into the result: the files have %s keys together, and there "
            "is space for %s; build each with -n for the keys of all",
            p->paths[i], keys, NUMBER_GROUPED(most));
    if (!kinds_limit_copies(p->first.geometry.kind))
        return message_error(
            "%s: its keys do not fit into the result; build one list from the keys of all files",
            p->paths[i]);
    return message_error("%s: its keys do not fit into the result, although the files have only %s "
                         "keys together. A key that is in several files is stored several times, "
                         "and there is space for at most eight copies of a key, or for fewer if "
                         "many keys have several; build one list from the keys of all files",
                         p->paths[i], keys);
}

static int refuse_mismatch(const inputs *p, size_t i, bly_status status, const char *why) {
    if (status == BLY_EMISMATCH && why)
        return message_error("%s: cannot be %s %s %s: %s", p->paths[i], p->op->done,
                             p->op->operation == BLY_OP_SUBTRACT ? "from" : "with", p->paths[0],
                             why);
    return message_status(p->paths[i], status);
}

/* Warns of keys that were not found, because subtracting ignores them. */
static void warn_of_absent(const inputs *p, size_t i, uint64_t keys, uint64_t removed) {
    if (p->op->operation == BLY_OP_SUBTRACT && removed < keys)
        message_warn(
            "%s: %s of its %s keys are not in %s. Others may be there only as false positives; "
            "subtracting such a key removed a different key. Subtract only lists whose keys are "
            "all in %s",
            p->paths[i], NUMBER_GROUPED(keys - removed), NUMBER_GROUPED(keys), p->paths[0],
            p->paths[0]);
}

static bool refuse_options(const inputs *p, const char *path) {
    return message_fail(
        "%s: was created with a different --field, --delimiter, --url or --ignore-case than %s, so "
        "a line has a different key in each. Only states created with the same options can be %s; "
        "create one of them again",
        path, p->paths[0], p->op->done);
}

static bool combine_file(inputs *p, size_t i, bly_filter *into) {
    opened o;
    if (!open_input(p, i, &o))
        return false;
    const bly_list_info list = examine(o.filter);
    const uint64_t before = bly_filter_count(into), keys = bly_filter_count(o.filter);
    const bly_key_rule rule = bly_filter_key_rule(into), other = bly_filter_key_rule(o.filter);
    if (rule == BLY_KEYS_OTHER && other == rule && rule_marks_differ(into, o.filter)) {
        open_close(&o);
        return refuse_options(p, p->paths[i]);
    }
    compare_types(p, list.type, p->paths[i]);
    bly_status status = p->op->combine(into, o.filter);
    const char *why =
        status == BLY_OK ? NULL : bly_filter_why_not(p->op->operation, into, o.filter);
    const uint64_t after = bly_filter_count(into);
    open_close(&o);
    if (status == BLY_OK)
        status = record_rule(p, into, list.type, rule, other);
    if (status == BLY_OK)
        status = correct_marks(p, into, &list);
    if (status == BLY_EFULL)
        (void)refuse_full(p, i, into, keys);
    else if (status != BLY_OK)
        (void)refuse_mismatch(p, i, status, why);
    else
        warn_of_absent(p, i, keys, before > after ? before - after : 0);
    return status == BLY_OK;
}

static void report_json(const inputs *p, const char *name, const bly_filter_info *s,
                        uint64_t marks) {
    json j = json_begin(stdout);
    json_text(&j, "file", name);
    json_texts(&j, "from", p->paths, p->count);
    json_text(&j, "kind", bly_kind_name(s->kind));
    json_integer(&j, "size", s->size);
    json_bool(&j, "folded", p->common != p->largest && !kinds_grow(s->kind));
    json_integer(&j, "bytes", s->bytes);
    json_integer(&j, "capacity", s->capacity);
    json_integer(&j, "count", s->count);
    json_integer(&j, "marks", marks);
    json_real(&j, "estimated_keys", s->estimated_keys);
    json_real(&j, "rate_per_lookup_requested", s->requested_fpr);
    json_real(&j, "rate_per_lookup_current", s->current_fpr);
    json_bool(&j, "approximate", s->approximate);
    json_bool(&j, "within_requested_rate", health_of(s) == HEALTH_GOOD);
    json_end(&j);
}

/* The number of different keys. For kinds that only count, `count` is the number of occurrences, so
 * the estimate from their counters is used. */
static uint64_t different_keys(const bly_filter_info *s) {
    const bool counts = kinds_can(s->kind, BLY_CAN_COUNT) && !kinds_hold_copies(s->kind);
    return counts && s->estimated_keys < 0x1p63 ? (uint64_t)llround(s->estimated_keys) : s->count;
}

static void report(const inputs *p, const char *name, bool as_json, const bly_filter_info *s,
                   uint64_t marks) {
    char marked[64] = "";
    const size_t files = p->op->operation == BLY_OP_SUBTRACT ? p->count - 1 : p->count;
    const uint64_t own = different_keys(s) > marks ? different_keys(s) - marks : 0;
    if (marks)
        (void)snprintf(marked, sizeof marked, " and %llu marks that record its type",
                       (unsigned long long)marks);
    if (as_json)
        report_json(p, name, s, marks);
    else
        message_note("%s: %zu filter%s %s, %s%s key%s%s%s; %s %s (requested: %s)", name, files,
                     files == 1 ? "" : "s", p->op->done,
                     kinds_can(s->kind, BLY_CAN_REMOVE) ? "" : "about ", NUMBER_GROUPED(own),
                     own == 1 ? "" : "s", marked,
                     s->approximate ? " (approximate: a few of them may not be in all files)" : "",
                     kinds_can(s->kind, BLY_CARDINALITY_ONLY) ? "standard error"
                                                              : "false-positive rate per lookup",
                     NUMBER_PERCENT(s->current_fpr), NUMBER_PERCENT(s->requested_fpr));
    (void)health_warn(name, s);
}

static bool combine_all(inputs *p, const set_options *v, bly_filter *f, destination *to) {
    bly_filter_info s;
    p->list = examine(f);
    for (size_t i = 1; i < p->count; i++)
        if (interrupt_seen() || !combine_file(p, i, f))
            return false;
    if (!set_output_save(f, to, "build each with -n for the keys of all files", &s))
        return false;
    report(p, to->name, v->json, &s, bly_list_marks_in(f));
    return true;
}

int set_operation_run(const set_operation *op, const set_options *v, cli_operands files) {
    const destination_options output = {.replace = v->force, .json = v->json};
    inputs p;
    destination to;
    bly_hasher space;
    const bly_hasher *key;
    bly_filter *f = NULL;
    if (destination_open(&to, v->out, &output) && destination_begin(&to) &&
        open_key(v->key_file, &space, &key) && read_headers(&p, op, v->fold, files)) {
        p.key = key;
        f = load_first(&p);
    }
    const bool good = f && combine_all(&p, v, f, &to);
    bly_filter_destroy(f);
    destination_close(&to);
    return good ? CLI_OK : CLI_ERROR;
}

bool set_output_save(const bly_filter *f, destination *to, const char *advice,
                     bly_filter_info *info) {
    *info = filter_info(f);
    return health_worth_writing(to->name, info, advice) && destination_save(to, f);
}

/* ---- estimates ------------------------------------------------------------------------------- */

static void print_keys(int width, const char *label, double keys) {
    char text[NUMBER_TEXT] = "too many to estimate";
    if (isfinite(keys) && keys < 0x1p63)
        (void)number_grouped((uint64_t)llround(keys), text);
    (void)printf("%-*s  %s\n", width, label, text);
}

static void print_overlap(const set_options *v, const inputs *p, const bly_overlap *o) {
    char names[2][MESSAGE_TEXT];
    if (!v->json) {
        const size_t a = strlen(message_escape(p->paths[0], names[0], sizeof names[0]));
        const size_t b = strlen(message_escape(p->paths[1], names[1], sizeof names[1]));
        const size_t longer = a > b ? a : b;
        const int width = longer < 40 ? (int)(longer > 7 ? longer : 7) : 40;
        print_keys(width, names[0], o->a);
        print_keys(width, names[1], o->b);
        print_keys(width, "both", o->both);
        print_keys(width, "either", o->either);
        (void)printf("%-*s  %.3f\n", width, "jaccard", o->jaccard);
        return;
    }
    json j = json_begin(stdout);
    json_texts(&j, "files", p->paths, 2);
    json_real(&j, "a", o->a);
    json_real(&j, "b", o->b);
    json_real(&j, "both", o->both);
    json_real(&j, "either", o->either);
    json_real(&j, "jaccard", o->jaccard);
    json_end(&j);
}

int set_operation_estimate(const set_options *v, cli_operands files) {
    static const set_operation comparison = {"compared", BLY_CAN_OVERLAP, BLY_OP_OVERLAP, NULL};
    inputs p;
    opened a, b;
    bly_overlap overlap;
    if (!read_headers(&p, &comparison, v->fold, files) || !open_input(&p, 0, &a))
        return CLI_ERROR;
    int status = CLI_ERROR;
    if (open_input(&p, 1, &b)) {
        bly_status compared = bly_filter_overlap(a.filter, b.filter, &overlap);
        status = CLI_OK;
        if (compared == BLY_OK)
            print_overlap(v, &p, &overlap);
        else
            status = refuse_mismatch(&p, 1, compared,
                                     bly_filter_why_not(BLY_OP_OVERLAP, a.filter, b.filter));
        open_close(&b);
    }
    open_close(&a);
    return status;
}
