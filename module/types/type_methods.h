/* type_methods.h - what the implementations of the three data types, and of staged loads, share. */
#ifndef BLOOMERY_MODULE_TYPE_METHODS_H
#define BLOOMERY_MODULE_TYPE_METHODS_H

#include "types/value.h"

int bm_type_filter_start(rm_ctx *ctx);
int bm_type_redisbloom_start(rm_ctx *ctx);

/* ---- methods that do not depend on the type -------------------------------------------------- */

size_t bm_type_mem_usage(const void *value);
/* More than 64 for values of 1 MiB or more: above 64 the engine frees in the background. */
size_t bm_type_free_effort(rm_string *key, const void *value);
void bm_type_free(void *value);

/* Why a value could not be loaded, for the log. */
const char *bm_load_failure(const bm_value *value, bly_status status);

/* Moves a block for the engine's defragmentation: the callback of bly_filter_defrag, whose context
 * is a bm_moving. */
typedef struct bm_moving {
    rm_defrag *defrag;
    bm_account *account;
} bm_moving;
void *bm_move_block(void *ctx, void *block, size_t size);

/* ---- RedisBloom's types, also used by their staged loads ------------------------------------- */

void bm_rb_save(rm_io *io, const bm_value *value);
/* NULL, logged, when the stream is not valid. */
bm_value *bm_rb_load(rm_io *io, bm_value_type type, int encver);
void bm_rb_digest(rm_digest *digest, const bm_value *value);
/* Removes the library's limit for the growth of untrusted filters. The account has the limits
 * (module_memory.h), and none for replicated writes. */
void bm_rb_lift_growth_limit(bm_value *value);
/* NULL: no memory. */
bm_value *bm_rb_clone(const bm_value *value, bool unlimited);
/* Emits LOADCHUNK of the header, and of the bytes `from` to `to` of the data. */
void bm_rb_emit_header(rm_io *io, rm_string *key, const bm_value *value);
void bm_rb_emit(rm_io *io, rm_string *key, const bm_value *value, uint64_t from, uint64_t to);
uint64_t bm_rb_data_bytes(const bm_value *value);

/* ---- reading the RDB stream ------------------------------------------------------------------ */

/* Loads a string of at most `max` bytes, to be freed with bm_release. NULL: it is longer, or the
 * stream failed (which the engine logs). */
char *bm_load_bytes(rm_io *io, uint64_t max, size_t *size);
/* false: the stream failed, now or before. */
bool bm_load_number(rm_io *io, uint64_t *out);

/* ---- totals ---------------------------------------------------------------------------------- */

void bm_totals_staged(int by);
/* New values are counted. A value inside a staged load is not the value of a key, so it is not
 * counted until it becomes one. */
void bm_totals_uncount(const bm_value *value);
void bm_totals_count(const bm_value *value);

#endif
