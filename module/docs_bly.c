#include "docs.h"

static rm_arg items[] = {BM_ARG_MORE("item", STRING), BM_ARGS_END};

static rm_arg random_seed[] = {BM_ARG("number", INTEGER), BM_ARG_CHOICE("random", "RANDOM"),
                               BM_ARGS_END};
static rm_arg key_id[] = {
    BM_ARG_CHOICE("keyed", "KEYED"),
    {.name = "id", .type = RM_ARG_STRING, .key_spec = -1, .flags = RM_ARG_OPTIONAL},
    BM_ARGS_END,
};
static rm_arg geometry[] = {
    BM_ARG_NEEDED("size", INTEGER, "SIZE"),
    BM_ARG_NEEDED("hashes", INTEGER, "HASHES"),
    BM_ARG_OPTION("detail", INTEGER, "DETAIL"),
    BM_ARGS_END,
};
static rm_arg layouts[] = {
    BM_ARG_CHOICE("redisbloom", "REDISBLOOM"),
    BM_ARG_CHOICE("redisbloom_cuckoo", "REDISBLOOM-CUCKOO"),
    BM_ARGS_END,
};
static rm_arg faces[] = {BM_ARG_CHOICE("bf", "BF"), BM_ARG_CHOICE("cf", "CF"),
                         BM_ARG_CHOICE("bly", "BLY"), BM_ARGS_END};

static rm_arg reserve[] = {
    BM_ARG_NEEDED("kind", STRING, "KIND"),
    BM_ARG_OPTION("capacity", INTEGER, "CAPACITY"),
    BM_ARG_OPTION("error", DOUBLE, "ERROR"),
    BM_ARG_PARTS("seed", ONEOF, "SEED", random_seed),
    BM_ARG_OPTION("hash", STRING, "HASH"),
    BM_ARG_PARTS("key_of_filter", BLOCK, NULL, key_id),
    BM_ARG_OPTION("growth", INTEGER, "GROWTH"),
    BM_ARG_OPTION("first_share", DOUBLE, "FIRSTSHARE"),
    BM_ARG_OPTION("horizon", INTEGER, "HORIZON"),
    BM_ARG_OPTION("span", INTEGER, "SPAN"),
    BM_ARG_OPTION("generations", INTEGER, "GENERATIONS"),
    BM_ARG_OPTION("counter_bits", INTEGER, "COUNTERBITS"),
    BM_ARG_OPTION("changes", INTEGER, "CHANGES"),
    BM_ARG_OPTION("marker", STRING, "MARKER"),
    {.name = "base", .type = RM_ARG_KEY, .key_spec = 1, .token = "BASE", .flags = RM_ARG_OPTIONAL},
    BM_ARG_PARTS("geometry", BLOCK, NULL, geometry),
    BM_ARG_WORD("textbook", "TEXTBOOK"),
    BM_ARG_WORD("foldable", "FOLDABLE"),
    BM_ARG_PARTS("layout", ONEOF, "LAYOUT", layouts),
    BM_ARG_PARTS("face", ONEOF, "FACE", faces),
    BM_ARG_WORD("nonscaling", "NONSCALING"),
    BM_ARG_OPTION("expansion", INTEGER, "EXPANSION"),
    BM_ARG_OPTION("bucketsize", INTEGER, "BUCKETSIZE"),
    BM_ARG_OPTION("maxiterations", INTEGER, "MAXITERATIONS"),
    BM_ARGS_END,
};

static rm_arg dump[] = {BM_ARG("offset", INTEGER), BM_ARG_OPTION("bytes", INTEGER, "COUNT"),
                        BM_ARGS_END};
static rm_arg load[] = {
    BM_ARG("total", INTEGER),
    BM_ARG("offset", INTEGER),
    BM_ARG("data", STRING),
    BM_ARG_WORD("replace", "REPLACE"),
    BM_ARG_OPTION("meta", STRING, "META"),
    BM_ARGS_END,
};
static rm_arg tick[] = {BM_ARG("milliseconds", INTEGER), BM_ARGS_END};

#define EACH_ITEM "O(N) for N items, for each level that the filter has"

const bm_doc bm_docs_bly[] = {
    {"bly.reserve", "Creates an empty filter of any kind", "O(1)", NULL, reserve},
    {"bly.add", "Adds items to a filter and tells of each whether it is new", EACH_ITEM, NULL,
     items},
    {"bly.check",
     "Tells of each item whether it may be in a filter: yes, no, or null when nobody can know",
     EACH_ITEM, NULL, items},
    {"bly.del", "Takes items out of a filter whose kind can do that", EACH_ITEM, NULL, items},
    {"bly.count", "Tells how many copies of each item a filter may hold", EACH_ITEM, NULL, items},
    {"bly.card", "Tells how many items a filter holds", "O(1)", NULL, NULL},
    {"bly.age", "Tells how long ago each item was added to a window", EACH_ITEM, NULL, items},
    {"bly.info", "Tells what a filter is and what it was made for", "O(1)", "dont_cache", NULL},
    {"bly.stats", "Measures how full a filter is and its present rate of false positives",
     "O(N) for N bytes of the filter", "dont_cache", NULL},
    {"bly.merge", "Adds to a filter all that other filters hold, and tells how full it is then",
     "O(N) for N bytes of all the filters", NULL, NULL},
    {"bly.clear", "Empties a filter, which stays what it was made for",
     "O(N) for N bytes of the filter", NULL, NULL},
    {"bly.dump", "Gives bytes of the file that holds a filter", "O(N) for N bytes given",
     "dont_cache", dump},
    {"bly.load", "Takes bytes of a file that holds a filter; with the last ones it is there",
     "O(N) for N bytes taken, and with the last ones for those of the filter", NULL, load},
    {"bly.tick", "Brings a window by time to a time; a master tells its replicas so",
     "O(N) for N bytes too old", NULL, tick},
    {"bly.noop", "Does what every command does, and nothing else, for measuring",
     "O(N) for N items", "dont_cache", items},
    {"bly.keyring", "Tells the ids of the secret keys for keyed filters", "O(N) for N keys",
     "dont_cache", NULL},
    {.name = NULL},
};
