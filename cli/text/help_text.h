/* help_text.h - splits the texts of the tables into the parts that help, manual pages and
 * completion print.
 *
 * The texts are ASCII (tests/cli/options_everywhere.py checks it), so that one byte is one column.
 */
#ifndef BLOOMERY_CLI_HELP_TEXT_H
#define BLOOMERY_CLI_HELP_TEXT_H

#include <bloomery/base.h>
#include <stdio.h>

typedef struct text_span {
    const char *begin;
    size_t length;
} text_span;

text_span text_all(const char *text);

/* Removes the next word from *rest. Words are separated by blanks and newlines. Returns false at
 * the end. */
bool text_word(text_span *rest, text_span *out);

/* A paragraph, whose lines may be wrapped, or lines that are printed verbatim. */
typedef struct text_part {
    text_span span;
    bool verbatim;
    bool spaced; /* an empty line comes before it */
} text_part;

/* Gets the next part of a description (see cli_command), and moves *cursor past it. Returns false
 * at the end. */
bool text_next_part(const char **cursor, text_part *out);

typedef struct text_example {
    text_span purpose; /* without its "# " and without a full stop */
    text_span command; /* a line, or several */
} text_example;

/* Gets the next pair of a command's `examples`, and moves *cursor past it. Returns false at the
 * end. */
bool text_next_example(const char **cursor, text_example *out);

/* The first sentence, with its full stop if it has one. */
text_span text_first_sentence(const char *text);

/* Wraps words to lines from column `indent` to column `width`, and ends with a newline. `at` is the
 * current column. */
void text_wrap(FILE *to, text_span text, unsigned at, unsigned indent, unsigned width);

/* Prints each line of `text` after `indent` blanks, and ends with a newline. */
void text_lines(FILE *to, text_span text, unsigned indent);

#endif
