/* handle_file.c - filters in files: implements handle.h.
 *
 * A filter is mapped if its kind can be, else read into memory. For changes, the file is locked
 * (io/lock.h), the filter is changed in memory, and the new file replaces the old one atomically.
 */
#include "filters/handle.h"
#include "filters/kind_words.h"
#include "text/message.h"

#include <bloomery/host/chunks.h>

/* What can be done with every file. */
enum { FILE_CAPABILITIES = HANDLE_COMMITS | HANDLE_VERIFIES | HANDLE_DESCRIBES };

/* ---- opening --------------------------------------------------------------------------------- */

static uint32_t capabilities_of(const bly_filter *f) {
    const bly_kind kind = bly_filter_geometry(f).kind;
    const bool single = !kinds_can(kind, BLY_CARDINALITY_ONLY);
    const bool list = single && !kinds_can(kind, BLY_FORGETS);
    return FILE_CAPABILITIES | (single ? HANDLE_LOOKS_UP : 0U) |
           (list && kinds_can(kind, BLY_CAN_ADD) ? HANDLE_ADDS : 0U) |
           (list && kinds_can(kind, BLY_CAN_REMOVE) ? HANDLE_REMOVES : 0U) |
           (kinds_hold_copies(kind) ? HANDLE_COPIES : 0U);
}

static bly_status open_loaded(filter_handle *h, uint32_t flags) {
    const bool changes = h->options.access == HANDLE_CHANGED;
    if (changes && !lock_take(&h->lock, h->name, true))
        return BLY_EIO;
    bly_filter *f = open_load(h->name, h->options.key, flags);
    if (f && changes && h->options.max_growth)
        bly_filter_limit_growth(f, h->options.max_growth);
    h->file.filter = h->file.loaded = f;
    return f ? BLY_OK : BLY_EIO;
}

static bly_status file_open(filter_handle *h, bool report) {
    const handle_options *o = &h->options;
    const uint32_t flags = o->without_key ? BLY_OPEN_WITHOUT_KEY : 0U;
    bly_file_info header;
    (void)report; /* an error of a file is always reported */
    if (o->access == HANDLE_HEADER) {
        const bly_status status = open_header(h->name, &header);
        h->capabilities = FILE_CAPABILITIES;
        return status;
    }
    const uint32_t verify = o->access == HANDLE_VERIFIED ? BLY_OPEN_VERIFY : 0U;
    const bly_status status = o->access == HANDLE_COPIED || o->access == HANDLE_CHANGED
                                  ? open_loaded(h, flags)
                                  : open_read(&h->file, h->name, o->key, flags | verify);
    if (status == BLY_OK)
        h->capabilities = capabilities_of(h->file.filter);
    return status;
}

void handle_borrow(filter_handle *h, const char *name, bly_filter *f) {
    *h = (filter_handle){.name = name,
                         .capabilities = capabilities_of(f),
                         .options = {.access = HANDLE_CHANGED},
                         .ops = &handle_file_ops,
                         .file = {.filter = f, .loaded = f}};
}

static void file_close(filter_handle *h) {
    open_close(&h->file);
    lock_release(&h->lock);
}

/* ---- use ------------------------------------------------------------------------------------- */

static void file_failed(const filter_handle *h) {
    (void)message_status(h->name, h->status);
}

static bly_status file_contains(filter_handle *h, const bly_bytes *keys, size_t n,
                                uint8_t *answers) {
    (void)bly_filter_contains_many(h->file.filter, keys, n, answers);
    return BLY_OK;
}

static bly_status file_add(filter_handle *h, const bly_bytes *keys, size_t n, handle_added *out) {
    bly_batch_result result = {0};
    const bly_status status = bly_filter_add_many(h->file.loaded, keys, n, NULL, &result);
    out->fresh += result.changed;
    return status;
}

static bool file_commit(filter_handle *h) {
    return open_save(h->file.loaded, h->name);
}

static bly_list_source file_list(filter_handle *h) {
    return bly_list_source_of(h->file.filter);
}

/* A filter with changes may differ from its file, so its header is made from the filter. */
static bly_status get_header(const filter_handle *h, bly_file_info *out) {
    const bly_filter *f = handle_changeable(h);
    if (!f) {
        BLY_INIT(*out);
        return bly_file_get_info(h->name, out);
    }
    const bly_hasher *hasher = bly_filter_hasher(f);
    *out = (bly_file_info){.struct_size = sizeof *out,
                           .geometry = bly_filter_geometry(f),
                           .capacity = bly_filter_capacity(f),
                           .fpr = bly_filter_fpr(f),
                           .count = bly_filter_count(f),
                           .hash = (bly_hash_id)hasher->id,
                           .keyed = hasher->id == BLY_HASH_SIPHASH,
                           .seed = hasher->seed,
                           .body_bytes = bly_filter_file_size(f) - BLY_FILE_HEADER,
                           .key_rule = bly_filter_key_rule(f)};
    return BLY_OK;
}

static bly_status file_facts(filter_handle *h, handle_facts *out, bool bits) {
    bly_file_info header;
    const bly_status status = get_header(h, &header);
    const bly_filter *f = h->file.filter;
    if (status != BLY_OK)
        return status;
    *out = (handle_facts){.geometry = header.geometry,
                          .hash = header.hash,
                          .seed = header.seed,
                          .keyed = header.keyed,
                          .key_missing = f ? !bly_filter_hasher(f) : header.keyed,
                          .key_rule = header.key_rule,
                          .approximate = header.approximate,
                          .bytes = header.body_bytes + BLY_FILE_HEADER,
                          .info = {.struct_size = sizeof out->info,
                                   .kind = header.geometry.kind,
                                   .hashes = header.geometry.hashes,
                                   .size = header.geometry.size,
                                   .capacity = header.capacity,
                                   .count = header.count,
                                   .requested_fpr = header.fpr},
                          .has_rates = f && bits,
                          .has_bits = f && bits};
    if (out->has_bits)
        out->info = filter_info(f);
    return BLY_OK;
}

const handle_ops handle_file_ops = {
    .capabilities =
        FILE_CAPABILITIES | HANDLE_LOOKS_UP | HANDLE_ADDS | HANDLE_REMOVES | HANDLE_COPIES,
    .open = file_open,
    .close = file_close,
    .failed = file_failed,
    .contains = file_contains,
    .add = file_add,
    .commit = file_commit,
    .list = file_list,
    .facts = file_facts,
};
