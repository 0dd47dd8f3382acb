/* The picture has fixed places: a title, a legend in rows below it, the plot, and at its right edge
 * room for the label of the promised rate; the label of the planned keys stands on top of the plot.
 * So no text ever lies on a curve or on another text.
 *
 * There is no background. The colours are of middling lightness and can be seen on white and on
 * black; where a viewer tells that it is dark, text and lines are lightened.
 */
#include "plan/plan_svg.h"

#include "io/output.h"
#include "text/message.h"
#include "text/numbers.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    WIDTH = 852,
    LEFT = 96,
    RIGHT = 752, /* of the plot */
    LEGEND_TOP = 62,
    LEGEND_ROW = 22,
    LEGEND_CELL = 192,
    LEGEND_CELLS = 4, /* in a row */
    PLOT_HEIGHT = 340
};

typedef struct drawing {
    const chart *c;
    output out;
    bool good;
    int top, bottom; /* of the plot */
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

/* ---- places ---------------------------------------------------------------------------------- */

static double x_of(const drawing *d, double keys) {
    return LEFT + (RIGHT - LEFT) * keys / (double)d->c->last;
}

static double y_at(const drawing *d, double height) {
    return d->bottom - (d->bottom - d->top) * height;
}

static double y_of(const drawing *d, double rate) {
    return y_at(d, fmin(1, fmax(0, chart_height(d->c, rate))));
}

static int legend_rows(const chart *c) {
    return (int)((c->count + LEGEND_CELLS - 1) / LEGEND_CELLS);
}

/* A look belongs to a kind, whatever else is drawn. Curves of several kinds lie on each other:
 * dashes let them be seen. */
typedef struct look {
    const char *colour, *dashes;
} look;

static look look_of(bly_kind kind) {
    static const look looks[] = {
        {"#c0562f", "none"}, {"#8a63c9", "7 6"},  {"#2f86c8", "none"}, {"#2a9d6e", "none"},
        {"#c2932a", "none"}, {"#c8508f", "none"}, {"#5b7f8f", "none"}, {"#6b3fa0", "2 8"},
        {"#1f6f5c", "none"}, {"#9c2f6a", "3 6"},  {"#4a5560", "none"}, {"#b8860b", "4 5"},
        {"#4f5fd0", "none"}, {"#a0703c", "none"}, {"#0f9aa8", "3 4"},  {"#3d4a2a", "none"},
        {"#4a5560", "none"}, {"#d0473f", "2 5"},  {"#7a2f8f", "none"},
    };
    size_t i = 0;
    for (bly_kind k = bly_kind_next(BLY_KIND_NONE); k != kind && k != BLY_KIND_NONE;
         k = bly_kind_next(k))
        i++;
    return looks[i % (sizeof looks / sizeof *looks)];
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void put_style(drawing *d) {
    put(d, "<style>\n"
           "text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; "
           "fill: #4a5560 }\n"
           ".title { font-size: 16px; font-weight: 600 }\n"
           ".note { fill: #6f7a85 }\n"
           ".chosen { font-weight: 600 }\n"
           ".grid { stroke: #8a949e; stroke-opacity: .28 }\n"
           ".axis { stroke: #7b8690; fill: none }\n"
           ".guide { stroke: #6f7a85; stroke-dasharray: 5 4 }\n"
           ".curve { fill: none; stroke-width: 1.6; stroke-opacity: .75; stroke-linejoin: round }\n"
           ".best { fill: none; stroke-width: 3.2; stroke-linejoin: round }\n");
    put(d, "@media (prefers-color-scheme: dark) {\n"
           "text { fill: #c3ccd4 } .note { fill: #98a3ad } .grid { stroke: #aab4bd }\n"
           ".axis { stroke: #8d98a2 } .guide { stroke: #98a3ad } .curve { stroke-opacity: .95 }\n"
           "}\n"
           "</style>\n");
}

static void put_title(drawing *d) {
    const bly_advice *a = d->c->curves[d->c->count - 1].advice;
    char keys[NUMBER_TEXT], percent[NUMBER_TEXT], size[NUMBER_TEXT];
    put(d, "<title>False positives by keys added</title>\n");
    put(d, "<text class=\"title\" x=\"%d\" y=\"28\">False positives by keys added</text>\n", LEFT);
    put(d,
        "<text class=\"note\" x=\"%d\" y=\"47\">planned for %s keys at %s: %s, %s, %.1f bits per "
        "key</text>\n",
        LEFT, number_grouped(a->needs.keys, keys), number_percent(a->needs.fpr, percent),
        bly_kind_name(a->kind), number_bytes(a->bytes, size), a->bits_per_key);
}

/* What the kinds differ in. */
static char *difference(const chart *c, const bly_advice *a, char out[NUMBER_TEXT]) {
    if (c->asked->keys == 0)
        return chart_tick(a->needs.keys, out);
    if (c->asked->fpr == 0)
        return number_percent(a->fpr, out);
    return number_bytes(a->bytes, out);
}

static void open_curve(drawing *d, const chart_curve *curve) {
    look l = look_of(curve->advice->kind);
    put(d, "<path class=\"%s\" stroke=\"%s\" stroke-dasharray=\"%s\" d=\"",
        curve->chosen ? "best" : "curve", l.colour, curve->chosen ? "none" : l.dashes);
}

static void put_legend(drawing *d) {
    for (size_t i = 0; i < d->c->count; i++) {
        /* the chosen one first */
        const chart_curve *curve = &d->c->curves[(i + d->c->count - 1) % d->c->count];
        int x = LEFT + (int)(i % LEGEND_CELLS) * LEGEND_CELL;
        int y = LEGEND_TOP + (int)(i / LEGEND_CELLS) * LEGEND_ROW;
        char note[NUMBER_TEXT];
        open_curve(d, curve);
        put(d, "M%d %dh22\"/>\n", x, y + 8);
        put(d, "<text x=\"%d\" y=\"%d\"><tspan%s>%s</tspan> ", x + 29, y + 13,
            curve->chosen ? " class=\"chosen\"" : "", bly_kind_name(curve->advice->kind));
        put(d, "<tspan class=\"note\">%s</tspan></text>\n", difference(d->c, curve->advice, note));
    }
}

static void put_axes(drawing *d) {
    const chart *c = d->c;
    const int every = (c->high - c->low) / 10 + 1;
    char text[NUMBER_TEXT];
    for (int power = c->high; power >= c->low; power -= every) {
        double y = y_of(d, pow(10, power));
        put(d, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, y, RIGHT);
        put(d, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 9, y + 4.5,
            number_percent(pow(10, power), text));
    }
    for (uint64_t keys = 0; keys <= c->last; keys += c->step) {
        double x = x_of(d, (double)keys);
        put(d, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>\n", x, d->top, d->bottom);
        put(d, "<path class=\"axis\" d=\"M%.1f %dv5\"/>\n", x, d->bottom);
        put(d, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x, d->bottom + 20,
            chart_tick(keys, text));
    }
    put(d, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, d->top, d->bottom, RIGHT);
    put(d,
        "<text class=\"note\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">distinct keys "
        "added</text>\n",
        (LEFT + RIGHT) / 2, d->bottom + 42);
    put(d,
        "<text class=\"note\" transform=\"translate(17 %d) rotate(-90)\" text-anchor=\"middle\">"
        "false-positive rate</text>\n",
        (d->top + d->bottom) / 2);
}

static void put_guides(drawing *d) {
    char text[NUMBER_TEXT];
    double y = y_of(d, d->c->promise), x = x_of(d, (double)d->c->capacity);
    put(d, "<path class=\"guide\" d=\"M%d %.1fH%d\"/>\n", LEFT, y, RIGHT);
    put(d, "<path class=\"guide\" d=\"M%.1f %dV%d\"/>\n", x, d->top - 4, d->bottom);
    put(d, "<text class=\"note\" x=\"%d\" y=\"%.1f\">%s</text>\n", RIGHT + 7, y + 4.5,
        number_percent(d->c->promise, text));
    put(d, "<text class=\"note\" x=\"%d\" y=\"%.1f\">promised</text>\n", RIGHT + 7, y + 21);
    put(d,
        "<text class=\"note\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">planned for %s</text>\n",
        x, d->top - 9, chart_tick(d->c->capacity, text));
}

/* A curve that never rises above the foot of the axis lies on it. */
static bool put_low_curve(drawing *d, const chart_curve *curve) {
    const chart *c = d->c;
    size_t last = 0;
    for (size_t i = 0; i < c->points; i++) {
        if (chart_height(c, curve->rates[i]) >= 0)
            return false;
        if (!isnan(curve->rates[i]))
            last = i;
    }
    open_curve(d, curve);
    put(d, "M%d %.2fL%.2f %.2f\"/>\n", LEFT, y_at(d, 0),
        LEFT + (RIGHT - LEFT) * (double)last / (double)(c->points - 1), y_at(d, 0));
    return true;
}

/* From where the curve rises above the foot of the axis. */
static void put_curve(drawing *d, const chart_curve *curve) {
    const chart *c = d->c;
    if (put_low_curve(d, curve))
        return;
    open_curve(d, curve);
    for (size_t i = 0, drawn = 0; i < c->points; i++) {
        double x = LEFT + (RIGHT - LEFT) * (double)i / (double)(c->points - 1);
        double height = chart_height(c, curve->rates[i]);
        if (height < 0)
            continue;
        /* Enters through the foot, where a straight line from the point before would. */
        if (drawn++ == 0 && i > 0) {
            double below = fmax(chart_height(c, curve->rates[i - 1]), -1);
            double share = height / (height - below);
            put(d, "M%.2f %.2fL", x - share * (RIGHT - LEFT) / (double)(c->points - 1), y_at(d, 0));
        } else
            put(d, "%s", drawn == 1 ? "M" : "L");
        put(d, "%.2f %.2f", x, y_at(d, fmin(height, 1)));
    }
    put(d, "\"/>\n");
}

bool svg_write(const chart *c, const char *path, bool force) {
    drawing d = {.c = c, .good = true};
    d.top = LEGEND_TOP + legend_rows(c) * LEGEND_ROW + 34;
    d.bottom = d.top + PLOT_HEIGHT;
    int height = d.bottom + 58;
    if (!output_open(&d.out, path, force))
        return false;
    put(&d,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
        "%d\">\n",
        WIDTH, height, WIDTH, height);
    put_style(&d);
    put_title(&d);
    put_legend(&d);
    put_axes(&d);
    put_guides(&d);
    for (size_t i = 0; i < c->count; i++)
        put_curve(&d, &c->curves[i]);
    put(&d, "</svg>\n");
    d.good = d.good && output_commit(&d.out);
    output_close(&d.out);
    return d.good;
}
