/* command_table.c - registers the commands, with what COMMAND DOCS and COMMAND INFO show of them:
 * summary, complexity, arguments and key specifications.
 */
#include "command_table.h"

#include <string.h>

/* Every command exists since the first version. */
#define SINCE "0.1.0"

/* The arguments and key specifications of one command, with the entry that ends each list. */
enum { MAX_ARGS = 32, MAX_SPECS = 3 };

/* What a command does with its keys. */
typedef enum key_access {
    ACCESS_NONE,   /* it has no key */
    ACCESS_READ,   /* reads one key */
    ACCESS_INSERT, /* adds to one key */
    ACCESS_UPDATE, /* changes one key */
    ACCESS_DELETE, /* removes from one key */
    ACCESS_MERGE,  /* adds to the first key what the others contain */
    ACCESS_RESERVE /* creates one key, maybe over another one that follows the token BASE */
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

/* ---- arguments: those that follow the keys. The last one of a list has no name ----------------
 */

#define ARG_ROW(name_, type_, token_, flags_, parts_)                                              \
    {                                                                                              \
        .name = (name_), .type = RM_ARG_##type_, .key_spec = -1, .token = (token_),                \
        .flags = (flags_), .parts = (parts_)                                                       \
    }
#define ARG(name, type)                     ARG_ROW(name, type, NULL, 0, NULL)
#define ARG_MANY(name, type)                ARG_ROW(name, type, NULL, RM_ARG_MULTIPLE, NULL)
#define ARG_MANY_AFTER(name, type, token)   ARG_ROW(name, type, token, RM_ARG_MULTIPLE, NULL)
#define ARG_AFTER(name, type, token)        ARG_ROW(name, type, token, 0, NULL)
#define ARG_OPTION(name, type, token)       ARG_ROW(name, type, token, RM_ARG_OPTIONAL, NULL)
#define ARG_FLAG(name, token)               ARG_ROW(name, TOKEN, token, RM_ARG_OPTIONAL, NULL)
#define ARG_CHOICE(name, token)             ARG_ROW(name, TOKEN, token, 0, NULL)
#define ARG_PARTS(name, type, token, parts) ARG_ROW(name, type, token, RM_ARG_OPTIONAL, parts)
#define ARGS_END                                                                                   \
    { .name = NULL }

static rm_arg item[] = {ARG("item", STRING), ARGS_END};
static rm_arg items[] = {ARG_MANY("item", STRING), ARGS_END};
static rm_arg iterator[] = {ARG("iterator", INTEGER), ARGS_END};
static rm_arg chunk[] = {ARG("iterator", INTEGER), ARG("data", STRING), ARGS_END};

static rm_arg bf_reserve[] = {
    ARG("error_rate", DOUBLE),
    ARG("capacity", INTEGER),
    ARG_OPTION("expansion", INTEGER, "EXPANSION"),
    ARG_FLAG("nonscaling", "NONSCALING"),
    ARGS_END,
};
static rm_arg bf_insert[] = {
    ARG_OPTION("capacity", INTEGER, "CAPACITY"),
    ARG_OPTION("error", DOUBLE, "ERROR"),
    ARG_OPTION("expansion", INTEGER, "EXPANSION"),
    ARG_FLAG("nocreate", "NOCREATE"),
    ARG_FLAG("nonscaling", "NONSCALING"),
    ARG_MANY_AFTER("item", STRING, "ITEMS"),
    ARGS_END,
};
static rm_arg bf_info_fields[] = {
    ARG_CHOICE("capacity", "CAPACITY"),   ARG_CHOICE("size", "SIZE"),
    ARG_CHOICE("filters", "FILTERS"),     ARG_CHOICE("items", "ITEMS"),
    ARG_CHOICE("expansion", "EXPANSION"), ARGS_END,
};
static rm_arg bf_info[] = {ARG_PARTS("single_value", ONEOF, NULL, bf_info_fields), ARGS_END};

static rm_arg cf_reserve[] = {
    ARG("capacity", INTEGER),
    ARG_OPTION("bucketsize", INTEGER, "BUCKETSIZE"),
    ARG_OPTION("maxiterations", INTEGER, "MAXITERATIONS"),
    ARG_OPTION("expansion", INTEGER, "EXPANSION"),
    ARG_OPTION("error", DOUBLE, "ERROR"),
    ARGS_END,
};
static rm_arg cf_insert[] = {
    ARG_OPTION("capacity", INTEGER, "CAPACITY"),
    ARG_FLAG("nocreate", "NOCREATE"),
    ARG_MANY_AFTER("item", STRING, "ITEMS"),
    ARGS_END,
};

static rm_arg seeds[] = {ARG("number", INTEGER), ARG_CHOICE("random", "RANDOM"), ARGS_END};
static rm_arg key_id[] = {
    ARG_CHOICE("keyed", "KEYED"),
    {.name = "id", .type = RM_ARG_STRING, .key_spec = -1, .flags = RM_ARG_OPTIONAL},
    ARGS_END,
};
static rm_arg geometry[] = {
    ARG_AFTER("size", INTEGER, "SIZE"),
    ARG_AFTER("hashes", INTEGER, "HASHES"),
    ARG_OPTION("detail", INTEGER, "DETAIL"),
    ARGS_END,
};
static rm_arg layouts[] = {
    ARG_CHOICE("redisbloom", "REDISBLOOM"),
    ARG_CHOICE("redisbloom_cuckoo", "REDISBLOOM-CUCKOO"),
    ARGS_END,
};
static rm_arg faces[] = {ARG_CHOICE("bf", "BF"), ARG_CHOICE("cf", "CF"), ARG_CHOICE("bly", "BLY"),
                         ARGS_END};

static rm_arg bly_reserve[] = {
    ARG_AFTER("kind", STRING, "KIND"),
    ARG_OPTION("capacity", INTEGER, "CAPACITY"),
    ARG_OPTION("error", DOUBLE, "ERROR"),
    ARG_PARTS("seed", ONEOF, "SEED", seeds),
    ARG_OPTION("hash", STRING, "HASH"),
    ARG_PARTS("key_of_filter", BLOCK, NULL, key_id),
    ARG_OPTION("growth", INTEGER, "GROWTH"),
    ARG_OPTION("first_share", DOUBLE, "FIRSTSHARE"),
    ARG_OPTION("horizon", INTEGER, "HORIZON"),
    ARG_OPTION("span", INTEGER, "SPAN"),
    ARG_OPTION("generations", INTEGER, "GENERATIONS"),
    ARG_OPTION("counter_bits", INTEGER, "COUNTERBITS"),
    ARG_OPTION("changes", INTEGER, "CHANGES"),
    ARG_OPTION("marker", STRING, "MARKER"),
    {.name = "base", .type = RM_ARG_KEY, .key_spec = 1, .token = "BASE", .flags = RM_ARG_OPTIONAL},
    ARG_PARTS("geometry", BLOCK, NULL, geometry),
    ARG_FLAG("textbook", "TEXTBOOK"),
    ARG_FLAG("foldable", "FOLDABLE"),
    ARG_PARTS("layout", ONEOF, "LAYOUT", layouts),
    ARG_PARTS("face", ONEOF, "FACE", faces),
    ARG_FLAG("nonscaling", "NONSCALING"),
    ARG_OPTION("expansion", INTEGER, "EXPANSION"),
    ARG_OPTION("bucketsize", INTEGER, "BUCKETSIZE"),
    ARG_OPTION("maxiterations", INTEGER, "MAXITERATIONS"),
    ARGS_END,
};
static rm_arg bly_dump[] = {ARG("offset", INTEGER), ARG_OPTION("bytes", INTEGER, "COUNT"),
                            ARGS_END};
static rm_arg bly_load[] = {
    ARG("total", INTEGER),
    ARG("offset", INTEGER),
    ARG("data", STRING),
    ARG_FLAG("replace", "REPLACE"),
    ARG_OPTION("meta", STRING, "META"),
    ARGS_END,
};
static rm_arg bly_tick[] = {ARG("milliseconds", INTEGER), ARGS_END};

/* ---- documentation --------------------------------------------------------------------------- */

#define EACH_LEVEL "O(1) for each level that the filter has"
#define EACH_ITEM  "O(N) for N items, for each level that the filter has"
#define EACH_BYTE  "O(N) for N bytes of the filter"
#define CHUNK_SIZE "O(N) for N bytes of the chunk"

static const struct command_doc {
    const char *name, *summary, *complexity, *tips;
    rm_arg *args; /* NULL: none */
} docs[] = {
    {"bf.reserve", "Creates an empty Bloom filter with a rate and a capacity", "O(1)", NULL,
     bf_reserve},
    {"bf.add", "Adds an item to a Bloom filter, and creates the filter if it does not exist",
     EACH_LEVEL, NULL, item},
    {"bf.madd", "Adds items to a Bloom filter, and creates the filter if it does not exist",
     EACH_ITEM, NULL, items},
    {"bf.insert", "Adds items to a Bloom filter, and creates it with options if it does not exist",
     EACH_ITEM, NULL, bf_insert},
    {"bf.exists", "Returns whether an item may be in a Bloom filter", EACH_LEVEL, NULL, item},
    {"bf.mexists", "Returns for each item whether it may be in a Bloom filter", EACH_ITEM, NULL,
     items},
    {"bf.info", "Returns the parameters and the contents' size of a Bloom filter", "O(1)",
     "dont_cache", bf_info},
    {"bf.card", "Returns the number of items that were added to a Bloom filter", "O(1)", NULL,
     NULL},
    {"bf.debug", "Returns a line for each level of a Bloom filter", "O(N) for N levels",
     "dont_cache", NULL},
    {"bf.scandump", "Returns the next chunk of a Bloom filter, for BF.LOADCHUNK", CHUNK_SIZE,
     "dont_cache", iterator},
    {"bf.loadchunk", "Loads a chunk of a Bloom filter that BF.SCANDUMP returned", CHUNK_SIZE, NULL,
     chunk},
    {"cf.reserve", "Creates an empty cuckoo filter with a capacity and a rate", "O(1)", NULL,
     cf_reserve},
    {"cf.add", "Adds an item to a cuckoo filter, and creates the filter if it does not exist",
     EACH_LEVEL, NULL, item},
    {"cf.addnx", "Adds an item to a cuckoo filter unless it may be there already", EACH_LEVEL, NULL,
     item},
    {"cf.insert", "Adds items to a cuckoo filter, and creates it with options if it does not exist",
     EACH_ITEM, NULL, cf_insert},
    {"cf.insertnx", "Adds those items to a cuckoo filter that are not there yet", EACH_ITEM, NULL,
     cf_insert},
    {"cf.exists", "Returns whether an item may be in a cuckoo filter", EACH_LEVEL, NULL, item},
    {"cf.mexists", "Returns for each item whether it may be in a cuckoo filter", EACH_ITEM, NULL,
     items},
    {"cf.count", "Returns how many copies of an item a cuckoo filter may contain", EACH_LEVEL, NULL,
     item},
    {"cf.del", "Removes one copy of an item from a cuckoo filter", EACH_LEVEL, NULL, item},
    {"cf.compact", "Moves entries to the older levels of a cuckoo filter, to need fewer levels",
     "O(N) for N entries", NULL, NULL},
    {"cf.info", "Returns the parameters and the contents' size of a cuckoo filter", "O(1)",
     "dont_cache", NULL},
    {"cf.debug", "Returns the same as CF.INFO in one line", "O(1)", "dont_cache", NULL},
    {"cf.scandump", "Returns the next chunk of a cuckoo filter, for CF.LOADCHUNK", CHUNK_SIZE,
     "dont_cache", iterator},
    {"cf.loadchunk", "Loads a chunk of a cuckoo filter that CF.SCANDUMP returned", CHUNK_SIZE, NULL,
     chunk},
    {"bly.reserve", "Creates an empty filter of any kind", "O(1)", NULL, bly_reserve},
    {"bly.add", "Adds items to a filter and returns for each whether it is new", EACH_ITEM, NULL,
     items},
    {"bly.check", "Returns for each item whether it may be in a filter, or null if that is unknown",
     EACH_ITEM, NULL, items},
    {"bly.del", "Removes items from a filter whose kind supports it", EACH_ITEM, NULL, items},
    {"bly.count", "Returns how many copies of each item a filter may contain", EACH_ITEM, NULL,
     items},
    {"bly.card", "Returns the number of items in a filter", "O(1)", NULL, NULL},
    {"bly.age", "Returns how long ago each item was added to a window", EACH_ITEM, NULL, items},
    {"bly.info", "Returns the kind, the parameters and the size of a filter", "O(1)", "dont_cache",
     NULL},
    {"bly.stats", "Measures the fill and the present false-positive rate of a filter", EACH_BYTE,
     "dont_cache", NULL},
    {"bly.merge", "Adds the contents of other filters to a filter, and returns its new fill",
     "O(N) for N bytes of all the filters", NULL, NULL},
    {"bly.clear", "Removes all items from a filter, which keeps its parameters", EACH_BYTE, NULL,
     NULL},
    {"bly.dump", "Returns bytes of the file format of a filter", "O(N) for N bytes returned",
     "dont_cache", bly_dump},
    {"bly.load", "Loads bytes of a filter's file; the filter exists once the last ones are loaded",
     "O(N) for N bytes loaded, and with the last ones for those of the filter", NULL, bly_load},
    {"bly.tick", "Advances a window by time to a time; a master sends this to its replicas",
     "O(N) for N bytes too old", NULL, bly_tick},
    {"bly.noop", "Does what every command does, and nothing else, for measuring",
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
        args[n++] =
            (rm_arg){.name = access == ACCESS_MERGE ? "destination" : "key", .type = RM_ARG_KEY};
    if (access == ACCESS_MERGE)
        args[n++] =
            (rm_arg){.name = "source", .type = RM_ARG_KEY, .key_spec = 1, .flags = RM_ARG_MULTIPLE};
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

/* Engines before Redis 7.4 and Valkey 8 have only the categories that follow from flags. Categories
 * are a convenience for administrators, so it is no error when a name is taken or the engine allows
 * no more of them. */
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
        rm.Log(ctx, "warning", "the command %s is there already, from another module?", c->name);
        return RM_ERR;
    }
    rm_command *made = rm.GetCommand(ctx, c->name);
    if (!made || set_docs(made, c) != RM_OK) {
        rm.Log(ctx, "warning", "the engine rejects the description of %s", c->name);
        return RM_ERR;
    }
    if (rm.SetCommandACLCategories && rm.SetCommandACLCategories(made, c->categories) != RM_OK)
        rm.Log(ctx, "notice", "%s is in no category of its own: %s", c->name, c->categories);
    return RM_OK;
}

int bm_commands_start(rm_ctx *ctx) {
    add_categories(ctx);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (add_command(ctx, &commands[i]) != RM_OK)
            return RM_ERR;
    return RM_OK;
}
