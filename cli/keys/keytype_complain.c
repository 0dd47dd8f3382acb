#include "keytype.h"

#include "message.h"

#include <stdio.h>

void keytype_complain(const keytype_reader *r, const char *path, uint64_t number, bly_bytes line,
                      bool note) {
    char quoted[KEYTYPE_QUOTE], where[32] = "";
    if (path)
        (void)snprintf(where, sizeof where, ":%llu: ", (unsigned long long)number);
    (void)keytype_quote(line, quoted);
    if (note)
        message_note("%s%s%s: '%s'", path ? path : "", where, r->why, quoted);
    else
        (void)message_error("%s%s%s: '%s'", path ? path : "", where, r->why, quoted);
}
