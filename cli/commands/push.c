/* bloomery push - a filter file becomes a key of a server. */
#include "cli.h"
#include "common_options.h"
#include "filters/filter_file.h"
#include "filters/server_filter.h"
#include "io/interrupt.h"
#include "io/line_words.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"
#include "text/progress.h"

#include <bloomery/host/chunks.h>
#include <bloomery/redis/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct values {
    const char *key_file;
    uint64_t chunk, shards, expire;
    bool replace, resume, as_is, plain, json;
} values;

#define AT(field) offsetof(values, field)
static const cli_option options[] = {
    OPTION_CHUNK_SIZE(AT(chunk), "Send"),
    {.name = "replace",
     .type = CLI_FLAG,
     .at = AT(replace),
     .help = "Replace the filter that the key has. It serves until the new one is complete."},
    {.name = "resume",
     .type = CLI_FLAG,
     .at = AT(resume),
     .help = "Go on where an interrupted push of the same file has left off. Needs the module."},
    {.name = "as-is",
     .type = CLI_FLAG,
     .at = AT(as_is),
     .help = "Send a list that was built with --type to a server with the module, too. The module "
             "knows nothing of types: its clients must ask for keys in the form in which the list "
             "has them."},
    OPTION_PLAIN(AT(plain), "Make it strings of the server, which need no module, also where the "
                            "module is loaded. For lists of kind sbbf and split512."),
    OPTION_SHARDS(AT(shards), "On a server without the module"),
    OPTION_EXPIRE(AT(expire),
                  "The filter vanishes after so long: 90s, 15m, 24h, 7d. Not with the module."),
    OPTION_KEY_FILE(AT(key_file), "The secret key of a keyed list, which a server without the "
                                  "module needs to be told the id of. The key itself is not sent."),
    OPTION_JSON(AT(json), "Print what was done as a JSON object."),
    {0},
};

/* A push under way. */
typedef struct push {
    const values *v;
    const char *path;
    remote remote;
    bly_bitmap_spec spec;
    const bly_filter *filter;
    bool bare; /* the server has no module */
    bly_chunks *image;
    uint8_t *chunk;
    size_t chunk_size;
    uint64_t total, resumed, sent, chunks;
    progress progress;
} push;

/* ---- the pieces ------------------------------------------------------------------------------ */

static bly_redis_reply *load(push *p, uint64_t offset, size_t size, const char *lost) {
    char total[SERVER_NUMBER], at[SERVER_NUMBER];
    const bly_bytes args[] = {
        server_word("BLY.LOAD"),   p->remote.at.url.key, server_number(p->total, total),
        server_number(offset, at), {p->chunk, size},     server_word("REPLACE"),
    };
    return server_command(&p->remote.at, args, p->v->replace ? 6 : 5, lost);
}

/* Where to begin. An offset that cannot be right makes the server tell the one that is; any other
 * answer means that nothing of this file has arrived. false: reported. */
static bool find_start(push *p) {
    if (!p->v->resume)
        return true;
    bly_redis_reply *answer = load(p, p->total, 0, "");
    if (!answer)
        return false;
    p->bare = server_error_has(answer, "unknown command");
    static const char words[] = "expected offset ";
    if (server_error_has(answer, words)) {
        const char *text = bly_redis_reply_text(answer).data;
        const char *number = strstr(text, words) + sizeof words - 1;
        const uint64_t at = strtoull(number, NULL, 10);
        p->resumed = at < p->total ? at : 0;
    }
    bly_redis_reply_free(answer);
    if (p->resumed == 0 && !p->bare)
        message_note("%s: has nothing of an interrupted push; it is sent from the beginning",
                     p->remote.at.name);
    return true;
}

/* The answer to the last piece comes when the server has checked the whole. */
static bool understand(const push *p, const bly_redis_reply *answer) {
    if (bly_redis_reply_type(answer) == BLY_REDIS_INTEGER &&
        (uint64_t)bly_redis_reply_integer(answer) == p->sent)
        return true;
    if (p->bare)
        return false;
    (void)server_refused(&p->remote.at, answer);
    if (p->resumed > 0 && server_is_error(answer) && p->sent == p->total)
        message_note("perhaps what had arrived before was of another file; push it again without "
                     "--resume");
    return false;
}

static bool send_piece(push *p) {
    char lost[160], sent[NUMBER_TEXT];
    const size_t size = bly_chunks_read(p->image, p->sent, p->chunk, p->chunk_size);
    (void)snprintf(lost, sizeof lost, "; %s bytes have arrived: push it again with --resume",
                   number_grouped(p->sent, sent));
    bly_redis_reply *answer = load(p, p->sent, size, p->sent ? lost : "");
    if (!answer)
        return false;
    p->sent += size;
    p->chunks++;
    p->bare = server_error_has(answer, "unknown command");
    const bool good = understand(p, answer);
    bly_redis_reply_free(answer);
    return good;
}

