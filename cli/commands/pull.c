/* bloomery pull - a server's filter becomes a file. */
#include "cli.h"
#include "common_options.h"
#include "filters/filter_file.h"
#include "filters/kind_words.h"
#include "filters/server_filter.h"
#include "io/interrupt.h"
#include "io/output.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"
#include "text/progress.h"

#include <bloomery/host/chunks.h>
#include <bloomery/host/describe.h>
#include <bloomery/host/files.h>
#include <bloomery/redis/filter.h>
#include <stdio.h>
#include <string.h>

enum { TRIES = 5, KIND_AT = 5 /* in a header: docs/format.md */ };

typedef struct values {
    uint64_t chunk;
    bool force, json;
} values;

static const cli_option options[] = {
    OPTION_CHUNK_SIZE(offsetof(values, chunk), "Fetch"),
    OPTION_FORCE(offsetof(values, force), "Replace the file if it exists."),
    OPTION_JSON(offsetof(values, json), "Print what was done as a JSON object."),
    {0},
};

/* A pull under way. */
typedef struct pull {
    const values *v;
    const char *path;
    remote remote;
    remote_holds holds;
    output out;
    size_t chunk_size;
    uint64_t total, have, chunks;
    int64_t stamp;
    unsigned tries;
    progress progress;
} pull;

/* ---- the pieces ------------------------------------------------------------------------------ */

typedef enum verdict { FAILED, CHANGED, FINE } verdict;

/* Why there is nothing to be had where the module is not loaded. */
static int refuse_bare(const pull *p) {
    const char *name = p->remote.at.name;
    if (p->holds == REMOTE_NOTHING)
        return message_error("%s: there is no such key", name);
    if (p->holds == REMOTE_STRING)
        return message_error("%s: holds a string that is no filter of Bloomery's (go-zero's have "
                             "no form of a file)",
                             name);
    if (p->holds == REMOTE_OTHER)
        return message_error("%s: the key holds something that is no filter; name another", name);
    return message_error(
        "%s: the server has no Bloomery module (MODULE LOAD "
        "/PATH/TO/bloomery.so), and does not allow GETRANGE, which filters without "
        "it need",
        name);
}

/* [total, stamp, data]. NULL where an answer is none of that; reported. */
static const bly_redis_reply *data_of(const pull *p, const bly_redis_reply *answer) {
    const bly_redis_reply *total = bly_redis_reply_at(answer, 0), *stamp, *data;
    stamp = bly_redis_reply_at(answer, 1);
    data = bly_redis_reply_at(answer, 2);
    if (bly_redis_reply_type(answer) == BLY_REDIS_NIL)
        (void)message_error("%s: there is no such key", p->remote.at.name);
    else if (server_error_has(answer, "unknown command"))
        (void)refuse_bare(p);
    else if (!data || bly_redis_reply_type(total) != BLY_REDIS_INTEGER ||
             bly_redis_reply_type(stamp) != BLY_REDIS_INTEGER ||
             bly_redis_reply_type(data) != BLY_REDIS_TEXT ||
             bly_redis_reply_text(data).size > p->chunk_size)
        (void)server_refused(&p->remote.at, answer);
    else
        return data;
    return NULL;
}

/* What the first piece says, its header most of all, must be believable before a disk is filled on
 * its word. */
static bool begin(pull *p, const bly_redis_reply *answer, bly_bytes data) {
    bly_file_info info = {.struct_size = sizeof info};
    p->total = (uint64_t)bly_redis_reply_integer(bly_redis_reply_at(answer, 0));
    p->stamp = bly_redis_reply_integer(bly_redis_reply_at(answer, 1));
    const bly_status status = bly_file_parse_info(data.data, data.size, &info);
    if (status == BLY_OK && p->total == BLY_FILE_HEADER + info.body_bytes)
        return true;
    const bly_removed_kind *gone = NULL;
    if (status == BLY_EUNSUPPORTED)
        gone = bly_kind_removed(((const uint8_t *)data.data)[KIND_AT]);
    if (gone)
        (void)message_error("%s: kind %s is no longer supported; use %s instead", p->remote.at.name,
                            gone->name, gone->replacement);
    else if (status == BLY_OK || status == BLY_ECORRUPT)
        (void)message_error("%s: what the server sends is not a filter", p->remote.at.name);
    else
        (void)message_status(p->remote.at.name, status);
    return false;
}

