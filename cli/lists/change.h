/* change.h - what add and remove have in common: the lines of files, as keys of the list's own
 * type, applied to a filter file, which is then saved: all of it or nothing. */
#ifndef BLOOMERY_CLI_CHANGE_H
#define BLOOMERY_CLI_CHANGE_H

#include "cli.h"
#include "keytype.h"

typedef struct change_values {
    const char *key, *key_file;
    unsigned type; /* a keytype; KEYTYPE_NONE: the list's own */
    bool null, comments, skip, json;
} change_values;

extern const cli_option change_options[];

typedef struct changing changing;

typedef struct change {
    uint32_t needs; /* BLY_CAN_ADD, BLY_CAN_REMOVE */
    /* Says why a filter of this kind cannot. */
    int (*refuse)(const char *path, bly_kind kind);
    /* Does it to one key; c->done counts those that made a difference. */
    bly_status (*each)(changing *c, const keytype_key *key);
    /* Does what was put off, when all keys are known to be good. */
    bly_status (*finish)(changing *c);
    void (*report)(const changing *c);
} change;

enum { CHANGE_BATCH = 1024 };

struct changing {
    const change *how;
    const change_values *values;
    const char *path;
    bly_filter *filter;
    keytype type;
    bool mark;             /* the list is to remember the type */
    keytype_levels known;  /* the levels marked when it was opened */
    keytype_levels levels; /* of the new keys */
    uint64_t keys, done, malformed;
    bly_status status; /* of the first key that failed */
    bly_hash batch[CHANGE_BATCH];
    size_t waiting;
};

/* The first operand is the list, the others are files of lines. Returns an exit status. */
int change_run(const change *how, const change_values *v, cli_operands operands);

#endif
