/* types.h - what the files of the three data types share among themselves. */
#ifndef BLOOMERY_MODULE_TYPES_H
#define BLOOMERY_MODULE_TYPES_H

#include "value.h"

int bm_type_filter_start(rm_ctx *ctx);
int bm_type_redisbloom_start(rm_ctx *ctx);

/* ---- methods that do not depend on the type -------------------------------------------------- */

size_t bm_type_mem_usage(const void *value);
/* Above 64, from which on the engine frees in the background, for anything of 1 MiB and more. */
size_t bm_type_free_effort(rm_string *key, const void *value);
void bm_type_free(void *value);

/* Why a value could not be loaded, for the log. */
const char *bm_load_failure(const bm_value *value, bly_status status);

/* Moves blocks for the engine: as the mover of bly_filter_move, with a bm_moving. */
typedef struct bm_moving {
    rm_defrag *defrag;
    bm_account *account;
} bm_moving;
void *bm_move_block(void *ctx, void *block, size_t size);

/* ---- RedisBloom's types, for those that are still arriving ------------------------------------
 */

void bm_rb_save(rm_io *io, const bm_value *value);
/* NULL, logged, when what is read is wrong. */
bm_value *bm_rb_load(rm_io *io, bm_what what, int encver);
void bm_rb_digest(rm_digest *digest, const bm_value *value);
/* The library's own limit for what comes from outside does not apply here: the account has limits
 * (memory.h), but none for what a master says. */
void bm_rb_lift_growth_limit(bm_value *value);
/* NULL: no memory. */
bm_value *bm_rb_clone(const bm_value *value, bool unlimited);
/* LOADCHUNK of the header, and of the bytes from `from` to `to` of the data. */
void bm_rb_emit_header(rm_io *io, rm_string *key, const bm_value *value);
void bm_rb_emit(rm_io *io, rm_string *key, const bm_value *value, uint64_t from, uint64_t to);
uint64_t bm_rb_data_bytes(const bm_value *value);

/* A string of at most `most` bytes from the stream; NULL (logged by the engine, if it failed there)
 * when there is none such. To be freed by bm_release. */
char *bm_load_bytes(rm_io *io, uint64_t most, size_t *size);
/* false: the stream failed, now or before. */
bool bm_load_number(rm_io *io, uint64_t *out);

/* ---- the census -------------------------------------------------------------------------------
 */

void bm_census_arriving(int by);
/* A value that is no key's own is not counted: leave it out, or take it in again. */
void bm_census_leave_out(const bm_value *value);
void bm_census_take_in(const bm_value *value);

#endif
