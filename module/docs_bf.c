#include "docs.h"

static rm_arg item[] = {BM_ARG("item", STRING), BM_ARGS_END};
static rm_arg items[] = {BM_ARG_MORE("item", STRING), BM_ARGS_END};
static rm_arg cursor[] = {BM_ARG("iterator", INTEGER), BM_ARGS_END};
static rm_arg chunk[] = {BM_ARG("iterator", INTEGER), BM_ARG("data", STRING), BM_ARGS_END};

static rm_arg reserve[] = {
    BM_ARG("error_rate", DOUBLE),
    BM_ARG("capacity", INTEGER),
    BM_ARG_OPTION("expansion", INTEGER, "EXPANSION"),
    BM_ARG_WORD("nonscaling", "NONSCALING"),
    BM_ARGS_END,
};

static rm_arg insert[] = {
    BM_ARG_OPTION("capacity", INTEGER, "CAPACITY"),
    BM_ARG_OPTION("error", DOUBLE, "ERROR"),
    BM_ARG_OPTION("expansion", INTEGER, "EXPANSION"),
    BM_ARG_WORD("nocreate", "NOCREATE"),
    BM_ARG_WORD("nonscaling", "NONSCALING"),
    BM_ARG_AFTER("item", STRING, "ITEMS"),
    BM_ARGS_END,
};

static rm_arg fields[] = {
    BM_ARG_CHOICE("capacity", "CAPACITY"),   BM_ARG_CHOICE("size", "SIZE"),
    BM_ARG_CHOICE("filters", "FILTERS"),     BM_ARG_CHOICE("items", "ITEMS"),
    BM_ARG_CHOICE("expansion", "EXPANSION"), BM_ARGS_END,
};
static rm_arg field[] = {BM_ARG_ONE_OF("single_value", fields), BM_ARGS_END};

const bm_doc bm_docs_bf[] = {
    {"bf.reserve", "Creates an empty Bloom filter with a rate and a capacity", "O(1)", NULL,
     reserve},
    {"bf.add", "Adds an item to a Bloom filter, which is created where there is none",
     "O(1) for each level that the filter has", NULL, item},
    {"bf.madd", "Adds items to a Bloom filter, which is created where there is none",
     "O(N) for N items, for each level that the filter has", NULL, items},
    {"bf.insert", "Adds items to a Bloom filter, which is created as told where there is none",
     "O(N) for N items, for each level that the filter has", NULL, insert},
    {"bf.exists", "Tells whether an item may be in a Bloom filter",
     "O(1) for each level that the filter has", NULL, item},
    {"bf.mexists", "Tells of each item whether it may be in a Bloom filter",
     "O(N) for N items, for each level that the filter has", NULL, items},
    {"bf.info", "Tells what a Bloom filter was made for and what it holds", "O(1)", "dont_cache",
     field},
    {"bf.card", "Tells how many items were added to a Bloom filter", "O(1)", NULL, NULL},
    {"bf.debug", "Tells of each level of a Bloom filter", "O(N) for N levels", "dont_cache", NULL},
    {"bf.scandump", "Gives the next piece of a Bloom filter, for BF.LOADCHUNK",
     "O(N) for N bytes of that piece", "dont_cache", cursor},
    {"bf.loadchunk", "Takes a piece of a Bloom filter that BF.SCANDUMP gave",
     "O(N) for N bytes of that piece", NULL, chunk},
    {.name = NULL},
};
