/* type_methods.h - functions that the implementations of the three data types, and of staged loads,
 * share. */
#ifndef BLOOMERY_MODULE_TYPE_METHODS_H
#define BLOOMERY_MODULE_TYPE_METHODS_H

#include "types/value.h"

int bm_type_filter_start(rm_ctx *ctx);
int bm_type_redisbloom_start(rm_ctx *ctx);

/* ---- methods that do not depend on the type -------------------------------------------------- */

size_t bm_type_mem_usage(const void *value);
/* Returns more than 64 for values of 1 MiB or more: then the engine frees the value in the
 * background. */
size_t bm_type_free_effort(rm_string *key, const void *value);
void bm_type_free(void *value);

/* Returns a text that says why a value could not be loaded. */
const char *bm_load_failure(const bm_value *value, bly_status status);

/* Moves a block for the engine's defragmentation. This is a callback for bly_filter_defrag; its
 * context must be a bm_moving. */
typedef struct bm_moving {
    rm_defrag *defrag;
    bm_account *account;
} bm_moving;
void *bm_move_block(void *ctx, void *block, size_t size);

/* ---- RedisBloom's types, also used by their staged loads ------------------------------------- */

void bm_rb_save(rm_io *io, const bm_value *value);
/* Loads a value. If the stream is not valid, logs the reason and returns NULL. */
bm_value *bm_rb_load(rm_io *io, bm_value_type type, int encver);
void bm_rb_digest(rm_digest *digest, const bm_value *value);
/* Removes the library's growth limit for untrusted filters, because the value's account limits its
 * memory (module_memory.h), but not for replicated writes. */
void bm_rb_lift_growth_limit(bm_value *value);
/* Returns a copy; NULL if there is no memory. */
bm_value *bm_rb_clone(const bm_value *value, bool unlimited);
/* These two emit LOADCHUNK commands: for the header, and for the bytes of the data from offset
 * `from` to `to`. */
void bm_rb_emit_header(rm_io *io, rm_string *key, const bm_value *value);
void bm_rb_emit(rm_io *io, rm_string *key, const bm_value *value, uint64_t from, uint64_t to);
uint64_t bm_rb_data_bytes(const bm_value *value);

/* ---- reading the RDB stream ------------------------------------------------------------------ */

/* Loads a string of at most `max` bytes, which the caller frees with bm_release. Returns NULL if
 * the string is longer, or if the stream failed (which the engine logs). */
char *bm_load_bytes(rm_io *io, uint64_t max, size_t *size);
/* Loads a number. Returns false if the stream has failed, now or earlier. */
bool bm_load_number(rm_io *io, uint64_t *out);

/* ---- totals ---------------------------------------------------------------------------------- */

/* Adds `by` to the number of staged loads. */
void bm_totals_staged(int by);
/* Remove a value from the totals, and add it again. New values are counted in the totals. A value
 * inside a staged load is not the value of a key, so it is not counted until it becomes one. */
void bm_totals_uncount(const bm_value *value);
void bm_totals_count(const bm_value *value);

#endif
