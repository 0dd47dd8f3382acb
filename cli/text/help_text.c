/* help_text.c - splits the texts of the tables into words, paragraphs, sentences and examples, and
 * wraps them. */
#include "text/help_text.h"

#include <string.h>

text_span text_all(const char *text) {
    return (text_span){text, strlen(text)};
}

static void text_put(FILE *to, text_span text) {
    (void)fwrite(text.begin, 1, text.length, to);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\n';
}

bool text_word(text_span *rest, text_span *out) {
    const char *at = rest->begin, *end = rest->begin + rest->length;
    while (at < end && is_blank(*at))
        at++;
    out->begin = at;
    while (at < end && !is_blank(*at))
        at++;
    out->length = (size_t)(at - out->begin);
    *rest = (text_span){at, (size_t)(end - at)};
    return out->length > 0;
}

/* ---- splitting ------------------------------------------------------------------------------- */

/* The line at `text` without its newline; *next is the beginning of the following line. */
static text_span line_at(const char *text, const char **next) {
    size_t length = strcspn(text, "\n");
    *next = text + length + (text[length] == '\n');
    return (text_span){text, length};
}

static bool is_verbatim(text_span line) {
    return line.length >= 2 && line.begin[0] == ' ' && line.begin[1] == ' ';
}

bool text_next_part(const char **cursor, text_part *out) {
    const char *next;
    text_span line;
    *out = (text_part){0};
    while (**cursor && (line = line_at(*cursor, &next)).length == 0) {
        out->spaced = true;
        *cursor = next;
    }
    if (!**cursor)
        return false;
    out->span.begin = *cursor;
    out->verbatim = is_verbatim(line);
    do {
        out->span.length = (size_t)(line.begin + line.length - out->span.begin);
        *cursor = next;
        line = line_at(*cursor, &next);
    } while (line.length > 0 && is_verbatim(line) == out->verbatim);
    return true;
}

bool text_next_example(const char **cursor, text_example *out) {
    const char *next;
    *out = (text_example){0};
    while (**cursor == '\n')
        ++*cursor;
    if (!**cursor)
        return false;
    text_span line = line_at(*cursor, &next);
    if (line.begin[0] == '#') {
        size_t mark = line.length > 1 && line.begin[1] == ' ' ? 2 : 1;
        out->purpose = (text_span){line.begin + mark, line.length - mark};
        if (out->purpose.length && line.begin[line.length - 1] == '.')
            out->purpose.length--;
        *cursor = next;
    }
    out->command.begin = *cursor;
    for (; **cursor && **cursor != '#'; *cursor = next) {
        line = line_at(*cursor, &next);
        if (line.length)
            out->command.length = (size_t)(line.begin + line.length - out->command.begin);
    }
    return true;
}

text_span text_first_sentence(const char *text) {
    for (const char *stop = text; (stop = strstr(stop, ". ")) != NULL; stop++) {
        bool abbreviation = stop - text >= 3 && stop[-2] == '.'; /* e.g. */
        if (!abbreviation)
            return (text_span){text, (size_t)(stop - text) + 1};
    }
    return text_all(text);
}

/* ---- printing -------------------------------------------------------------------------------- */

void text_wrap(FILE *to, text_span text, unsigned at, unsigned indent, unsigned width) {
    text_span word;
    bool first = true;
    while (text_word(&text, &word)) {
        if (!first && at + 1 + word.length > width) {
            (void)fputc('\n', to);
            at = 0;
            first = true;
        }
        unsigned blanks = first ? (at < indent ? indent - at : 0) : 1;
        (void)fprintf(to, "%*s", (int)blanks, "");
        text_put(to, word);
        at += blanks + (unsigned)word.length;
        first = false;
    }
    (void)fputc('\n', to);
}

void text_lines(FILE *to, text_span text, unsigned indent) {
    const char *end = text.begin + text.length;
    for (const char *line = text.begin, *next; line < end; line = next + 1) {
        next = memchr(line, '\n', (size_t)(end - line));
        if (!next)
            next = end;
        (void)fprintf(to, "%*s%.*s\n", (int)indent, "", (int)(next - line), line);
    }
}
