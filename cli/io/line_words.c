#include "io/line_words.h"

#include "text/message.h"

#include <stdio.h>

const char *line_type_words(bly_list_type type) {
    switch (type) {
    case BLY_LIST_RECORD:
        return "line";
    case BLY_LIST_RECORD_URL:
        return "dedup --url";
    case BLY_LIST_RECORD_CRAWL:
        return "dedup --url=crawl";
    case BLY_LIST_OTHER:
        return "dedup --field/--ignore-case";
    default:
        return bly_list_type_name(type);
    }
}

/* The second test is for U+0080 to U+009F, which terminals obey too. */
static bool is_control(const unsigned char *at, size_t left) {
    return *at < 0x20 || *at == 0x7F || (*at == 0xC2 && left > 1 && at[1] >= 0x80 && at[1] < 0xA0);
}

char *line_quote(bly_bytes text, char out[LINE_QUOTE]) {
    enum { LONGEST = 60 };
    const unsigned char *at = text.data;
    size_t used = 0, shown = text.size;
    if (shown > LONGEST) /* not in the middle of a UTF-8 character */
        for (shown = LONGEST; shown > 0 && (at[shown] & 0xC0) == 0x80;)
            shown--;
    for (size_t i = 0; i < shown; i++) {
        if (is_control(at + i, shown - i))
            used += (size_t)snprintf(out + used, LINE_QUOTE - used, "\\x%02x", at[i]);
        else
            out[used++] = (char)at[i];
    }
    (void)snprintf(out + used, LINE_QUOTE - used, "%s", shown < text.size ? "..." : "");
    return out;
}

void line_complain(const char *reason, const char *path, uint64_t number, bly_bytes line,
                   bool note) {
    char quoted[LINE_QUOTE], where[32] = "";
    if (path)
        (void)snprintf(where, sizeof where, ":%llu: ", (unsigned long long)number);
    (void)line_quote(line, quoted);
    if (note)
        message_note("%s%s%s: '%s'", path ? path : "", where, reason, quoted);
    else
        (void)message_error("%s%s%s: '%s'", path ? path : "", where, reason, quoted);
}
