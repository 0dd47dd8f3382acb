/* The picture is a grid of characters. Each has room for dots, two by four where there are Braille
 * characters and one by one where there are not; the curve is dots, and what is not under the curve
 * may be one of the two dashed lines: the rate promised, the keys planned for.
 */
#include "plan/plot.h"

#include "text/message.h"
#include "text/numbers.h"

#include <math.h>
#include <string.h>

enum {
    ROWS = 15,
    MARGIN = 9, /* columns left of the picture, for the labels */
    MIN_WIDTH = 24,
    MAX_WIDTH = 90
};

typedef struct picture {
    const chart *c;
    bool unicode;
    unsigned width;                      /* characters */
    unsigned across, up;                 /* dots in a character */
    int promise;                         /* row of the promised rate; below 0: outside */
    unsigned capacity;                   /* column of the keys planned for */
    unsigned char dots[ROWS][MAX_WIDTH]; /* a bit each, in the order of Braille */
} picture;

plot_style plot_style_here(void) {
    return (plot_style){message_columns(1), message_utf8()};
}

static unsigned width_of(plot_style style) {
    unsigned width = style.columns > MARGIN + 1 ? style.columns - MARGIN - 1 : 0;
    return width < MIN_WIDTH ? MIN_WIDTH : width > MAX_WIDTH ? MAX_WIDTH : width;
}

size_t plot_points(plot_style style) {
    return width_of(style) * (style.unicode ? 2 : 1);
}

/* ---- dots ------------------------------------------------------------------------------------ */

/* `y` counts dots from the top. */
static void set_dot(picture *p, unsigned x, unsigned y) {
    static const unsigned char braille[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    p->dots[y / p->up][x / p->across] |= braille[y % p->up][x % p->across];
}

/* Dots from the top, which is 0; below the foot of the picture when the rate is off the axis. */
static int dot_of(const picture *p, double rate) {
    const int most = (int)(ROWS * p->up) - 1;
    double height = chart_height(p->c, rate);
    return height < 0 ? most + 1 : most - (int)lround(fmin(height, 1) * most);
}

/* Between neighbours the curve goes straight up, so that a steep one has no holes. */
static void draw_curve(picture *p) {
    const chart_curve *curve = &p->c->curves[p->c->count - 1];
    const int most = (int)(ROWS * p->up) - 1;
    int before = most + 1;
    for (unsigned x = 0; x < p->c->points; x++) {
        int y = dot_of(p, curve->rates[x]);
        int from = before > y + 1 ? before - 1 : y;
        for (int at = y; at <= from && at <= most; at++)
            set_dot(p, x, (unsigned)at);
        before = y;
    }
}

static unsigned column_of(const picture *p, uint64_t keys) {
    return (unsigned)lround((double)keys / (double)p->c->last * (p->width - 1));
}

/* ---- characters ------------------------------------------------------------------------------ */

static void put_braille(unsigned char dots, FILE *to) {
    /* U+2800 + dots */
    (void)fprintf(to, "\xE2%c%c", 0xA0 + (dots >> 6), 0x80 + (dots & 0x3F));
}

static void put_guide(const picture *p, bool flat, bool upright, FILE *to) {
    static const char *const fine[] = {" ", "┈", "┊", "┼"}, *const plain[] = {" ", "-", ":", "+"};
    (void)fputs((p->unicode ? fine : plain)[flat + 2 * upright], to);
}

/* Where only blanks are left. */
static unsigned end_of(const picture *p, unsigned row) {
    unsigned end = (int)row == p->promise ? p->width : p->capacity + 1;
    for (unsigned x = end; x < p->width; x++)
        if (p->dots[row][x])
            end = x + 1;
    return end;
}

static void put_row(const picture *p, unsigned row, FILE *to) {
    message_style now = STYLE_PLAIN;
    for (unsigned x = 0; x < end_of(p, row); x++) {
        unsigned char dots = p->dots[row][x];
        bool flat = (int)row == p->promise, upright = x == p->capacity;
        message_style want = dots ? STYLE_BLUE : flat || upright ? STYLE_DIM : STYLE_PLAIN;
        if (want != now)
            (void)fprintf(to, "%s%s", message_style_off(1), message_style_on(1, want));
        now = want;
        if (!dots)
            put_guide(p, flat, upright, to);
        else if (p->unicode)
            put_braille(dots, to);
        else
            (void)fputc('*', to);
    }
    (void)fprintf(to, "%s\n", message_style_off(1));
}

/* The power of ten that stands at this row, or "". */
static void label_of(const picture *p, unsigned row, char out[NUMBER_TEXT]) {
    const int every = (p->c->high - p->c->low) / (ROWS / 2) + 1;
    out[0] = '\0';
    for (int power = p->c->high; power >= p->c->low; power -= every)
        if (dot_of(p, pow(10, power)) / (int)p->up == (int)row)
            (void)number_percent(pow(10, power), out);
}

static void put_axis(const picture *p, FILE *to) {
    bool tick[MAX_WIDTH] = {false};
    for (uint64_t keys = 0; keys <= p->c->last; keys += p->c->step)
        tick[column_of(p, keys)] = true;
    (void)fprintf(to, "%*s%s", MARGIN - 1, "", p->unicode ? "└" : "+");
    for (unsigned x = 0; x < p->width; x++)
        (void)fputs(p->unicode ? tick[x] ? "┴" : "─" : tick[x] ? "+" : "-", to);
    (void)fputc('\n', to);
}

static void put_ticks(const picture *p, FILE *to) {
    char line[MAX_WIDTH], text[NUMBER_TEXT];
    size_t used = 0;
    for (uint64_t keys = 0; keys <= p->c->last; keys += p->c->step) {
        size_t length = strlen(chart_tick(keys, text)), middle = column_of(p, keys);
        size_t from = middle > length / 2 ? middle - length / 2 : 0;
        if (from + length > p->width)
            from = p->width - length;
        if (used > 0 && from < used + 1)
            continue;
        memset(line + used, ' ', from - used);
        memcpy(line + from, text, length);
        used = from + length;
    }
    (void)fprintf(to, "%*s%.*s\n", MARGIN, "", (int)used, line);
}

void plot_print(const chart *c, plot_style style, FILE *to) {
    picture p = {.c = c, .unicode = style.unicode, .width = width_of(style)};
    char label[NUMBER_TEXT], promise[NUMBER_TEXT], keys[NUMBER_TEXT];
    p.across = p.unicode ? 2 : 1;
    p.up = p.unicode ? 4 : 1;
    p.promise = dot_of(&p, c->promise) / (int)p.up;
    p.capacity = column_of(&p, c->capacity);
    draw_curve(&p);
    (void)fprintf(to, "\nRate of %s by keys added; dashed: %s promised for %s %s\n\n",
                  bly_kind_name(c->curves[c->count - 1].advice->kind),
                  number_percent(c->promise, promise), number_grouped(c->capacity, keys),
                  c->capacity == 1 ? "key" : "keys");
    for (unsigned row = 0; row < ROWS; row++) {
        label_of(&p, row, label);
        (void)fprintf(to, "%*s %s", MARGIN - 2, label,
                      p.unicode ? *label ? "┤" : "│"
                      : *label  ? "+"
                                : "|");
        put_row(&p, row, to);
    }
    put_axis(&p, to);
    put_ticks(&p, to);
}
