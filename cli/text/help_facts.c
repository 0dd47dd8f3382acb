/* help_facts.c - texts of help, manual pages and completion that belong to no single command, and
 * the order, labels and explanations of options. */
#include "text/help_facts.h"

#include "common_options.h"
#include "text/message.h"
#include "text/suggest.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char help_sentence[] =
    "bloomery answers \"have I seen this key?\" in about ten bits per key. \"No\" is always right; "
    "\"yes\" is wrong at a rate that you choose.";

const char help_introduction[] =
    "A filter represents a set of keys by a few bits per key, instead of by the keys. The lookup "
    "of a key that was added always answers \"maybe\". The lookup of any other key answers "
    "\"maybe\" at the false-positive rate that the filter was created for, and otherwise \"no\". "
    "So a \"no\" is certain, and a \"maybe\" can be checked elsewhere where it matters.\n"
    "\n"
    "By default, each line of the input is a key. Results go to standard output, everything else "
    "to standard error.\n"
    "\n"
    "Options and operands may be mixed. -- ends the options, and - means standard input.";

const cli_option help_top_options[] = {
    OPTION_FLAG("help", 'h', 0, "Print an overview and exit."),
    OPTION_FLAG("version", 'V', 0, "Print the version and exit."),
    {0},
};

const help_note help_environment[] = {
    {"NO_COLOR",
     "If it is set and not empty, output has no colour, unless --color=always is given."},
    {"TERM", "If it is \"dumb\", output has no colour, unless --color=always is given."},
    {"REDISCLI_AUTH", "The password of a Redis or Valkey server whose address contains none, for "
                      "every command that takes an address."},
    {"BLOOMERY_ISA", "The instruction set to use: scalar, avx2 or neon; by default the fastest one "
                     "of the machine. The results are the same."},
    {NULL, NULL},
};

