/* bly_create.c - BLY.RESERVE: parses its options, in any order, and creates the filter.
 *
 * A table has, for each option, the range of its value and the kinds that support it.
 */
#include "command_table.h"
#include "commands/bly.h"
#include "commands/create_params.h"
#include "runtime/tombstone.h"

#include "commands/command_args.h"
#include "commands/command_reply.h"
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KIND_BIT(kind) (1u << (kind))
#define LEVELS         (KIND_BIT(BLY_SCALABLE) | KIND_BIT(BLY_SCALABLE_CUCKOO))
#define WINDOWS        KIND_BIT(BLY_WINDOW)
#define OVERLAYS       KIND_BIT(BLY_OVERLAY)
#define COUNTERS       KIND_BIT(BLY_COUNTING)
#define GROWABLE       KIND_BIT(BLY_GROWABLE_CUCKOO)
#define CLASSIC        KIND_BIT(BLY_CLASSIC)
#define MAX_KEYS       (1ull << 48)

typedef enum option {
    O_CAPACITY, /* these take whole numbers */
    O_GROWTH,
    O_HORIZON,
    O_SPAN,
    O_GENERATIONS,
    O_COUNTERBITS,
    O_CHANGES,
    O_SIZE,
    O_HASHES,
    O_DETAIL,
    O_EXPANSION,
    O_BUCKETSIZE,
    O_MAXITERATIONS,
    O_ERROR, /* these take fractions */
    O_FIRSTSHARE,
    O_KIND, /* these take names */
    O_HASH,
    O_SEED,
    O_KEYED,
    O_MARKER,
    O_BASE,
    O_FACE,
    O_LAYOUT,
    O_NONSCALING, /* these have no value */
    O_TEXTBOOK,
    O_FOLDABLE,
    OPTIONS
} option;

static const struct row {
    const char *word;
    uint64_t min, max; /* the range of a whole number */
    uint32_t kinds;    /* the kinds that support the option; 0: all kinds */
} rows[OPTIONS] = {
    [O_CAPACITY] = {"CAPACITY", 1, MAX_KEYS, 0},
    [O_GROWTH] = {"GROWTH", 1, 32768, LEVELS},
    [O_HORIZON] = {"HORIZON", 1, MAX_KEYS, GROWABLE},
    [O_SPAN] = {"SPAN", 1, 1ull << 52, WINDOWS},
    [O_GENERATIONS] = {"GENERATIONS", 1, 32, WINDOWS},
    [O_COUNTERBITS] = {"COUNTERBITS", 2, 16, COUNTERS},
    [O_CHANGES] = {"CHANGES", 1, MAX_KEYS, OVERLAYS},
    [O_SIZE] = {"SIZE", 1, MAX_KEYS, 0},
    [O_HASHES] = {"HASHES", 1, 64, 0},
    [O_DETAIL] = {"DETAIL", 0, UINT32_MAX, 0},
    [O_EXPANSION] = {"EXPANSION", 0, 32768, 0},
    [O_BUCKETSIZE] = {"BUCKETSIZE", 1, 255, 0},
    [O_MAXITERATIONS] = {"MAXITERATIONS", 1, 65535, 0},
    [O_ERROR] = {"ERROR", 0, 0, 0},
    [O_FIRSTSHARE] = {"FIRSTSHARE", 0, 0, LEVELS},
    [O_KIND] = {"KIND", 0, 0, 0},
    [O_HASH] = {"HASH", 0, 0, 0},
    [O_SEED] = {"SEED", 0, 0, 0},
    [O_KEYED] = {"KEYED", 0, 0, 0},
    [O_MARKER] = {"MARKER", 0, 0, OVERLAYS},
    [O_BASE] = {"BASE", 0, 0, OVERLAYS},
    [O_FACE] = {"FACE", 0, 0, 0},
    [O_LAYOUT] = {"LAYOUT", 0, 0, 0},
    [O_NONSCALING] = {"NONSCALING", 0, 0, 0},
    [O_TEXTBOOK] = {"TEXTBOOK", 0, 0, CLASSIC},
    [O_FOLDABLE] = {"FOLDABLE", 0, 0, 0},
};

