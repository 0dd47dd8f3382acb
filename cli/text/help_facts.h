/* help_facts.h - the texts of help, manual pages and completion.
 *
 * All three take their texts from the tables of commands and options, and differ only in layout.
 */
#ifndef BLOOMERY_CLI_HELP_FACTS_H
#define BLOOMERY_CLI_HELP_FACTS_H

#include "cli.h"
#include "text/help_text.h"

/* A word and its explanation. A list of notes ends with a NULL word. */
typedef struct help_note {
    const char *word, *text;
} help_note;

extern const char help_sentence[];          /* what bloomery is, in one sentence */
extern const char help_introduction[];      /* the same in paragraphs, as in a description */
extern const cli_option help_top_options[]; /* options that can be given instead of a command */
extern const help_note help_environment[];

const cli_command *help_find(const char *name); /* NULL: unknown */
/* Prints an error with a suggestion; returns CLI_ERROR. */
int help_unknown_command(const char *name);

/* The i-th option of a command, or NULL past the last. The order is: its most used options, its
 * other options, its options for servers, the options of all commands. *heading is the title of
 * such a group if this option is its first, else NULL. `heading` itself may be NULL. */
const cli_option *help_option(const cli_command *command, size_t i, const char **heading);

/* The help of an option (all of it if `full`, else its first sentence), its values if they are a
 * closed set, and the default of an optional value. */
enum { HELP_TEXT = 2048 };
void help_explain(const cli_option *option, bool full, char out[HELP_TEXT]);

/* The form of the values of a command's own options, each metavar once, and of its JSON output.
 * *cursor must be 0 at first. Returns false at the end. */
bool help_next_value(const cli_command *command, size_t *cursor, help_note *out);

/* The exit statuses of a command; if it is NULL, those of bloomery as a whole. */
const help_note *help_exit_status(const cli_command *command);

/* Gets the i-th example of the overview. Returns false past the last. */
bool help_best_example(size_t i, text_example *out);

#endif
