/* transfer_module.c - sends and fetches filters of the module, in chunks.
 *
 * BLY.LOAD and BLY.DUMP carry the bytes of a filter file. The chunks are so small that the server's
 * other clients do not notice the transfer. A key appears, or is replaced, when its last chunk has
 * arrived and the server has verified the whole filter. A filter may change while it is fetched.
 * Each chunk comes with a stamp; if it differs from that of the first chunk, the filter is fetched
 * again from the beginning.
 */
#include "filters/transfer.h"

#include "filters/filter_file.h"
#include "io/interrupt.h"
#include "io/list_lines.h"
#include "io/output.h"
#include "text/message.h"
#include "text/numbers.h"

#include <bloomery/host/chunks.h>
#include <bloomery/host/lists.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TRIES = 5 };

/* ---- sending --------------------------------------------------------------------------------- */

typedef struct sending {
    transfer *t;
    server_key *at;
    bool no_module; /* the server has no module */
    bly_chunks *image;
    uint8_t *chunk;
} sending;

static bly_redis_reply *load(sending *s, uint64_t offset, size_t size, const char *lost) {
    char total[SERVER_NUMBER], at[SERVER_NUMBER];
    const bly_bytes args[] = {
        server_word("BLY.LOAD"),   s->at->url.key,   server_number(s->t->total, total),
        server_number(offset, at), {s->chunk, size}, server_word("REPLACE"),
    };
    return server_command(s->at, args, s->t->v->replace ? 6 : 5, lost);
}

/* Sets t->resumed. Sends a chunk at an impossible offset: the server's error then names the offset
 * that it expects. Any other answer means that nothing of this file has arrived. On failure,
 * reports the error and returns false. */
static bool find_start(sending *s) {
    if (!s->t->v->resume)
        return true;
    bly_redis_reply *answer = load(s, s->t->total, 0, "");
    if (!answer)
        return false;
    s->no_module = server_error_has(answer, "unknown command");
    static const char words[] = "expected offset ";
    if (server_error_has(answer, words)) {
        const char *text = bly_redis_reply_text(answer).data;
        const char *number = strstr(text, words) + sizeof words - 1;
        const uint64_t at = strtoull(number, NULL, 10);
        s->t->resumed = at < s->t->total ? at : 0;
    }
    bly_redis_reply_free(answer);
    if (s->t->resumed == 0 && !s->no_module)
        message_note("%s: found no interrupted push to continue; sending from the beginning",
                     s->at->name);
    return true;
}

/* The server answers the last chunk after it has verified the whole filter. */
static bool check_answer(const sending *s, const bly_redis_reply *answer) {
    if (bly_redis_reply_type(answer) == BLY_REDIS_INTEGER &&
        (uint64_t)bly_redis_reply_integer(answer) == s->t->done)
        return true;
    if (s->no_module)
        return false;
    (void)server_refused(s->at, answer);
    if (s->t->resumed > 0 && server_is_error(answer) && s->t->done == s->t->total)
        message_note("the chunks that the server already has may be of another file; push again "
                     "without --resume");
    return false;
}

static bool send_chunk(sending *s) {
    char lost[160];
    const size_t size = bly_chunks_read(s->image, s->t->done, s->chunk, s->t->chunk_size);
    (void)snprintf(lost, sizeof lost, "; %s bytes have arrived; use --resume to continue",
                   NUMBER_GROUPED(s->t->done));
    bly_redis_reply *answer = load(s, s->t->done, size, s->t->done ? lost : "");
    if (!answer)
        return false;
    s->t->done += size;
    s->t->chunks++;
    s->no_module = server_error_has(answer, "unknown command");
    const bool good = check_answer(s, answer);
    bly_redis_reply_free(answer);
    return good;
}

static bool send_all(sending *s) {
    bool good = find_start(s) && !s->no_module;
    s->t->done = s->t->resumed;
    progress_begin(&s->t->progress, false);
    while (good && s->t->done < s->t->total && !interrupt_seen()) {
        good = send_chunk(s);
        progress_show_bytes(&s->t->progress, s->t->done - s->t->resumed,
                            s->t->total - s->t->resumed);
    }
    progress_end(&s->t->progress);
    if (good && s->t->done < s->t->total)
        message_note("%s: interrupted; the server keeps the first %s bytes, and --resume continues "
                     "from there",
                     s->at->name, NUMBER_GROUPED(s->t->done));
    return good && s->t->done == s->t->total;
}

/* The type if it is one that the module would look up wrongly, else BLY_LIST_LINE. The module
 * compares bytes, so it would not find an address in a listed network, or a domain in capitals.
 * (The marks of a keyed list cannot be looked up without its key.) */
