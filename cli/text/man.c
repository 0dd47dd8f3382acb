/* man.c - writes manual pages in the man(7) language, from the tables.
 *
 * In roff, a line that begins with '.' or ''' is a request, and '\' begins an escape. '-' is a
 * hyphen, which a terminal may show as a character other than the one to be typed. So every word
 * is printed by put_word, which escapes characters and writes a '-' as \- in an option or a number,
 * so that it can be copied, but as a hyphen inside an ordinary word. Each sentence begins a line,
 * so that roff puts the right space between sentences.
 */
#include "text/help.h"

#include "text/help_facts.h"
#include "text/help_text.h"

#include <ctype.h>
#include <string.h>

/* ---- characters ------------------------------------------------------------------------------ */

static void put_char(FILE *to, char c) {
    static const char plain[] = "\\-'\"`^~";
    static const char *const escaped[] = {"\\e",   "\\-",   "\\(aq", "\\(dq",
                                          "\\(ga", "\\(ha", "\\(ti"};
    const char *found = strchr(plain, c);
    if (found && c)
        (void)fputs(escaped[found - plain], to);
    else
        (void)fputc(c, to);
}

/* Whether the '-' at word.begin[i] joins two words, and the whole is not the name of an option. */
static bool is_hyphen(text_span word, size_t i) {
    const char *w = word.begin;
    bool option = w[0] == '-' || (!isalnum((unsigned char)w[0]) && w[1] == '-');
    return !option && i > 0 && i + 1 < word.length && isalpha((unsigned char)w[i - 1]) &&
           isalpha((unsigned char)w[i + 1]);
}

static void put_word(FILE *to, text_span word) {
    for (size_t i = 0; i < word.length; i++)
        if (word.begin[i] == '-' && is_hyphen(word, i))
            (void)fputc('-', to);
        else
            put_char(to, word.begin[i]);
}

static void guard_line(FILE *to, char first) {
    if (first == '.')
        (void)fputs("\\&", to);
}

/* Prints text to be typed: every '-' is a minus sign. */
static void put_code(FILE *to, text_span text) {
    for (size_t i = 0; i < text.length; i++) {
        if (i == 0 || text.begin[i - 1] == '\n')
            guard_line(to, text.begin[i]);
        put_char(to, text.begin[i]);
    }
}

static bool ends_sentence(text_span word, text_span rest) {
    text_span next;
    bool stop = strchr(".?!", word.begin[word.length - 1]) != NULL;
    return stop && text_word(&rest, &next) && !islower((unsigned char)next.begin[0]);
}

static void put_paragraph(FILE *to, text_span text) {
    text_span word;
    const char *before = "";
    while (text_word(&text, &word)) {
        (void)fputs(before, to);
        if (*before != ' ')
            guard_line(to, word.begin[0]);
        put_word(to, word);
        before = ends_sentence(word, text) ? "\n" : " ";
    }
    (void)fputc('\n', to);
}

/* ---- parts of a page ------------------------------------------------------------------------- */

static void section(FILE *to, const char *name) {
    (void)fprintf(to, ".SH %s\n", name);
}

static void lines(FILE *to, text_span text, int indent) {
    (void)fprintf(to, ".RS %d\n.EX\n", indent);
    put_code(to, text);
    (void)fputs("\n.EE\n.RE\n", to);
}

static void description(FILE *to, const char *text) {
    text_part part;
    for (bool first = true; text_next_part(&text, &part); first = false) {
        if (!first && part.spaced)
            (void)fputs(part.verbatim ? ".sp\n" : ".PP\n", to);
        if (part.verbatim)
            lines(to, part.span, 2); /* the text itself has two more blanks */
        else
            put_paragraph(to, part.span);
    }
}

static void option(FILE *to, const cli_option *o) {
    char text[HELP_TEXT];
    (void)fputs(".TP\n", to);
    if (o->letter)
        (void)fprintf(to, "\\fB\\-%c\\fR, ", o->letter);
    (void)fputs("\\fB\\-\\-", to);
    put_code(to, text_all(o->name));
    (void)fputs("\\fR", to);
    if (o->type != CLI_FLAG)
        (void)fprintf(to, "%s\\fI%s\\fR%s", o->without ? "[=" : " ", o->metavar,
                      o->without ? "]" : "");
    (void)fputc('\n', to);
    help_explain(o, true, text);
    put_paragraph(to, text_all(text));
}

static void options(FILE *to, const cli_command *command) {
    const cli_option *o;
    const char *title;
    for (size_t i = 0; (o = help_option(command, i, &title)) != NULL; i++) {
        if (title)
            (void)fprintf(to, ".SS %.*s\n", (int)strcspn(title, ":"), title);
        option(to, o);
    }
}

static void note(FILE *to, char font, const char *word, const char *text) {
    (void)fprintf(to, ".TP\n\\f%c%s\\fR\n", font, word);
    put_paragraph(to, text_all(text));
}

static void values(FILE *to, const cli_command *command) {
    help_note value;
    size_t cursor = 0;
    for (bool first = true; help_next_value(command, &cursor, &value); first = false) {
        if (first)
            (void)fputs(".SS Values\n", to);
        note(to, 'I', value.word, value.text);
    }
}

/* Prints the purpose with a capital letter and a colon, then the command. */
static void example(FILE *to, text_example shown, bool first) {
    char purpose[HELP_TEXT];
    (void)fputs(first ? "" : ".PP\n", to);
    (void)snprintf(purpose, sizeof purpose, "%.*s:", (int)shown.purpose.length,
                   shown.purpose.begin);
    purpose[0] = (char)toupper((unsigned char)purpose[0]);
    put_paragraph(to, text_all(purpose));
    lines(to, shown.command, 4);
}