typedef struct parser {
    rm_ctx *ctx;
    rm_string **argv;
    int argc, at; /* `at`: index of the next argument */
    bool given[OPTIONS];
    uint64_t whole[O_MAXITERATIONS + 1];
    bm_create_params *out;
} parser;

/* Copies the beginning of an argument for an error text. Characters that are not printable ASCII
 * become question marks. */
static const char *printable(const rm_string *arg, char *to, size_t size) {
    bly_bytes from = bm_bytes(arg);
    size_t n = from.size < size ? from.size : size - 1;
    for (size_t i = 0; i < n; i++) {
        char c = ((const char *)from.data)[i];
        to[i] = (char)(c >= ' ' && c <= '~' ? c : '?');
    }
    to[n] = 0;
    return to;
}

/* Replies with an error that lists the valid names. Returns false. */
static bool refuse_name(parser *in, const char *what, rm_string *name,
                        const char *(*next)(unsigned *at)) {
    char text[480], given[40];
    int end = snprintf(text, sizeof text, "ERR unsupported %s '%s'; choose one of:", what,
                       printable(name, given, sizeof given));
    unsigned at = 0;
    for (const char *each = next(&at); each; each = next(&at))
        if (end >= 0 && (size_t)end < sizeof text)
            end += snprintf(text + end, sizeof text - (size_t)end, " %s", each);
    bm_error(in->ctx, "%s", text);
    return false;
}

static const char *next_kind(unsigned *at) {
    bly_kind kind = bly_kind_next((bly_kind)*at);
    while (bly_kind_capabilities(kind) & BLY_CAN_BUILD)
        kind = bly_kind_next(kind);
    *at = kind;
    return kind == BLY_KIND_NONE ? NULL : bly_kind_name(kind);
}

static const char *next_hash(unsigned *at) {
    for (++*at; *at < BLY_HASH_CUSTOM; ++*at)
        if (*at != BLY_HASH_SIPHASH && bly_hash_available((bly_hash_id)*at))
            return bly_hash_name((bly_hash_id)*at);
    return NULL;
}

static const char *next_marker(unsigned *at) {
    static const char *names[] = {"cuckoo", "classic"};
    return *at < 2 ? names[(*at)++] : NULL;
}

/* Copies a name in lower case, as the library spells names. The copy is empty if the name is too
 * long or contains a zero byte. */
