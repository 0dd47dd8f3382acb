/* transfer_module.c - filters of the module on their way, in chunks.
 *
 * BLY.LOAD and BLY.DUMP carry the bytes of a filter file, a chunk at a time, so that the server's
 * other clients do not notice. A key appears, or is replaced, when its last chunk has arrived and
 * the server has checked the whole. A filter that is fetched may change between two chunks; the
 * stamp that comes with each tells, and then it is fetched from the beginning.
 */
#include "filters/transfer.h"

#include "filters/kind_words.h"
#include "io/interrupt.h"
#include "io/list_lines.h"
#include "io/output.h"
#include "text/message.h"
#include "text/numbers.h"

#include <bloomery/host/chunks.h>
#include <bloomery/host/describe.h>
#include <bloomery/host/lists.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 5, KIND_AT = 5 /* in a header: docs/format.md */ };

/* ---- sending --------------------------------------------------------------------------------- */

typedef struct sending {
    transfer *t;
    bool bare; /* the server has no module */
    bly_chunks *image;
    uint8_t *chunk;
} sending;

static bly_redis_reply *load(sending *s, uint64_t offset, size_t size, const char *lost) {
    char total[SERVER_NUMBER], at[SERVER_NUMBER];
    const bly_bytes args[] = {
        server_word("BLY.LOAD"),   s->t->remote.at.url.key, server_number(s->t->total, total),
        server_number(offset, at), {s->chunk, size},        server_word("REPLACE"),
    };
    return server_command(&s->t->remote.at, args, s->t->v->replace ? 6 : 5, lost);
}

/* Where to begin. An offset that cannot be right makes the server tell the one that is; any other
 * answer means that nothing of this file has arrived. false: reported. */
static bool find_start(sending *s) {
    if (!s->t->v->resume)
        return true;
    bly_redis_reply *answer = load(s, s->t->total, 0, "");
    if (!answer)
        return false;
    s->bare = server_error_has(answer, "unknown command");
    static const char words[] = "expected offset ";
    if (server_error_has(answer, words)) {
        const char *text = bly_redis_reply_text(answer).data;
        const char *number = strstr(text, words) + sizeof words - 1;
        const uint64_t at = strtoull(number, NULL, 10);
        s->t->resumed = at < s->t->total ? at : 0;
    }
    bly_redis_reply_free(answer);
    if (s->t->resumed == 0 && !s->bare)
        message_note("%s: has nothing of an interrupted push; it is sent from the beginning",
                     s->t->remote.at.name);
    return true;
}

/* The answer to the last piece comes when the server has checked the whole. */
static bool understand(const sending *s, const bly_redis_reply *answer) {
    if (bly_redis_reply_type(answer) == BLY_REDIS_INTEGER &&
        (uint64_t)bly_redis_reply_integer(answer) == s->t->done)
        return true;
    if (s->bare)
        return false;
    (void)server_refused(&s->t->remote.at, answer);
    if (s->t->resumed > 0 && server_is_error(answer) && s->t->done == s->t->total)
        message_note("perhaps what had arrived before was of another file; push it again without "
                     "--resume");
    return false;
}

static bool send_piece(sending *s) {
    char lost[160], sent[NUMBER_TEXT];
    const size_t size = bly_chunks_read(s->image, s->t->done, s->chunk, s->t->chunk_size);
    (void)snprintf(lost, sizeof lost, "; %s bytes have arrived: push it again with --resume",
                   number_grouped(s->t->done, sent));
    bly_redis_reply *answer = load(s, s->t->done, size, s->t->done ? lost : "");
    if (!answer)
        return false;
    s->t->done += size;
    s->t->chunks++;
    s->bare = server_error_has(answer, "unknown command");
    const bool good = understand(s, answer);
    bly_redis_reply_free(answer);
    return good;
}

static bool send_all(sending *s) {
    char sent[NUMBER_TEXT];
    bool good = find_start(s) && !s->bare;
    s->t->done = s->t->resumed;
    progress_begin(&s->t->progress, false);
    while (good && s->t->done < s->t->total && !interrupt_seen()) {
        good = send_piece(s);
        progress_show_bytes(&s->t->progress, s->t->done - s->t->resumed,
                            s->t->total - s->t->resumed);
    }
    progress_end(&s->t->progress);
    if (good && s->t->done < s->t->total)
        message_note("%s: stopped; the server keeps the first %s bytes until --resume brings the "
                     "rest",
                     s->t->remote.at.name, number_grouped(s->t->done, sent));
    return good && s->t->done == s->t->total;
}

