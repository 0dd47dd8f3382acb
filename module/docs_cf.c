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
    {"CF.RESERVE", "Creates an empty cuckoo filter with a capacity and a rate", "O(1)", NULL,
     reserve},
    {"CF.ADD", "Adds an item to a cuckoo filter, which is created where there is none", EACH_LEVEL,
     NULL, item},
    {"CF.ADDNX", "Adds an item to a cuckoo filter unless it may be there already", EACH_LEVEL, NULL,
     item},
    {"CF.INSERT", "Adds items to a cuckoo filter, which is created as told where there is none",
     EACH_ITEM, NULL, insert},
    {"CF.INSERTNX", "Adds those items to a cuckoo filter that are not there yet", EACH_ITEM, NULL,
     insert},
    {"CF.EXISTS", "Tells whether an item may be in a cuckoo filter", EACH_LEVEL, NULL, item},
    {"CF.MEXISTS", "Tells of each item whether it may be in a cuckoo filter", EACH_ITEM, NULL,
     items},
    {"CF.COUNT", "Tells how many copies of an item a cuckoo filter may hold", EACH_LEVEL, NULL,
     item},
    {"CF.DEL", "Takes one copy of an item out of a cuckoo filter", EACH_LEVEL, NULL, item},
    {"CF.COMPACT", "Moves entries to the older levels of a cuckoo filter, to need fewer",
     "O(N) for N entries", NULL, NULL},
    {"CF.INFO", "Tells what a cuckoo filter was made for and what it holds", "O(1)", "dont_cache",
     NULL},
    {"CF.DEBUG", "Tells the same as CF.INFO in one line", "O(1)", "dont_cache", NULL},
    {"CF.SCANDUMP", "Gives the next piece of a cuckoo filter, for CF.LOADCHUNK",
     "O(N) for N bytes of that piece", "dont_cache", cursor},
    {"CF.LOADCHUNK", "Takes a piece of a cuckoo filter that CF.SCANDUMP gave",
     "O(N) for N bytes of that piece", NULL, chunk},
    {.name = NULL},
};
