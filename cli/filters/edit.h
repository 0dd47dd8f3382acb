/* edit.h - what `bloomery add` and `bloomery remove` have in common: the lines of files become keys
 * of a list's own type, and change that list. */
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
    unsigned type; /* a bly_list_type; BLY_LIST_NONE: the list's own */
    bool null, comments, skip, json;
    uint64_t gozero; /* add alone, as `once` */
    bool once;
    uint64_t memory; /* the same: the most that one step of growth may take; 0: the default */
    bool copies;     /* every line counts, also one that came before */
} edit_values;

/* The rows of the options that both have. */
#define EDIT_OPTIONS                                                                               \
    OPTION_KEY(offsetof(edit_values, key), "Use this one key, and do not read standard input."),   \
        OPTION_TYPE(offsetof(edit_values, type),                                                   \
                    "What the lines are; by default the type that the list was built with."),      \
        OPTION_KEY_FILE(offsetof(edit_values, key_file), "The secret key of a keyed list."),       \
        OPTION_NULL(offsetof(edit_values, null), "Input lines"),                                   \
        OPTION_COMMENTS(offsetof(edit_values, comments)),                                          \
        OPTION_COPIES(offsetof(edit_values, copies)),                                              \
        OPTION_SKIP_MALFORMED(offsetof(edit_values, skip)),                                        \
        OPTION_JSON(offsetof(edit_values, json), "Print a report as a JSON object.")

/* As what type the lines are read, and what the list is to remember of it. */
typedef struct edit_type {
    bly_list_type type;
    bool marked; /* the list says that it is of this type */
    bool mark;   /* the list is to remember the type */
    bool blanks; /* lines of blanks, or of nothing, are keys as well */
    bool unsaid; /* a list of lines that does not say how keys are made from them */
} edit_type;

/* What the list at `path` says of itself. */
typedef struct edit_list {
    const char *path;
    bly_list_type own;
    bool recorded;    /* in its header */
    bool empty;       /* it has no keys */
    rule_marks marks; /* of one that records nothing, and has no type */
} edit_list;

/* false: what was asked contradicts what the list says; reported. */
bool edit_settle_type(const edit_list *list, bly_list_type asked, edit_type *out);

/* Lines for a list that does not say how keys are made from them. */
typedef struct edit_forms {
    const char *path;
    bool set;     /* keys are added, and each is there once: so it can be there in several forms */
    bool urls[2]; /* by bly_url_level: a URL may be there in canonical form */
    bool exact;   /* records, not lines */
    bool warned;
    bly_url_buffer buffer;
} edit_forms;

edit_forms edit_forms_of(const edit_list *list, const edit_type *as, bool set, bool exact);
/* The other forms in which `line`, with the key `key`, must be in a set to be found: calls `each`
 * for them. Warns once where a line ends in a carriage return. false: out of memory, or `each` was
 * false. */
bool edit_other_forms(edit_forms *f, bly_bytes line, bly_bytes key,
                      bool (*each)(void *ctx, bly_bytes key), void *ctx);

/* Blocks of new sizes, or domains of new depths, make more questions of a line: warns if that makes
 * a list err more often than was asked. `known` were its levels before, `levels` are those of the
 * new keys. */
void edit_warn_of_levels(const char *path, bly_list_type type, const bly_list_levels *known,
                         const bly_list_levels *levels, const bly_filter_info *s);

/* ---- the flow ---------------------------------------------------------------------------------
 */

typedef struct edit edit;

typedef struct edit_command {
    uint32_t needs; /* HANDLE_ADDS or HANDLE_REMOVES */
    /* Reports why a filter of this kind cannot. Returns CLI_ERROR. */
    int (*refuse)(const char *path, bly_kind kind);
    /* Applies e->gathered to the filter in memory; e->done counts the keys that made a difference.
     */
    bly_status (*apply)(edit *e);
    /* Reports why the filter in memory took no more keys. Returns CLI_ERROR. */
    int (*fail)(const edit *e);
    /* Says what was done, and returns the exit status. */
    int (*report)(edit *e);
} edit_command;

/* A list from which keys can be removed holds a copy of a key for each time that it was added (but
 * for an overlay, which is a set). Lines of one input that are the same are one key all the same,
 * unless the user says otherwise, so that adding a file and removing it undo each other; to tell
 * them, all hashes are gathered first. Keys of other lists are added as they are read, many at
 * once. */
struct edit {
    const edit_command *how;
    const edit_values *values;
    filter_handle list;
    handle_facts facts; /* when it was opened, without its bits */
    edit_type as;
    edit_forms forms;              /* where as.unsaid */
    bool typed;                    /* the marks of the type are there */
    bool by_chance;                /* some of the levels may only seem to be marked */
    bly_list_levels before, known; /* the levels marked when it was opened, and now */
    bly_list_levels levels;        /* of the new keys */
    uint64_t keys, malformed;
    uint64_t done;   /* keys that made a difference: new, or removed */
    uint64_t unsure; /* added, but whether they were new is not known */
    bly_status status;
    /* Where keys can be removed: */
    bool gathers;
    bool copies; /* it holds copies of keys */
    gathered_keys gathered;
    uint64_t repeated; /* keys gathered that came before */
    bly_hash failed;   /* the first key that failed, of a list of copies */
    /* Of other lists: */
    bool holds_back; /* no key is added before all are read */
    uint64_t sent;   /* keys that are in the list for certain */
    byte_strings waiting_keys;
    size_t waiting;
    bly_bytes *batch;
    list_lines lines;
};

/* The first operand is the list, the others are files of lines. Returns an exit status. */
int edit_run(const edit_command *how, const edit_values *v, cli_operands operands);

/* How many keys of the list are marks. */
uint64_t edit_marks(edit *e);

#endif