/* The module compares bytes. Asked for an address whose network is listed, or a name in capitals,
 * it would say no. (Marks of a keyed list cannot be looked up without its key.) */
static bly_list_type type_of(const sending *s) {
    bly_list_levels levels;
    if (s->t->v->as_is)
        return BLY_LIST_LINE;
    const bly_list_type type = bly_filter_hasher(s->t->filter)
                                   ? bly_list_recognise(s->t->filter, &levels)
                                   : bly_list_type_of_rule(bly_filter_key_rule(s->t->filter));
    return type == BLY_LIST_NONE || bly_list_is_lines(type) ? BLY_LIST_LINE : type;
}

/* What only a server without the module can be sent. Before the first piece is. */
static bool module_agrees(sending *s) {
    const bly_list_type type = type_of(s);
    const bool plain_alone = s->t->v->shards || s->t->v->expire;
    if (type == BLY_LIST_LINE && !plain_alone)
        return true;
    /* A piece that begins at the end is refused, one way or the other. */
    bly_redis_reply *answer = load(s, s->t->total, 0, "");
    if (!answer)
        return false;
    s->bare = server_error_has(answer, "unknown command");
    bly_redis_reply_free(answer);
    if (s->bare)
        return true;
    if (plain_alone)
        (void)message_error("%s: --shards and --expire are for strings, which need no module; add "
                            "--plain, or leave them out",
                            s->t->remote.at.name);
    else
        (void)message_error("%s: a %s %s; a server compares bytes, and would deny what "
                            "the list has in another form or as part of something larger. Ask such "
                            "a list with bloomery check; or send it with --as-is, for clients that "
                            "put their keys into its form; or with --plain, for bloomery check",
                            s->t->path, transfer_what(type), line_type_words(type));
    return false;
}

module_result module_push(transfer *t) {
    sending s = {.t = t, .chunk = malloc(t->chunk_size)};
    bool good = s.chunk && bly_chunks_open(t->filter, NULL, &s.image) == BLY_OK;
    if (!good)
        (void)message_error("out of memory");
    else {
        t->total = bly_chunks_size(s.image);
        interrupt_watch(); /* so that it can be said what the server has */
        good = module_agrees(&s) && !s.bare && send_all(&s);
    }
    bly_chunks_close(s.image);
    free(s.chunk);
    return good ? MODULE_DONE : s.bare ? MODULE_ABSENT : MODULE_FAILED;
}

/* ---- fetching -------------------------------------------------------------------------------- */

typedef struct fetching {
    transfer *t;
    output out;
    int64_t stamp;
} fetching;

typedef enum verdict { FAILED, CHANGED, FINE } verdict;

/* Why there is nothing to be had where the module is not loaded. */
static int refuse_bare(const fetching *f) {
    const char *name = f->t->remote.at.name;
    if (f->t->holds == REMOTE_NOTHING)
        return message_error("%s: there is no such key", name);
    if (f->t->holds == REMOTE_STRING)
        return message_error("%s: holds a string that is no filter of Bloomery's (go-zero's have "
                             "no form of a file)",
                             name);
    if (f->t->holds == REMOTE_OTHER)
        return message_error("%s: the key holds something that is no filter; name another", name);
    return message_error(
        "%s: the server has no Bloomery module (MODULE LOAD "
        "/PATH/TO/bloomery.so), and does not allow GETRANGE, which filters without "
        "it need",
        name);
}

/* [total, stamp, data]. NULL where an answer is none of that; reported. */
static const bly_redis_reply *data_of(const fetching *f, const bly_redis_reply *answer) {
    const bly_redis_reply *total = bly_redis_reply_at(answer, 0), *stamp, *data;
    stamp = bly_redis_reply_at(answer, 1);
    data = bly_redis_reply_at(answer, 2);
    if (bly_redis_reply_type(answer) == BLY_REDIS_NIL)
        (void)message_error("%s: there is no such key", f->t->remote.at.name);
    else if (server_error_has(answer, "unknown command"))
        (void)refuse_bare(f);
    else if (!data || bly_redis_reply_type(total) != BLY_REDIS_INTEGER ||
             bly_redis_reply_type(stamp) != BLY_REDIS_INTEGER ||
             bly_redis_reply_type(data) != BLY_REDIS_TEXT ||
             bly_redis_reply_text(data).size > f->t->chunk_size)
        (void)server_refused(&f->t->remote.at, answer);
    else
        return data;
    return NULL;
}

