/* struct_size_support.h - tests calls with structs as other versions of the library have them:
 * shorter, or with more members (docs/abi.md). */
#ifndef BLYT_STRUCT_SIZE_SUPPORT_H
#define BLYT_STRUCT_SIZE_SUPPORT_H

#include "support.h"

enum { MAX_STRUCT_SIZE = 4096, UNTOUCHED = 0xa5 };

/* A struct of a caller, followed by memory that does not belong to it. */
typedef union caller_struct {
    size_t struct_size;
    max_align_t aligned;
    unsigned char bytes[MAX_STRUCT_SIZE + 256];
} caller_struct;

/* Calls the tested function with such a struct. For a parameter struct, it also asserts that a
 * failed call sets its result to NULL, and destroys the result of a successful call. */
typedef bly_status (*struct_call)(void *object);

/* Returns the i-th size that no version of the struct can have; after the last of these, `size`.
 * (SIZE_MAX - 7 would overflow if something were added to it.) */
static inline size_t impossible_size(size_t i, size_t size) {
    const size_t sizes[] = {0,       1, 8, size - 8, size - 1, MAX_STRUCT_SIZE + 1, SIZE_MAX - 7,
                            SIZE_MAX};
    return i < COUNT_OF(sizes) ? sizes[i] : size;
}

/* Checks a call that takes a parameter struct. `valid` is a struct of `size` bytes that the call
 * accepts. */
static inline void check_parameter(struct_call call, const void *valid, size_t size) {
    caller_struct s;
    bly_status status;
    memset(s.bytes, UNTOUCHED, sizeof s.bytes);
    memcpy(s.bytes, valid, size);
    size_t *alone = malloc(sizeof *alone); /* sanitizers report reads beyond struct_size */
    assert_non_null(alone);
    for (size_t i = 0; (*alone = impossible_size(i, size)) != size; i++)
        assert_int_equal(call(alone), BLY_EINVAL);
    free(alone);
    s.struct_size = size;
    status = call(&s); /* bytes after the struct are not read */
    assert_int_not_equal(status, BLY_EINVAL);

    memset(s.bytes + size, 0, sizeof s.bytes - size);
    s.struct_size = MAX_STRUCT_SIZE + 1;
    assert_int_equal(call(&s), BLY_EINVAL);
    const size_t longer[] = {size + 1, size + 8, size + 24, MAX_STRUCT_SIZE};
    for (size_t i = 0; i < COUNT_OF(longer); i++) {
        const size_t at[] = {size, longer[i] - 1};
        s.struct_size = longer[i];
        assert_int_equal(call(&s), status);
        for (size_t j = 0; j < COUNT_OF(at); j++) {
            s.bytes[at[j]] = 1;
            assert_int_equal(call(&s), BLY_EINVAL);
            s.bytes[at[j]] = 0;
        }
        s.bytes[longer[i]] = 1; /* after the struct */
        assert_int_equal(call(&s), status);
        s.bytes[longer[i]] = 0;
    }
}

static inline void assert_all(const unsigned char *bytes, size_t from, size_t to, int value) {
    for (size_t i = from; i < to; i++)
        assert_int_equal(bytes[i], value);
}

/* Checks a call that fills in a result struct of `size` bytes. */
static inline void check_result(struct_call call, size_t size) {
    const size_t possible[] = {size, size + 1, size + 8, size + 24, MAX_STRUCT_SIZE};
    const size_t head = sizeof(size_t);
    caller_struct s;
    memset(s.bytes, UNTOUCHED, sizeof s.bytes);
    for (size_t i = 0; (s.struct_size = impossible_size(i, size)) != size; i++) {
        assert_int_equal(call(&s), BLY_EINVAL);
        assert_int_equal(s.struct_size, impossible_size(i, size));
        assert_all(s.bytes, head, sizeof s.bytes, UNTOUCHED);
    }
    for (size_t i = 0; i < COUNT_OF(possible); i++) {
        memset(s.bytes, UNTOUCHED, sizeof s.bytes);
        s.struct_size = possible[i];
        assert_ok(call(&s));
        assert_int_equal(s.struct_size, possible[i]);
        size_t same = 0;
        for (size_t j = head; j < size; j++)
            same += s.bytes[j] == UNTOUCHED;
        assert_true(same < size - head);
        assert_all(s.bytes, size, sizeof s.bytes, UNTOUCHED);
    }
}

#endif
