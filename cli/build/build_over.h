/* build_over.h - a list over another: what that one holds, and what will change. */
#ifndef BLOOMERY_CLI_BUILD_OVER_H
#define BLOOMERY_CLI_BUILD_OVER_H

#include "filters/filter_file.h"
#include "filters/health.h"

typedef struct build_over {
    const char *path;   /* of the list beneath */
    opened base;        /* that list */
    bly_filter *filter; /* the overlay, while the base is open */
    rates_lookups lookups;
} build_over;

/* Of `how`, changes and marker count. false: reported, and nothing is to be closed. */
bool build_over_open(build_over *o, const char *path, const char *key_file,
                     const bly_overlay_options *how);
void build_over_close(build_over *o);

/* What was built as `list`, for programs. */
void build_over_json(const build_over *o, const char *list);

#endif
