/* transfer.c - sends filters to servers, fetches them, and deletes them there; see transfer.h.
 *
 * Without the module a filter is stored in strings of the server. With it, it is a key of the
 * module's type (transfer_module.c). A file is sent in the way that the server supports. A filter
 * is fetched in the way in which it is stored.
 */
#include "filters/transfer.h"

#include "cli.h"
#include "filters/handle.h"
#include "io/interrupt.h"
#include "io/list_lines.h"
#include "io/output.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <stdio.h>
#include <string.h>

enum { CHUNK = 1 << 20, MIN_CHUNK = 1 << 10, MAX_CHUNK = 64 << 20 };

/* ---- both directions ------------------------------------------------------------------------- */

static bool set_chunk_size(transfer *t) {
    t->chunk_size = t->v->chunk ? (size_t)t->v->chunk : CHUNK;
    if (t->chunk_size >= MIN_CHUNK && t->chunk_size <= MAX_CHUNK)
        return true;
    return message_fail("--chunk-size must be from 1K to 64M");
}

static void report_json(const transfer *t, bool sent, double seconds) {
    const server_key *at = &t->remote.at;
    json j = json_begin(stdout);
    json_text(&j, "file", t->path);
    json_text(&j, "server", bly_redis_address(at->server));
    json_integer(&j, "database", at->url.database);
    json_bytes(&j, "key", at->url.key);
    if (t->shards)
        json_bool(&j, "plain", true);
    json_integer(&j, "bytes", t->total);
    if (t->shards)
        json_integer(&j, "shards", t->shards);
    else {
        if (sent)
            json_integer(&j, "resumed_at", t->resumed);
        json_integer(&j, "chunks", t->chunks);
        if (!sent)
            json_integer(&j, "tries", t->tries);
    }
    json_real(&j, "seconds", seconds);
    json_end(&j);
}

static void report(const transfer *t, bool sent) {
    const double seconds = progress_clock() - t->start;
    char strings[48] = "";
    if (sent && t->shards > 1)
        (void)snprintf(strings, sizeof strings, ", in %u strings", (unsigned)t->shards);
    if (t->v->json)
        report_json(t, sent, seconds);
    else
        message_note("%s: %s %s in %s%s", sent ? t->remote.at.name : t->path,
                     NUMBER_BYTES(t->total - t->resumed), sent ? "sent" : "fetched",
                     NUMBER_TIME(seconds), strings);
}

/* ---- push ------------------------------------------------------------------------------------ */

/* Refuses what a server without the module cannot do. */
static bool plain_can_store(const transfer *t) {
    const bly_kind kind = bly_filter_geometry(t->filter).kind;
    if (!remote_supports_kind(kind))
        return remote_refuse_kind(t->path, kind) == CLI_OK;
    if (!bly_filter_hasher(t->filter))
        return message_fail(
            "%s: is keyed; pass its secret key with --key-file (only the id of the key is sent)",
            t->path);
    if (t->v->resume)
        return message_fail("%s: an interrupted push can only be continued on a server with the "
                            "Bloomery module; leave out --resume",
                            t->remote.at.name);
    if (t->v->chunk)
        return message_fail(
            "%s: --chunk-size is only for servers with the Bloomery module; leave it out",
            t->remote.at.name);
    return true;
}

/* The server compares bytes, so clients must look up keys in canonical form. */
static void note_type(const transfer *t) {
    bly_list_levels levels;
    const bly_list_type type = bly_list_recognise(t->filter, &levels);
    if (!bly_list_is_lines(type) && type != BLY_LIST_NONE && !t->v->as_is)
        message_note("%s: has keys of type %s; bloomery check and add recognise this, but other "
                     "clients must look up keys in canonical form",
                     t->remote.at.name, line_type_words(type));
}

static bool push_plain(transfer *t, bool no_module) {
    if (!plain_can_store(t) || !remote_may_send(&t->remote, t->v->replace, "--replace"))
        return false;
    if (!remote_send(&t->remote, t->filter, &t->spec, t->v->replace, "--replace"))
        return false;
    if (no_module)
        message_note(
            "%s: the server has no Bloomery module, so the filter is stored in Redis strings",
            t->remote.at.name);
    note_type(t);
    t->shards = bly_redis_filter_bitmap(t->remote.filter)->shards;
    t->total = bly_bitmap_bytes(bly_redis_filter_bitmap(t->remote.filter));
    return true;
}

static bool push_filter(transfer *t) {
    module_result result = MODULE_ABSENT;
    if (!t->v->plain) {
        if (!server_connect(&t->remote.at))
            return false;
        result = module_push(t);
    }
    return result == MODULE_ABSENT ? push_plain(t, !t->v->plain) : result == MODULE_DONE;
}