static verdict take_piece(pull *p, const bly_redis_reply *answer) {
    const bly_redis_reply *reply = data_of(p, answer);
    if (!reply)
        return FAILED;
    const bly_bytes data = bly_redis_reply_text(reply);
    if (p->have == 0 && !begin(p, answer, data))
        return FAILED;
    if (bly_redis_reply_integer(bly_redis_reply_at(answer, 1)) != p->stamp)
        return CHANGED;
    if (data.size == 0 || data.size > p->total - p->have) {
        (void)message_error(
            "%s: the server sent %llu bytes too %s", p->remote.at.name,
            (unsigned long long)(data.size ? data.size - (p->total - p->have) : p->total - p->have),
            data.size ? "many" : "few");
        return FAILED;
    }
    p->have += data.size;
    p->chunks++;
    return output_put(&p->out, data.data, data.size) ? FINE : FAILED;
}

static verdict fetch_piece(pull *p) {
    char at[SERVER_NUMBER], count[SERVER_NUMBER];
    const bly_bytes args[] = {
        server_word("BLY.DUMP"),
        p->remote.at.url.key,
        server_number(p->have, at),
        server_word("COUNT"),
        server_number(p->chunk_size, count),
    };
    bly_redis_reply *answer = server_command(&p->remote.at, args, 5, "");
    if (!answer)
        return FAILED;
    const verdict v = take_piece(p, answer);
    bly_redis_reply_free(answer);
    return v;
}

/* From the beginning to the end, unless the filter changes in between. */
static verdict fetch_once(pull *p) {
    verdict v = FINE;
    p->have = p->total = 0;
    if (!output_restart(&p->out))
        return FAILED;
    do {
        v = fetch_piece(p);
        progress_show_bytes(&p->progress, p->have, p->total);
    } while (v == FINE && p->have < p->total && !interrupt_seen());
    return v == FINE && p->have < p->total ? FAILED : v;
}

