/* help_facts.h - what there is to tell of commands and options, in words.
 *
 * Everything comes from the tables; help, manual page and completion differ only in how they set
 * it.
 */
#ifndef BLOOMERY_CLI_HELP_FACTS_H
#define BLOOMERY_CLI_HELP_FACTS_H

#include "cli.h"
#include "text/help_text.h"

/* A word and what it means. Lists of them end with a NULL word. */
typedef struct help_note {
    const char *word, *text;
} help_note;

extern const char help_sentence[];          /* what bloomery is, in one sentence */
extern const char help_introduction[];      /* and in paragraphs, as a description */
extern const cli_option help_top_options[]; /* what may stand in a command's place */
extern const help_note help_environment[];

const cli_command *help_find(const char *name); /* NULL: there is none of that name */
/* Prints an error with a suggestion; returns CLI_ERROR. */
int help_unknown_command(const char *name);

/* The i-th option of a command, or NULL past the last: those that most people need, the others of
 * its own, those for servers, then those that all commands have. *heading is set where the option
 * begins one of these groups, else to NULL; `heading` itself may be NULL. */
const cli_option *help_option(const cli_command *command, size_t i, const char **heading);

/* "-n, --keys N"; without a letter as much is left free. */
enum { HELP_LABEL = 96 };
void help_label(const cli_option *option, char out[HELP_LABEL]);

/* What an option does (all of it, or the first sentence), what its value may be if that is a closed
 * set, and what it is when left out. */
enum { HELP_TEXT = 2048 };
void help_explain(const cli_option *option, bool full, char out[HELP_TEXT]);

/* How the values of a command's own options are written, each metavar once. *cursor begins at 0.
 * false: no more. */
bool help_next_value(const cli_command *command, size_t *cursor, help_note *out);

/* NULL: of bloomery as a whole. */
const help_note *help_exit_status(const cli_command *command);

/* The i-th example of the overview; false past the last. */
bool help_best_example(size_t i, text_example *out);

/* What a shell should offer for an operand. */
typedef enum help_operand { HELP_NOTHING, HELP_FILES, HELP_COMMANDS } help_operand;
help_operand help_operands(const cli_command *command);

#endif