static void lower(const rm_string *arg, char *to, size_t size) {
    bly_bytes from = bm_bytes(arg);
    size_t n = from.size < size ? from.size : 0;
    for (size_t i = 0; i < n; i++) {
        char c = ((const char *)from.data)[i];
        to[i] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
    to[n] = 0;
    if (strlen(to) != n)
        to[0] = 0;
}

static bool parse_kind(parser *in, rm_string *value) {
    char name[32];
    bly_kind kind;
    lower(value, name, sizeof name);
    if (bm_removed_name_text(name)) {
        bm_error(in->ctx, "%s", bm_removed_name_text(name));
        return false;
    }
    if (bly_kind_by_name(name, &kind) != BLY_OK)
        return refuse_name(in, "kind", value, next_kind);
    if (bly_kind_capabilities(kind) & BLY_CAN_BUILD) {
        bm_error(in->ctx,
                 "ERR a %s filter is built from all its keys at once and cannot be reserved: build "
                 "it with bloomery build, and send it with bloomery push or BLY.LOAD",
                 name);
        return false;
    }
    in->out->spec.geometry.kind = kind;
    return true;
}

static bool parse_hash(parser *in, rm_string *value) {
    char name[32];
    bly_hash_id id;
    lower(value, name, sizeof name);
    if (bly_hash_by_name(name, &id) != BLY_OK)
        return refuse_name(in, "hash function", value, next_hash);
    if (id == BLY_HASH_SIPHASH) {
        bm_error(in->ctx, "ERR siphash needs a secret key; use KEYED instead of HASH siphash");
        return false;
    }
    if (!bly_hash_available(id))
        return refuse_name(in, "hash function (in this build)", value, next_hash);
    in->out->hash = id;
    return true;
}

static bool parse_marker(parser *in, rm_string *value) {
    if (!bm_is(value, "CUCKOO") && !bm_is(value, "CLASSIC"))
        return refuse_name(in, "marker", value, next_marker);
    in->out->spec.overlay.marker = bm_is(value, "CUCKOO") ? BLY_CUCKOO : BLY_CLASSIC;
    return true;
}

static bool parse_seed(parser *in, rm_string *value) {
    if (bm_is(value, "RANDOM"))
        rm.GetRandomBytes((unsigned char *)&in->out->spec.seed, sizeof in->out->spec.seed);
    else if (!bm_unsigned(value, &in->out->spec.seed)) {
        bm_error(in->ctx, "ERR SEED must be RANDOM or a whole number from 0 to 2^64 - 1");
        return false;
    }
    return true;
}

static bool parse_face(parser *in, rm_string *value) {
    static const char *words[] = {[BM_FACE_BLY] = "BLY", [BM_FACE_BF] = "BF", [BM_FACE_CF] = "CF"};
    for (uint8_t face = 0; face < 3; face++)
        if (bm_is(value, words[face])) {
            in->out->traits.face = face;
            return true;
        }
    bm_error(in->ctx, "ERR FACE must be bf, cf or bly");
    return false;
}

static bool parse_layout(parser *in, rm_string *value) {
    if (bm_is(value, "REDISBLOOM"))
        in->out->layout = BM_LAYOUT_RB_BLOOM;
    else if (bm_is(value, "REDISBLOOM-CUCKOO"))
        in->out->layout = BM_LAYOUT_RB_CUCKOO;
    else {
        bm_error(in->ctx, "ERR LAYOUT must be redisbloom or redisbloom-cuckoo");
        return false;
    }
    return true;
}

/* Parses the optional argument after KEYED: the id of a key, which is 16 hexadecimal digits. No
 * option has such a name, so anything else is the next option. */
static void parse_key(parser *in) {
    in->out->keyed = true;
    if (in->at == in->argc)
        return;
    bly_bytes text = bm_bytes(in->argv[in->at]);
    uint64_t id = 0;
    for (size_t i = 0; i < text.size; i++) {
        int digit = bm_digit(((const char *)text.data)[i]);
        if (digit < 0)
            return;
        id = id << 4 | (uint64_t)digit;
    }
    if (text.size != 16)
        return;
    in->out->key_id = id;
    in->out->key_named = true;
    in->at++;
}

static bool parse_whole(parser *in, option o, rm_string *value) {
    const struct row *row = &rows[o];
    uint64_t number;
    if (!bm_unsigned(value, &number) || number < row->min || number > row->max) {
        bm_error(in->ctx, "ERR %s must be a whole number from %" PRIu64 " to %" PRIu64, row->word,
                 row->min, row->max);
        return false;
    }
    in->whole[o] = number;
    return true;
}

static bool parse_share(parser *in, option o, rm_string *value) {
    double number;
    if (!bm_double(value, &number) || !(number > 0 && number < 1)) {
        bm_error(in->ctx, "ERR %s must be a number above 0 and below 1", rows[o].word);
        return false;
    }
    if (o == O_ERROR)
        in->out->spec.fpr = number;
    else
        in->out->spec.scalable.first_share = number;
    return true;
}

static bool parse_value(parser *in, option o, rm_string *value) {
    switch (o) {
    case O_ERROR:
    case O_FIRSTSHARE:
        return parse_share(in, o, value);
    case O_KIND:
        return parse_kind(in, value);
    case O_HASH:
        return parse_hash(in, value);
    case O_SEED:
        return parse_seed(in, value);
    case O_MARKER:
        return parse_marker(in, value);
    case O_BASE:
        in->out->base_name = value;
        return true;
    case O_FACE:
        return parse_face(in, value);
    case O_LAYOUT:
        return parse_layout(in, value);
    default:
        return parse_whole(in, o, value);
    }
}

static bool parse_option(parser *in) {
    rm_string *word = in->argv[in->at++];
    option o = 0;
    while (o < OPTIONS && !bm_is(word, rows[o].word))
        o++;
    if (o == OPTIONS) {
        char text[40];
        bm_error(
            in->ctx,
            "ERR unknown option '%s'; BLY.RESERVE has KIND, CAPACITY, ERROR, SEED, HASH, KEYED, "
            "GROWTH, FIRSTSHARE, HORIZON, SPAN, GENERATIONS, COUNTERBITS, CHANGES, MARKER, "
            "BASE, SIZE, HASHES, DETAIL, TEXTBOOK, FOLDABLE",
            printable(word, text, sizeof text));
        return false;
    }
    if (in->given[o]) {
        bm_error(in->ctx, "ERR %s is given twice", rows[o].word);
        return false;
    }
    in->given[o] = true;
    if (o >= O_NONSCALING)
        return true;
    if (o == O_KEYED) {
        parse_key(in);
        return true;
    }
    if (in->at == in->argc) {
        bm_error(in->ctx, "ERR %s needs a value", rows[o].word);
        return false;
    }
    return parse_value(in, o, in->argv[in->at++]);
}

/* ---- options that exclude each other --------------------------------------------------------- */

static bool refuse_pair(parser *in, option a, option b, const char *why) {
    if (!in->given[a] || !in->given[b])
        return true;
    bm_error(in->ctx, "ERR %s and %s cannot both be given: %s", rows[a].word, rows[b].word, why);
    return false;
}

static bool check_kinds(parser *in) {
    bly_kind kind = in->out->spec.geometry.kind;
    for (option o = 0; o < OPTIONS; o++) {
        if (!in->given[o] || rows[o].kinds == 0 || rows[o].kinds & KIND_BIT(kind))
            continue;
        char names[80] = "";
        size_t end = 0;
        for (bly_kind k = bly_kind_next(BLY_KIND_NONE); k != BLY_KIND_NONE; k = bly_kind_next(k))
            if (rows[o].kinds & KIND_BIT(k) && end < sizeof names)
                end += (size_t)snprintf(names + end, sizeof names - end, "%s%s", end ? " or " : "",
                                        bly_kind_name(k));
        bm_error(in->ctx, "ERR %s is for the kind %s, not for %s", rows[o].word, names,
                 bly_kind_name(kind));
        return false;
    }
    return true;
}

static bool check_base(parser *in) {
    static const option others[] = {O_CAPACITY, O_ERROR, O_SEED, O_HASH, O_KEYED, O_SIZE};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!refuse_pair(in, O_BASE, others[i], "the overlay takes it from its base"))
            return false;
    return true;
}

