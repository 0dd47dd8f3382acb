/* fuzz_payload.c - payloads as lists of fields, and the streams that are made from them. */
#include "fuzz.h"

#include "../support/support.h"
#include "fake_internal.h"

fuzz_payload fuzz_payload_new(rm_type *type, int encoding) {
    return (fuzz_payload){.type = type, .encoding = encoding};
}

fuzz_field fuzz_number(uint64_t number) {
    return (fuzz_field){.sort = FUZZ_NUMBER, .number = number};
}

fuzz_field fuzz_real(double real) {
    return (fuzz_field){.sort = FUZZ_REAL, .real = real};
}

fuzz_field fuzz_string(const void *data, size_t size) {
    fuzz_field field = {.sort = FUZZ_STRING, .data = fake_alloc(NULL, size), .size = size};
    if (size)
        memcpy(field.data, data, size);
    return field;
}

fuzz_field fuzz_field_copy(const fuzz_field *field) {
    return field->sort == FUZZ_STRING ? fuzz_string(field->data, field->size) : *field;
}

void fuzz_insert(fuzz_payload *p, size_t at, fuzz_field field) {
    if (p->n == p->capacity) {
        p->capacity = 2 * p->capacity + 16;
        p->fields = fake_alloc(p->fields, p->capacity * sizeof *p->fields);
    }
    memmove(p->fields + at + 1, p->fields + at, (p->n++ - at) * sizeof field);
    p->fields[at] = field;
}

void fuzz_remove(fuzz_payload *p, size_t at) {
    free(p->fields[at].data);
    memmove(p->fields + at, p->fields + at + 1, (--p->n - at) * sizeof *p->fields);
}

fuzz_payload fuzz_payload_copy(const fuzz_payload *from) {
    fuzz_payload p = fuzz_payload_new(from->type, from->encoding);
    for (size_t i = 0; i < from->n; i++)
        fuzz_insert(&p, i, fuzz_field_copy(&from->fields[i]));
    return p;
}

void fuzz_payload_free(fuzz_payload *p) {
    for (size_t i = 0; i < p->n; i++)
        free(p->fields[i].data);
    free(p->fields);
    *p = (fuzz_payload){0};
}

/* ---- streams --------------------------------------------------------------------------------- */

static fuzz_field read_field(rm_io *io, size_t at) {
    io->at = at;
    switch (io->data[at]) {
    case 2:
        return fuzz_number(rm.LoadUnsigned(io));
    case 4:
        return fuzz_real(rm.LoadDouble(io));
    default:
        break;
    }
    size_t size;
    char *data = rm.LoadStringBuffer(io, &size);
    assert_non_null(data);
    fuzz_field field = fuzz_string(data, size);
    rm.Free(data);
    return field;
}

void fuzz_read(fuzz_payload *p, rm_io *io) {
    fake_io_rewind(io);
    for (size_t i = 0; i < io->n_fields; i++)
        fuzz_insert(p, p->n, read_field(io, io->fields[i]));
    assert_false(io->error);
}

bool fuzz_is_container(const fuzz_field *field) {
    return field->sort == FUZZ_STRING && field->size >= 64 && memcmp(field->data, "BLY", 3) == 0;
}

static void write_container(rm_io *io, const fuzz_field *field, uint64_t *rng) {
    const char *data = (const char *)field->data;
    size_t size = field->size, first = 64 + (size_t)(blyt_next(rng) % (size - 63));
    rm.SaveStringBuffer(io, data, first);
    for (size_t at = first, n; at < size; at += n) {
        n = 1 + (size_t)(blyt_next(rng) % (size - at));
        rm.SaveStringBuffer(io, data + at, n);
    }
}

rm_io *fuzz_write(const fuzz_payload *p, uint64_t *rng) {
    rm_io *io = fake_io_new();
    for (size_t i = 0; i < p->n; i++) {
        const fuzz_field *field = &p->fields[i];
        if (field->sort == FUZZ_NUMBER)
            rm.SaveUnsigned(io, field->number);
        else if (field->sort == FUZZ_REAL)
            rm.SaveDouble(io, field->real);
        else if (fuzz_is_container(field) && blyt_next(rng) % 4)
            write_container(io, field, rng);
        else
            rm.SaveStringBuffer(io, (const char *)field->data, field->size);
    }
    return io;
}
