#include "text/completion.h"

#include "text/help_text.h"

#include <string.h>

void completion_write(FILE *to, unsigned shell) {
    static void (*const writers[])(FILE *) = {completion_bash, completion_zsh, completion_fish};
    writers[shell - 1](to);
}

bool completion_choices(FILE *to, const cli_option *option) {
    char name[32];
    size_t i = 0;
    for (; cli_choice(option, i, name); i++)
        (void)fprintf(to, "%s%s", i ? " " : "", name);
    return i > 0;
}

void completion_words(FILE *to, const char *text, const char *special, const char *quote) {
    text_span words = text_first_sentence(text);
    if (words.length && words.begin[words.length - 1] == '.')
        words.length--;
    for (size_t i = 0; i < words.length; i++) {
        char c = words.begin[i];
        if (c == '\'')
            (void)fputs(quote, to);
        else
            (void)fprintf(to, "%s%c", strchr(special, c) ? "\\" : "", c);
    }
}
