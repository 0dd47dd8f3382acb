/* base.h - what every other header needs: statuses, hash values, byte strings, allocators, export
 * macros.
 *
 * Conventions of all headers:
 *
 * - A call that can fail returns a bly_status and stores its result through the last pointer. If it
 *   fails, a pointer stored there becomes NULL, a plain value is not written, and nothing else has
 *   changed. A `bool` is an answer, never an error.
 * - Objects are opaque. Parameters are plain structs, which are copied.
 * - Pointers must not be NULL unless the declaration says so. Lengths may be 0.
 * - The library never prints, exits, aborts or reads the environment. One exception: BLOOMERY_ISA
 *   may select a slower instruction set (docs/architecture.md).
 *
 * A struct that later versions may extend begins with `struct_size`. The caller sets it to the size
 * of the struct before the call, for parameters and for results. BLY_INIT does this, too, and
 * bly_spec_for does it for bly_spec.
 *
 *     bly_filter_info info = {.struct_size = sizeof info};
 *     status = bly_filter_get_info(f, &info);
 *
 * Every other member of a parameter struct may be 0, which selects its default. A call returns
 * BLY_EINVAL if struct_size is 0 or impossible (docs/abi.md). */
#ifndef BLOOMERY_BASE_H
#define BLOOMERY_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The attributes of exported functions. The result of a BLY_CHECKED function must not be ignored.
 */
#if defined(__GNUC__) || defined(__clang__)
#define BLY_API     __attribute__((visibility("default")))
#define BLY_CHECKED __attribute__((visibility("default"), warn_unused_result))
#else
#define BLY_API
#define BLY_CHECKED
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers; bly_version returns the version of the library that the program
 * runs with. */
#define BLOOMERY_VERSION_MAJOR  0
#define BLOOMERY_VERSION_MINOR  2
#define BLOOMERY_VERSION_PATCH  0
#define BLOOMERY_VERSION_STRING "0.2.0"

/* Returns the version of the library that runs, such as "0.2.0". */
BLY_API const char *bly_version(void);

/* The outcomes of calls that can fail: BLY_OK, or a negative value that never changes between
 * versions. Each has the sentence that bly_strerror returns. */
#define BLY_STATUS_MAP(X)                                                                          \
    X(BLY_OK, 0, "success")                                                                        \
    X(BLY_EINVAL, -1, "invalid argument, or struct_size is not set")                               \
    X(BLY_ENOMEM, -2, "out of memory")                                                             \
    X(BLY_EFULL, -3, "the filter is full; nothing was changed")                                    \
    X(BLY_EMISMATCH, -4, "the two filters differ in kind, size, hash function, seed or key")       \
    X(BLY_EUNSUPPORTED, -5, "this kind of filter, or this build, does not support that operation") \
    X(BLY_ECORRUPT, -6, "the data is damaged or is not a Bloomery filter")                         \
    X(BLY_EVERSION, -7, "the data was written by a newer version of Bloomery")                     \
    X(BLY_EIO, -8, "reading or writing failed (see errno)")                                        \
    X(BLY_ERATE, -9,                                                                               \
      "the false-positive rate must lie strictly between 0 and 1, and not below 2^-40")            \
    X(BLY_ECOUNT, -10, "the number of keys must be at least 1")                                    \
    X(BLY_ETOOBIG, -11, "the filter would need more than 2^48 bits")                               \
    X(BLY_EWEAKHASH, -12,                                                                          \
      "the hash has too few bits for that many keys at that rate; choose a wider hash")            \
    X(BLY_EGEOMETRY, -13,                                                                          \
      "the size or the number of hashes is outside what this kind of filter can use")              \
    X(BLY_EHASHER, -14,                                                                            \
      "no such hash function in this build, or it differs from the filter's, or its key or the "   \
      "custom function was not given")                                                             \
    X(BLY_EKEY, -15, "wrong or missing hash key (or custom hash function)")                        \
    X(BLY_EKIND, -16, "no such kind of filter, or this call does not accept that kind")            \
    X(BLY_EIMPOSSIBLE, -17, "no filter of that size can reach that rate")                          \
    X(BLY_EMISSING, -18, "no such filter")                                                         \
    X(BLY_EEXISTS, -19, "something of that name already exists")                                   \
    X(BLY_EREFUSED, -20, "the server refused the command (see its error message)")                 \
    X(BLY_ECHANGED, -21, "the filter changed while it was being saved; the old file was kept")     \
    X(BLY_EGROWTH, -22,                                                                            \
      "a loaded filter would grow beyond its growth limit; raise it if the data can be trusted")
typedef enum bly_status {
#define BLY_STATUS_ENUM(name, value, text) name = value,
    BLY_STATUS_MAP(BLY_STATUS_ENUM)
#undef BLY_STATUS_ENUM
} bly_status;

/* Returns one sentence that describes a status. It is never NULL, even for an unknown value. */
BLY_API const char *bly_strerror(bly_status status);

/* The 128-bit hash of a key (hash.h). */
typedef struct bly_hash {
    uint64_t lo, hi;
} bly_hash;

/* A borrowed byte string. `data` may be NULL if `size` is 0. */
typedef struct bly_bytes {
    const void *data;
    size_t size;
} bly_bytes;

/* The source of a filter's memory. `alloc` returns `size` zeroed bytes, aligned for any type, or
 * NULL. `free` receives what `alloc` returned. The struct is copied; `ctx` must outlive the filter.
 * Where an allocator is a parameter, NULL means calloc and free, with huge pages for large arrays.
 */
typedef struct bly_allocator {
    void *(*alloc)(void *ctx, size_t size);
    void (*free)(void *ctx, void *ptr);
    void *ctx;
} bly_allocator;

/* A filter of any kind (filter.h). */
typedef struct bly_filter bly_filter;

/* Zeroes a struct that begins with struct_size, and sets struct_size. */
#define BLY_INIT(object)                                                                           \
    (memset(&(object), 0, sizeof(object)), (void)((object).struct_size = sizeof(object)))

#ifdef __cplusplus
}
#endif
#endif
