/* Formats that are told from text by their first bytes, and refused. */
#include "io/decoder.h"

const decoder decoder_xz = {
    .name = "xz",
    .library = "support for it",
    .magic = {0xfd, '7', 'z', 'X', 'Z', 0},
    .magic_size = 6,
};

const decoder decoder_bzip2 = {
    .name = "bzip2",
    .library = "support for it",
    .magic = {'B', 'Z', 'h', '1', '1', 'A', 'Y', '&', 'S', 'Y'},
    .span = {[3] = 8}, /* the size of its blocks, 1 to 9 */
    .magic_size = 10,
};
