/* edit.h - what `bloomery add` and `bloomery remove` share: makes keys of the list's type from
 * lines, and changes the list. */
#ifndef BLOOMERY_CLI_EDIT_H
#define BLOOMERY_CLI_EDIT_H

#include "cli.h"
#include "common_options.h"
#include "filters/handle.h"
#include "filters/rule_marks.h"
#include "io/gathered_keys.h"
#include "io/list_lines.h"

#include <stddef.h>

typedef struct edit_values {
    const char *key, *key_file;
    unsigned type; /* a bly_list_type; BLY_LIST_NONE: that of the list */
    bool null, comments, skip, json;
    bool copies; /* repeated lines count, too */
    /* Of add alone: */
    uint64_t gozero;
    bool once;
    uint64_t memory; /* limit of one growth step, in bytes; 0: the default */
} edit_values;

/* The options of both commands. */
#define EDIT_OPTIONS                                                                               \
    OPTION_KEY(offsetof(edit_values, key),                                                         \
               "Use the key KEY instead of standard input. FILEs are still read."),                \
        OPTION_TYPE(offsetof(edit_values, type),                                                   \
                    "The type of the lines, by default that of the list."),                        \
        OPTION_KEY_FILE(offsetof(edit_values, key_file),                                           \
                        "Use the secret key in FILE, for keyed lists."),                           \
        OPTION_NULL(offsetof(edit_values, null), "Input lines"),                                   \
        OPTION_COMMENTS(offsetof(edit_values, comments)),                                          \
        OPTION_COPIES(offsetof(edit_values, copies)),                                              \
        OPTION_SKIP_MALFORMED(offsetof(edit_values, skip)),                                        \
        OPTION_JSON(offsetof(edit_values, json), "Print a report as a JSON object.")

/* The type that the lines are read as, and what the list will record about it. */
typedef struct edit_type {
    bly_list_type type;
    bool marked;     /* the list already has marks of this type */
    bool mark;       /* record the type in the list */
    bool blanks;     /* blank and empty lines are keys, too */
    bool unrecorded; /* a list of lines that does not record how keys are made from them */
} edit_type;

/* What the list at `path` records about its keys. */
typedef struct edit_list {
    const char *path;
    bly_list_type own;
    bool recorded;    /* `own` comes from the header of the list */
    bool empty;       /* the list has no keys */
    rule_marks marks; /* set only if the list records no rule and has no marks of a type */
} edit_list;

/* Decides how lines become keys. `requested` is the type of --type, or BLY_LIST_NONE for the list's
 * own type. If it contradicts the list, reports that and returns false. */
bool edit_settle_type(const edit_list *list, bly_list_type requested, edit_type *out);

/* The forms in which a line is added to a list that does not record how keys are made from lines.
 */
typedef struct edit_forms {
    const char *path;
    bool set;     /* the list stores each key once, and keys are added, so a line can be added in
                     several forms */
    bool urls[2]; /* indexed by bly_url_level: whether URLs may have been added in this canonical
                     form */
    bool exact;   /* input records end in a NUL byte, so carriage returns are parts of keys */
    bool warned;
    bly_url_buffer buffer;
} edit_forms;

edit_forms edit_forms_of(const edit_list *list, const edit_type *as, bool set, bool exact);
/* Calls `each` for every form of `line`, other than its key `key`, that must also be added to a set
 * so that the line is always found. Warns about the first line that ends in a carriage return.
 * Returns false if memory ran out, or `each` returned false. */
bool edit_other_forms(edit_forms *f, bly_bytes line, bly_bytes key,
                      bool (*each)(void *ctx, bly_bytes key), void *ctx);

/* New prefix lengths, or numbers of labels, increase the lookups per line. Warns if the
 * false-positive rate per line therefore exceeds the requested one. `known`: the levels before;
 * `levels`: those of the new keys. */
void edit_warn_of_levels(const char *path, bly_list_type type, const bly_list_levels *known,
                         const bly_list_levels *levels, const bly_filter_info *s);

/* ---- running the command --------------------------------------------------------------------- */

typedef struct edit edit;

typedef struct edit_command {
    uint32_t needs; /* HANDLE_ADDS or HANDLE_REMOVES */
    /* Reports why a filter of this kind does not support the change. Returns CLI_ERROR. */
    int (*refuse)(const char *path, bly_kind kind);
    /* Applies e->gathered to the filter in memory. e->done counts the keys that had an effect. */
    bly_status (*apply)(edit *e);
    /* Reports why `apply`, or an add, failed for the filter in memory. Returns CLI_ERROR. */
    int (*fail)(const edit *e);
    /* Prints the result, and returns the exit status. */
    int (*report)(edit *e);
} edit_command;

/* A list from which keys can be removed stores a copy of a key each time it is added (an overlay is
 * an exception: it is a set). Repeated lines of one input still count once, unless --copies is
 * given, so that removing a file undoes adding it. To find the repeats, all hashes are gathered
 * first. Keys of other lists are added in batches as they are read. */
struct edit {
    const edit_command *command;
    const edit_values *values;
    filter_handle list;
    handle_facts facts; /* facts at opening, without those that need a pass over the bits */
    edit_type as;
    edit_forms forms;              /* used if as.unrecorded */
    bool typed;                    /* the list already has the marks of the type */
    bool chance_levels;            /* the marks of some levels may be false positives */
    bly_list_levels before, known; /* the levels marked at opening, and now */
    bly_list_levels levels;        /* of the new keys */
    uint64_t keys, malformed;
    uint64_t done;   /* keys that had an effect: new, or removed */
    uint64_t unsure; /* keys added, but it is unknown whether they were new */
    bly_status status;
    /* For lists from which keys can be removed: */
    bool gathers;
    bool copies; /* the list stores copies of keys */
    gathered_keys gathered;
    uint64_t repeated; /* repeats among the gathered keys */
    bly_hash failed;   /* the first key that failed */
    /* For other lists: */
    bool reads_first; /* all lines are read before the first key is added */
    uint64_t sent;    /* keys that were certainly added */
    byte_strings waiting_keys;
    size_t waiting;
    bly_bytes *batch;
    list_lines lines;
};

/* The first operand is the list, the others are input files. Returns an exit status. */
int edit_run(const edit_command *command, const edit_values *v, cli_operands operands);

/* The number of the list's keys that are marks. */
uint64_t edit_marks(edit *e);

#endif
