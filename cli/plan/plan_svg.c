/* plan_svg.c - draws a chart as SVG.
 *
 * The title is at the top, the plot with its ticks on the left, and on the right there is a label
 * for each curve at the height where the curve ends. The width of the labels is not known, because
 * it depends on the viewer's font. The picture has room for an upper bound of that width.
 *
 * Curves differ in colour (Okabe and Ito's colours, for colour-blind readers), in dashes and in
 * marks, so that they differ in a grey print, too. The background is light or dark as the viewer
 * prefers.
 */
#include "plan/plan_svg.h"

#include "io/output.h"
#include "plan/plan_chart.h"
#include "text/message.h"
#include "text/numbers.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    EDGE = 18,
    LEFT = 104,
    PLOT_WIDTH = 600,
    RIGHT = LEFT + PLOT_WIDTH,
    TOP = 92,
    PLOT_HEIGHT = 360,
    BOTTOM = TOP + PLOT_HEIGHT,
    FONT = 13,
    LABEL_LINE = 18,
    LABEL_GAP = 6,
    SAMPLE = RIGHT + 16, /* a short piece of the curve's line, before the names of its kinds */
    NAMES = SAMPLE + 40
};

typedef struct drawing {
    const chart *c;
    output out;
    bool good;
    int width, height;
    double label_tops[PLAN_SHOWN];
} drawing;

static void put(drawing *d, const char *format, ...) PRINTF_LIKE(2, 3);

static void put(drawing *d, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    d->good = d->good && output_put(&d->out, text, (size_t)length);
}

/* ---- positions ------------------------------------------------------------------------------- */

static double x_of(const chart *c, double keys) {
    return LEFT + PLOT_WIDTH * keys / (double)c->last;
}

static double x_at(const chart *c, size_t point) {
    return LEFT + PLOT_WIDTH * (double)point / (double)(c->points - 1);
}

static double y_of(const chart *c, double rate) {
    return BOTTOM - PLOT_HEIGHT * fmin(1, fmax(0, chart_height(c, rate)));
}

static double end_height(const chart *c, size_t curve) {
    return y_of(c, c->curves[curve].rates[chart_end(c, &c->curves[curve])]);
}

static int label_height(const chart *c, size_t curve) {
    return LABEL_LINE * (int)c->curves[curve].kind_count + LABEL_GAP;
}