static bool send_all(push *p) {
    char sent[NUMBER_TEXT];
    bool good = find_start(p) && !p->bare;
    p->sent = p->resumed;
    progress_begin(&p->progress, false);
    while (good && p->sent < p->total && !interrupt_seen()) {
        good = send_piece(p);
        progress_show_bytes(&p->progress, p->sent - p->resumed, p->total - p->resumed);
    }
    progress_end(&p->progress);
    if (good && p->sent < p->total)
        message_note("%s: stopped; the server keeps the first %s bytes until --resume brings the "
                     "rest",
                     p->remote.at.name, number_grouped(p->sent, sent));
    return good && p->sent == p->total;
}

/* ---- without the module ---------------------------------------------------------------------- */

static void report_plain(const push *p, double seconds) {
    char bytes[NUMBER_TEXT], time[NUMBER_TEXT], cut[48] = "";
    const bly_bitmap *b = bly_redis_filter_bitmap(p->remote.filter);
    const uint64_t size = bly_bitmap_bytes(b);
    if (b->shards > 1)
        (void)snprintf(cut, sizeof cut, ", in %u strings", (unsigned)b->shards);
    if (!p->v->json) {
        message_note("%s: %s sent in %s%s", p->remote.at.name, number_bytes(size, bytes),
                     number_time(seconds, time), cut);
        return;
    }
    json j = json_begin(stdout);
    server_json(&p->remote.at, p->path, &j);
    json_bool(&j, "plain", true);
    json_integer(&j, "bytes", size);
    json_integer(&j, "shards", b->shards);
    json_real(&j, "seconds", seconds);
    json_end(&j);
}

/* What has no meaning there. */
static bool plain_agrees(const push *p) {
    const bly_kind kind = bly_filter_geometry(p->filter).kind;
    if (!remote_holds_kind(kind))
        (void)remote_refuse_kind(p->path, kind);
    else if (!bly_filter_hasher(p->filter))
        (void)message_error("%s: is keyed; give its key by --key-file. It is not sent, but its id "
                            "is",
                            p->path);
    else if (p->v->resume)
        (void)message_error("%s: without the module nothing is kept of a push that was "
                            "interrupted; leave --resume out",
                            p->remote.at.name);
    else if (p->v->chunk)
        (void)message_error("%s: --chunk-size goes with the module alone; leave it out",
                            p->remote.at.name);
    else
        return true;
    return false;
}

static const char *what_it_is(bly_list_type type) {
    return bly_list_is_typed(type) ? "list of type" : "state of";
}

/* As with a file, it is for whoever asks the filter to bring his keys into its form. */
static void mention_type(const push *p) {
    bly_list_levels levels;
    const bly_list_type type = bly_list_recognise(p->filter, &levels);
    if (!bly_list_is_lines(type) && type != BLY_LIST_NONE && !p->v->as_is)
        message_note("%s: a %s %s, as bloomery check and add will find by themselves; other "
                     "clients must ask for keys in its form",
                     p->remote.at.name, what_it_is(type), line_type_words(type));
}

static bool send_plain(push *p) {
    const double start = progress_clock();
    if (!plain_agrees(p) || !remote_may_send(&p->remote, p->v->replace, "--replace"))
        return false;
    if (p->bare)
        message_note("%s: the server has no Bloomery module; the list is sent as strings, which "
                     "need none",
                     p->remote.at.name);
    if (!remote_send(&p->remote, p->filter, &p->spec, p->v->replace, "--replace"))
        return false;
    mention_type(p);
    report_plain(p, progress_clock() - start);
    return true;
}

/* ---- with it --------------------------------------------------------------------------------- */

static void report(const push *p) {
    const double seconds = progress_seconds(&p->progress);
    char bytes[NUMBER_TEXT], time[NUMBER_TEXT];
    if (!p->v->json) {
        message_note("%s: %s sent in %s", p->remote.at.name,
                     number_bytes(p->sent - p->resumed, bytes), number_time(seconds, time));
        return;
    }
    json j = json_begin(stdout);
    server_json(&p->remote.at, p->path, &j);
    json_integer(&j, "bytes", p->total);
    json_integer(&j, "resumed_at", p->resumed);
    json_integer(&j, "chunks", p->chunks);
    json_real(&j, "seconds", seconds);
    json_end(&j);
}

/* The module compares bytes. Asked for an address whose network is listed, or a name in capitals,
 * it would say no. (Marks of a keyed list cannot be looked up without its key.) */
static bly_list_type type_of(const push *p) {
    bly_list_levels levels;
    if (p->v->as_is)
        return BLY_LIST_LINE;
    const bly_list_type type = bly_filter_hasher(p->filter)
                                   ? bly_list_recognise(p->filter, &levels)
                                   : bly_list_type_of_rule(bly_filter_key_rule(p->filter));
    return type == BLY_LIST_NONE || bly_list_is_lines(type) ? BLY_LIST_LINE : type;
}

