/* fuzz_mutate.c - mutates bytes, the headers and bodies of container files, and fields.
 *
 * A container mostly gets correct checksums again, otherwise only the check of checksums would be
 * tested.
 */
#include "../support/store_support.h"
#include "fuzz.h"

static size_t below(uint64_t *rng, size_t n) {
    return n ? (size_t)(blyt_next(rng) % n) : 0;
}

static bool one_in(uint64_t *rng, unsigned n) {
    return blyt_next(rng) % n == 0;
}

uint64_t fuzz_odd_number(uint64_t x, uint64_t *rng) {
    static const uint64_t odd[] = {0,
                                   1,
                                   2,
                                   3,
                                   7,
                                   8,
                                   63,
                                   64,
                                   65,
                                   127,
                                   255,
                                   256,
                                   65535,
                                   65536,
                                   INT32_MAX,
                                   1ull << 31,
                                   UINT32_MAX,
                                   1ull << 32,
                                   1ull << 40,
                                   1ull << 48,
                                   INT64_MAX,
                                   1ull << 63,
                                   UINT64_MAX - 1,
                                   UINT64_MAX};
    switch (blyt_next(rng) % 9) {
    case 0:
        return x + 1;
    case 1:
        return x - 1;
    case 2:
        return x * 2;
    case 3:
        return x / 2;
    case 4:
        return x ^ 1ull << blyt_next(rng) % 64;
    case 5:
        return blyt_next(rng) >> blyt_next(rng) % 64;
    default:
        return odd[below(rng, COUNT_OF(odd))];
    }
}

