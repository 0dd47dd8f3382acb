/* docs.h - what COMMAND DOCS and COMMAND INFO tell of every command. */
#ifndef BLOOMERY_MODULE_DOCS_H
#define BLOOMERY_MODULE_DOCS_H

#include "api.h"

/* What a command does with its keys. */
typedef enum bm_access {
    BM_ACCESS_NONE,   /* it has none */
    BM_ACCESS_READ,   /* one, whose contents it tells of */
    BM_ACCESS_INSERT, /* one, to which it adds */
    BM_ACCESS_UPDATE, /* one, which it changes */
    BM_ACCESS_DELETE, /* one, from which it takes */
    BM_ACCESS_MERGE,  /* adds to the first what the others hold */
    BM_ACCESS_RESERVE /* makes one, maybe over another that follows the word BASE */
} bm_access;

typedef struct bm_doc {
    const char *name, *summary, *complexity, *tips;
    rm_arg *args; /* after the keys; ended by one without a name; NULL: none */
} bm_doc;

/* One list for each family, in files of their own; ended by one without a name. */
extern const bm_doc bm_docs_bf[], bm_docs_cf[], bm_docs_bly[];

int bm_docs_set(rm_command *command, const char *name, int arity, bm_access access);

/* The rows of such lists. */
#define BM_ARG_ROW(word, of_type, of_token, of_flags, of_parts)                                    \
    {                                                                                              \
        .name = (word), .type = RM_ARG_##of_type, .key_spec = -1, .token = (of_token),             \
        .flags = (of_flags), .parts = (of_parts)                                                   \
    }
#define BM_ARG(word, type)                     BM_ARG_ROW(word, type, NULL, 0, NULL)
#define BM_ARG_MORE(word, type)                BM_ARG_ROW(word, type, NULL, RM_ARG_MULTIPLE, NULL)
#define BM_ARG_AFTER(word, type, token)        BM_ARG_ROW(word, type, token, RM_ARG_MULTIPLE, NULL)
#define BM_ARG_NEEDED(word, type, token)       BM_ARG_ROW(word, type, token, 0, NULL)
#define BM_ARG_OPTION(word, type, token)       BM_ARG_ROW(word, type, token, RM_ARG_OPTIONAL, NULL)
#define BM_ARG_WORD(word, token)               BM_ARG_ROW(word, TOKEN, token, RM_ARG_OPTIONAL, NULL)
#define BM_ARG_CHOICE(word, token)             BM_ARG_ROW(word, TOKEN, token, 0, NULL)
#define BM_ARG_ONE_OF(word, parts)             BM_ARG_PARTS(word, ONEOF, NULL, parts)
#define BM_ARG_PARTS(word, type, token, parts) BM_ARG_ROW(word, type, token, RM_ARG_OPTIONAL, parts)
#define BM_ARGS_END                                                                                \
    { .name = NULL }

#endif
