/* command_table.c - registers the commands, with what COMMAND DOCS and COMMAND INFO show of them:
 * summaries, complexity, arguments and key specifications.
 */
#include "command_table.h"

#include <string.h>

/* Every command has existed since the first version. */
#define SINCE "0.1.0"

/* Maximum number of arguments, and of key specifications, of one command. Both include the entry
 * that ends the list. */
enum { MAX_ARGS = 32, MAX_SPECS = 3 };

/* What a command does with its keys. */
typedef enum key_access {
    ACCESS_NONE,   /* the command has no key */
    ACCESS_READ,   /* reads one key */
    ACCESS_INSERT, /* adds to one key */
    ACCESS_UPDATE, /* changes one key */
    ACCESS_DELETE, /* removes from one key */
    ACCESS_MERGE,  /* adds the contents of the other keys to the first */
    ACCESS_RESERVE /* creates one key, and may read another one that follows the token BASE */
} key_access;

typedef struct command {
    rm_command_fn run;
    const char *name;
    int arity;
    const char *flags, *categories;
    key_access access;
} command;

static const command commands[] = {
#define COMMAND(function, name, arity, flags, categories, access)                                  \
    {function, name, arity, flags, categories, ACCESS_##access},
    BM_COMMANDS(COMMAND)
#undef COMMAND
};

/* ---- arguments that follow the keys; the entry without a name ends a list
 * ---------------------- */

#define ARG_ROW(name_, type_, token_, flags_, parts_, summary_)                                    \
    {                                                                                              \
        .name = (name_), .type = RM_ARG_##type_, .key_spec = -1, .token = (token_),                \
        .summary = (summary_), .flags = (flags_), .parts = (parts_)                                \
    }
#define ARG(name, type, summary)              ARG_ROW(name, type, NULL, 0, NULL, summary)
#define ARG_AFTER(name, type, token, summary) ARG_ROW(name, type, token, 0, NULL, summary)
#define ARG_MANY(name, type, summary)         ARG_ROW(name, type, NULL, RM_ARG_MULTIPLE, NULL, summary)
#define ARG_MANY_AFTER(name, type, token, summary)                                                 \
    ARG_ROW(name, type, token, RM_ARG_MULTIPLE, NULL, summary)
#define ARG_OPTION(name, type, token, summary)                                                     \
    ARG_ROW(name, type, token, RM_ARG_OPTIONAL, NULL, summary)
#define ARG_FLAG(name, token, summary)   ARG_ROW(name, TOKEN, token, RM_ARG_OPTIONAL, NULL, summary)
#define ARG_CHOICE(name, token, summary) ARG_ROW(name, TOKEN, token, 0, NULL, summary)
#define ARG_PARTS(name, type, token, parts, summary)                                               \
    ARG_ROW(name, type, token, RM_ARG_OPTIONAL, parts, summary)
#define ARGS_END                                                                                   \
    { .name = NULL }

static rm_arg item[] = {ARG("item", STRING, "Item, as bytes"), ARGS_END};
static rm_arg items[] = {ARG_MANY("item", STRING, "Item, as bytes"), ARGS_END};
static rm_arg iterator[] = {
    ARG("iterator", INTEGER, "0 to begin; then the iterator of the previous reply"),
    ARGS_END,
};
static rm_arg chunk[] = {
    ARG("iterator", INTEGER, "Iterator that SCANDUMP returned with this chunk"),
    ARG("data", STRING, "Chunk that SCANDUMP returned"),
    ARGS_END,
};

static rm_arg bf_reserve[] = {
    ARG("error_rate", DOUBLE, "False-positive rate (0 < rate < 1)"),
    ARG("capacity", INTEGER, "Expected number of items"),
    ARG_OPTION("expansion", INTEGER, "EXPANSION",
               "Size of each new level relative to the previous one; 0: NONSCALING"),
    ARG_FLAG("nonscaling", "NONSCALING", "The filter does not grow: it is full at its capacity"),
    ARGS_END,
};
static rm_arg bf_insert[] = {
    ARG_OPTION("capacity", INTEGER, "CAPACITY", "Expected number of items of a new filter"),
    ARG_OPTION("error", DOUBLE, "ERROR", "False-positive rate of a new filter (0 < rate < 1)"),
    ARG_OPTION("expansion", INTEGER, "EXPANSION",
               "Size of each new level relative to the previous one; 0: NONSCALING"),
    ARG_FLAG("nocreate", "NOCREATE", "Return an error if the filter does not exist"),
    ARG_FLAG("nonscaling", "NONSCALING", "A new filter does not grow: it is full at its capacity"),
    ARG_MANY_AFTER("item", STRING, "ITEMS", "Item, as bytes"),
    ARGS_END,
};
static rm_arg bf_info_fields[] = {
    ARG_CHOICE("capacity", "CAPACITY", "Number of items that fit before the filter grows"),
    ARG_CHOICE("size", "SIZE", "Size in bytes"),
    ARG_CHOICE("filters", "FILTERS", "Number of levels"),
    ARG_CHOICE("items", "ITEMS", "Number of items added"),
    ARG_CHOICE("expansion", "EXPANSION", "Size of each new level relative to the previous one"),
    ARGS_END,
};
static rm_arg bf_info[] = {
    ARG_PARTS("single_value", ONEOF, NULL, bf_info_fields, "Return only this field"),
    ARGS_END,
};

static rm_arg cf_reserve[] = {
    ARG("capacity", INTEGER, "Expected number of items"),
    ARG_OPTION("bucketsize", INTEGER, "BUCKETSIZE",
               "Slots of a bucket; has an effect only in RedisBloom's layout"),
    ARG_OPTION("maxiterations", INTEGER, "MAXITERATIONS",
               "Evictions before the filter grows; has an effect only in RedisBloom's layout"),
    ARG_OPTION("expansion", INTEGER, "EXPANSION",
               "Size of each new level relative to the previous one; 0: does not grow"),
    ARG_OPTION("error", DOUBLE, "ERROR",
               "False-positive rate (0 < rate < 1); not in RedisBloom's layout"),
    ARGS_END,
};
static rm_arg cf_insert[] = {
    ARG_OPTION("capacity", INTEGER, "CAPACITY", "Expected number of items of a new filter"),
    ARG_FLAG("nocreate", "NOCREATE", "Return an error if the filter does not exist"),
    ARG_MANY_AFTER("item", STRING, "ITEMS", "Item, as bytes"),
    ARGS_END,
};

static rm_arg seeds[] = {
    ARG("number", INTEGER, "This seed; filters to be merged need the same one"),
    ARG_CHOICE("random", "RANDOM", "A random seed"),
    ARGS_END,
};
static rm_arg key_id[] = {
    ARG_CHOICE("keyed", "KEYED", "Hash with a secret key"),
    ARG_ROW("id", STRING, NULL, RM_ARG_OPTIONAL, NULL,
            "Id of the key, as BLY.KEYRING shows it; default: the first key of bf.key-file"),
    ARGS_END,
};
static rm_arg geometry[] = {
    ARG_AFTER("size", INTEGER, "SIZE", "Size of the filter, in the unit of its kind"),
    ARG_AFTER("hashes", INTEGER, "HASHES", "Number of bits that each key sets"),
    ARG_OPTION("detail", INTEGER, "DETAIL", "A further parameter of some kinds"),
    ARGS_END,
};
static rm_arg layouts[] = {
    ARG_CHOICE("redisbloom", "REDISBLOOM", "A Bloom filter of type MBbloom--"),
    ARG_CHOICE("redisbloom_cuckoo", "REDISBLOOM-CUCKOO", "A cuckoo filter of type MBbloomCF"),
    ARGS_END,
};
static rm_arg faces[] = {
    ARG_CHOICE("bf", "BF", "Created by BF.*"),
    ARG_CHOICE("cf", "CF", "Created by CF.*"),
    ARG_CHOICE("bly", "BLY", "Created by BLY.RESERVE"),
    ARGS_END,
};

static rm_arg bly_reserve[] = {
    ARG_AFTER("kind", STRING, "KIND", "Kind of filter, for example scalable or window"),
    ARG_OPTION("capacity", INTEGER, "CAPACITY", "Expected number of items"),
    ARG_OPTION("error", DOUBLE, "ERROR", "False-positive rate (0 < rate < 1)"),
    ARG_PARTS("seed", ONEOF, "SEED", seeds, "Seed of the hash function; default: 0"),
    ARG_OPTION("hash", STRING, "HASH", "Hash function; default: that of the library"),
    ARG_PARTS("key_of_filter", BLOCK, NULL, key_id, "Hash with a secret key"),
    ARG_OPTION("growth", INTEGER, "GROWTH", "Size of each new level relative to the previous one"),
    ARG_OPTION("first_share", DOUBLE, "FIRSTSHARE",
               "Share of the false-positive rate that the first level may use"),
    ARG_OPTION("horizon", INTEGER, "HORIZON", "Maximum number of items of a growable-cuckoo"),
    ARG_OPTION("span", INTEGER, "SPAN", "Milliseconds after which a window forgets items"),
    ARG_OPTION("generations", INTEGER, "GENERATIONS",
               "Number of steps in which a window forgets items"),
    ARG_OPTION("counter_bits", INTEGER, "COUNTERBITS", "Bits of a counter: 2, 4, 8 or 16"),
    ARG_OPTION("changes", INTEGER, "CHANGES", "Expected number of changes to the base"),
    ARG_OPTION("marker", STRING, "MARKER", "Kind that stores removed items: cuckoo or classic"),
    {.name = "base",
     .type = RM_ARG_KEY,
     .key_spec = 1,
     .token = "BASE",
     .summary = "Key of the filter that an overlay changes a copy of",
     .flags = RM_ARG_OPTIONAL},
    ARG_PARTS("geometry", BLOCK, NULL, geometry, "Exact geometry instead of CAPACITY and ERROR"),
    ARG_FLAG("textbook", "TEXTBOOK", "The classic filter of the textbook"),
    ARG_FLAG("foldable", "FOLDABLE", "A filter that can be folded to a smaller one"),
    ARG_PARTS("layout", ONEOF, "LAYOUT", layouts, "RedisBloom's layout; for replication"),
    ARG_PARTS("face", ONEOF, "FACE", faces, "Commands that created the filter; for replication"),
    ARG_FLAG("nonscaling", "NONSCALING", "As of BF.RESERVE; for replication"),
    ARG_OPTION("expansion", INTEGER, "EXPANSION", "As of BF.RESERVE; for replication"),
    ARG_OPTION("bucketsize", INTEGER, "BUCKETSIZE", "As of CF.RESERVE; for replication"),
    ARG_OPTION("maxiterations", INTEGER, "MAXITERATIONS", "As of CF.RESERVE; for replication"),
    ARGS_END,
};
static rm_arg bly_dump[] = {
    ARG("offset", INTEGER, "Offset in the filter's file"),
    ARG_OPTION("bytes", INTEGER, "COUNT", "Maximum number of bytes to return; default: 1 MiB"),
    ARGS_END,
};
static rm_arg bly_load[] = {
    ARG("total", INTEGER, "Size of the whole file in bytes"),
    ARG("offset", INTEGER, "Offset of these bytes in the file"),
    ARG("data", STRING, "Bytes of the file"),
    ARG_FLAG("replace", "REPLACE", "Replace an existing filter when the file is complete"),
    ARG_OPTION("meta", STRING, "META", "Properties that the file does not have; for replication"),
    ARGS_END,
};
static rm_arg bly_tick[] = {ARG("milliseconds", INTEGER, "Unix time in milliseconds"), ARGS_END};

/* ---- documentation --------------------------------------------------------------------------- */

#define EACH_LEVEL "O(L) for a filter of L levels"
#define EACH_ITEM  "O(N*L) for N items and a filter of L levels"
#define EACH_BYTE  "O(N) for a filter of N bytes"
#define CHUNK_SIZE "O(N) for a chunk of N bytes"

static const struct command_doc {
    const char *name, *summary, *complexity, *tips;
    rm_arg *args; /* NULL: the command has no arguments after its keys */
} docs[] = {
    {"bf.reserve", "Creates an empty Bloom filter with a false-positive rate and a capacity",
     "O(1)", NULL, bf_reserve},
    {"bf.add", "Adds an item to a Bloom filter; creates the filter if it does not exist",
     EACH_LEVEL, NULL, item},
    {"bf.madd", "Adds items to a Bloom filter; creates the filter if it does not exist", EACH_ITEM,
     NULL, items},
    {"bf.insert", "Adds items to a Bloom filter; creates it with options if it does not exist",
     EACH_ITEM, NULL, bf_insert},
    {"bf.exists", "Returns whether an item may be in a Bloom filter", EACH_LEVEL, NULL, item},
    {"bf.mexists", "Returns for each item whether it may be in a Bloom filter", EACH_ITEM, NULL,
     items},
    {"bf.info", "Returns the capacity, size and number of items of a Bloom filter", "O(1)",
     "dont_cache", bf_info},
    {"bf.card", "Returns the number of items that were added to a Bloom filter", "O(1)", NULL,
     NULL},
    {"bf.debug", "Returns the parameters of each level of a Bloom filter", EACH_LEVEL, "dont_cache",
     NULL},
    {"bf.scandump", "Returns the next chunk of a Bloom filter, for BF.LOADCHUNK", CHUNK_SIZE,
     "dont_cache", iterator},
    {"bf.loadchunk", "Loads a chunk of a Bloom filter that BF.SCANDUMP returned", CHUNK_SIZE, NULL,
     chunk},
    {"cf.reserve", "Creates an empty cuckoo filter with a capacity and a false-positive rate",
     "O(1)", NULL, cf_reserve},
    {"cf.add", "Adds an item to a cuckoo filter; creates the filter if it does not exist",
     EACH_LEVEL, NULL, item},
    {"cf.addnx", "Adds an item to a cuckoo filter unless the filter may contain it already",
     EACH_LEVEL, NULL, item},
    {"cf.insert", "Adds items to a cuckoo filter; creates it with options if it does not exist",
     EACH_ITEM, NULL, cf_insert},
    {"cf.insertnx", "Adds items to a cuckoo filter, except those that it may contain already",
     EACH_ITEM, NULL, cf_insert},
    {"cf.exists", "Returns whether an item may be in a cuckoo filter", EACH_LEVEL, NULL, item},
    {"cf.mexists", "Returns for each item whether it may be in a cuckoo filter", EACH_ITEM, NULL,
     items},
    {"cf.count", "Returns how many copies of an item a cuckoo filter may contain", EACH_LEVEL, NULL,
     item},
    {"cf.del", "Removes one copy of an item from a cuckoo filter", EACH_LEVEL, NULL, item},
    {"cf.compact", "Moves items of a cuckoo filter to older levels, so that fewer levels remain",
     "O(N) for N items", NULL, NULL},
    {"cf.info", "Returns the parameters, size and number of items of a cuckoo filter", "O(1)",
     "dont_cache", NULL},
    {"cf.debug", "Returns the fields of CF.INFO in one line", "O(1)", "dont_cache", NULL},
    {"cf.scandump", "Returns the next chunk of a cuckoo filter, for CF.LOADCHUNK", CHUNK_SIZE,
     "dont_cache", iterator},
    {"cf.loadchunk", "Loads a chunk of a cuckoo filter that CF.SCANDUMP returned", CHUNK_SIZE, NULL,
     chunk},
    {"bly.reserve", "Creates an empty filter of any kind", "O(1)", NULL, bly_reserve},
    {"bly.add", "Adds items to a filter and returns for each item whether it is new", EACH_ITEM,
     NULL, items},
    {"bly.check", "Returns for each item whether it may be in a filter, or null if that is unknown",
     EACH_ITEM, NULL, items},
    {"bly.del", "Removes items from a filter whose kind supports it", EACH_ITEM, NULL, items},
    {"bly.count", "Returns how many copies of each item a filter may contain", EACH_ITEM, NULL,
     items},
    {"bly.card", "Returns the number of items in a filter", "O(1)", NULL, NULL},
    {"bly.age", "Returns for each item how long ago it was added to a window", EACH_ITEM, NULL,
     items},
    {"bly.info", "Returns the kind, parameters and size of a filter", "O(1)", "dont_cache", NULL},
    {"bly.stats", "Measures the fill and the current false-positive rate of a filter", EACH_BYTE,
     "dont_cache", NULL},
    {"bly.merge", "Adds the contents of other filters to a filter; returns its fill and rate",
     "O(N) for N bytes of all filters", NULL, NULL},
    {"bly.clear", "Removes all items from a filter and keeps its parameters", EACH_BYTE, NULL,
     NULL},
    {"bly.dump", "Returns a part of a filter's file", "O(N) for N bytes returned", "dont_cache",
     bly_dump},
    {"bly.load", "Loads a part of a filter's file; the last part creates or replaces the filter",
     "O(N) for N bytes loaded; the last part: O(M) for a filter of M bytes", NULL, bly_load},
    {"bly.tick", "Advances the clock of a timed window; a master sends it to its replicas",
     "O(N) for N expired bytes", NULL, bly_tick},
    {"bly.noop", "Opens the key and replies without a lookup, to measure the server's overhead",
     "O(N) for N items", "dont_cache", items},
    {"bly.keyring", "Returns the ids of the secret keys for keyed filters", "O(N) for N keys",
     "dont_cache", NULL},
};

static const struct command_doc *find_doc(const char *name) {
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++)
        if (!strcmp(docs[i].name, name))
            return &docs[i];
    return NULL;
}

