/* fuzz_module.c - loads untrusted bytes as a value of the module from an RDB file.
 *
 * The first byte selects the type and the encoding. The other bytes are a stream in the form of the
 * fake host of the module's tests (tests/module/fake_host.h). If a value can be loaded, it is then
 * used as a server would use it. Some mutations do not change the input, but replace it by a valid
 * payload with changed fields and correct checksums, because random bytes would hardly ever have
 * correct checksums.
 */
#include "../tests/module/fuzz.h"

#include "config.h"
#include "types/value.h"

#include <stdlib.h>
#include <string.h>

enum { TYPES = 3, TIMES = 16, MORE = 256 << 10 };

static const char *const names[TYPES] = {"bloomery1", "MBbloom--", "MBbloomCF"};
static fuzz_payload *seeds;
static size_t n_seeds;

static void demand(bool truth) {
    if (!truth)
        __builtin_trap();
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    demand(fake_host_start(NULL) == RM_OK);
    n_seeds = fuzz_seeds(&seeds);
    fake_heap_reset();
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    if (seed % 8)
        return LLVMFuzzerMutate(data, size, most);
    uint64_t rng = seed;
    fuzz_payload p = fuzz_payload_copy(&seeds[seed / 8 % n_seeds]);
    if (seed % 16)
        fuzz_change(&p, &seeds[seed / 16 % n_seeds], &rng);
    rm_io *io = fuzz_write(&p, &rng);
    size_t type = 0;
    while (type < TYPES - 1 && fake_type(names[type]) != p.type)
        type++;
    if (io->size < most) {
        data[0] = (uint8_t)(type + TYPES * (size_t)(p.encoding < 0 ? 5 : p.encoding));
        if (io->size > 0) /* the data of an empty payload is NULL */
            memcpy(data + 1, io->data, io->size);
        size = 1 + io->size;
    }
    fake_io_free(io);
    fuzz_payload_free(&p);
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    rm_type *type = fake_type(names[*data % TYPES]);
    rm_io *io = fake_io_of(data + 1, size - 1);
    uint64_t rng = size;
    for (size_t i = 0; i < size; i++)
        rng = (rng ^ data[i]) * UINT64_C(0x100000001B3);
    fake_heap_reset();
    bm_value *value = type->methods.rdb_load(io, *data / TYPES % 6);
    demand(fake_heap.largest <= TIMES * size + MORE);
    if (value) {
        fake_set("f", type, value);
        fuzz_use(&rng);
    }
    fake_flush();
    fake_commands_clear(&fake_replicated);
    fake_io_free(io);
    demand(bm_memory_total() == 0);
    return 0;
}
