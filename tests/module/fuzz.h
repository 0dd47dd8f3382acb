/* fuzz.h - mutated payloads, and the use of filters that load: shared by fuzz_payloads.c and the
 * fuzzer's target fuzz_module.c.
 *
 * A payload is what an RDB file has of one value: a list of fields. A container in it is one
 * string, however many a server would have written. Everything is drawn from a generator, so a case
 * is known by its number.
 */
#ifndef BLYT_FUZZ_H
#define BLYT_FUZZ_H

#include "fake_host.h"

typedef struct fuzz_field {
    enum { FUZZ_NUMBER, FUZZ_REAL, FUZZ_STRING } sort;
    uint64_t number;
    double real;
    uint8_t *data; /* of its own, also when empty */
    size_t size;
} fuzz_field;

typedef struct fuzz_payload {
    rm_type *type;
    int encoding;
    fuzz_field *fields;
    size_t n, capacity;
} fuzz_payload;

/* ---- payloads (fuzz_payload.c) --------------------------------------------------------------- */

fuzz_payload fuzz_payload_new(rm_type *type, int encoding);
fuzz_payload fuzz_payload_copy(const fuzz_payload *from);
void fuzz_payload_free(fuzz_payload *p);
/* At that index; the fields from there on move up. */
void fuzz_insert(fuzz_payload *p, size_t at, fuzz_field field);
void fuzz_remove(fuzz_payload *p, size_t at);
fuzz_field fuzz_number(uint64_t number);
fuzz_field fuzz_real(double real);
fuzz_field fuzz_string(const void *data, size_t size); /* a copy */
fuzz_field fuzz_field_copy(const fuzz_field *field);
/* All fields of a stream that was just written, behind those that are there. */
void fuzz_read(fuzz_payload *p, rm_io *io);
/* Whether the field is a container, or the beginning of one. */
bool fuzz_is_container(const fuzz_field *field);
/* As a server would write it. Containers come in pieces, cut anywhere behind the header. */
rm_io *fuzz_write(const fuzz_payload *p, uint64_t *rng);

/* ---- good ones (fuzz_seeds.c) ---------------------------------------------------------------- */

/* Every shape of filter, loaded and staged, and RedisBloom's structures in every encoding. Once;
 * the host has been started. Returns how many there are. */
size_t fuzz_seeds(fuzz_payload **out);
void fuzz_seeds_free(void);

/* ---- changes (fuzz_mutate.c) ----------------------------------------------------------------- */

/* A number that is like `x`, or that has broken programs before. */
uint64_t fuzz_odd_number(uint64_t x, uint64_t *rng);
/* Changes a few bytes, or cuts, or repeats; the block may move. */
void fuzz_change_bytes(uint8_t **data, size_t *size, uint64_t *rng);
/* Changes a container in its header, its body, or that of one of its parts; sums that were right
 * are mostly made right again. */
void fuzz_change_container(uint8_t **data, size_t *size, uint64_t *rng);
/* Changes fields, or their order, or takes some from another payload. */
void fuzz_change(fuzz_payload *p, const fuzz_payload *other, uint64_t *rng);

/* ---- use (fuzz_use.c) ------------------------------------------------------------------------ */

/* Runs a command, words divided by spaces; returns the reply as fake_run. */
const char *fuzz_run(const char *line);
/* A command, chosen by chance, on the key "f" or between it and "g". */
void fuzz_run_any(uint64_t *rng);
/* Does with the value under "f", if there is one, whatever can be done: commands, and the type's
 * methods. What must hold of every value is demanded. */
void fuzz_use(uint64_t *rng);

/* ---- chunks (fuzz_chunks.c) ------------------------------------------------------------------ */

/* Commands LOADCHUNK or BLY.LOAD that would load the seed into "f", changed and out of order. */
fake_commands fuzz_script(const fuzz_payload *seed, uint64_t *rng);
/* Runs them, with others in between, and frees them. Returns how many chunks were accepted;
 * *refused: how many more were not. */
size_t fuzz_run_script(fake_commands *script, uint64_t *rng, size_t *refused);

#endif
