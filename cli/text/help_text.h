/* help_text.h - cuts the tables' texts into the parts that help, manual page and completion print.
 *
 * The texts are ASCII (tests/cli/options_everywhere.py sees to it): one byte is one column.
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

/* The next word of *rest, which is cut off from it; words are parted by blanks and newlines. */
bool text_word(text_span *rest, text_span *out);

/* A paragraph, whose lines may be joined, or lines that are to be kept as they are. */
typedef struct text_part {
    text_span span;
    bool verbatim;
    bool spaced; /* an empty line comes before it */
} text_part;

/* The next part of a description (see cli_command); *cursor moves past it. false: no more. */
bool text_next_part(const char **cursor, text_part *out);

typedef struct text_example {
    text_span purpose; /* without its "# " and without a full stop */
    text_span command; /* a line, or several */
} text_example;

/* The next pair of a command's `examples`; *cursor moves past it. false: no more. */
bool text_next_example(const char **cursor, text_example *out);

/* The first sentence, with its full stop if it has one. */
text_span text_first_sentence(const char *text);

/* Prints words from column `at` on, first padding to `indent`, in lines of at most `width` columns
 * that all begin at `indent`; ends with a newline. */
void text_wrap(FILE *to, text_span text, unsigned at, unsigned indent, unsigned width);

/* Prints each line of `text` behind `indent` blanks; ends with a newline. */
void text_lines(FILE *to, text_span text, unsigned indent);

void text_put(FILE *to, text_span text);

#endif
