#include "docs.h"

static rm_arg item[] = {BM_ARG("item", STRING), BM_ARGS_END};
static rm_arg items[] = {BM_ARG_MORE("item", STRING), BM_ARGS_END};
static rm_arg cursor[] = {BM_ARG("iterator", INTEGER), BM_ARGS_END};
static rm_arg chunk[] = {BM_ARG("iterator", INTEGER), BM_ARG("data", STRING), BM_ARGS_END};

static rm_arg reserve[] = {
    BM_ARG("capacity", INTEGER),
    BM_ARG_OPTION("bucketsize", INTEGER, "BUCKETSIZE"),
    BM_ARG_OPTION("maxiterations", INTEGER, "MAXITERATIONS"),
    BM_ARG_OPTION("expansion", INTEGER, "EXPANSION"),
    BM_ARG_OPTION("error", DOUBLE, "ERROR"),
    BM_ARGS_END,
};

static rm_arg insert[] = {
    BM_ARG_OPTION("capacity", INTEGER, "CAPACITY"),
    BM_ARG_WORD("nocreate", "NOCREATE"),
    BM_ARG_AFTER("item", STRING, "ITEMS"),
    BM_ARGS_END,
};

#define EACH_LEVEL "O(1) for each level that the filter has"
#define EACH_ITEM  "O(N) for N items, for each level that the filter has"

const bm_doc bm_docs_cf[] = {
    {"cf.reserve", "Creates an empty cuckoo filter with a capacity and a rate", "O(1)", NULL,
     reserve},
    {"cf.add", "Adds an item to a cuckoo filter, which is created where there is none", EACH_LEVEL,
     NULL, item},
    {"cf.addnx", "Adds an item to a cuckoo filter unless it may be there already", EACH_LEVEL, NULL,
     item},
    {"cf.insert", "Adds items to a cuckoo filter, which is created as told where there is none",
     EACH_ITEM, NULL, insert},
    {"cf.insertnx", "Adds those items to a cuckoo filter that are not there yet", EACH_ITEM, NULL,
     insert},
    {"cf.exists", "Tells whether an item may be in a cuckoo filter", EACH_LEVEL, NULL, item},
    {"cf.mexists", "Tells of each item whether it may be in a cuckoo filter", EACH_ITEM, NULL,
     items},
    {"cf.count", "Tells how many copies of an item a cuckoo filter may hold", EACH_LEVEL, NULL,
     item},
    {"cf.del", "Takes one copy of an item out of a cuckoo filter", EACH_LEVEL, NULL, item},
    {"cf.compact", "Moves entries to the older levels of a cuckoo filter, to need fewer",
     "O(N) for N entries", NULL, NULL},
    {"cf.info", "Tells what a cuckoo filter was made for and what it holds", "O(1)", "dont_cache",
     NULL},
    {"cf.debug", "Tells the same as CF.INFO in one line", "O(1)", "dont_cache", NULL},
    {"cf.scandump", "Gives the next piece of a cuckoo filter, for CF.LOADCHUNK",
     "O(N) for N bytes of that piece", "dont_cache", cursor},
    {"cf.loadchunk", "Takes a piece of a cuckoo filter that CF.SCANDUMP gave",
     "O(N) for N bytes of that piece", NULL, chunk},
    {.name = NULL},
};
