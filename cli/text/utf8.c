#include "text/utf8.h"

#include <stdbool.h>

size_t utf8_length(const unsigned char *text, size_t size) {
    unsigned char c = text[0];
    size_t length = c < 0x80                ? 1
                    : c >= 0xC2 && c < 0xE0 ? 2
                    : (c & 0xF0) == 0xE0    ? 3
                    : c >= 0xF0 && c < 0xF5 ? 4
                                            : 0;
    if (length == 0 || length > size)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (c == 0xE0 && text[1] < 0xA0) || (c == 0xF0 && text[1] < 0x90);
    bool surrogate = c == 0xED && text[1] >= 0xA0;
    bool beyond = c == 0xF4 && text[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}
