/* options.c - the parser of the command line: finds the table row of each option, and reads its
 * value by its type.
 *
 * Options and operands may be mixed, as in GNU tools. Names cannot be abbreviated, so that a later
 * version can add options. For a mistyped name the nearest one is suggested.
 */
#include "options.h"

#include "common_options.h"
#include "text/message.h"
#include "text/numbers.h"
#include "text/suggest.h"

#include <bloomery/host/describe.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const cli_option cli_common_options[] = {
    OPTION_FLAG("quiet", 'q', offsetof(cli_common, quiet),
                "Print no notes and no progress; errors and warnings are still printed. bloomery "
                "check prints no lines, either: its exit status is the answer."),
    OPTION_CHOICE("color", 0, offsetof(cli_common, colour), "WHEN", "auto|always|never",
                  "When to use colour: auto (the default) means on a terminal, unless NO_COLOR is "
                  "set or TERM is dumb."),
    OPTION_FLAG("help", 'h', offsetof(cli_common, help),
                "Print help and exit: -h prints a summary, --help everything."),
    {0},
};

/* ---- closed sets ----------------------------------------------------------------------------- */

static bool nth_choice(const char *choices, size_t i, char out[32]) {
    for (; i > 0; i--) {
        choices = strchr(choices, '|');
        if (!choices)
            return false;
        choices++;
    }
    (void)snprintf(out, 32, "%.*s", (int)strcspn(choices, "|"), choices);
    return true;
}

static bool nth_kind(size_t i, char out[32]) {
    bly_kind kind = bly_kind_next(BLY_KIND_NONE);
    for (; i > 0 && kind != BLY_KIND_NONE; i--)
        kind = bly_kind_next(kind);
    if (kind == BLY_KIND_NONE)
        return false;
    (void)snprintf(out, 32, "%s", bly_kind_name(kind));
    return true;
}

static bool nth_hash(size_t i, char out[32]) {
    for (int id = BLY_HASH_NONE + 1; id < BLY_HASH_CUSTOM; id++)
        if (bly_hash_name((bly_hash_id)id) && i-- == 0) {
            (void)snprintf(out, 32, "%s", bly_hash_name((bly_hash_id)id));
            return true;
        }
    return false;
}

bool cli_choice(const cli_option *option, size_t i, char out[32]) {
    if (option->type == CLI_CHOICE)
        return nth_choice(option->choices, i, out);
    if (option->type == CLI_KIND)
        return nth_kind(i, out);
    return option->type == CLI_HASH && nth_hash(i, out);
}

static unsigned choice_number(const cli_option *option, const char *text) {
    char name[32];
    for (size_t i = 0; cli_choice(option, i, name); i++)
        if (strcmp(name, text) == 0)
            return (unsigned)i + 1;
    return 0;
}

/* ---- one value ------------------------------------------------------------------------------- */

static const char *take_char(const char *text, cli_char *out) {
    static const char escapes[] = "tnr0\\", meanings[] = "\t\n\r\0\\";
    const char *escape = text[0] == '\\' && text[1] ? strchr(escapes, text[1]) : NULL;
    if (escape && !text[2]) {
        *out = (cli_char){true, meanings[escape - escapes]};
        return NULL;
    }
    if (!text[0] || text[1])
        return "it must be one byte, or one of \\t \\n \\r \\0 \\\\";
    *out = (cli_char){true, text[0]};
    return NULL;
}

static const char *take_name(const cli_option *option, const char *text, void *field) {
    unsigned number = choice_number(option, text);
    bly_status status = BLY_OK;
    if (option->type == CLI_CHOICE)
        *(unsigned *)field = number;
    else if (option->type == CLI_KIND)
        status = bly_kind_by_name(text, field);
    else
        status = bly_hash_by_name(text, field);
    return number && status == BLY_OK ? NULL : "";
}

static const char too_many[] = "can be given at most 64 times";

static const char *add_file(const char *text, cli_files *files) {
    if (!*text)
        return "it must be a file name";
    if (files->count == CLI_MAX_FILES)
        return too_many;
    files->items[files->count++] = text;
    return NULL;
}

/* Returns NULL, or why `text` is not valid; "" if the message should list the valid values. */
static const char *take(const cli_option *option, const char *text, void *field) {
    switch (option->type) {
    case CLI_FLAG:
        *(bool *)field = true;
        return NULL;
    case CLI_TEXT:
        *(const char **)field = text;
        return NULL;
    case CLI_FILE:
        *(const char **)field = text;
        return *text ? NULL : "it must be a file name";
    case CLI_FILES:
        return add_file(text, field);
    case CLI_COUNT:
        return number_count(text, field);
    case CLI_NUMBER:
        return number_integer(text, field);
    case CLI_SIZE:
        return number_size(text, field);
    case CLI_RATE:
        return number_rate(text, field);
    case CLI_DURATION:
        return number_duration(text, field);
    case CLI_CHAR:
        return take_char(text, field);
    case CLI_CHOICE:
    case CLI_KIND:
    case CLI_HASH:
        break;
    }
    return take_name(option, text, field);
}

/* ---- the command line ------------------------------------------------------------------------ */

typedef struct parser {
    const cli_option *own;
    void *values;
    cli_common *common;
    int argc, at; /* at: index of the current argument */
    char **argv;
    const cli_option *given[64]; /* options with a value, so far */
    size_t given_count;
} parser;

/* Finds a row of the command's own table or of the common one; *field is where its value is stored.
 */