static bool check_options(parser *in) {
    if (!in->given[O_KIND]) {
        bm_error(in->ctx, "ERR missing KIND: for example KIND scalable");
        return false;
    }
    if (in->given[O_SIZE] != in->given[O_HASHES] || (in->given[O_DETAIL] && !in->given[O_SIZE])) {
        bm_error(in->ctx, "ERR an exact geometry needs SIZE n and HASHES k; DETAIL d is optional");
        return false;
    }
    uint64_t bits = in->whole[O_COUNTERBITS];
    if (in->given[O_COUNTERBITS] && (bits & (bits - 1)) != 0) {
        bm_error(in->ctx, "ERR COUNTERBITS must be 2, 4, 8 or 16");
        return false;
    }
    if (in->given[O_HORIZON] && in->given[O_CAPACITY] &&
        in->whole[O_HORIZON] < in->whole[O_CAPACITY]) {
        bm_error(in->ctx, "ERR HORIZON must be at least CAPACITY");
        return false;
    }
    return refuse_pair(in, O_KEYED, O_HASH, "a keyed filter uses siphash") &&
           refuse_pair(in, O_KEYED, O_SEED, "a keyed filter has its key instead of a seed") &&
           refuse_pair(in, O_SIZE, O_HORIZON, "an exact geometry determines the size") &&
           refuse_pair(in, O_SIZE, O_FOLDABLE, "an exact geometry determines the size") &&
           check_base(in) && check_kinds(in);
}