/* What only a server without the module can be sent. Before the first piece is. */
static bool module_agrees(push *p) {
    const bly_list_type type = type_of(p);
    const bool plain_alone = p->v->shards || p->v->expire;
    if (type == BLY_LIST_LINE && !plain_alone)
        return true;
    /* A piece that begins at the end is refused, one way or the other. */
    bly_redis_reply *answer = load(p, p->total, 0, "");
    if (!answer)
        return false;
    p->bare = server_error_has(answer, "unknown command");
    bly_redis_reply_free(answer);
    if (p->bare)
        return true;
    if (plain_alone)
        (void)message_error("%s: --shards and --expire are for strings, which need no module; add "
                            "--plain, or leave them out",
                            p->remote.at.name);
    else
        (void)message_error("%s: a %s %s; a server compares bytes, and would deny what "
                            "the list has in another form or as part of something larger. Ask such "
                            "a list with bloomery check; or send it with --as-is, for clients that "
                            "put their keys into its form; or with --plain, for bloomery check",
                            p->path, what_it_is(type), line_type_words(type));
    return false;
}

static bool send_pieces(push *p) {
    p->chunk = malloc(p->chunk_size);
    if (!p->chunk || bly_chunks_open(p->filter, NULL, &p->image) != BLY_OK) {
        (void)message_error("out of memory");
        return false;
    }
    p->total = bly_chunks_size(p->image);
    interrupt_watch(); /* so that it can be said what the server has */
    if (!module_agrees(p))
        return false;
    if (!p->bare && send_all(p)) {
        report(p);
        return true;
    }
    return p->bare && send_plain(p);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool send_file(push *p) {
    opened o;
    bly_hasher space;
    const bly_hasher *key;
    if (!open_key(p->v->key_file, &space, &key) ||
        open_read(&o, p->path, key, BLY_OPEN_WITHOUT_KEY | BLY_OPEN_VERIFY) != BLY_OK)
        return false;
    p->filter = o.filter;
    const bool good = p->v->plain ? send_plain(p) : server_connect(&p->remote.at) && send_pieces(p);
    bly_chunks_close(p->image);
    free(p->chunk);
    open_close(&o);
    return good;
}

static int run(void *at, cli_operands operands) {
    push p = {.v = at};
    if (operands.count != 2)
        return message_error("name a filter file and where it goes: bloomery push LIST.bly "
                             "redis://HOST:PORT/KEY");
    p.path = operands.items[0];
    if (!server_chunk(p.v->chunk, &p.chunk_size) || !remote_spec(p.v->shards, p.v->expire, &p.spec))
        return CLI_ERROR;
    const bool good = remote_to(&p.remote, operands.items[1]) && send_file(&p);
    remote_close(&p.remote);
    return good ? CLI_OK : CLI_ERROR;
}

const cli_command command_push = {
    .name = "push",
    .operands = "FILE.bly ADDRESS",
    .summary = "Send a filter file to a Redis or Valkey server",
    .description =
        "Makes a filter file a key of a server: a list that was built offline, in minutes and on "
        "any machine, serves there at once. The file is checked before anything is sent. It goes "
        "over in pieces, and the key appears, or is replaced, in one moment, when all of it has "
        "arrived. Until then the old filter serves; if anything fails it stays.\n"
        "\n"
        "On a server that has the Bloomery module loaded it becomes a filter of the module "
        "(BLY.LOAD), of any kind, and the server checks it, too. On any other, and with --plain, "
        "it becomes one or more strings, which need no module; that takes the kinds sbbf and "
        "split512. Such a filter is asked and added to by `bloomery check`, `add` and `dedup`, and "
        "by programs through the library. Of several strings the first is replaced last; whoever "
        "meets an old one and a new one gets an error and no wrong answer.\n"
        "\n"
        "The address is redis://HOST:PORT/KEY, or redis://HOST:PORT/DATABASE/KEY with the number "
        "of a database. Without HOST it is this machine, without PORT 6379. A user and a password "
        "come before the host: redis://USER:PASSWORD@HOST/KEY, or :PASSWORD@ alone; whoever lists "
        "the processes of this machine sees them there, but not in the environment variable "
        "REDISCLI_AUTH, which is used where the address has no password. A socket is "
        "unix:///PATH?key=KEY. What is special in an address is written %XX. rediss:// is TLS, "
        "where this build has it, and needs a tunnel where not. In a cluster any of its servers "
        "will do.\n"
        "\n"
        "A keyed filter is sent without its key, which a server with the module has in its own "
        "key file or not at all. A list that was built with --type is not sent to the module "
        "without --as-is, for that would compare bytes, not addresses or names. Without the module "
        "it is as with a file: whoever asks brings his keys into the list's form, and `bloomery "
        "check` does so by itself.",
    .examples = "# Build a list here, and serve it there\n"
                "bloomery build -o blocked.bly blocked.txt && bloomery push blocked.bly "
                "redis://cache.example:6379/blocked\n"
                "# Replace it by a newer one, while it is in use\n"
                "bloomery push --replace blocked.bly redis://cache.example/blocked\n"
                "# Go on after the connection broke\n"
                "bloomery push --resume blocked.bly redis://cache.example/blocked\n"
                "# Over a cluster without the module, for a day\n"
                "bloomery push --shards 3 --expire 24h blocked.bly redis://cache.example/blocked",
    .options = options,
    .most_used = {"replace", "resume", "expire"},
    .values_size = sizeof(values),
    .run = run,
};
