/* fuzz.h - mutated payloads, and the use of filters that load: shared by fuzz_payloads.c and the
 * fuzzer's target fuzz_module.c.
 *
 * A payload is the representation of one value in an RDB file: a list of fields. A container in it
 * is one string, even if a server would write several. Everything is drawn from a generator, so the
 * number of a case determines it.
 */
#ifndef BLYT_FUZZ_H
#define BLYT_FUZZ_H

#include "fake_host.h"

typedef struct fuzz_field {
    enum { FUZZ_NUMBER, FUZZ_REAL, FUZZ_STRING } sort;
    uint64_t number;
    double real;
    uint8_t *data; /* owned, even if empty */
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
/* Inserts a field before the field with that index. */
void fuzz_insert(fuzz_payload *p, size_t at, fuzz_field field);
void fuzz_remove(fuzz_payload *p, size_t at);
fuzz_field fuzz_number(uint64_t number);
fuzz_field fuzz_real(double real);
fuzz_field fuzz_string(const void *data, size_t size); /* a copy */
fuzz_field fuzz_field_copy(const fuzz_field *field);
/* Appends to the payload all fields of a stream that was just written. */
void fuzz_read(fuzz_payload *p, rm_io *io);
/* Whether the field is a container, or the beginning of one. */
bool fuzz_is_container(const fuzz_field *field);
/* Writes the payload to a stream, as a server would. Each container is divided into random pieces,
 * the first of which has at least the header. */
rm_io *fuzz_write(const fuzz_payload *p, uint64_t *rng);

/* ---- seeds (fuzz_seeds.c) -------------------------------------------------------------------- */

/* Makes valid payloads: every form of filter, loaded and staged, and RedisBloom's structures in
 * every encoding. Call it once, after fake_host_start. Returns the number of payloads. */
size_t fuzz_seeds(fuzz_payload **out);
void fuzz_seeds_free(void);

/* ---- changes (fuzz_mutate.c) ----------------------------------------------------------------- */

/* A number near `x`, or a typical boundary value. */
uint64_t fuzz_odd_number(uint64_t x, uint64_t *rng);
/* Changes, removes or repeats a few bytes. The block may move. */
void fuzz_change_bytes(uint8_t **data, size_t *size, uint64_t *rng);
/* Changes a container: its header, its body, or the header of one of its parts. Mostly corrects the
 * checksums afterwards. */
void fuzz_change_container(uint8_t **data, size_t *size, uint64_t *rng);
/* Changes fields or their order, or replaces some by fields of another payload. */
void fuzz_change(fuzz_payload *p, const fuzz_payload *other, uint64_t *rng);

/* ---- use (fuzz_use.c) ------------------------------------------------------------------------ */

/* Runs a command, whose words are separated by single spaces. Returns the reply as fake_run
 * does. */
const char *fuzz_run(const char *line);
/* Runs a random command on the key "f", or on "f" and "g". */
void fuzz_run_any(uint64_t *rng);
/* Uses the value of the key "f", if there is one: with all commands, and with all methods of its
 * type. Checks the invariants of every value. */
void fuzz_use(uint64_t *rng);

/* ---- chunks (fuzz_chunks.c) ------------------------------------------------------------------ */

/* Returns LOADCHUNK or BLY.LOAD commands that load the seed into the key "f". They are changed and
 * out of order. */
fake_commands fuzz_script(const fuzz_payload *seed, uint64_t *rng);
/* Runs the commands of a script, with others in between, and frees them. Returns the number of
 * accepted chunks, and adds the number of refused ones to *refused. */
size_t fuzz_run_script(fake_commands *script, uint64_t *rng, size_t *refused);

#endif
