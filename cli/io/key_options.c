#include "io/key_options.h"

#include "text/message.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *key_options_conflict(const key_options *o) {
    if (o->extract && o->field)
        return "--extract-urls finds links wherever they are: leave out --field";
    if (o->delimiter.given && !o->field)
        return "--delimiter needs --field";
    return NULL;
}

bool key_options_misplaced(const key_options *o, cli_operands operands) {
    for (size_t i = 0; o->url && i < operands.count; i++) {
        const char *name = operands.items[i];
        if ((strcmp(name, "crawl") == 0 || strcmp(name, "standard") == 0) &&
            access(name, F_OK) != 0) {
            (void)message_error("there is no file %s; the level is chosen by --url=%s", name, name);
            return true;
        }
    }
    return false;
}

key_rule key_options_rule(const key_options *o) {
    return (key_rule){.exact = o->null,
                      .field = o->field,
                      .delimiter = o->delimiter.given ? o->delimiter.value : '\t',
                      .ignore_case = o->ignore_case,
                      .url = o->url != 0,
                      .level = o->url ? (bly_url_level)(o->url - 1) : BLY_URL_STANDARD};
}

/* A link is as good as a line that has just that link. */
bly_key_rule key_options_code(const key_options *o) {
    if (o->field || o->ignore_case)
        return BLY_KEYS_OTHER;
    if (o->url)
        return o->url - 1 == BLY_URL_CRAWL ? BLY_KEYS_RECORD_CRAWL : BLY_KEYS_RECORD_URL;
    return BLY_KEYS_RECORD;
}

char key_options_separator(const key_options *o) {
    return o->null ? '\0' : '\n';
}

char *key_options_words(const key_options *o, char out[KEY_OPTIONS_WORDS]) {
    const char delimiter = key_options_rule(o).delimiter;
    (void)snprintf(out, KEY_OPTIONS_WORDS, "url=%u field=%llu delimiter=%d ignore-case=%d links=%d",
                   o->url, (unsigned long long)o->field, o->field ? delimiter : 0, o->ignore_case,
                   o->extract);
    return out;
}
