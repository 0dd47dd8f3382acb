/* golden.h - reads the files of tests/golden/redisbloom as streams of the fake engine. */
#ifndef BLYT_GOLDEN_H
#define BLYT_GOLDEN_H

#include "../support/support.h"
#include "fake_host.h"

#include <inttypes.h>

enum { LINE = 1 << 20 };

/* A file: its values as a stream, and the header of SCANDUMP. */
typedef struct golden {
    rm_type *type;
    int encoding;
    rm_io *io;
    uint8_t header[4096];
    size_t header_size;
} golden;

static inline size_t hex(const char *text, uint8_t *out, size_t room) {
    size_t n = 0;
    unsigned byte;
    for (; n < room && sscanf(text + 2 * n, "%2x", &byte) == 1; n++)
        out[n] = (uint8_t)byte;
    return n;
}

static inline void take_line(golden *g, char *line, uint8_t *bytes) {
    char word[32];
    unsigned long long a, b;
    double real;
    uint64_t bits;
    if (sscanf(line, "type %31s", word) == 1)
        g->type = fake_type(strcmp(word, "bloom") == 0 ? "MBbloom--" : "MBbloomCF");
    else if (sscanf(line, "encoding %d", &g->encoding) == 1)
        ;
    else if (sscanf(line, "settings %llu %llu", &a, &b) == 2) {
        char text[32];
        snprintf(text, sizeof text, "%llu", a);
        assert_int_equal(fake_config_set("cf-max-iterations", text), RM_OK);
        snprintf(text, sizeof text, "%llu", b);
        assert_int_equal(fake_config_set("cf-expansion-factor", text), RM_OK);
    } else if (sscanf(line, "U %llu", &a) == 1)
        rm.SaveUnsigned(g->io, a);
    else if (sscanf(line, "D %" SCNx64, &bits) == 1) {
        memcpy(&real, &bits, sizeof real);
        rm.SaveDouble(g->io, real);
    } else if (strncmp(line, "S ", 2) == 0)
        rm.SaveStringBuffer(g->io, (const char *)bytes, hex(line + 2, bytes, LINE));
    else if (strncmp(line, "header ", 7) == 0)
        g->header_size = hex(line + 7, g->header, sizeof g->header);
}

static inline golden read_golden(const char *name) {
    char path[1024];
    golden g = {.io = fake_io_new()};
    char *line = malloc(LINE);
    uint8_t *bytes = malloc(LINE);
    int length = snprintf(path, sizeof path, BLYT_RB_GOLDEN "/%s", name);
    assert_in_range(length, 1, sizeof path - 1);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, LINE, file))
        take_line(&g, line, bytes);
    fclose(file);
    free(line);
    free(bytes);
    assert_non_null(g.type);
    return g;
}

#endif