static bly_list_type unsupported_type(const sending *s) {
    bly_list_levels levels;
    if (s->t->v->as_is)
        return BLY_LIST_LINE;
    const bly_list_type type = bly_filter_hasher(s->t->filter)
                                   ? bly_list_recognise(s->t->filter, &levels)
                                   : bly_list_type_of_rule(bly_filter_key_rule(s->t->filter));
    return type == BLY_LIST_NONE || bly_list_is_lines(type) ? BLY_LIST_LINE : type;
}

/* Refuses what the module cannot store, before anything is sent. */
static bool module_can_store(sending *s) {
    const bly_list_type type = unsupported_type(s);
    const bool needs_plain = s->t->v->shards || s->t->v->expire;
    if (type == BLY_LIST_LINE && !needs_plain)
        return true;
    /* Asks whether there is a module: this chunk is refused in any case. */
    bly_redis_reply *answer = load(s, s->t->total, 0, "");
    if (!answer)
        return false;
    s->no_module = server_error_has(answer, "unknown command");
    bly_redis_reply_free(answer);
    if (s->no_module)
        return true;
    if (needs_plain)
        return message_fail("%s: --shards and --expire are only for filters in Redis strings; "
                            "add --plain, or leave them out",
                            s->at->name);
    return message_fail(
        "%s: has keys of type %s, but the Bloomery module compares bytes, so it would not find "
        "other "
        "spellings of a key, addresses in a listed block, or subdomains; use --plain to look up "
        "keys with bloomery check, or --as-is if all clients look up keys in canonical form",
        s->t->path, line_type_words(type));
}

module_result module_push(transfer *t) {
    sending s = {.t = t, .at = &t->remote.at, .chunk = malloc(t->chunk_size)};
    bool good = s.chunk && bly_chunks_open(t->filter, NULL, &s.image) == BLY_OK;
    if (!good)
        (void)message_error("out of memory");
    else {
        t->total = bly_chunks_size(s.image);
        interrupt_watch(); /* so that a signal ends with a note of how much has arrived */
        good = module_can_store(&s) && !s.no_module && send_all(&s);
    }
    bly_chunks_close(s.image);
    free(s.chunk);
    return good ? MODULE_DONE : s.no_module ? MODULE_ABSENT : MODULE_FAILED;
}

/* ---- fetching -------------------------------------------------------------------------------- */

typedef struct fetching {
    transfer *t;
    server_key *at;
    output out;
    int64_t stamp;
} fetching;

typedef enum fetch_result { FETCH_FAILED, FETCH_CHANGED, FETCH_OK } fetch_result;

/* Reports why nothing can be fetched from a server without the module. */
static int report_no_module(const fetching *f) {
    const char *name = f->at->name;
    if (f->t->content == REMOTE_NOTHING)
        return message_error("%s: there is no such key", name);
    if (f->t->content == REMOTE_STRING)
        return message_error(
            "%s: is a Redis string, but not a Bloomery filter (go-zero filters cannot be pulled)",
            name);
    if (f->t->content == REMOTE_OTHER)
        return message_error("%s: is not a filter; use another key", name);
    return message_error(
        "%s: the server has no Bloomery module, and does not allow GETRANGE, which filters without "
        "the module need; load the module (MODULE LOAD /PATH/TO/bloomery.so), or allow GETRANGE",
        name);
}

/* The data of an answer [total, stamp, data]. If the answer is something else, reports that and
 * returns NULL. */
static const bly_redis_reply *data_of(const fetching *f, const bly_redis_reply *answer) {
    const bly_redis_reply *total = bly_redis_reply_at(answer, 0), *stamp, *data;
    stamp = bly_redis_reply_at(answer, 1);
    data = bly_redis_reply_at(answer, 2);
    if (bly_redis_reply_type(answer) == BLY_REDIS_NIL)
        (void)message_error("%s: there is no such key", f->at->name);
    else if (server_error_has(answer, "unknown command"))
        (void)report_no_module(f);
    else if (!data || bly_redis_reply_type(total) != BLY_REDIS_INTEGER ||
             bly_redis_reply_type(stamp) != BLY_REDIS_INTEGER ||
             bly_redis_reply_type(data) != BLY_REDIS_TEXT ||
             bly_redis_reply_text(data).size > f->t->chunk_size)
        (void)server_refused(f->at, answer);
    else
        return data;
    return NULL;
}

/* Checks that the header in the first chunk agrees with the total, before more data is written to
 * disk. */