/* FACE, and the options that need it, exist to replicate creations by BF.* and CF.*. So they are
 * accepted only for the kinds that these commands create. */
static bool check_traits(parser *in) {
    const bm_create_params *params = in->out;
    bool has_traits =
        in->given[O_EXPANSION] || in->given[O_BUCKETSIZE] || in->given[O_MAXITERATIONS];
    if (bm_traits_fit(&params->traits, params->spec.geometry.kind) &&
        (params->traits.face || !has_traits))
        return true;
    bm_error(in->ctx, "ERR FACE bf is for the kind scalable, or with NONSCALING for split512 and "
                      "bb2x512; FACE cf is for scalable-cuckoo and cuckoo; EXPANSION, BUCKETSIZE "
                      "and MAXITERATIONS need a FACE or a LAYOUT");
    return false;
}

static bool check_redisbloom(parser *in) {
    static const option known[] = {O_LAYOUT,     O_CAPACITY,      O_ERROR, O_EXPANSION,
                                   O_BUCKETSIZE, O_MAXITERATIONS, O_FACE,  O_NONSCALING};
    for (option o = 0; o < OPTIONS; o++) {
        bool fits = !in->given[o];
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            fits = fits || known[i] == o;
        if (!fits) {
            bm_error(in->ctx, "ERR %s is not an option of RedisBloom's layout", rows[o].word);
            return false;
        }
    }
    return true;
}

/* ---- from options to parameters -------------------------------------------------------------- */

static void fill_params(parser *in) {
    bly_spec *s = &in->out->spec;
    bm_traits *t = &in->out->traits;
    bool no_defaults = in->given[O_SIZE] || in->given[O_BASE];
    s->capacity = in->whole[O_CAPACITY];
    if (!in->given[O_CAPACITY] && !no_defaults)
        s->capacity = (uint64_t)bm_configs.bf_initial_size;
    if (!in->given[O_ERROR] && !no_defaults)
        s->fpr = bm_configs.bf_error_rate;
    s->scalable.growth = (uint32_t)in->whole[O_GROWTH];
    s->cuckoo.horizon = in->whole[O_HORIZON];
    s->window.span = in->whole[O_SPAN];
    s->window.generations = (uint32_t)in->whole[O_GENERATIONS];
    s->counting.counter_bits = (uint32_t)in->whole[O_COUNTERBITS];
    s->overlay.changes = in->whole[O_CHANGES];
    s->geometry.size = in->whole[O_SIZE];
    s->geometry.hashes = (uint32_t)in->whole[O_HASHES];
    s->geometry.detail = (uint32_t)in->whole[O_DETAIL];
    if (in->given[O_TEXTBOOK])
        s->geometry.options |= BLY_TEXTBOOK;
    if (in->given[O_FOLDABLE])
        s->geometry.options |= BLY_FOLDABLE;
    t->nonscaling = in->given[O_NONSCALING];
    t->expansion = (uint32_t)in->whole[O_EXPANSION];
    t->bucket_size = (uint16_t)in->whole[O_BUCKETSIZE];
    t->max_iterations = (uint16_t)in->whole[O_MAXITERATIONS];
}