static void examples(FILE *to, const char *cursor) {
    text_example next;
    section(to, "EXAMPLES");
    for (bool first = true; text_next_example(&cursor, &next); first = false)
        example(to, next, first);
}

static void best_examples(FILE *to) {
    text_example best;
    section(to, "EXAMPLES");
    for (size_t i = 0; help_best_example(i, &best); i++)
        example(to, best, i == 0);
}

static void environment(FILE *to) {
    section(to, "ENVIRONMENT");
    for (const help_note *n = help_environment; n->word; n++)
        note(to, 'B', n->word, n->text);
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void title(FILE *to, const char *command, const char *summary) {
    char lowered[HELP_TEXT];
    (void)snprintf(lowered, sizeof lowered, "%s", summary);
    lowered[0] = (char)tolower((unsigned char)lowered[0]);
    (void)fputs(".TH BLOOMERY", to);
    (void)fputs(*command ? "\\-" : "", to);
    for (const char *c = command; *c; c++)
        (void)fputc(toupper((unsigned char)*c), to);
    (void)fprintf(to, " 1 \"\" \"bloomery %s\" \"Bloomery\"\n", bly_version());
    (void)fputs(".nh\n.ad l\n", to); /* do not hyphenate names */
    section(to, "NAME");
    (void)fprintf(to, "bloomery%s%s \\- ", *command ? "\\-" : "", command);
    put_paragraph(to, text_all(lowered));
}

/* Whether the texts of the command mention `bloomery OTHER`. */
static bool mentions(const cli_command *command, const char *other) {
    const char *texts[] = {command->description, command->examples,
                           command->brief ? command->brief : ""};
    size_t length = strlen(other);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (const char *at = texts[t]; (at = strstr(at, "bloomery ")) != NULL;) {
            at += strlen("bloomery ");
            if (strncmp(at, other, length) == 0 && !isalpha((unsigned char)at[length]))
                return true;
        }
    return false;
}

/* bloomery(1) refers to every page; a command's page refers to bloomery(1) and to the commands that
 * its texts mention. */
static void see_also(FILE *to, const cli_command *command) {
    section(to, "SEE ALSO");
    const char *between = "";
    if (command) {
        (void)fputs("\\fBbloomery\\fR(1)", to);
        between = ",\n";
    }
    for (size_t i = 0; cli_commands[i]; i++)
        if (!command || (cli_commands[i] != command && mentions(command, cli_commands[i]->name))) {
            (void)fprintf(to, "%s\\fB\\%%bloomery\\-%s\\fR(1)", between, cli_commands[i]->name);
            between = ",\n";
        }
    (void)fputc('\n', to);
}

static void exit_status(FILE *to, const help_note *statuses) {
    section(to, "EXIT STATUS");
    for (; statuses->word; statuses++)
        note(to, 'B', statuses->word, statuses->text);
}

/* Words in capital letters are placeholders, and are set in italics. */
static void put_operands(FILE *to, const char *operands) {
    bool italic = false;
    (void)fputs(*operands ? " " : "", to);
    for (const char *c = operands; *c; c++) {
        if (italic != (isupper((unsigned char)*c) != 0)) {
            italic = !italic;
            (void)fputs(italic ? "\\fI" : "\\fR", to);
        }
        put_char(to, *c);
    }
    (void)fputs(italic ? "\\fR\n" : "\n", to);
}

static void command_page(FILE *to, const cli_command *command) {
    title(to, command->name, command->summary);
    section(to, "SYNOPSIS");
    (void)fprintf(to, "\\fBbloomery %s\\fR [\\fIOPTION\\fR...]", command->name);
    put_operands(to, command->operands);
    section(to, "DESCRIPTION");
    if (command->brief) {
        description(to, command->brief);
        (void)fputs(".PP\n", to);
    }
    description(to, command->description);
    section(to, "OPTIONS");
    options(to, command);
    values(to, command);
    examples(to, command->examples);
    exit_status(to, help_exit_status(command));
    environment(to);
    see_also(to, command);
}

static void overview_page(FILE *to) {
    title(to, "", "sets of keys in about ten bits per key");
    section(to, "SYNOPSIS");
    (void)fputs("\\fBbloomery\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIOPERAND\\fR...]\n", to);
    section(to, "DESCRIPTION");
    put_paragraph(to, text_all(help_sentence));
    (void)fputs(".PP\n", to);
    description(to, help_introduction);
    section(to, "COMMANDS");
    put_paragraph(to, text_all("Each command has its own page, bloomery-COMMAND(1)."));
    for (size_t i = 0; cli_commands[i]; i++)
        note(to, 'B', cli_commands[i]->name, cli_commands[i]->summary);
    section(to, "OPTIONS");
    put_paragraph(to, text_all("Instead of a command:"));
    for (const cli_option *o = help_top_options; o->name; o++)
        option(to, o);
    (void)fputs(".PP\nFor every command:\n", to);
    for (const cli_option *o = cli_common_options; o->name; o++)
        option(to, o);
    best_examples(to);
    exit_status(to, help_exit_status(NULL));
    environment(to);
    see_also(to, NULL);
}

void man_write(FILE *to, const cli_command *command) {
    if (command)
        command_page(to, command);
    else
        overview_page(to);
}
