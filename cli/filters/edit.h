/* change.h - what add and remove have in common: the lines of files, as keys of the list's own
 * type, applied to a filter file, which is then saved: all of it or nothing. */
#ifndef BLOOMERY_CLI_CHANGE_H
#define BLOOMERY_CLI_CHANGE_H

#include "cli.h"
#include "common_options.h"
#include "filters/rule_marks.h"
#include "io/gathered_keys.h"
#include "io/list_lines.h"

#include <stddef.h>

typedef struct change_values {
    const char *key, *key_file;
    unsigned type; /* a bly_list_type; BLY_LIST_NONE: the list's own */
    bool null, comments, skip, json;
    uint64_t gozero; /* add alone, as `once` */
    bool once;
    uint64_t memory; /* the same: the most that one step of growth may take; 0: the default */
    bool copies;     /* every line counts, also one that came before */
} change_values;

/* The rows of the options that both have. */
#define CHANGE_OPTIONS                                                                             \
    OPTION_KEY(offsetof(change_values, key), "Use this one key, and do not read standard input."), \
        OPTION_TYPE(offsetof(change_values, type),                                                 \
                    "What the lines are. By default the type with which the list was built, "      \
                    "which it remembers."),                                                        \
        OPTION_KEY_FILE(offsetof(change_values, key_file), "The secret key of a keyed list."),     \
        OPTION_NULL(offsetof(change_values, null), "Input lines"),                                 \
        OPTION_COMMENTS(offsetof(change_values, comments)),                                        \
        OPTION_COPIES(offsetof(change_values, copies)),                                            \
        OPTION_SKIP_MALFORMED(offsetof(change_values, skip)),                                      \
        OPTION_JSON(offsetof(change_values, json), "Print what was done as a JSON object.")

/* As what type the lines are read, and what the list is to remember of it. */
typedef struct change_type {
    bly_list_type type;
    bool marked; /* the list says that it is of this type */
    bool mark;   /* the list is to remember the type */
    bool blanks; /* lines of blanks, or of nothing, are keys as well */
    bool unsaid; /* a list of lines that does not say how keys are made from them */
} change_type;

/* What the list at `path` says of itself. */
typedef struct change_list {
    const char *path;
    bly_list_type own;
    bool recorded;    /* in its header */
    bool empty;       /* it has no keys */
    rule_marks marks; /* of one that records nothing, and has no type */
} change_list;

/* false: what was asked contradicts what the list says; reported. */
bool change_settle_type(const change_list *list, bly_list_type asked, change_type *out);

/* Calls `each` for --key, and for the lines of the files, or of standard input where neither is
 * given, as keys of that type. false: reported. */
bool change_read(const change_values *v, const change_type *as, cli_operands files, list_line *each,
                 void *ctx, list_lines *lines);

/* Lines for a list that does not say how keys are made from them. */
typedef struct change_forms {
    const char *path;
    bool set;     /* keys are added, and each is there once: so it can be there in several forms */
    bool urls[2]; /* by bly_url_level: a URL may be there in canonical form */
    bool exact;   /* records, not lines */
    bool warned;
    bly_url_buffer buffer;
} change_forms;

change_forms change_forms_of(const change_list *list, const change_type *as, bool set, bool exact);
/* The other forms in which `line`, with the key `key`, must be in a set to be found: calls `each`
 * for them. Warns once where a line ends in a carriage return. false: out of memory, or `each` was
 * false. */
bool change_other_forms(change_forms *f, bly_bytes line, bly_bytes key,
                        bool (*each)(void *ctx, bly_bytes key), void *ctx);

/* Blocks of new sizes, or domains of new depths, make more questions of a line: warns if that makes
 * a list err more often than was asked. `known` were its levels before, `levels` are those of the
 * new keys. */
void change_warn_of_levels(const char *path, bly_list_type type, const bly_list_levels *known,
                           const bly_list_levels *levels, const bly_filter_info *s);

typedef struct changing changing;

typedef struct change {
    uint32_t needs; /* BLY_CAN_ADD, BLY_CAN_REMOVE */
    /* Says why a filter of this kind cannot. */
    int (*refuse)(const char *path, bly_kind kind);
    /* Does it to the keys in c->gathered, or, of a list from which none can be removed, in
     * c->batch; c->done counts those that made a difference. */
    bly_status (*flush)(changing *c);
    /* What is left to do when all keys are in. */
    bly_status (*finish)(changing *c);
    /* Why it failed, in words. */
    int (*fail)(const changing *c);
    /* Says what was done, and returns the exit status. */
    int (*report)(const changing *c);
} change;

enum { CHANGE_BATCH = 1024 };

/* A list from which keys can be removed holds a copy of a key for each time that it was added (but
 * for an overlay, which is a set). Lines of one input that are the same are one key all the same,
 * unless the user says otherwise, so that adding a file and removing it undo each other; to tell
 * them, all hashes are gathered first. */
struct changing {
    const change *how;
    const change_values *values;
    const char *path;
    bly_filter *filter;
    bool gathers;           /* keys can be removed from it */
    gathered_keys gathered; /* if so */
    bool copies;            /* it holds copies of keys */
    change_type as;
    change_forms forms;     /* where as.unsaid */
    bly_list_levels known;  /* the levels marked when it was opened */
    bly_list_levels levels; /* of the new keys */
    uint64_t keys, done, malformed;
    uint64_t repeated; /* keys gathered that came before */
    bly_status status; /* of the first key that failed */
    bly_hash failed;   /* that key, of a list of copies */
    bly_hash batch[CHANGE_BATCH];
    size_t waiting;
};

/* The first operand is the list, the others are files of lines. Returns an exit status. */
int change_run(const change *how, const change_values *v, cli_operands operands);

#endif