/* ---- key specifications ---------------------------------------------------------------------- */

static rm_key_spec key_at(int position, uint64_t flags, int last) {
    rm_key_spec spec = {.flags = flags, .begin = RM_BEGIN_INDEX, .find = RM_FIND_RANGE};
    spec.at.index.pos = position;
    spec.keys.range.last = last;
    spec.keys.range.step = 1;
    return spec;
}

static rm_key_spec key_after(const char *word, int from, uint64_t flags) {
    rm_key_spec spec = {.flags = flags, .begin = RM_BEGIN_KEYWORD, .find = RM_FIND_RANGE};
    spec.at.keyword.word = word;
    spec.at.keyword.from = from;
    spec.keys.range.step = 1;
    return spec;
}

static void fill_specs(key_access access, rm_key_spec specs[MAX_SPECS]) {
    static const uint64_t flags[] = {
        [ACCESS_READ] = RM_KEYSPEC_RO | RM_KEYSPEC_ACCESS,
        [ACCESS_INSERT] = RM_KEYSPEC_RW | RM_KEYSPEC_INSERT,
        [ACCESS_UPDATE] = RM_KEYSPEC_RW | RM_KEYSPEC_UPDATE,
        [ACCESS_DELETE] = RM_KEYSPEC_RW | RM_KEYSPEC_DELETE,
        [ACCESS_MERGE] = RM_KEYSPEC_RW | RM_KEYSPEC_ACCESS | RM_KEYSPEC_INSERT,
        [ACCESS_RESERVE] = RM_KEYSPEC_RW | RM_KEYSPEC_INSERT,
    };
    if (access == ACCESS_NONE)
        return;
    specs[0] = key_at(1, flags[access], 0);
    if (access == ACCESS_MERGE)
        specs[1] = key_at(2, flags[ACCESS_READ], -1);
    if (access == ACCESS_RESERVE)
        specs[1] = key_after("BASE", 2, flags[ACCESS_READ]);
}