/* Puts each label beside the end of its curve, or as near to it as the other labels allow. */
static void place_labels(drawing *d) {
    const chart *c = d->c;
    size_t order[PLAN_SHOWN]; /* from top to bottom */
    for (size_t i = 0; i < c->count; i++) {
        size_t at = i;
        d->label_tops[i] = end_height(c, i) - label_height(c, i) / 2.0;
        for (; at > 0 && d->label_tops[order[at - 1]] > d->label_tops[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    double from = TOP - LABEL_LINE, to = BOTTOM + LABEL_LINE;
    for (size_t i = 0; i < c->count; i++) {
        double *top = &d->label_tops[order[i]];
        *top = fmax(*top, from);
        from = *top + label_height(c, order[i]);
    }
    for (size_t i = c->count; i-- > 0;) {
        double *top = &d->label_tops[order[i]];
        *top = fmin(*top, to - label_height(c, order[i]));
        to = *top;
    }
}

/* ---- words ----------------------------------------------------------------------------------- */

/* An upper bound of the width of a text in all common sans-serif fonts. */
static int text_width(const char *text) {
    return (int)(0.68 * FONT * (double)strlen(text)) + 1;
}

/* The value in which the kinds differ: number of keys, size or rate. */
static char *difference(const chart *c, const bly_advice *a, char out[NUMBER_TEXT]) {
    const bly_needs *needs = &c->plan->needs;
    if (needs->keys == 0)
        return chart_tick(a->needs.keys, out);
    return needs->fpr > 0 ? number_bytes(a->bytes, out) : number_percent(a->fpr, out);
}

static int picture_width(const chart *c) {
    char text[CHART_NAMES];
    int names = 0;
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < c->curves[i].kind_count; k++) {
            const bly_advice *a = c->curves[i].kinds[k];
            (void)snprintf(text, sizeof text, "%s %s", bly_kind_name(a->kind),
                           difference(c, a, NUMBER_ROOM));
            names = text_width(text) > names ? text_width(text) : names;
        }
    return NAMES + names + EDGE;
}

/* Writes a description of the chart for screen readers. */
static void put_description(drawing *d) {
    const chart *c = d->c;
    char names[CHART_NAMES];
    put(d, "<title id=\"title\">False-positive rate by number of keys</title>\n");
    const bool twice = c->last >= 2 * c->capacity;
    put(d, "<desc id=\"desc\">Expected rates with %s keys%s:", NUMBER_GROUPED(c->capacity),
        twice ? ", and with twice as many" : "");
    for (size_t i = 0; i < c->count; i++) {
        const bly_advice *a = c->curves[i].kinds[0];
        const bool full = plan_max_keys(a) < 2 * c->capacity;
        put(d, "%s %s %s", i ? ";" : "", chart_names(&c->curves[i], names),
            NUMBER_PERCENT(plan_rate_at(a, c->capacity)));
        if (twice)
            put(d, ", %s", full ? "full" : NUMBER_PERCENT(plan_rate_at(a, 2 * c->capacity)));
    }
    put(d, ".</desc>\n");
}

static void put_title(drawing *d) {
    const bly_advice *a = d->c->curves[0].kinds[0];
    put(d, "<text class=\"title\" x=\"%d\" y=\"30\">False-positive rate by number of keys</text>\n",
        EDGE);
    put(d,
        "<text class=\"note\" x=\"%d\" y=\"51\">%s%s for %s keys at %s: %s, %.1f bits per "
        "key</text>\n",
        EDGE, d->c->plan->own_kind ? "" : "recommended: ", bly_kind_name(a->kind),
        NUMBER_GROUPED(a->needs.keys), NUMBER_PERCENT(a->needs.fpr), NUMBER_BYTES(a->bytes),
        a->bits_per_key);
}

/* ---- axes ------------------------------------------------------------------------------------ */

static void put_style(drawing *d) {
    put(d,
        "<style>\n"
        "text { font: %dpx system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #3d4751 }\n"
        ".title { font-size: 16px; font-weight: 600 }\n"
        ".note { fill: #5d6872 }\n"
        ".best { font-weight: 600 }\n"
        ".paper { fill: #ffffff }\n"
        ".grid { stroke: #dfe3e7 }\n"
        ".axis { stroke: #7b8690; fill: none }\n"
        ".guide { stroke: #5d6872; stroke-dasharray: 5 4 }\n"
        ".curve { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round }\n"
        ".thick { stroke-width: 3.6 }\n"
        ".mark { fill: #ffffff; stroke: currentColor; stroke-width: 1.8 }\n"
        ".end { fill: currentColor }\n",
        FONT);
    put(d, ".c0 { color: #0072b2 } .c1 { color: #d55e00 } .c2 { color: #009e73 }\n"
           ".c3 { color: #b8559a } .c4 { color: #8a6d00 } .c5 { color: #4a4a4a }\n");
    put(d, "@media (prefers-color-scheme: dark) {\n"
           "text { fill: #d5dce2 } .note { fill: #a9b4be } .paper, .mark { fill: #14181d }\n"
           ".grid { stroke: #2c343c } .axis { stroke: #8d98a2 } .guide { stroke: #a9b4be }\n"
           ".c0 { color: #56b4e9 } .c1 { color: #f0853d } .c2 { color: #2fc79a }\n"
           ".c3 { color: #de8fc3 } .c4 { color: #e0c341 } .c5 { color: #c8c8c8 }\n"
           "}\n"
           "</style>\n");
    put(d, "<rect class=\"paper\" width=\"%d\" height=\"%d\"/>\n", d->width, d->height);
}

static void put_axes(drawing *d) {
    const chart *c = d->c;
    const int every = (c->high - c->low) / 10 + 1;
    for (int power = c->high; power >= c->low; power -= every) {
        double y = y_of(c, pow(10, power));
        put(d, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, y, RIGHT);
        put(d, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 9, y + 4.5,
            NUMBER_PERCENT(pow(10, power)));
    }
    for (uint64_t keys = 0; keys <= c->last; keys += c->step) {
        double x = x_of(c, (double)keys);
        put(d, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>\n", x, TOP, BOTTOM);
        put(d, "<path class=\"axis\" d=\"M%.1f %dv5\"/>\n", x, BOTTOM);
        put(d, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x, BOTTOM + 20,
            chart_tick(keys, NUMBER_ROOM));
    }
    put(d, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, BOTTOM, RIGHT);
    put(d, "<text class=\"note\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
        LEFT + PLOT_WIDTH / 2, BOTTOM + 44, chart_axis(c));
    put(d,
        "<text class=\"note\" transform=\"translate(%d %d) rotate(-90)\" "
        "text-anchor=\"middle\">expected false-positive rate per lookup</text>\n",
        EDGE, TOP + PLOT_HEIGHT / 2);
}

static void put_guides(drawing *d) {
    const chart *c = d->c;
    double y = y_of(c, c->requested), x = x_of(c, (double)c->capacity);
    put(d, "<path class=\"guide\" d=\"M%d %.1fH%d\"/>\n", LEFT, y, RIGHT);
    put(d, "<path class=\"guide\" d=\"M%.1f %dV%d\"/>\n", x, TOP - 4, BOTTOM);
    put(d, "<text class=\"note\" x=\"%d\" y=\"%.1f\">%s: %s</text>\n", LEFT + 8, y - 7,
        c->plan->needs.fpr > 0 ? "requested" : "expected", NUMBER_PERCENT(c->requested));
    put(d,
        "<text class=\"note\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">planned for %s "
        "keys</text>\n",
        x, TOP - 10, chart_tick(c->capacity, NUMBER_ROOM));
}

/* Explains the dot at the end of a curve, if there is one. Returns the height of the picture. */
static int put_footnote(drawing *d, bool measure_only) {
    bool ends = false;
    for (size_t i = 0; i < d->c->count; i++)
        ends = ends || chart_end(d->c, &d->c->curves[i]) + 1 < d->c->points;
    if (ends && !measure_only)
        put(d,
            "<text class=\"note\" x=\"%d\" y=\"%d\">A dot ends the curve of a filter that accepts "
            "no more keys.</text>\n",
            LEFT, BOTTOM + 68);
    return BOTTOM + (ends ? 84 : 62);
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* Begins a path in the line style of this curve. */
static void open_line(drawing *d, size_t curve) {
    static const char *const dashes[PLAN_SHOWN] = {"none", "8 4", "none", "2 4", "12 4 2 4", "5 3"};
    put(d, "<path class=\"curve%s\" stroke-dasharray=\"%s\" d=\"", curve ? "" : " thick",
        dashes[curve]);
}

static void put_mark(drawing *d, size_t curve, double x, double y) {
    static const char *const shapes[PLAN_SHOWN] = {
        "",
        "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
        "m-4-4h8v8h-8z",
        "m0-5.5l5.5 9.5h-11z",
        "m0-5.5l5.5 5.5-5.5 5.5-5.5-5.5z",
        "m-4-4l8 8m0-8l-8 8",
    };
    if (curve)
        put(d, "<path class=\"mark\" d=\"M%.2f %.2f%s\"/>\n", x, y, shapes[curve]);
}

static void put_marks(drawing *d, size_t number) {
    const chart *c = d->c;
    const chart_curve *curve = &c->curves[number];
    const size_t end = chart_end(c, curve), every = 48, first = 16 + 9 * number;
    for (size_t at = first; at <= end; at += every)
        if (chart_height(c, curve->rates[at]) > 0.02)
            put_mark(d, number, x_at(c, at), y_of(c, curve->rates[at]));
    if (end + 1 < c->points)
        put(d, "<circle class=\"end\" cx=\"%.2f\" cy=\"%.2f\" r=\"4\"/>\n", x_at(c, end),
            y_of(c, curve->rates[end]));
}

/* Begins where the curve rises above the bottom of the axis. A curve that never does is drawn along
 * the bottom. */
static void put_curve(drawing *d, size_t number) {
    const chart *c = d->c;
    const chart_curve *curve = &c->curves[number];
    const size_t end = chart_end(c, curve);
    size_t at = 0;
    while (at < end && chart_height(c, curve->rates[at + 1]) < 0)
        at++;
    if (at == end)
        at = 0;
    put(d, "<g class=\"c%zu\">\n", number);
    open_line(d, number);
    for (size_t i = at; i <= end; i++) {
        double x = x_at(c, i);
        /* Crosses the bottom where the line from the point before would. */
        if (i == at && at + 1 < end && chart_height(c, curve->rates[i]) < 0) {
            const double below = fmax(chart_height(c, curve->rates[i]), -1),
                         above = chart_height(c, curve->rates[i + 1]);
            x = above > 0 ? x_at(c, i + 1) - above / (above - below) * (x_at(c, 1) - LEFT) : x;
        }
        put(d, "%s%.2f %.2f", i == at ? "M" : "L", x, y_of(c, curve->rates[i]));
    }
    put(d, "\"/>\n");
    put_marks(d, number);
    put(d, "</g>\n");
}

/* A pale line connects the end of the curve with its label. */
static void put_label(drawing *d, size_t number) {
    const chart *c = d->c;
    const chart_curve *curve = &c->curves[number];
    const double y = d->label_tops[number] + label_height(c, number) / 2.0;
    double line = d->label_tops[number] + LABEL_GAP / 2.0 + LABEL_LINE / 2.0 + 4.5;
    put(d, "<g class=\"c%zu\">\n", number);
    if (chart_end(c, curve) + 1 == c->points)
        put(d, "<path class=\"curve\" stroke-opacity=\".5\" d=\"M%d %.2fL%d %.2f\"/>\n", RIGHT,
            end_height(c, number), SAMPLE, y);
    open_line(d, number);
    put(d, "M%d %.2fH%d\"/>\n", SAMPLE, y, NAMES - 8);
    put_mark(d, number, (SAMPLE + NAMES - 8) / 2.0, y);
    put(d, "</g>\n");
    for (size_t k = 0; k < curve->kind_count; k++, line += LABEL_LINE)
        put(d,
            "<text x=\"%d\" y=\"%.2f\"><tspan%s>%s</tspan> <tspan "
            "class=\"note\">%s</tspan></text>\n",
            NAMES, line, number || k ? "" : " class=\"best\"", bly_kind_name(curve->kinds[k]->kind),
            difference(c, curve->kinds[k], NUMBER_ROOM));
}

bool svg_write(const plan_answer *p, const char *path, bool force) {
    static const double apart = 6; /* a thick line, a thin line, and a gap */
    chart c;
    chart_make(&c, p, (chart_medium){CHART_POINTS, PLOT_WIDTH / apart, PLOT_HEIGHT / apart});
    drawing d = {.c = &c, .good = true, .width = picture_width(&c)};
    if (!output_open(&d.out, path, force))
        return false;
    place_labels(&d);
    d.height = put_footnote(&d, true);
    put(&d,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
        "%d\" role=\"img\" aria-labelledby=\"title desc\">\n",
        d.width, d.height, d.width, d.height);
    put_description(&d);
    put_style(&d);
    put_title(&d);
    put_axes(&d);
    put_guides(&d);
    (void)put_footnote(&d, false);
    for (size_t i = c.count; i-- > 0;)
        put_curve(&d, i);
    for (size_t i = 0; i < c.count; i++)
        put_label(&d, i);
    put(&d, "</svg>\n");
    d.good = d.good && output_commit(&d.out);
    output_close(&d.out);
    return d.good;
}
