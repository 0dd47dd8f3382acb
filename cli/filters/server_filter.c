/* server_filter.c - filters in strings on a server without the module.
 *
 * If a key cannot be opened as such a filter, it is inspected over a separate connection, so that
 * the message can say what the key contains.
 */
#include "filters/server_filter.h"

#include "cli.h"
#include "filters/kind_words.h"
#include "io/interrupt.h"
#include "text/message.h"
#include "text/progress.h"

#include <bloomery/redis/filter.h>
#include <string.h>

/* ---- addresses ------------------------------------------------------------------------------- */

bool remote_is_address(const char *word) {
    static const char *const begins[] = {"redis://", "rediss://", "unix://", "redis+unix://"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(word, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

bool remote_parse(remote *r, const char *address) {
    r->filter = NULL;
    r->offers_replica = r->offers_gozero = false;
    return server_parse(&r->at, address);
}

void remote_close(remote *r) {
    bly_redis_filter_close(r->filter);
    r->filter = NULL;
    server_close(&r->at);
}

/* ---- inspecting a key ------------------------------------------------------------------------ */

static bool is_text(bly_bytes text, const char *wanted) {
    return text.size == strlen(wanted) && memcmp(text.data, wanted, text.size) == 0;
}

/* Distinguishes keys that are not strings. */
static bool inspect_type(server_key *t, remote_content *out) {
    static const char *const filters[] = {"bloomery1", "MBbloom--", "MBbloomCF"};
    const bly_bytes args[] = {server_word("TYPE"), t->url.key};
    bly_redis_reply *reply = server_command(t, args, 2, "");
    if (!reply)
        return false;
    if (bly_redis_reply_type(reply) == BLY_REDIS_TEXT)
        *out = REMOTE_OTHER;
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (is_text(bly_redis_reply_text(reply), filters[i]))
            *out = REMOTE_MODULE;
    bly_redis_reply_free(reply);
    return true;
}

bool remote_inspect(server_key *t, remote_content *out) {
    const bly_bytes args[] = {server_word("GETRANGE"), t->url.key, server_word("0"),
                              server_word("3")};
    bly_redis_reply *reply = server_command(t, args, 4, "");
    *out = REMOTE_UNKNOWN;
    if (!reply)
        return false;
    const bly_bytes text = bly_redis_reply_text(reply);
    const bool no_string = server_error_has(reply, "WRONGTYPE");
    if (server_error_has(reply, "NOAUTH")) {
        (void)server_refused(t, reply);
        bly_redis_reply_free(reply);
        return false;
    }
    if (bly_redis_reply_type(reply) == BLY_REDIS_TEXT)
        *out = text.size == 0          ? REMOTE_NOTHING
               : is_text(text, "BLYR") ? REMOTE_FILTER
                                       : REMOTE_STRING;
    bly_redis_reply_free(reply);
    return !no_string || inspect_type(t, out);
}

/* Inspects the key over a separate connection. */
static remote_content inspect_again(const remote *r) {
    const bly_redis_options options = {.struct_size = sizeof options, .follow_moved = true};
    server_key t = r->at;
    remote_content found = REMOTE_UNKNOWN;
    if (bly_redis_open(&t.url, &options, NULL, &t.server) == BLY_OK) {
        (void)remote_inspect(&t, &found);
        bly_redis_close(t.server);
    }
    return found;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Reports what the key contains instead of a filter, if that is known. */
static bool report_content(const remote *r, bool gozero) {
    switch (inspect_again(r)) {
    case REMOTE_MODULE:
        (void)message_error("%s: is a filter of a Redis module; use commands of the server "
                            "(BLY.INFO, BLY.CHECK, BF.EXISTS), or fetch it with bloomery pull",
                            r->at.name);
        return true;
    case REMOTE_STRING:
        if (gozero)
            return false;
        (void)message_error("%s: is a Redis string, but not a Bloomery filter; %s", r->at.name,
                            r->offers_gozero
                                ? "for a go-zero filter, pass its number of bits with --gozero BITS"
                                : "use another key");
        return true;
    case REMOTE_OTHER:
        (void)message_error("%s: is not a filter; use another key", r->at.name);
        return true;
    default:
        return false;
    }
}

/* Reports an error with the library's message. */
static int report_error(const remote *r, bly_status status, const char *why) {
    const char *text = why && *why ? why : bly_strerror(status);
    const bool replica = r->offers_replica && strstr(text, " is a replica;");
    return message_error("%s: %s%s", r->at.name, text, replica ? ", or use --allow-replica" : "");
}

bly_status remote_open_failed(const remote *r, const bly_hasher *key, bool gozero,
                              bly_status status, const bly_redis_reason *why) {
    const bool no_filter = status == BLY_ECORRUPT || status == BLY_EREFUSED;
    if (no_filter && report_content(r, gozero))
        return BLY_ECORRUPT;
    if (status != BLY_EKEY)
        (void)report_error(r, status, why->text);
    else
        (void)message_error(key ? "%s: was created with a different secret key than the one in "
                                  "--key-file; pass the right key file"
                                : "%s: is keyed; pass its key with --key-file",
                            r->at.name);
    return status;
}

bly_status remote_open(remote *r, const bly_hasher *key, const bly_redis_filter_options *options) {
    bly_redis_reason why = {""};
    const bly_status status = bly_redis_filter_open(&r->at.url, key, options, &why, &r->filter);
    return status == BLY_OK ? status : remote_open_failed(r, key, false, status, &why);
}

int remote_failed(const remote *r, bly_status status) {
    return report_error(r, status, bly_redis_filter_error(r->filter));
}

static bly_status list_contains(void *ctx, const bly_bytes *keys, size_t n, uint8_t *found) {
    const remote *r = ctx;
    return bly_redis_filter_contains_many(r->filter, keys, n, BLY_UNKNOWN, found, NULL);
}

static bly_status list_rate(void *ctx, double *rate) {
    const remote *r = ctx;
    bly_redis_filter_info facts = {.struct_size = sizeof facts};
    const bly_status status = bly_redis_filter_get_info(r->filter, &facts);
    *rate = facts.expected_fpr;
    return status;
}

bly_list_source remote_list(remote *r) {
    return (bly_list_source){list_contains, list_rate, r,
                             bly_redis_filter_bitmap(r->filter)->key_rule};
}

/* ---- sending --------------------------------------------------------------------------------- */

bool remote_supports_kind(bly_kind kind) {
    return kind == BLY_SBBF || kind == BLY_SPLIT512;
}

bly_kind remote_kind(double rate) {
    const bly_kind kind = bly_plan_kind(rate);
    return remote_supports_kind(kind) ? kind : BLY_SPLIT512;
}

int remote_refuse_kind(const char *name, bly_kind kind) {
    return message_error(
        "%s: %s %s filter needs the Bloomery module; without it, a server "
        "supports only sbbf and split512. Build it with --kind split512 (a state of "
        "dedup: with -n), or load the module (MODULE LOAD /PATH/TO/bloomery.so) and push the file",
        name, kinds_article(kind), bly_kind_name(kind));
}

bool remote_spec(uint64_t shards, uint64_t expire, bly_bitmap_spec *out) {
    if (shards > BLY_BITMAP_MAX_SHARDS)
        return message_fail("--shards cannot be more than %d", BLY_BITMAP_MAX_SHARDS);
    if (expire > UINT64_MAX / 1000)
        return message_fail("--expire is too long; leave it out");
    *out = (bly_bitmap_spec){.struct_size = sizeof(bly_bitmap_spec),
                             .shards = (uint32_t)shards,
                             .expire_ms = 1000 * expire};
    return true;
}

bool remote_may_send(remote *r, bool replace, const char *option) {
    remote_content found;
    if ((!r->at.server && !server_connect(&r->at)) || !remote_inspect(&r->at, &found))
        return false;
    switch (found) {
    case REMOTE_FILTER:
        return replace ||
               message_fail("%s: already exists; use %s to replace it", r->at.name, option);
    case REMOTE_MODULE:
        return message_fail("%s: is a filter of a Redis module and will not be replaced; delete "
                            "it first (DEL), or use another key",
                            r->at.name);
    case REMOTE_STRING:
    case REMOTE_OTHER:
        return message_fail("%s: is not a filter, so it is not replaced; use another key",
                            r->at.name);
    default:
        return true;
    }
}

bool remote_show(void *ctx, uint64_t done, uint64_t total) {
    progress_show_bytes(ctx, done, total);
    return !interrupt_seen();
}

bool remote_send(remote *r, const bly_filter *from, const bly_bitmap_spec *spec, bool replace,
                 const char *option) {
    bly_redis_reason why = {""};
    progress shown;
    interrupt_watch();
    if (interrupt_seen())
        return false;
    progress_begin(&shown, false);
    const bly_status status = bly_redis_filter_push(from, &r->at.url, spec, replace, NULL,
                                                    remote_show, &shown, &why, &r->filter);
    progress_end(&shown);
    if (status == BLY_EEXISTS)
        (void)message_error("%s: already exists; use %s to replace it", r->at.name, option);
    else if (status == BLY_ETOOBIG && spec->shards)
        (void)message_error("%s: cannot be split into %u shards: %s; leave out --shards",
                            r->at.name, (unsigned)spec->shards, why.text);
    else if (status == BLY_EKIND)
        (void)remote_refuse_kind(r->at.name, bly_filter_geometry(from).kind);
    else if (status != BLY_OK && !interrupt_seen())
        (void)report_error(r, status, why.text);
    return status == BLY_OK;
}
