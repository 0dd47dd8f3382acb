/* line_window.c - plans the filter of a window of lines; see line_window.h. */
#include "filters/line_window.h"

#include <math.h>

static const uint64_t default_keys = 1000000; /* within the span of a window by time */

double line_window_part(double rate, uint32_t generations) {
    return -expm1(log1p(-rate) / (generations + 1.0));
}

static uint64_t capacity_of(const line_window *w) {
    if (w->lines)
        return w->lines + LINE_WINDOW_SPARE;
    return (w->keys ? w->keys : default_keys) * LINE_WINDOW_GENERATIONS;
}

bly_spec line_window_spec(const line_window *w) {
    bly_spec spec = bly_spec_for(BLY_WINDOW, capacity_of(w), w->rate);
    if (w->span) {
        spec.window.span = w->span;
        spec.window.generations = LINE_WINDOW_GENERATIONS;
        /* The rate of a window whose generations have the rate w->rate. */
        spec.fpr = -expm1(log1p(-w->rate) * (LINE_WINDOW_GENERATIONS + 1.0));
    }
    return spec;
}

uint64_t line_window_bytes(const line_window *w) {
    /* Larger sizes are proportional to the number of keys. */
    static const uint64_t sample = 1 << 20;
    line_window small = *w;
    if (small.keys == 0)
        small.keys = default_keys;
    const double times = fmax(1, (double)small.keys / (double)sample);
    if (times > 1)
        small.keys = sample;
    const bly_spec spec = line_window_spec(&small);
    bly_filter *f;
    if (bly_filter_create(&spec, &f) != BLY_OK)
        return 0;
    bly_geometry g = bly_filter_geometry(f);
    bly_filter_destroy(f);
    g.size = (uint64_t)ceil((double)g.size * times);
    return bly_plan_check(&g) == BLY_OK ? bly_plan_bytes(&g) : 0;
}

bool line_window_of(const bly_filter *f, line_window *out) {
    bly_window_info w = {.struct_size = sizeof w};
    const uint64_t keys = bly_filter_capacity(f);
    const double rate = bly_filter_fpr(f);
    *out = (line_window){0};
    if (bly_window_get_info(f, &w) != BLY_OK ||
        (w.span ? w.generations != LINE_WINDOW_GENERATIONS : keys <= LINE_WINDOW_SPARE))
        return false;
    if (w.span)
        *out = (line_window){.span = w.span,
                             .keys = keys / LINE_WINDOW_GENERATIONS,
                             .rate = line_window_part(rate, w.generations)};
    else
        *out = (line_window){.lines = keys - LINE_WINDOW_SPARE, .rate = rate};
    return true;
}

char *line_window_text(const line_window *w, char out[NUMBER_TEXT]) {
    return w->span ? number_span(w->span / 1000, out) : number_grouped(w->lines, out);
}
