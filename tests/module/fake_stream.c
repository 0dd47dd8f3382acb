/* fake_stream.c - streams of a module's values as in an RDB file, and digests. Reading is as strict
 * as in an engine: an unexpected opcode is an error, after which nothing more is read. */
#include "fake_internal.h"

#include <stdlib.h>
#include <string.h>

enum { OP_UNSIGNED = 2, OP_DOUBLE = 4, OP_STRING = 5 };

rm_io *fake_io_new(void) {
    return fake_alloc(NULL, sizeof(rm_io));
}

rm_io *fake_io_of(const void *data, size_t size) {
    rm_io *io = fake_io_new();
    io->data = fake_alloc(NULL, size + 1);
    if (size)
        memcpy(io->data, data, size);
    io->size = io->capacity = size;
    return io;
}

void fake_io_rewind(rm_io *io) {
    io->at = 0;
    io->reads = 0;
    io->error = false;
}

void fake_io_free(rm_io *io) {
    if (!io)
        return;
    free(io->data);
    free(io->fields);
    free(io);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_bytes(rm_io *io, const void *data, size_t size) {
    if (size > io->capacity - io->size) {
        io->capacity = 2 * (io->capacity + size);
        io->data = fake_alloc(io->data, io->capacity);
    }
    if (size)
        memcpy(io->data + io->size, data, size);
    io->size += size;
}

static void write_big_endian(rm_io *io, uint64_t value, int bytes) {
    uint8_t raw[8];
    for (int i = 0; i < bytes; i++)
        raw[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
    write_bytes(io, raw, (size_t)bytes);
}

static void write_length(rm_io *io, uint64_t value) {
    if (value < 1 << 6) {
        write_big_endian(io, value, 1);
    } else if (value < 1 << 14) {
        write_big_endian(io, value | 1 << 14, 2);
    } else if (value <= UINT32_MAX) {
        write_big_endian(io, 0x80, 1);
        write_big_endian(io, value, 4);
    } else {
        write_big_endian(io, 0x81, 1);
        write_big_endian(io, value, 8);
    }
}

static void begin_field(rm_io *io, uint64_t opcode) {
    if (io->n_fields == io->fields_capacity) {
        io->fields_capacity = 2 * io->fields_capacity + 16;
        io->fields = fake_alloc(io->fields, io->fields_capacity * sizeof *io->fields);
    }
    io->fields[io->n_fields++] = io->size;
    write_length(io, opcode);
}

void fake_SaveUnsigned(rm_io *io, uint64_t value) {
    begin_field(io, OP_UNSIGNED);
    write_length(io, value);
}

void fake_SaveDouble(rm_io *io, double value) {
    begin_field(io, OP_DOUBLE);
    write_bytes(io, &value, sizeof value);
}

void fake_SaveStringBuffer(rm_io *io, const char *data, size_t size) {
    begin_field(io, OP_STRING);
    write_length(io, size);
    write_bytes(io, data, size);
}

/* ---- reading --------------------------------------------------------------------------------- */

static const uint8_t *read_bytes(rm_io *io, uint64_t size) {
    if (io->error || size > io->size - io->at) {
        io->error = true;
        return NULL;
    }
    const uint8_t *bytes = io->data + io->at;
    io->at += (size_t)size;
    return bytes;
}

static uint64_t read_big_endian(rm_io *io, unsigned bytes) {
    const uint8_t *raw = read_bytes(io, bytes);
    uint64_t value = 0;
    for (unsigned i = 0; raw && i < bytes; i++)
        value = value << 8 | raw[i];
    return value;
}

static uint64_t read_length(rm_io *io) {
    uint64_t first = read_big_endian(io, 1);
    if (first < 0x40)
        return first;
    if (first < 0x80)
        return (first & 0x3F) << 8 | read_big_endian(io, 1);
    if (first == 0x80 || first == 0x81)
        return read_big_endian(io, first == 0x80 ? 4 : 8);
    io->error = true;
    return 0;
}

static bool expect(rm_io *io, uint64_t opcode) {
    if (io->error)
        return false;
    if (++io->reads == io->fail_at || read_length(io) != opcode)
        io->error = true;
    return !io->error;
}

int fake_IsIOError(rm_io *io) {
    return io->error;
}

uint64_t fake_LoadUnsigned(rm_io *io) {
    uint64_t value = expect(io, OP_UNSIGNED) ? read_length(io) : 0;
    return io->error ? 0 : value;
}

double fake_LoadDouble(rm_io *io) {
    double value = 0;
    const uint8_t *raw = expect(io, OP_DOUBLE) ? read_bytes(io, sizeof value) : NULL;
    if (raw)
        memcpy(&value, raw, sizeof value);
    return value;
}

char *fake_LoadStringBuffer(rm_io *io, size_t *size) {
    uint64_t length = expect(io, OP_STRING) ? read_length(io) : 0;
    const uint8_t *raw = io->error ? NULL : read_bytes(io, length);
    char *copy = raw ? fake_TryAlloc((size_t)length) : NULL;
    if (!copy) {
        io->error = true;
        *size = 0;
        return NULL;
    }
    memcpy(copy, raw, (size_t)length);
    *size = (size_t)length;
    return copy;
}

/* ---- digests --------------------------------------------------------------------------------- */

static void mix(rm_digest *digest, uint64_t word) {
    digest->sum = (digest->sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    digest->sum ^= digest->sum >> 29;
}

void fake_DigestAddStringBuffer(rm_digest *digest, const char *data, size_t size) {
    mix(digest, size);
    for (size_t i = 0; i < size; i++)
        mix(digest, (uint8_t)data[i]);
}

void fake_DigestAddLongLong(rm_digest *digest, long long value) {
    mix(digest, (uint64_t)value);
}

void fake_DigestEndSequence(rm_digest *digest) {
    mix(digest, 0xE0F);
}
