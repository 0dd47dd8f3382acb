#include "key.h"

#include "message.h"

#include <stdlib.h>
#include <string.h>

bool key_is_record(const key_rule *rule) {
    return rule->field == 0 && !rule->ignore_case && !rule->url;
}

void key_rule_free(key_rule *rule) {
    url_buffer_free(&rule->canonical);
    url_buffer_free(&rule->small);
}

static bool nth_field(bly_bytes record, uint64_t n, char delimiter, bly_bytes *out) {
    const char *at = record.data, *end = at + record.size, *stop;
    while ((stop = memchr(at, delimiter, (size_t)(end - at))) && --n > 0)
        at = stop + 1;
    if (!stop && n > 1)
        return false;
    *out = (bly_bytes){at, (size_t)((stop ? stop : end) - at)};
    return true;
}

static bool to_small(url_buffer *b, bly_bytes *key) {
    if (key->size > b->room) {
        size_t room = key->size < 4096 ? 4096 : key->size * 2;
        char *more = realloc(b->data, room);
        if (!more)
            return false;
        *b = (url_buffer){more, room};
    }
    const char *from = key->data;
    for (size_t i = 0; i < key->size; i++)
        b->data[i] = (char)(from[i] >= 'A' && from[i] <= 'Z' ? from[i] | 0x20 : from[i]);
    key->data = b->data;
    return true;
}

bool key_of(key_rule *rule, bly_bytes record, bly_bytes *key) {
    *key = record;
    if (rule->field && !nth_field(record, rule->field, rule->delimiter, key)) {
        rule->fieldless++;
        return true;
    }
    url_result result = URL_OK;
    if (rule->url)
        result = url_canonical(&rule->canonical, rule->level, key->data, key->size, key);
    rule->not_urls += result == URL_NOT;
    bool good = result != URL_NOMEM && (!rule->ignore_case || to_small(&rule->small, key));
    if (!good)
        (void)message_error("out of memory");
    return good;
}