/* What the first piece says, its header most of all, must be believable before a disk is filled on
 * its word. */
static bool begin(fetching *f, const bly_redis_reply *answer, bly_bytes data) {
    bly_file_info info = {.struct_size = sizeof info};
    f->t->total = (uint64_t)bly_redis_reply_integer(bly_redis_reply_at(answer, 0));
    f->stamp = bly_redis_reply_integer(bly_redis_reply_at(answer, 1));
    const bly_status status = bly_file_parse_info(data.data, data.size, &info);
    if (status == BLY_OK && f->t->total == BLY_FILE_HEADER + info.body_bytes)
        return true;
    const bly_removed_kind *gone = NULL;
    if (status == BLY_EUNSUPPORTED)
        gone = bly_kind_removed(((const uint8_t *)data.data)[KIND_AT]);
    if (gone)
        (void)message_error("%s: kind %s is no longer supported; use %s instead",
                            f->t->remote.at.name, gone->name, gone->replacement);
    else if (status == BLY_OK || status == BLY_ECORRUPT)
        (void)message_error("%s: what the server sends is not a filter", f->t->remote.at.name);
    else
        (void)message_status(f->t->remote.at.name, status);
    return false;
}

static verdict take_piece(fetching *f, const bly_redis_reply *answer) {
    const bly_redis_reply *reply = data_of(f, answer);
    if (!reply)
        return FAILED;
    const bly_bytes data = bly_redis_reply_text(reply);
    if (f->t->done == 0 && !begin(f, answer, data))
        return FAILED;
    if (bly_redis_reply_integer(bly_redis_reply_at(answer, 1)) != f->stamp)
        return CHANGED;
    if (data.size == 0 || data.size > f->t->total - f->t->done) {
        (void)message_error("%s: the server sent %llu bytes too %s", f->t->remote.at.name,
                            (unsigned long long)(data.size ? data.size - (f->t->total - f->t->done)
                                                           : f->t->total - f->t->done),
                            data.size ? "many" : "few");
        return FAILED;
    }
    f->t->done += data.size;
    f->t->chunks++;
    return output_put(&f->out, data.data, data.size) ? FINE : FAILED;
}

static verdict fetch_piece(fetching *f) {
    char at[SERVER_NUMBER], count[SERVER_NUMBER];
    const bly_bytes args[] = {
        server_word("BLY.DUMP"),
        f->t->remote.at.url.key,
        server_number(f->t->done, at),
        server_word("COUNT"),
        server_number(f->t->chunk_size, count),
    };
    bly_redis_reply *answer = server_command(&f->t->remote.at, args, 5, "");
    if (!answer)
        return FAILED;
    const verdict v = take_piece(f, answer);
    bly_redis_reply_free(answer);
    return v;
}

/* From the beginning to the end, unless the filter changes in between. */
static verdict fetch_once(fetching *f) {
    verdict v = FINE;
    f->t->done = f->t->total = 0;
    if (!output_restart(&f->out))
        return FAILED;
    do {
        v = fetch_piece(f);
        progress_show_bytes(&f->t->progress, f->t->done, f->t->total);
    } while (v == FINE && f->t->done < f->t->total && !interrupt_seen());
    return v == FINE && f->t->done < f->t->total ? FAILED : v;
}

static bool fetch_all(fetching *f) {
    verdict v = CHANGED;
    progress_begin(&f->t->progress, false);
    while (v == CHANGED && f->t->tries < TRIES && !interrupt_seen()) {
        f->t->tries++;
        v = fetch_once(f);
    }
    progress_end(&f->t->progress);
    if (v == CHANGED && !interrupt_seen())
        (void)message_error("%s: the filter changed while it was fetched, %d times in a row; stop "
                            "adding keys for as long, or pull it from a replica that gets no "
                            "updates meanwhile",
                            f->t->remote.at.name, TRIES);
    return v == FINE;
}

/* What has arrived, before it takes its place. */
static bool check(fetching *f) {
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
    if (status != BLY_OK)
        (void)message_error("%s: what arrived is refused (%s); nothing was written",
                            f->t->remote.at.name, bly_strerror(status));
    return status == BLY_OK;
}

bool module_pull(transfer *t) {
    fetching f = {.t = t};
    if (!output_open(&f.out, t->path, t->v->replace))
        return false;
    const bool good = fetch_all(&f) && check(&f) && output_commit(&f.out);
    output_close(&f.out);
    return good;
}
