/* plot.c - draws a chart in characters.
 *
 * The picture is a grid of characters. Each curve is drawn with its own mark; with Unicode, the
 * first curve is a line of Braille dots. Where several curves need the same character, the first
 * curve gets it. The others alternate from column to column, so that all of them are visible. Two
 * dashed lines show the requested rate and the planned number of keys.
 */
#include "plan/plot.h"

#include "plan/plan_chart.h"
#include "text/help_text.h"
#include "text/message.h"
#include "text/numbers.h"

#include <math.h>
#include <string.h>

enum {
    ROWS = 18,
    MARGIN = 9, /* columns left of the picture, for the labels */
    MIN_WIDTH = 24,
    MAX_WIDTH = 90
};

typedef struct picture {
    const chart *c;
    bool unicode;
    unsigned width;                      /* characters */
    unsigned across, up;                 /* dots per character */
    int requested;                       /* row of the requested rate; below 0: outside */
    unsigned capacity;                   /* column of the planned number of keys */
    unsigned char dots[ROWS][MAX_WIDTH]; /* dots of the first curve: one bit each, as in Braille */
    unsigned char curves[ROWS][MAX_WIDTH]; /* a bit for each curve */
} picture;

static unsigned width_here(void) {
    const unsigned columns = message_columns(1);
    const unsigned width = columns > MARGIN + 1 ? columns - MARGIN - 1 : 0;
    return width < MIN_WIDTH ? MIN_WIDTH : width > MAX_WIDTH ? MAX_WIDTH : width;
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* `y` counts dots from the top. */
static void set_dot(picture *p, size_t curve, unsigned x, unsigned y) {
    static const unsigned char braille[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    p->curves[y / p->up][x / p->across] |= (unsigned char)(1U << curve);
    if (curve == 0)
        p->dots[y / p->up][x / p->across] |= braille[y % p->up][x % p->across];
}

/* The number of dots below the top. A rate below the axis is one dot below the picture. */
static int dot_of(const picture *p, double rate) {
    const int last = (int)(ROWS * p->up) - 1;
    double height = chart_height(p->c, rate);
    return height < 0 ? last + 1 : last - (int)lround(fmin(height, 1) * last);
}

/* Whether a curve is below the axis everywhere. It is then drawn at the bottom. */
static bool is_low(const chart *c, const chart_curve *curve) {
    for (size_t at = 0; at < c->points; at++)
        if (chart_height(c, curve->rates[at]) >= 0)
            return false;
    return true;
}

/* Connects neighbouring points by a vertical line, so that a steep curve has no gaps. */
static void draw_curve(picture *p, size_t number) {
    const chart_curve *curve = &p->c->curves[number];
    const int last = (int)(ROWS * p->up) - 1;
    const size_t low_end = is_low(p->c, curve) ? chart_end(p->c, curve) + 1 : 0;
    int before = last + 1;
    for (unsigned x = 0; x < p->c->points; x++) {
        int y = x < low_end ? last : dot_of(p, curve->rates[x]);
        int from = before > y + 1 ? before - 1 : y;
        for (int at = y; at <= from && at <= last; at++)
            set_dot(p, number, x, (unsigned)at);
        before = y;
    }
}

/* The curve whose mark is drawn here, or -1 for a blank. */
static int curve_at(const picture *p, unsigned row, unsigned x) {
    const unsigned set = p->curves[row][x];
    if (set & 1 || !set)
        return set ? 0 : -1;
    const unsigned others = (unsigned)p->c->count - 1;
    for (unsigned i = 0; i < others; i++)
        if (set & 1U << (1 + (x + i) % others))
            return (int)(1 + (x + i) % others);
    return -1;
}

static unsigned column_of(const picture *p, uint64_t keys) {
    return (unsigned)lround((double)keys / (double)p->c->last * (p->width - 1));
}

/* ---- characters ------------------------------------------------------------------------------ */

static void put_braille(unsigned char dots) {
    /* U+2800 + dots */
    (void)printf("\xE2%c%c", 0xA0 + (dots >> 6), 0x80 + (dots & 0x3F));
}

static const char *mark_of(bool unicode, size_t curve) {
    static const char *const fine[PLAN_SHOWN] = {"⠶⠶", "○", "×", "△", "□", "◆"};
    static const char *const plain[PLAN_SHOWN] = {"*", "o", "x", "#", "=", "@"};
    return (unicode ? fine : plain)[curve];
}

static message_style style_of(int curve) {
    static const message_style styles[PLAN_SHOWN] = {STYLE_BLUE,  STYLE_YELLOW, STYLE_GREEN,
                                                     STYLE_PLAIN, STYLE_RED,    STYLE_DIM};
    return curve < 0 ? STYLE_DIM : styles[curve];
}

static void put_guide(const picture *p, bool flat, bool upright) {
    static const char *const fine[] = {" ", "┈", "┊", "┼"}, *const plain[] = {" ", "-", ":", "+"};
    (void)fputs((p->unicode ? fine : plain)[flat + 2 * upright], stdout);
}

/* The column after which the row is blank. */
static unsigned end_of(const picture *p, unsigned row) {
    unsigned end = (int)row == p->requested ? p->width : p->capacity + 1;
    for (unsigned x = end; x < p->width; x++)
        if (p->curves[row][x])
            end = x + 1;
    return end;
}

static void put_row(const picture *p, unsigned row) {
    message_style now = STYLE_PLAIN;
    for (unsigned x = 0; x < end_of(p, row); x++) {
        const bool flat = (int)row == p->requested, upright = x == p->capacity;
        const int curve = curve_at(p, row, x);
        const message_style want = curve >= 0 || flat || upright ? style_of(curve) : STYLE_PLAIN;
        if (want != now)
            (void)printf("%s%s", message_style_off(1), message_style_on(1, want));
        now = want;
        if (curve < 0)
            put_guide(p, flat, upright);
        else if (curve == 0 && p->unicode)
            put_braille(p->dots[row][x]);
        else
            (void)fputs(mark_of(p->unicode, (size_t)curve), stdout);
    }
    (void)printf("%s\n", message_style_off(1));
}

/* ---- axes and words -------------------------------------------------------------------------- */

/* The label of the axis in this row, a power of ten, or "". */
static void label_of(const picture *p, unsigned row, char out[NUMBER_TEXT]) {
    const int every = (p->c->high - p->c->low) / (ROWS / 2) + 1;
    out[0] = '\0';
    for (int power = p->c->high; power >= p->c->low; power -= every)
        if (dot_of(p, pow(10, power)) / (int)p->up == (int)row)
            (void)number_percent(pow(10, power), out);
}

static void put_axis(const picture *p) {
    bool tick[MAX_WIDTH] = {false};
    for (uint64_t keys = 0; keys <= p->c->last; keys += p->c->step)
        tick[column_of(p, keys)] = true;
    (void)printf("%*s%s", MARGIN - 1, "", p->unicode ? "└" : "+");
    for (unsigned x = 0; x < p->width; x++)
        (void)fputs(p->unicode ? tick[x] ? "┴" : "─" : tick[x] ? "+" : "-", stdout);
    (void)putchar('\n');
}

static void put_ticks(const picture *p) {
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
    (void)printf("%*s%.*s\n", MARGIN, "", (int)used, line);
}

static void put_title(const picture *p, bool all) {
    char text[256];
    (void)snprintf(text, sizeof text,
                   "Expected false-positive rate per lookup, by %s. Dashed: %s %s for %s %s.%s",
                   chart_axis(p->c), NUMBER_PERCENT(p->c->requested),
                   p->c->plan->needs.fpr > 0 ? "requested" : "expected",
                   NUMBER_GROUPED(p->c->capacity), p->c->capacity == 1 ? "key" : "keys",
                   all ? " Only the kinds that are shown without --all have a curve." : "");
    (void)putchar('\n');
    text_wrap(stdout, text_all(text), 0, 0, MARGIN + p->width);
    (void)putchar('\n');
}

/* The marks and names of the curves, as many in a line as fit. */
static void put_legend(const picture *p) {
    char names[CHART_NAMES];
    size_t used = MARGIN;
    (void)printf("\n%*s", MARGIN, "");
    for (size_t i = 0; i < p->c->count; i++) {
        const size_t mark = i == 0 && p->unicode ? 2 : 1;
        const size_t length = mark + 1 + strlen(chart_names(&p->c->curves[i], names));
        const bool first = used == MARGIN, breaks = !first && used + 3 + length > MARGIN + p->width;
        if (breaks)
            (void)printf("\n%*s", MARGIN, "");
        used = breaks ? MARGIN + length : used + (first ? 0 : 3) + length;
        (void)printf("%s%s%s%s %s", first || breaks ? "" : "   ",
                     message_style_on(1, style_of((int)i)), mark_of(p->unicode, i),
                     message_style_off(1), names);
    }
    (void)putchar('\n');
}

void plot_print(const plan_answer *answer, bool all) {
    chart c;
    char label[NUMBER_TEXT];
    picture p = {.c = &c, .unicode = message_utf8(), .width = width_here()};
    p.across = p.unicode ? 2 : 1;
    p.up = p.unicode ? 4 : 1;
    chart_make(&c, answer, (chart_medium){p.width * p.across, p.width, ROWS});
    p.requested = dot_of(&p, c.requested) / (int)p.up;
    p.capacity = column_of(&p, c.capacity);
    for (size_t i = 0; i < c.count; i++)
        draw_curve(&p, i);
    put_title(&p, all);
    for (unsigned row = 0; row < ROWS; row++) {
        label_of(&p, row, label);
        (void)printf("%*s %s", MARGIN - 2, label,
                     p.unicode ? *label ? "┤" : "│"
                     : *label  ? "+"
                               : "|");
        put_row(&p, row);
    }
    put_axis(&p);
    put_ticks(&p);
    put_legend(&p);
}
