/* handle.c - the common part of filters in files and on servers: see handle.h. */
#include "filters/handle.h"

#include "cli.h"
#include "text/message.h"

static const handle_ops *ops_for(const char *name) {
    return remote_is_address(name) ? &handle_server_ops : &handle_file_ops;
}

uint32_t handle_capabilities(const char *name) {
    return ops_for(name)->capabilities;
}

/* Refuses options that do not apply to a file, or to a server. */
static bool options_apply(const filter_handle *h) {
    const handle_options *o = &h->options;
    const bool file = h->ops == &handle_file_ops;
    if (file && o->gozero)
        return message_fail(
            "%s: is a file; --gozero is only for filters on servers: redis://HOST/KEY", h->name);
    if (file && o->allow_replica)
        return message_fail(
            "%s: is a file; --allow-replica is only for filters on servers: redis://HOST/KEY",
            h->name);
    if (!file && o->max_growth)
        return message_fail("--memory limits how much a filter may grow, but a filter on a "
                            "server does not grow; leave out --memory");
    if (o->gozero && o->key)
        return message_fail(
            "--gozero and --key-file cannot be combined: go-zero filters are not keyed");
    return true;
}

/* ---- opening --------------------------------------------------------------------------------- */

bool handle_open(filter_handle *h, const char *name, const handle_options *options) {
    *h = (filter_handle){.name = name, .options = *options, .ops = ops_for(name)};
    h->status = options_apply(h) ? h->ops->open(h, true) : (bly_status)BLY_EINVAL;
    return h->status == BLY_OK;
}

bly_status handle_reopen(filter_handle *h, bool report) {
    h->ops->close(h);
    h->status = h->ops->open(h, report);
    return h->status;
}

void handle_close(filter_handle *h) {
    if (h->ops)
        h->ops->close(h);
    remote_close(&h->remote);
    *h = (filter_handle){.ops = NULL};
}

int handle_failed(const filter_handle *h) {
    h->ops->failed(h);
    return CLI_ERROR;
}

/* ---- use ------------------------------------------------------------------------------------- */

bly_status handle_contains(filter_handle *h, const bly_bytes *keys, size_t n, uint8_t *answers) {
    return h->status = h->ops->contains(h, keys, n, answers);
}

bly_status handle_add(filter_handle *h, const bly_bytes *keys, size_t n, handle_added *out) {
    return h->status = h->ops->add(h, keys, n, out);
}

bool handle_commit(filter_handle *h) {
    return !h->ops->commit || h->ops->commit(h);
}

const bly_filter *handle_filter(const filter_handle *h) {
    return h->file.filter;
}

bly_filter *handle_changeable(const filter_handle *h) {
    return h->options.access == HANDLE_CHANGED ? h->file.loaded : NULL;
}

bly_list_source handle_list(filter_handle *h) {
    return h->ops->list(h);
}

bly_status handle_get_facts(filter_handle *h, handle_facts *out, bool bits) {
    return h->status = h->ops->facts(h, out, bits);
}