static void fill_args(key_access access, const rm_arg *rest, rm_arg args[MAX_ARGS]) {
    size_t n = 0;
    if (access != ACCESS_NONE)
        args[n++] = (rm_arg){.name = access == ACCESS_MERGE ? "destination" : "key",
                             .type = RM_ARG_KEY,
                             .summary = "Key of the filter"};
    if (access == ACCESS_MERGE)
        args[n++] = (rm_arg){.name = "source",
                             .type = RM_ARG_KEY,
                             .key_spec = 1,
                             .summary = "Key of a filter to merge into it",
                             .flags = RM_ARG_MULTIPLE};
    for (; rest && rest->name && n + 1 < MAX_ARGS; rest++)
        args[n++] = *rest;
}

static int set_docs(rm_command *made, const command *c) {
    static const rm_command_version version = {1, sizeof(rm_history), sizeof(rm_key_spec),
                                               sizeof(rm_arg)};
    rm_key_spec specs[MAX_SPECS] = {0};
    rm_arg args[MAX_ARGS] = {0};
    const struct command_doc *doc = find_doc(c->name);
    if (!doc)
        return RM_ERR;
    fill_specs(c->access, specs);
    fill_args(c->access, doc->args, args);
    rm_command_info info = {.version = &version,
                            .summary = doc->summary,
                            .complexity = doc->complexity,
                            .since = SINCE,
                            .tips = doc->tips,
                            .arity = c->arity,
                            .key_specs = c->access == ACCESS_NONE ? NULL : specs,
                            .args = args[0].name ? args : NULL};
    return rm.SetCommandInfo(made, &info);
}

