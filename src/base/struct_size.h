/* Structs that begin with their size: a program may have been compiled against another version of
 * the library, whose struct has fewer or more members at the end. docs/abi.md has the rules. */
#ifndef BLYI_STRUCT_SIZE_H
#define BLYI_STRUCT_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A caller's struct with a larger size is rejected, because the size was probably never set. */
enum { BLYI_MAX_STRUCT_SIZE = 4096 };

static inline size_t blyi_struct_size(const void *object) {
    size_t size;
    memcpy(&size, object, sizeof size);
    return size;
}

/* Copies the caller's struct `from` into *to, which has `size` bytes in this version and had
 * `least` bytes when this SONAME was first released. Members that the caller's struct lacks become
 * 0. Returns false if the caller's size is impossible, or if a member that this version lacks is
 * not 0. */
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

/* Whether the size in the caller's struct is possible, so that a result can be stored there. */
static inline bool blyi_can_write_struct(const void *to, size_t least) {
    const size_t given = blyi_struct_size(to);
    return given >= least && given <= BLYI_MAX_STRUCT_SIZE;
}

/* Copies a result, which has `size` bytes in this version, into the caller's struct, whose size has
 * been checked and stays. Members that only the caller's struct has are not written: if the caller
 * forgot to set the size, no memory behind its struct may be overwritten. */
static inline void blyi_write_struct(void *to, const void *from, size_t size) {
    const size_t given = blyi_struct_size(to);
    const size_t common = given < size ? given : size;
    memcpy((char *)to + sizeof given, (const char *)from + sizeof given, common - sizeof given);
}

#endif
