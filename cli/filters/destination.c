/* destination.c - saves a filter to a file or a server: see destination.h. */
#include "filters/destination.h"

#include "filters/filter_file.h"
#include "text/message.h"

#include <bloomery/redis/bitmap.h>
#include <bloomery/redis/filter.h>
#include <string.h>

bool destination_open(destination *d, const char *path, const destination_options *options) {
    const bool standard_output = strcmp(path, "-") == 0;
    *d = (destination){.name = standard_output ? "standard output" : path,
                       .on_server = remote_is_address(path),
                       .path = path,
                       .options = *options};
    if (standard_output && options->json)
        return message_fail("--json and -o - both write to standard output; give only one");
    if (!d->on_server)
        return true;
    const bool good = remote_parse(&d->remote, path);
    d->name = d->remote.at.name;
    return good;
}

void destination_close(destination *d) {
    lock_release(&d->lock);
    remote_close(&d->remote);
}

bool destination_may_save(destination *d) {
    const destination_options *o = &d->options;
    if (d->on_server)
        return remote_spec(o->shards, o->expire, &d->spec) &&
               remote_may_send(&d->remote, o->replace, "--force");
    return open_may_save(d->path, o->replace);
}

bool destination_supports_kind(const destination *d, bly_kind kind) {
    const bool good = !d->on_server || remote_supports_kind(kind);
    if (!good)
        (void)remote_refuse_kind(d->name, kind);
    return good;
}

bly_kind destination_kind(const destination *d, double rate) {
    return d->on_server ? remote_kind(rate) : BLY_KIND_NONE;
}

bool destination_begin(destination *d) {
    /* Without the lock, another process that is changing the file could overwrite the new filter.
     */
    return (d->on_server || lock_take(&d->lock, d->path, true)) && destination_may_save(d);
}

bool destination_save(destination *d, const bly_filter *f) {
    const bool good = d->on_server
                          ? remote_send(&d->remote, f, &d->spec, d->options.replace, "--force")
                          : open_save(f, d->path);
    lock_release(&d->lock);
    return good;
}

uint64_t destination_bytes(const destination *d, const bly_filter *f) {
    return d->on_server ? bly_bitmap_bytes(bly_redis_filter_bitmap(d->remote.filter))
                        : bly_filter_file_size(f);
}

uint32_t destination_shards(const destination *d) {
    return d->on_server ? bly_redis_filter_bitmap(d->remote.filter)->shards : 0;
}