static bool check_first_chunk(fetching *f, const bly_redis_reply *answer, bly_bytes data) {
    bly_file_info info = {.struct_size = sizeof info};
    f->t->total = (uint64_t)bly_redis_reply_integer(bly_redis_reply_at(answer, 0));
    f->stamp = bly_redis_reply_integer(bly_redis_reply_at(answer, 1));
    const bly_status status = bly_file_parse_info(data.data, data.size, &info);
    if (status == BLY_OK && f->t->total == BLY_FILE_HEADER + info.body_bytes)
        return true;
    if (status == BLY_EUNSUPPORTED)
        (void)open_refuse_removed(f->at->name, data.data, data.size);
    else if (status == BLY_OK || status == BLY_ECORRUPT)
        (void)message_error("%s: the server sent something that is not a filter", f->at->name);
    else
        (void)message_status(f->at->name, status);
    return false;
}

static fetch_result handle_chunk(fetching *f, const bly_redis_reply *answer) {
    const bly_redis_reply *reply = data_of(f, answer);
    if (!reply)
        return FETCH_FAILED;
    const bly_bytes data = bly_redis_reply_text(reply);
    if (f->t->done == 0 && !check_first_chunk(f, answer, data))
        return FETCH_FAILED;
    if (bly_redis_reply_integer(bly_redis_reply_at(answer, 1)) != f->stamp)
        return FETCH_CHANGED;
    if (data.size == 0 || data.size > f->t->total - f->t->done) {
        (void)message_error("%s: the server sent %llu bytes too %s; try again", f->at->name,
                            (unsigned long long)(data.size ? data.size - (f->t->total - f->t->done)
                                                           : f->t->total - f->t->done),
                            data.size ? "many" : "few");
        return FETCH_FAILED;
    }
    f->t->done += data.size;
    f->t->chunks++;
    return output_put(&f->out, data.data, data.size) ? FETCH_OK : FETCH_FAILED;
}

static fetch_result fetch_chunk(fetching *f) {
    char at[SERVER_NUMBER], count[SERVER_NUMBER];
    const bly_bytes args[] = {
        server_word("BLY.DUMP"),
        f->at->url.key,
        server_number(f->t->done, at),
        server_word("COUNT"),
        server_number(f->t->chunk_size, count),
    };
    bly_redis_reply *answer = server_command(f->at, args, 5, "");
    if (!answer)
        return FETCH_FAILED;
    const fetch_result result = handle_chunk(f, answer);
    bly_redis_reply_free(answer);
    return result;
}

/* One attempt, which ends early if the filter changes. */
static fetch_result fetch_once(fetching *f) {
    fetch_result result = FETCH_OK;
    f->t->done = f->t->total = 0;
    if (!output_restart(&f->out))
        return FETCH_FAILED;
    do {
        result = fetch_chunk(f);
        progress_show_bytes(&f->t->progress, f->t->done, f->t->total);
    } while (result == FETCH_OK && f->t->done < f->t->total && !interrupt_seen());
    return result == FETCH_OK && f->t->done < f->t->total ? FETCH_FAILED : result;
}

static bool fetch_all(fetching *f) {
    fetch_result result = FETCH_CHANGED;
    progress_begin(&f->t->progress, false);
    while (result == FETCH_CHANGED && f->t->tries < MAX_TRIES && !interrupt_seen()) {
        f->t->tries++;
        result = fetch_once(f);
    }
    progress_end(&f->t->progress);
    if (result == FETCH_CHANGED && !interrupt_seen())
        (void)message_error("%s: the filter changed during each of %d attempts; stop adding keys "
                            "while it is fetched, or pull it from a replica that gets no updates",
                            f->at->name, MAX_TRIES);
    return result == FETCH_OK;
}

/* Verifies the temporary file before it is renamed. */
static bool verify(fetching *f) {
    const bly_open_options o = {.struct_size = sizeof o,
                                .flags = BLY_OPEN_WITHOUT_KEY | BLY_OPEN_VERIFY};
    bly_map *map = NULL;
    bly_filter *loaded = NULL;
    if (!output_flush(&f->out))
        return false;
    const char *path = bly_file_writer_path(f->out.file);
    bly_status status = bly_map_open(path, &o, &map);
    if (status == BLY_EUNSUPPORTED)
        status = bly_filter_load(path, &o, &loaded);
    bly_map_close(map);
    bly_filter_destroy(loaded);
    return status == BLY_OK || message_fail("%s: the fetched filter could not be verified (%s); "
                                            "nothing was written; pull it again",
                                            f->at->name, bly_strerror(status));
}

bool module_pull(transfer *t) {
    fetching f = {.t = t, .at = &t->remote.at};
    if (!output_open(&f.out, t->path, t->v->replace))
        return false;
    const bool good = fetch_all(&f) && verify(&f) && output_commit(&f.out);
    output_close(&f.out);
    return good;
}
