/* Structs that begin with their size: a program may have been compiled against another version of
 * the library, whose struct has fewer or more members at the end. docs/abi.md has the rules. */
#ifndef BLYI_STRUCT_SIZE_H
#define BLYI_STRUCT_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Larger sizes are taken for garbage, and no byte past this is read. */
enum { BLYI_MAX_STRUCT_SIZE = 4096 };

static inline size_t blyi_struct_size(const void *object) {
    size_t size;
    memcpy(&size, object, sizeof size);
    return size;
}

/* Copies a parameter of the caller's into *to, a struct of `size` bytes here. `least` is the size
 * that it had when this SONAME was first released. Members that the caller does not have become 0.
 * false: the size is not possible, or a member that this version does not have is not 0. */
static inline bool blyi_read_struct(void *to, size_t size, size_t least, const void *from) {
    const size_t given = blyi_struct_size(from);
    if (given < least || given > BLYI_MAX_STRUCT_SIZE)
        return false;
    for (size_t i = size; i < given; i++)
        if (((const unsigned char *)from)[i] != 0)
            return false;
    memset(to, 0, size);
    memcpy(to, from, given < size ? given : size);
    memcpy(to, &size, sizeof size);
    return true;
}

/* Whether a result can be stored in the caller's struct. */
static inline bool blyi_can_write_struct(const void *to, size_t least) {
    const size_t given = blyi_struct_size(to);
    return given >= least && given <= BLYI_MAX_STRUCT_SIZE;
}

/* Copies a result, a struct of `size` bytes here, into the caller's, whose size has been checked
 * and stays. Members that only the caller has are not written: a caller that forgot to set the size
 * must not lose more memory than its struct has. */
static inline void blyi_write_struct(void *to, const void *from, size_t size) {
    const size_t given = blyi_struct_size(to);
    const size_t common = given < size ? given : size;
    memcpy((char *)to + sizeof given, (const char *)from + sizeof given, common - sizeof given);
}

#endif
