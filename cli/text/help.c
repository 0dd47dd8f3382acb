/* help.c - help for a terminal: the overview, and the short and the long help of a command.
 *
 * Text is wrapped to the width of the terminal, at most 100 columns.
 */
#include "text/help.h"

#include "text/help_facts.h"
#include "text/message.h"

#include <ctype.h>
#include <string.h>

enum { MAX_WIDTH = 100, MIN_WIDTH = 40, INDENT = 2, LABEL = 96, MAX_LABEL = 24 };

static unsigned width_of(FILE *to) {
    unsigned columns = message_columns(fileno(to));
    return columns > MAX_WIDTH ? MAX_WIDTH : columns < MIN_WIDTH ? MIN_WIDTH : columns;
}

static void heading(FILE *to, const char *text) {
    int fd = fileno(to);
    (void)fprintf(to, "\n%s%s%s\n", message_style_on(fd, STYLE_BOLD), text, message_style_off(fd));
}

static void usage(FILE *to, const char *rest) {
    int fd = fileno(to);
    (void)fprintf(to, "%sUsage:%s bloomery %s\n", message_style_on(fd, STYLE_BOLD),
                  message_style_off(fd), rest);
}

/* Prints a word, and its explanation in a column beside it, or below if the word is too long. */
static void row(FILE *to, const char *word, const char *text, unsigned column, bool bold) {
    int fd = fileno(to);
    unsigned at = INDENT + (unsigned)strlen(word);
    (void)fprintf(to, "%*s%s%s%s", INDENT, "", bold ? message_style_on(fd, STYLE_BOLD) : "", word,
                  bold ? message_style_off(fd) : "");
    if (at + 2 > column) {
        (void)fputc('\n', to);
        at = 0;
    }
    text_wrap(to, text_all(text), at, column, width_of(to));
}

static void notes(FILE *to, const help_note *note, unsigned column) {
    for (; note->word; note++)
        row(to, note->word, note->text, column, false);
}

static void example(FILE *to, text_example shown) {
    int fd = fileno(to);
    if (shown.purpose.length)
        (void)fprintf(to, "%*s%s# %c%.*s%s\n", INDENT, "", message_style_on(fd, STYLE_DIM),
                      toupper((unsigned char)shown.purpose.begin[0]), (int)shown.purpose.length - 1,
                      shown.purpose.begin + 1, message_style_off(fd));
    text_lines(to, shown.command, INDENT);
}

/* ---- bloomery --help ------------------------------------------------------------------------- */

void help_overview(FILE *to) {
    text_example best;
    unsigned longest = 0;
    text_wrap(to, text_all(help_sentence), 0, 0, width_of(to));
    (void)fputc('\n', to);
    usage(to, "COMMAND [OPTION...] [OPERAND...]");
    heading(to, "Commands:");
    for (size_t i = 0; cli_commands[i]; i++)
        if (strlen(cli_commands[i]->name) > longest)
            longest = (unsigned)strlen(cli_commands[i]->name);
    for (size_t i = 0; cli_commands[i]; i++)
        row(to, cli_commands[i]->name, cli_commands[i]->summary, INDENT + longest + 2, true);
    heading(to, "Examples:");
    for (size_t i = 0; help_best_example(i, &best); i++)
        example(to, best);
    heading(to, "More:");
    row(to, "bloomery COMMAND -h", "a summary of its options", 28, false);
    row(to, "bloomery COMMAND --help", "everything about it, as in `man bloomery-COMMAND`", 28,
        false);
    row(to, "bloomery --version", "the version", 28, false);
}

/* ---- bloomery COMMAND --help ----------------------------------------------------------------- */

static void description(FILE *to, const char *text) {
    text_part part;
    while (text_next_part(&text, &part)) {
        if (part.spaced)
            (void)fputc('\n', to);
        if (part.verbatim)
            text_lines(to, part.span, 0);
        else
            text_wrap(to, part.span, 0, 0, width_of(to));
    }
}

/* "-n, --expect N"; an option without a letter is padded with blanks. */
static void label_of(const cli_option *option, char out[LABEL]) {
    char letter[] = {'-', option->letter, ',', ' ', '\0'};
    const char *metavar = option->type == CLI_FLAG ? "" : option->metavar;
    const char *before = option->without ? "[=" : *metavar ? " " : "";
    (void)snprintf(out, LABEL, "%s--%s%s%s%s", option->letter ? letter : "    ", option->name,
                   before, metavar, option->without ? "]" : "");
}

static void options(FILE *to, const cli_command *command, bool full) {
    char label[LABEL], text[HELP_TEXT];
    const cli_option *option;
    const char *title;
    size_t longest = 0;
    for (size_t i = 0; (option = help_option(command, i, NULL)) != NULL; i++) {
        label_of(option, label);
        if (strlen(label) > longest && strlen(label) <= MAX_LABEL)
            longest = strlen(label);
    }
    for (size_t i = 0; (option = help_option(command, i, &title)) != NULL; i++) {
        if (title)
            heading(to, title);
        label_of(option, label);
        help_explain(option, full, text);
        row(to, label, text, INDENT + (unsigned)longest + 2, false);
    }
}

static void values(FILE *to, const cli_command *command) {
    help_note note;
    size_t cursor = 0;
    unsigned column = 0;
    while (help_next_value(command, &cursor, &note))
        if (INDENT + strlen(note.word) + 2 > column)
            column = INDENT + (unsigned)strlen(note.word) + 2;
    if (column)
        heading(to, "Values:");
    for (cursor = 0; help_next_value(command, &cursor, &note);)
        row(to, note.word, note.text, column, false);
}

static void examples(FILE *to, const char *cursor) {
    text_example next;
    bool first = true;
    heading(to, "Examples:");
    for (; text_next_example(&cursor, &next); first = false) {
        if (!first)
            (void)fputc('\n', to);
        example(to, next);
    }
}

void help_command(FILE *to, const cli_command *command, bool full) {
    char line[256];
    (void)snprintf(line, sizeof line, "%s [OPTION...]%s%s", command->name,
                   *command->operands ? " " : "", command->operands);
    if (full) {
        (void)fprintf(to, "bloomery %s: %s\n\n", command->name, command->summary);
        usage(to, line);
        (void)fputc('\n', to);
        if (command->brief) {
            description(to, command->brief);
            (void)fputc('\n', to);
        }
        description(to, command->description);
        options(to, command, true);
        values(to, command);
        examples(to, command->examples);
        heading(to, "Exit status:");
        notes(to, help_exit_status(command), INDENT + 3);
    } else {
        usage(to, line);
        (void)fputc('\n', to);
        if (command->brief)
            description(to, command->brief);
        else
            (void)fprintf(to, "%s.\n", command->summary);
        options(to, command, false);
        (void)fprintf(to, "\nSee `bloomery %s --help` for details and examples.\n", command->name);
    }
}