static bool fetch_all(pull *p) {
    verdict v = CHANGED;
    progress_begin(&p->progress, false);
    while (v == CHANGED && p->tries < TRIES && !interrupt_seen()) {
        p->tries++;
        v = fetch_once(p);
    }
    progress_end(&p->progress);
    if (v == CHANGED && !interrupt_seen())
        (void)message_error("%s: the filter changed while it was fetched, %d times in a row; stop "
                            "adding keys for as long, or pull it from a replica that gets no "
                            "updates meanwhile",
                            p->remote.at.name, TRIES);
    return v == FINE;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* What has arrived, before it takes its place. */
static bool check(pull *p) {
    const bly_open_options o = {.struct_size = sizeof o,
                                .flags = BLY_OPEN_WITHOUT_KEY | BLY_OPEN_VERIFY};
    bly_map *map = NULL;
    bly_filter *loaded = NULL;
    if (!output_flush(&p->out))
        return false;
    const char *path = bly_file_writer_path(p->out.file);
    bly_status status = bly_map_open(path, &o, &map);
    if (status == BLY_EUNSUPPORTED)
        status = bly_filter_load(path, &o, &loaded);
    bly_map_close(map);
    bly_filter_destroy(loaded);
    if (status != BLY_OK)
        (void)message_error("%s: what arrived is refused (%s); nothing was written",
                            p->remote.at.name, bly_strerror(status));
    return status == BLY_OK;
}

static void report(const pull *p) {
    const double seconds = progress_seconds(&p->progress);
    char bytes[NUMBER_TEXT], time[NUMBER_TEXT];
    if (!p->v->json) {
        message_note("%s: %s fetched in %s", p->path, number_bytes(p->total, bytes),
                     number_time(seconds, time));
        return;
    }
    json j = json_begin(stdout);
    server_json(&p->remote.at, p->path, &j);
    json_integer(&j, "bytes", p->total);
    json_integer(&j, "chunks", p->chunks);
    json_integer(&j, "tries", p->tries);
    json_real(&j, "seconds", seconds);
    json_end(&j);
}

static bool fetch_pieces(pull *p) {
    if (!output_open(&p->out, p->path, p->v->force))
        return false;
    const bool good = fetch_all(p) && check(p) && output_commit(&p->out);
    output_close(&p->out);
    if (good)
        report(p);
    return good;
}

/* ---- without the module ---------------------------------------------------------------------- */

static void report_plain(const pull *p, const bly_filter *f) {
    const double seconds = progress_seconds(&p->progress);
    char bytes[NUMBER_TEXT], time[NUMBER_TEXT];
    const uint64_t size = bly_filter_file_size(f);
    if (!p->v->json) {
        message_note("%s: %s fetched in %s", p->path, number_bytes(size, bytes),
                     number_time(seconds, time));
        return;
    }
    json j = json_begin(stdout);
    server_json(&p->remote.at, p->path, &j);
    json_bool(&j, "plain", true);
    json_integer(&j, "bytes", size);
    json_integer(&j, "shards", bly_redis_filter_bitmap(p->remote.filter)->shards);
    json_real(&j, "seconds", seconds);
    json_end(&j);
}

static bool show(void *ctx, uint64_t done, uint64_t total) {
    progress_show_bytes(ctx, done, total);
    return !interrupt_seen();
}

/* The secret key of a keyed filter is not needed for that. */
static bool fetch_plain(pull *p) {
    const bly_redis_filter_options how = {.struct_size = sizeof how, .without_key = true};
    bly_filter *f = NULL;
    if (p->v->chunk) {
        (void)message_error("%s: --chunk-size goes with filters of the module alone; leave it out",
                            p->remote.at.name);
        return false;
    }
    if (remote_open(&p->remote, NULL, &how) != BLY_OK)
        return false;
    interrupt_watch();
    progress_begin(&p->progress, false);
    const bly_status status = bly_redis_filter_pull(p->remote.filter, show, &p->progress, &f);
    progress_end(&p->progress);
    if (status != BLY_OK && !interrupt_seen())
        (void)remote_failed(&p->remote, status);
    const bool good = status == BLY_OK && open_save(f, p->path);
    if (good)
        report_plain(p, f);
    bly_filter_destroy(f);
    return good;
}

/* ---- either ---------------------------------------------------------------------------------- */

static bool fetch_file(pull *p) {
    if (!output_may_replace(p->path, p->v->force) || !server_connect(&p->remote.at) ||
        !remote_look(&p->remote.at, &p->holds))
        return false;
    return p->holds == REMOTE_FILTER ? fetch_plain(p) : fetch_pieces(p);
}

static int run(void *at, cli_operands operands) {
    pull p = {.v = at};
    if (operands.count != 2)
        return message_error("name a key and the file it goes to: bloomery pull "
                             "redis://HOST:PORT/KEY LIST.bly");
    p.path = operands.items[1];
    if (strcmp(p.path, "-") == 0)
        return message_error("what is pulled is checked before it is used, so it needs a file; "
                             "name one");
    if (!server_chunk(p.v->chunk, &p.chunk_size))
        return CLI_ERROR;
    const bool good = remote_to(&p.remote, operands.items[0]) && fetch_file(&p);
    remote_close(&p.remote);
    return good ? CLI_OK : CLI_ERROR;
}

const cli_command command_pull = {
    .name = "pull",
    .operands = "ADDRESS FILE.bly",
    .summary = "Fetch a filter from a Redis or Valkey server to a file",
    .description =
        "Writes the filter that a key of a server holds to a file, which the other commands read "
        "and the library maps. It comes in pieces, and the server goes on serving. A filter of the "
        "Bloomery module (BLY.DUMP) may be of any kind; when it changes meanwhile, what has "
        "arrived is of no use, and the pull starts over, five times at most. One of a server "
        "without the module, as `bloomery build`, `push` and `dedup` make them, is held in memory "
        "until it is whole, and may change: the file has every key that was added before the pull "
        "began, and perhaps some that came later.\n"
        "\n"
        "The file appears when all of it has arrived and, of a filter of the module, its checksums "
        "are right. An existing file is only replaced with --force.\n"
        "\n"
        "The address is redis://HOST:PORT/KEY, or redis://HOST:PORT/DATABASE/KEY with the number "
        "of a database; `bloomery help push` tells more of it. A keyed filter comes without its "
        "key.",
    .examples = "# A copy of what the server has\n"
                "bloomery pull redis://cache.example:6379/blocked blocked.bly\n"
                "# Check lines against it, offline\n"
                "bloomery check blocked.bly lines.txt",
    .options = options,
    .values_size = sizeof(values),
    .run = run,
};
