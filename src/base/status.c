/* The library's version, and a text for each status. */
#include <bloomery/base.h>

const char *bly_version(void) {
    return BLOOMERY_VERSION_STRING;
}

const char *bly_strerror(bly_status status) {
    switch (status) {
#define TEXT_OF(name, value, text)                                                                 \
    case name:                                                                                     \
        return text;
        BLY_STATUS_MAP(TEXT_OF)
#undef TEXT_OF
    }
    return "unknown status";
}