/* Fills in the parameters of a filter in RedisBloom's layout. The layout determines the face.
 * Without EXPANSION the filter does not grow. */
static void fill_redisbloom(parser *in) {
    bm_traits *t = &in->out->traits;
    if (in->out->layout == BM_LAYOUT_RB_BLOOM) {
        t->face = BM_FACE_BF;
        t->nonscaling = t->nonscaling || t->expansion == 0;
        return;
    }
    t->face = BM_FACE_CF;
    if (!in->given[O_BUCKETSIZE])
        t->bucket_size = (uint16_t)bm_configs.cf_bucket_size;
    if (!in->given[O_MAXITERATIONS])
        t->max_iterations = (uint16_t)bm_configs.cf_max_iterations;
}

/* Parses the arguments of BLY.RESERVE after the key. Returns false after replying with an error. */
static bool parse_params(rm_ctx *ctx, rm_string **argv, int argc, bm_create_params *out) {
    *out =
        (bm_create_params){.layout = BM_LAYOUT_NATIVE, .spec = bly_spec_for(BLY_KIND_NONE, 0, 0)};
    parser in = {.ctx = ctx, .argv = argv, .argc = argc, .out = out};
    while (in.at < argc)
        if (!parse_option(&in))
            return false;
    if (!(in.given[O_LAYOUT] ? check_redisbloom(&in) : check_options(&in)))
        return false;
    fill_params(&in);
    if (!in.given[O_LAYOUT])
        return check_traits(&in);
    fill_redisbloom(&in);
    return true;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const char *reserve_error(const bm_key *key) {
    if (key->type == BM_MISSING)
        return NULL;
    if (key->type == BM_FOREIGN)
        return BM_WRONGTYPE;
    return bm_is_tombstone(key->value) ? bm_tombstone_error(key->value) : "ERR item exists";
}

static int reserve(rm_ctx *ctx, bm_key *key, bm_create_params *params) {
    const char *error = reserve_error(key);
    if (error)
        return rm.ReplyWithError(ctx, error);
    if (bm_create_filter(ctx, key, params, "bly.reserve"))
        rm.ReplyWithSimpleString(ctx, "OK");
    return RM_OK;
}

/* Creates an overlay. It gets a copy of the base, so the key of the base may be changed or deleted
 * afterwards. */
static int reserve_over(rm_ctx *ctx, bm_key *key, bm_create_params *params) {
    bm_key base = bm_key_open(ctx, params->base_name, RM_READ);
    const char *error = bm_bly_key_error(&base, true);
    if (!error && base.type != BM_FILTER)
        error = "ERR the base of an overlay cannot be a filter in RedisBloom's layout";
    if (!error) {
        params->base = base.value->as.filter;
        reserve(ctx, key, params);
    } else if (!bm_tombstone_if_replayed(ctx, key,
                                         "the base of the overlay is missing or incomplete")) {
        rm.ReplyWithError(ctx, error);
    }
    bm_key_close(&base);
    return RM_OK;
}

int bm_bly_reserve(rm_ctx *ctx, rm_string **argv, int argc) {
    bm_create_params params;
    if (argc < 4)
        return rm.WrongArity(ctx);
    bool valid = parse_params(ctx, argv + 2, argc - 2, &params);
    bm_key key = bm_key_open(ctx, argv[1], RM_READ | RM_WRITE);
    bool tombstone = key.value && bm_is_tombstone(key.value);
    if (!valid)
        (void)bm_tombstone_without_reply(
            ctx, &key, "this server does not support the options of its BLY.RESERVE");
    else if (!tombstone || !bm_tombstone_if_replayed(ctx, &key, BM_TOMBSTONE_ERROR))
        params.base_name ? reserve_over(ctx, &key, &params) : reserve(ctx, &key, &params);
    bm_key_close(&key);
    return RM_OK;
}