static bool push_file(transfer *t) {
    handle_options options = {.access = HANDLE_VERIFIED, .without_key = true};
    bly_hasher space;
    filter_handle h;
    if (!open_key(t->v->key_file, &space, &options.key))
        return false;
    bool good = handle_open(&h, t->path, &options);
    if (good) {
        t->filter = handle_filter(&h);
        good = push_filter(t);
    }
    handle_close(&h);
    return good;
}

int transfer_push(const transfer_options *v, const char *path, const char *address) {
    transfer t = {.v = v, .path = path, .start = progress_clock()};
    if (!set_chunk_size(&t) || !remote_spec(v->shards, v->expire, &t.spec))
        return CLI_ERROR;
    const bool good = remote_parse(&t.remote, address) && push_file(&t);
    if (good)
        report(&t, true);
    remote_close(&t.remote);
    return good ? CLI_OK : CLI_ERROR;
}

/* ---- pull ------------------------------------------------------------------------------------ */

/* Needs no secret key, even for a keyed filter. */
static bool pull_plain(transfer *t) {
    const bly_redis_filter_options how = {
        .struct_size = sizeof how, .without_key = true, .allow_replica = t->v->allow_replica};
    bly_filter *f = NULL;
    t->remote.offers_replica = true;
    if (t->v->chunk)
        return message_fail(
            "%s: --chunk-size is only for filters of the Bloomery module; leave it out",
            t->remote.at.name);
    if (remote_open(&t->remote, NULL, &how) != BLY_OK)
        return false;
    interrupt_watch();
    progress_begin(&t->progress, false);
    const bly_status status =
        bly_redis_filter_pull(t->remote.filter, remote_show, &t->progress, &f);
    progress_end(&t->progress);
    if (status != BLY_OK && !interrupt_seen())
        (void)remote_failed(&t->remote, status);
    const bool good = status == BLY_OK && open_save(f, t->path);
    if (good) {
        t->shards = bly_redis_filter_bitmap(t->remote.filter)->shards;
        t->total = bly_filter_file_size(f);
    }
    bly_filter_destroy(f);
    return good;
}

static bool pull_file(transfer *t) {
    if (!output_may_replace(t->path, t->v->replace) || !server_connect(&t->remote.at) ||
        !remote_inspect(&t->remote.at, &t->content))
        return false;
    return t->content == REMOTE_FILTER ? pull_plain(t) : module_pull(t);
}

int transfer_pull(const transfer_options *v, const char *address, const char *path) {
    transfer t = {.v = v, .path = path, .start = progress_clock()};
    if (strcmp(path, "-") == 0)
        return message_error("cannot write to standard output, because the file is verified before "
                             "it is used; give a file name");
    if (!set_chunk_size(&t))
        return CLI_ERROR;
    const bool good = remote_parse(&t.remote, address) && pull_file(&t);
    if (good)
        report(&t, false);
    remote_close(&t.remote);
    return good ? CLI_OK : CLI_ERROR;
}

/* ---- drop ------------------------------------------------------------------------------------ */

static void report_dropped(const transfer_options *v, const remote *r, const bly_bitmap *was) {
    const uint64_t size = bly_bitmap_bytes(was);
    if (!v->json) {
        message_note("%s: deleted (%s in %u Redis string%s)", r->at.name, NUMBER_BYTES(size),
                     (unsigned)was->shards, was->shards == 1 ? "" : "s");
        return;
    }
    json j = json_begin(stdout);
    json_text(&j, "address", r->at.name);
    json_integer(&j, "shards", was->shards);
    json_integer(&j, "bytes", size);
    json_end(&j);
}

static bool drop_filter(const transfer_options *v, remote *r) {
    const bly_redis_filter_options how = {.struct_size = sizeof how, .without_key = true};
    if (remote_open(r, NULL, &how) != BLY_OK)
        return false;
    const bly_bitmap was = *bly_redis_filter_bitmap(r->filter);
    const bly_status status = bly_redis_filter_drop(r->filter);
    if (status == BLY_OK)
        report_dropped(v, r, &was);
    else
        (void)remote_failed(r, status);
    return status == BLY_OK;
}

int transfer_drop(const transfer_options *v, const char *address) {
    remote r;
    if (!remote_is_address(address))
        return message_error("%s: is not the address of a server; use rm to delete a file",
                             address);
    const bool good = remote_parse(&r, address) && drop_filter(v, &r);
    remote_close(&r);
    return good ? CLI_OK : CLI_ERROR;
}