/* ---- registration ---------------------------------------------------------------------------- */

/* Engines before Redis 7.4 and Valkey 8 have no call to add categories: commands get only the
 * categories that follow from their flags. Categories are a convenience for administrators, so it
 * is not an error if a name is in use already, or if the engine allows no more categories. */
static void add_categories(rm_ctx *ctx) {
    static const char *const names[] = {"bloom", "cuckoo", "bloomery"};
    if (!rm.AddACLCategory)
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        rm.AddACLCategory(ctx, names[i]);
}

static int add_command(rm_ctx *ctx, const command *c) {
    int first = c->access != ACCESS_NONE, last = c->access == ACCESS_MERGE ? -1 : first;
    if (rm.CreateCommand(ctx, c->name, c->run, c->flags, first, last, first) != RM_OK) {
        rm.Log(ctx, "warning", "command %s already exists: another module may have it", c->name);
        return RM_ERR;
    }
    rm_command *made = rm.GetCommand(ctx, c->name);
    if (!made || set_docs(made, c) != RM_OK) {
        rm.Log(ctx, "warning", "the server rejects the description of %s", c->name);
        return RM_ERR;
    }
    if (rm.SetCommandACLCategories && rm.SetCommandACLCategories(made, c->categories) != RM_OK)
        rm.Log(ctx, "notice", "%s could not be added to its ACL categories: %s", c->name,
               c->categories);
    return RM_OK;
}

int bm_commands_start(rm_ctx *ctx) {
    add_categories(ctx);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (add_command(ctx, &commands[i]) != RM_OK)
            return RM_ERR;
    return RM_OK;
}