static double odd_real(double x, uint64_t *rng) {
    const double odd[] = {0,      -0.0,   1,     -1,       0.5, 0.25,      1e-9,
                          5e-324, 1e-300, 1e308, INFINITY, NAN, -INFINITY, 0.9999999999999999};
    uint64_t bits;
    switch (blyt_next(rng) % 6) {
    case 0:
        return x * 2;
    case 1:
        return x / 2;
    case 2:
        memcpy(&bits, &x, sizeof bits);
        bits ^= 1ull << blyt_next(rng) % 64;
        memcpy(&x, &bits, sizeof bits);
        return x;
    default:
        return odd[below(rng, COUNT_OF(odd))];
    }
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void resize(uint8_t **data, size_t *size, size_t to) {
    uint8_t *more = realloc(*data, to ? to : 1);
    assert_non_null(more);
    if (to > *size)
        memset(more + *size, 0, to - *size);
    *data = more;
    *size = to;
}

/* Replaces a number of 1, 2, 4 or 8 bytes at a random position. */
static void change_word(uint8_t *data, size_t size, uint64_t *rng) {
    int width = 1 << blyt_next(rng) % 4;
    if (size < (size_t)width)
        return;
    uint8_t *word = data + below(rng, size - (size_t)width + 1);
    store(word, fuzz_odd_number(load(word, width), rng), width);
}

static void splice(uint8_t *data, size_t size, uint64_t *rng) {
    size_t from = below(rng, size), to = below(rng, size);
    size_t n = below(rng, size - (from > to ? from : to));
    memmove(data + to, data + from, n);
}

static void flip(uint8_t *data, size_t size, uint64_t *rng) {
    for (size_t i = 1 + below(rng, 4); i && size; i--) {
        unsigned mask = one_in(rng, 2) ? 1u << blyt_next(rng) % 8 : (unsigned)blyt_next(rng);
        size_t at = below(rng, size);
        data[at] = (uint8_t)(data[at] ^ mask);
    }
}

void fuzz_change_bytes(uint8_t **data, size_t *size, uint64_t *rng) {
    switch (blyt_next(rng) % 8) {
    case 0:
        resize(data, size, below(rng, *size));
        break;
    case 1:
        resize(data, size, *size + 1 + below(rng, 100));
        break;
    case 2:
        splice(*data, *size, rng);
        break;
    case 3:
        change_word(*data, *size, rng);
        break;
    case 4: {
        size_t from = below(rng, *size), n = below(rng, *size - from);
        memset(*data + from, one_in(rng, 2) ? 0xFF : 0, n);
        break;
    }
    default:
        flip(*data, *size, rng);
    }
}

/* ---- containers ------------------------------------------------------------------------------ */

/* Positions and sizes of the fields of a container's header. */
static const struct {
    uint8_t at, width;
} parts[] = {{4, 1},  {5, 1},  {6, 1},  {7, 1},  {8, 1},  {9, 1}, {10, 2},
             {16, 8}, {24, 8}, {32, 8}, {40, 8}, {48, 8}, {56, 8}};

static void change_header(uint8_t *header, uint64_t *rng) {
    size_t i = below(rng, COUNT_OF(parts));
    uint8_t *at = header + parts[i].at;
    if (parts[i].at == 5) {
        *at = (uint8_t)(blyt_next(rng) % 23); /* every kind, and some codes without a kind */
    } else if (parts[i].at == 48) {
        double rate;
        memcpy(&rate, at, sizeof rate);
        rate = odd_real(rate, rng);
        memcpy(at, &rate, sizeof rate);
    } else {
        store(at, fuzz_odd_number(load(at, parts[i].width), rng), parts[i].width);
    }
}

/* Returns the header of a random level or part inside the container, or the header of the
 * container. */
static uint8_t *some_header(uint8_t *data, size_t size, uint64_t *rng) {
    uint8_t *header = data;
    for (size_t at = HEADER; at + HEADER <= size; at += HEADER)
        if (memcmp(data + at, "BLY1", 4) == 0 && one_in(rng, 3))
            header = data + at;
    return header;
}

/* Changes the length of the container, and in half of the cases corrects the size in its header. */
static void change_length(uint8_t **data, size_t *size, uint64_t *rng) {
    size_t to = HEADER + HEADER * below(rng, *size / HEADER + 2);
    resize(data, size, to);
    if (one_in(rng, 2))
        store(*data + 16, to - HEADER, 8);
}

static void change_body(uint8_t *data, size_t size, uint64_t *rng) {
    if (size <= HEADER)
        return;
    size_t n = size - HEADER;
    /* Starts at the beginning of the body, where the headers of levels are, or sometimes 128 bytes
     * before its end, where some kinds have a table. */
    size_t from = one_in(rng, 3) ? HEADER : one_in(rng, 3) && n > 128 ? size - 128 : HEADER;
    size_t span = one_in(rng, 2) && size - from > 64 ? 64 : size - from;
    uint8_t *copy = malloc(span);
    assert_non_null(copy);
    size_t kept = span;
    memcpy(copy, data + from, span);
    fuzz_change_bytes(&copy, &kept, rng);
    memcpy(data + from, copy, kept < span ? kept : span);
    free(copy);
}

void fuzz_change_container(uint8_t **data, size_t *size, uint64_t *rng) {
    for (size_t i = 1 + below(rng, 3); i; i--) {
        size_t choice = below(rng, 16);
        if (choice < 6)
            change_header(some_header(*data, *size, rng), rng);
        else if (choice < 14)
            change_body(*data, *size, rng);
        else
            change_length(data, size, rng);
        if (*size < HEADER)
            return;
    }
    if (one_in(rng, 8))
        return;
    if (one_in(rng, 8))
        fix_sums((blyt_buffer){*data, *size});
    else
        fix_all_sums((blyt_buffer){*data, *size});
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* Changes a string. If it is a container, a number before it is its length, which is mostly
 * corrected. */
static void change_string(fuzz_payload *p, size_t at, uint64_t *rng) {
    fuzz_field *field = &p->fields[at];
    if (!fuzz_is_container(field)) {
        fuzz_change_bytes(&field->data, &field->size, rng);
        return;
    }
    size_t before = field->size;
    fuzz_change_container(&field->data, &field->size, rng);
    for (size_t i = at >= 2 ? at - 2 : 0; i < at; i++)
        if (p->fields[i].sort == FUZZ_NUMBER && p->fields[i].number == before && !one_in(rng, 8))
            p->fields[i].number = field->size;
}

static void change_field(fuzz_payload *p, size_t at, const fuzz_payload *other, uint64_t *rng) {
    fuzz_field *field = &p->fields[at];
    if (field->sort == FUZZ_STRING) {
        change_string(p, at, rng);
    } else if (one_in(rng, 6) && other->n) { /* from another payload */
        const fuzz_field *theirs = &other->fields[below(rng, other->n)];
        if (theirs->sort == field->sort)
            *field = *theirs;
    } else if (field->sort == FUZZ_NUMBER) {
        field->number = fuzz_odd_number(field->number, rng);
    } else {
        field->real = odd_real(field->real, rng);
    }
}

/* Replaces the last fields by the last fields of another payload. */
static void cross(fuzz_payload *p, const fuzz_payload *other, uint64_t *rng) {
    size_t at = below(rng, p->n), from = below(rng, other->n);
    while (p->n > at)
        fuzz_remove(p, p->n - 1);
    for (; from < other->n; from++)
        fuzz_insert(p, p->n, fuzz_field_copy(&other->fields[from]));
}

static void change_order(fuzz_payload *p, const fuzz_payload *other, uint64_t *rng) {
    size_t a = below(rng, p->n), b = below(rng, p->n);
    fuzz_field kept = p->fields[a];
    switch (blyt_next(rng) % 5) {
    case 0:
        fuzz_remove(p, a);
        break;
    case 1:
        fuzz_insert(p, b, fuzz_field_copy(&kept));
        break;
    case 2:
        p->fields[a] = p->fields[b];
        p->fields[b] = kept;
        break;
    case 3:
        cross(p, other, rng);
        break;
    default:
        p->encoding = (int)below(rng, 7) - 1;
    }
}

void fuzz_change(fuzz_payload *p, const fuzz_payload *other, uint64_t *rng) {
    for (size_t i = 1 + below(rng, 3); i && p->n; i--) {
        size_t at = below(rng, p->n);
        if (one_in(rng, 3)) /* strings, which are few, are preferred */
            for (size_t j = 0; j < 8 && !fuzz_is_container(&p->fields[at]); j++)
                at = below(rng, p->n);
        if (one_in(rng, 8))
            change_order(p, other, rng);
        else
            change_field(p, at, other, rng);
    }
}