const cli_command *help_find(const char *name) {
    for (size_t i = 0; cli_commands[i]; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}

int help_unknown_command(const char *name) {
    const char *what = *name == '-' ? "option" : "command";
    suggestion near = suggest_for(name, strlen(name));
    for (size_t i = 0; cli_commands[i]; i++)
        suggest_consider(&near, cli_commands[i]->name);
    if (*near.best)
        return message_error("unknown %s '%s'; did you mean %s?", what, name, near.best);
    for (const cli_option *o = help_top_options; o->name; o++)
        suggest_consider(&near, o->name);
    if (*near.best)
        return message_error("unknown %s '%s'; did you mean --%s?", what, name, near.best);
    return message_error("unknown %s '%s'; see bloomery --help", what, name);
}

/* ---- options --------------------------------------------------------------------------------- */

enum { RANKS = sizeof((cli_command *)0)->most_used / sizeof(char *) };

static size_t most_used_rank(const cli_command *command, const cli_option *option) {
    size_t rank = 0;
    while (rank < RANKS && command->most_used[rank] &&
           strcmp(command->most_used[rank], option->name) != 0)
        rank++;
    return rank < RANKS && command->most_used[rank] ? rank : RANKS;
}

/* Options are listed in this order: the most used ones by rank, then group by group. */
static size_t place_of(const cli_command *command, const cli_option *option) {
    size_t rank = most_used_rank(command, option);
    return rank < RANKS ? rank : RANKS + (size_t)option->group;
}

static const char *heading_of(const cli_command *command, size_t place) {
    if (place < RANKS)
        return "Most used options:";
    if (place == RANKS + CLI_GROUP_SERVER)
        return "Server options:";
    return command->most_used[0] ? "More options:" : "Options:";
}

const cli_option *help_option(const cli_command *command, size_t i, const char **heading) {
    const char *last = "", *title;
    const cli_option *o;
    for (size_t place = 0; place <= RANKS + CLI_GROUP_SERVER; place++)
        for (o = command->options; o->name; o++)
            if (place_of(command, o) == place) {
                title = heading_of(command, place);
                if (heading)
                    *heading = strcmp(last, title) == 0 ? NULL : title;
                last = title;
                if (i-- == 0)
                    return o;
            }
    for (o = cli_common_options; o->name && i > 0; o++)
        i--;
    if (heading)
        *heading = o == cli_common_options ? "General options:" : NULL;
    return o->name ? o : NULL;
}

/* Appends to a text in a buffer of HELP_TEXT bytes, and truncates it if it is full. */
static PRINTF_LIKE(2, 3) void append(char *out, const char *format, ...) {
    va_list args;
    size_t used = strlen(out);
    va_start(args, format);
    (void)vsnprintf(out + used, HELP_TEXT - used, format, args);
    va_end(args);
}

static void append_choices(const cli_option *option, char *out) {
    char name[32], after[32];
    if (!cli_choice(option, 0, name))
        return;
    append(out, " %s is %s", option->metavar, name);
    for (size_t i = 1; cli_choice(option, i, name); i++)
        append(out, "%s%s", cli_choice(option, i + 1, after) ? ", " : " or ", name);
    append(out, ".");
}

void help_explain(const cli_option *option, bool full, char out[HELP_TEXT]) {
    text_span text = full ? text_all(option->help) : text_first_sentence(option->help);
    out[0] = '\0';
    append(out, "%.*s", (int)text.length, text.begin);
    append_choices(option, out);
    if (option->without)
        append(out, " Without =%s, it is %s.", option->metavar, option->without);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Explains the form of the values of a type, where that is needed. */
static const char *const value_forms[CLI_HASH + 1] = {
    [CLI_COUNT] = "A whole number of at least 1: 1000, 1e8, 100k, 50M or 2G (thousands, millions, "
                  "billions).",
    [CLI_NUMBER] = "A whole number below 2^64, decimal or hexadecimal: 42 or 0x2a.",
    [CLI_SIZE] = "A number of bytes: 65536, 64K, 64M, 64MiB or 1.5G. The units are powers of 1024.",
    [CLI_RATE] = "A rate above 0 and below 1: 0.001, 0.1%, 1/1000 or 1e-3.",
    [CLI_DURATION] = "A time in seconds, minutes, hours or days: 90s, 15m, 24h or 7d.",
    [CLI_CHAR] = "One byte, or \\t (tab), \\n (newline), \\r (carriage return), \\0 (NUL) or \\\\ "
                 "(backslash).",
};

/* --json takes no value, but its output needs an explanation that is the same everywhere. */
static bool value_note(const cli_option *option, help_note *out) {
    *out = strcmp(option->name, "json") == 0
               ? (help_note){"JSON", "In a string that is not valid UTF-8, U+FFFD replaces each "
                                     "invalid byte. A second field, whose name ends in _base64, "
                                     "then contains all bytes in base64."}
               : (help_note){option->metavar, value_forms[option->type]};
    return out->text != NULL;
}

static bool shown_before(const cli_option *options, size_t i, const help_note *note) {
    help_note earlier;
    for (size_t j = 0; j < i; j++)
        if (value_note(&options[j], &earlier) && earlier.text == note->text &&
            strcmp(earlier.word, note->word) == 0)
            return true;
    return false;
}

bool help_next_value(const cli_command *command, size_t *cursor, help_note *out) {
    for (const cli_option *o = command->options; o[*cursor].name; ++*cursor)
        if (value_note(&o[*cursor], out) && !shown_before(o, *cursor, out)) {
            ++*cursor;
            return true;
        }
    return false;
}

/* ---- commands -------------------------------------------------------------------------------- */

#define STATUS_ERROR "An error occurred; see the message on standard error."

const help_note *help_exit_status(const cli_command *command) {
    static const help_note all[] = {
        {"0", "Success."},
        {"1", "check: no line was selected. remove: no key was found. verify: a file is intact, "
              "but too full or above its requested rate."},
        {"2", STATUS_ERROR},
        {NULL, NULL}};
    static const help_note check[] = {{"0", "A line was selected."},
                                      {"1", "No line was selected."},
                                      {"2", STATUS_ERROR},
                                      {NULL, NULL}};
    static const help_note remove[] = {
        {"0", "A key was removed."}, {"1", "No key was found."}, {"2", STATUS_ERROR}, {NULL, NULL}};
    static const help_note verify[] = {
        {"0", "Every file is intact and not above its requested rate."},
        {"1", "A file is intact, but too full or above its requested rate."},
        {"2", "A file is damaged or cannot be read, or there was another error."},
        {NULL, NULL}};
    static const help_note dedup[] = {{"0", "Success."},
                                      {"2", STATUS_ERROR " Also if most new lines were dropped, "
                                                         "because there were more than planned."},
                                      {NULL, NULL}};
    static const help_note others[] = {{"0", "Success."}, {"2", STATUS_ERROR}, {NULL, NULL}};
    return !command                     ? all
           : command == &command_check  ? check
           : command == &command_dedup  ? dedup
           : command == &command_remove ? remove
           : command == &command_verify ? verify
                                        : others;
}

/* The most common uses: a command, and the number of its example. */
bool help_best_example(size_t i, text_example *out) {
    static const struct {
        const cli_command *command;
        int which;
    } best[] = {{&command_dedup, 0}, {&command_dedup, 1}, {&command_distinct, 0},
                {&command_count, 0}, {&command_build, 1}, {&command_check, 0},
                {&command_plan, 0}};
    if (i >= sizeof best / sizeof *best)
        return false;
    const char *cursor = best[i].command->examples;
    bool found = text_next_example(&cursor, out);
    for (int n = 0; n < best[i].which && found; n++)
        found = text_next_example(&cursor, out);
    return found;
}
