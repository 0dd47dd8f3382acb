#include "build/build_over.h"

#include "filters/kind_words.h"
#include "text/json.h"
#include "text/message.h"

bool build_over_open(build_over *o, const char *path, const char *key_file,
                     const bly_overlay_options *how) {
    bly_hasher space;
    const bly_hasher *key;
    *o = (build_over){.path = path};
    if (!open_key(key_file, &space, &key) ||
        open_read(&o->base, path, key, BLY_OPEN_VERIFY) != BLY_OK)
        return false;
    const bly_kind kind = bly_filter_geometry(o->base.filter).kind;
    bly_status status = bly_overlay_over(o->base.filter, how, NULL, &o->filter);
    if (status == BLY_EKIND)
        (void)message_error("%s: nothing can be laid over %s %s filter", path, kinds_article(kind),
                            bly_kind_name(kind));
    else if (status != BLY_OK)
        (void)message_status(path, status);
    if (status != BLY_OK)
        open_close(&o->base);
    else {
        bly_list_info facts = {.struct_size = sizeof facts};
        bly_list_examine(o->filter, &facts);
        o->lookups = rates_lookups_of(&facts);
    }
    return status == BLY_OK;
}

void build_over_close(build_over *o) {
    bly_filter_destroy(o->filter);
    open_close(&o->base);
    o->filter = NULL;
}

void build_over_json(const build_over *o, const char *list) {
    bly_filter_info s = {.struct_size = sizeof s};
    bly_filter_get_info(o->filter, &s);
    json out = json_begin(stdout);
    json_text(&out, "list", list);
    json_text(&out, "over", o->path);
    json_text(&out, "kind", bly_kind_name(s.kind));
    json_text(&out, "base", bly_kind_name(bly_filter_geometry(o->base.filter).kind));
    json_integer(&out, "keys", s.count);
    json_integer(&out, "capacity", s.capacity);
    rates_json_requested(&out, s.requested_fpr, o->lookups);
    json_integer(&out, "bytes", bly_filter_file_size(o->filter));
    json_end(&out);
}