static const cli_option *find(parser *p, const char *name, size_t length, char letter,
                              void **field) {
    const cli_option *tables[] = {p->own, cli_common_options};
    char *bases[] = {p->values, (char *)p->common};
    for (int t = 0; t < 2; t++)
        for (const cli_option *o = tables[t]; o->name; o++)
            if (name ? strlen(o->name) == length && strncmp(o->name, name, length) == 0
                     : o->letter == letter) {
                *field = bases[t] + o->at;
                return o;
            }
    return NULL;
}

/* Refuses a second value, because one of the two would be ignored. */
static bool given_once(parser *p, const cli_option *option) {
    if (option->type == CLI_FLAG || option->type == CLI_FILES)
        return true;
    for (size_t i = 0; i < p->given_count; i++)
        if (p->given[i] == option)
            return message_fail("--%s was given twice; give it only once", option->name);
    if (p->given_count < sizeof p->given / sizeof *p->given)
        p->given[p->given_count++] = option;
    return true;
}

/* Refuses a --kind that only earlier versions had. */
static bool not_removed(const cli_option *option, const char *text) {
    const bly_removed_kind *gone = option->type == CLI_KIND ? bly_kind_removed_by_name(text) : NULL;
    return !gone || message_fail("--%s: filter kind %s is no longer supported; use %s instead",
                                 option->name, gone->name, gone->replacement);
}

/* Reports a name that is not one of the option's values. */
static bool not_a_choice(const cli_option *option, const char *text) {
    char list[512] = "", name[32];
    suggestion near = suggest_for(text, strlen(text));
    size_t used = 0;
    for (size_t i = 0; cli_choice(option, i, name); i++) {
        suggest_consider(&near, name);
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", name);
    }
    if (*near.best)
        return message_fail("--%s cannot be '%s'; did you mean %s?", option->name, text, near.best);
    return message_fail("--%s cannot be '%s': it must be one of %s", option->name, text, list);
}

static bool accept(parser *p, const cli_option *option, const char *text, void *field) {
    if (!given_once(p, option) || !not_removed(option, text))
        return false;
    const char *why = take(option, text, field);
    if (why && !*why)
        return not_a_choice(option, text);
    if (why == too_many)
        return message_fail("--%s %s", option->name, why);
    return !why || message_fail("--%s cannot be '%s': %s", option->name, text, why);
}

/* Finds the option that an unknown one was probably meant to be. `name` is the argument without its
 * dashes. */
static bool suggest_option(parser *p, const char *name, suggestion *found) {
    const cli_option *tables[] = {p->own, cli_common_options};
    *found = suggest_for(name, strcspn(name, "="));
    for (int t = 0; t < 2; t++)
        for (const cli_option *o = tables[t]; o->name; o++)
            suggest_consider(found, o->name);
    return *found->best;
}

/* Reports an unknown option. `word` is the argument, or the unknown letter in an argument of
 * several letters. */
static bool report_unknown(parser *p, const char *argument, const char *word) {
    suggestion found;
    void *field;
    const char *name = argument + (argument[1] == '-' ? 2 : 1);
    if (argument[1] == '-' && strcspn(name, "=") == 1 && find(p, NULL, 0, *name, &field))
        return message_fail("unknown option --%c; did you mean -%c?", *name, *name);
    if (strlen(name) > 2 && suggest_option(p, name, &found))
        return message_fail("unknown option %.*s; did you mean --%s?", (int)strcspn(argument, "="),
                            argument, found.best);
    return message_fail("unknown option %.*s; see --help", (int)strcspn(word, "="), word);
}

/* Takes the value from the next argument. */
static bool next_argument(parser *p, const cli_option *option, const char **out) {
    if (p->at + 1 >= p->argc)
        return message_fail("--%s needs a value: --%s %s", option->name, option->name,
                            option->metavar);
    *out = p->argv[++p->at];
    return true;
}

static bool take_long(parser *p, char *argument) {
    const char *name = argument + 2, *equals = strchr(name, '='), *text = NULL;
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    void *field = NULL;
    const cli_option *option = find(p, name, length, 0, &field);
    if (!option)
        return report_unknown(p, argument, argument);
    if (field == &p->common->help)
        p->common->full_help = true;
    if (option->type == CLI_FLAG && equals)
        return message_fail("--%s takes no value", option->name);
    if (equals)
        text = equals + 1;
    else if (option->without)
        text = option->without;
    else if (option->type != CLI_FLAG && !next_argument(p, option, &text))
        return false;
    return accept(p, option, text, field);
}

static bool take_letters(parser *p, char *argument) {
    for (const char *letter = argument + 1; *letter; letter++) {
        void *field = NULL;
        const char *text = NULL;
        const char name[] = {'-', *letter, '\0'};
        const cli_option *option = find(p, NULL, 0, *letter, &field);
        if (!option)
            return report_unknown(p, argument, name);
        if (option->type == CLI_FLAG) {
            *(bool *)field = true;
            continue;
        }
        if (letter[1])
            text = letter[1] == '=' && letter[2] ? letter + 2 : letter + 1;
        else if (option->without)
            text = option->without;
        else if (!next_argument(p, option, &text))
            return false;
        return accept(p, option, text, field);
    }
    return true;
}

bool cli_parse(const cli_option *options, int argc, char **argv, void *values, cli_common *common,
               cli_operands *operands) {
    parser p = {.own = options, .values = values, .common = common, .argc = argc, .argv = argv};
    bool only_operands = false;
    *operands = (cli_operands){argv, 0};
    for (; p.at < argc; p.at++) {
        char *argument = argv[p.at];
        if (only_operands || argument[0] != '-' || !argument[1])
            argv[operands->count++] = argument;
        else if (strcmp(argument, "--") == 0)
            only_operands = true;
        else if (!(argument[1] == '-' ? take_long(&p, argument) : take_letters(&p, argument)))
            return false;
    }
    return true;
}
