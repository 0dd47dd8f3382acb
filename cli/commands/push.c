/* bloomery push - a filter file becomes a key of a server. */
#include "cli.h"
#include "interrupt.h"
#include "json.h"
#include "keytype.h"
#include "message.h"
#include "numbers.h"
#include "open.h"
#include "progress.h"
#include "talk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct values {
    uint64_t chunk;
    bool replace, resume, as_is, json;
} values;

static const cli_option options[] = {
    {"chunk-size", 0, CLI_SIZE, offsetof(values, chunk), "SIZE", NULL, NULL,
     "Send at most SIZE bytes at a time, from 1K to 64M. The default is 1M: small enough that the "
     "server's other clients do not notice."},
    {"replace", 0, CLI_FLAG, offsetof(values, replace), NULL, NULL, NULL,
     "Replace the filter that the key has. It serves until the new one is complete."},
    {"resume", 0, CLI_FLAG, offsetof(values, resume), NULL, NULL, NULL,
     "Go on where an interrupted push of the same file has left off."},
    {"as-is", 0, CLI_FLAG, offsetof(values, as_is), NULL, NULL, NULL,
     "Send a list that was built with --type, too. The server knows nothing of types: its clients "
     "must ask for keys in the form in which the list has them."},
    {"json", 0, CLI_FLAG, offsetof(values, json), NULL, NULL, NULL,
     "Print what was done as a JSON object."},
    {0},
};

/* A push under way. */
typedef struct push {
    const values *v;
    const char *path;
    talk talk;
    bly_image *image;
    uint8_t *chunk;
    size_t chunk_size;
    uint64_t total, resumed, sent, chunks;
    progress progress;
} push;

/* ---- the pieces ------------------------------------------------------------------------------ */

static bly_redis_reply *load(push *p, uint64_t offset, size_t size, const char *lost) {
    char total[TALK_NUMBER], at[TALK_NUMBER];
    const bly_bytes args[] = {
        talk_word("BLY.LOAD"),   p->talk.url.key,  talk_number(p->total, total),
        talk_number(offset, at), {p->chunk, size}, talk_word("REPLACE"),
    };
    return talk_ask(&p->talk, args, p->v->replace ? 6 : 5, lost);
}

/* Where to begin. An offset that cannot be right makes the server tell the one that is; any other
 * answer means that nothing of this file has arrived. false: reported. */
static bool find_start(push *p) {
    if (!p->v->resume)
        return true;
    bly_redis_reply *answer = load(p, p->total, 0, "");
    if (!answer)
        return false;
    static const char words[] = "expected offset ";
    if (talk_says(answer, words)) {
        const char *text = bly_redis_reply_text(answer).data;
        const char *number = strstr(text, words) + sizeof words - 1;
        const uint64_t at = strtoull(number, NULL, 10);
        p->resumed = at < p->total ? at : 0;
    }
    bly_redis_reply_free(answer);
    if (p->resumed == 0)
        message_note("%s: has nothing of an interrupted push; it is sent from the beginning",
                     p->talk.name);
    return true;
}

/* The answer to the last piece comes when the server has checked the whole. */
static bool understand(const push *p, const bly_redis_reply *answer) {
    if (bly_redis_reply_type(answer) == BLY_REDIS_INTEGER &&
        (uint64_t)bly_redis_reply_integer(answer) == p->sent)
        return true;
    (void)talk_refused(&p->talk, answer);
    if (p->resumed > 0 && talk_is_error(answer) && p->sent == p->total)
        message_note("perhaps what had arrived before was of another file; push it again without "
                     "--resume");
    return false;
}

static bool send_piece(push *p) {
    char lost[160], sent[NUMBER_TEXT];
    const size_t size = bly_image_copy(p->image, p->sent, p->chunk, p->chunk_size);
    (void)snprintf(lost, sizeof lost, "; %s bytes have arrived: push it again with --resume",
                   number_grouped(p->sent, sent));
    bly_redis_reply *answer = load(p, p->sent, size, p->sent ? lost : "");
    if (!answer)
        return false;
    p->sent += size;
    p->chunks++;
    const bool good = understand(p, answer);
    bly_redis_reply_free(answer);
    return good;
}

static bool send_all(push *p) {
    char sent[NUMBER_TEXT];
    bool good = find_start(p);
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
                     p->talk.name, number_grouped(p->sent, sent));
    return good && p->sent == p->total;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void report(const push *p) {
    const double seconds = progress_seconds(&p->progress);
    char bytes[NUMBER_TEXT], time[NUMBER_TEXT];
    if (!p->v->json) {
        message_note("%s: %s sent in %s", p->talk.name, number_bytes(p->sent - p->resumed, bytes),
                     number_time(seconds, time));
        return;
    }
    json j = json_begin(stdout);
    talk_tell(&p->talk, p->path, &j);
    json_integer(&j, "bytes", p->total);
    json_integer(&j, "resumed_at", p->resumed);
    json_integer(&j, "chunks", p->chunks);
    json_real(&j, "seconds", seconds);
    json_end(&j);
}

/* A server compares bytes. Asked for an address whose network is listed, or a name in capitals, it
 * would say no. (A keyed list cannot be looked at here.) */
static bool may_be_sent(const push *p, const bly_filter *f) {
    keytype_levels levels;
    if (p->v->as_is || !bly_filter_hasher(f))
        return true;
    const keytype type = keytype_recognise(f, &levels);
    if (type == KEYTYPE_LINE || type == KEYTYPE_NONE)
        return true;
    (void)message_error("%s: a list of type %s; a server compares bytes, and would deny what the "
                        "list has in another form or as part of something larger. Ask such a list "
                        "with bloomery check; or send it with --as-is, for clients that put their "
                        "keys into its form",
                        p->path, keytype_name(type));
    return false;
}

static bool send_file(push *p) {
    opened o;
    if (open_read(&o, p->path, NULL, BLY_OPEN_WITHOUT_KEY | BLY_OPEN_VERIFY) != BLY_OK)
        return false;
    if (!may_be_sent(p, o.filter)) {
        open_close(&o);
        return false;
    }
    p->chunk = malloc(p->chunk_size);
    bool good = p->chunk && bly_image_open(o.filter, NULL, &p->image) == BLY_OK;
    if (good) {
        p->total = bly_image_size(p->image);
        interrupt_watch(); /* so that it can be said what the server has */
        good = talk_connect(&p->talk) && send_all(p);
    } else
        (void)message_error("out of memory");
    if (good)
        report(p);
    bly_image_close(p->image);
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
    if (!talk_chunk(p.v->chunk, &p.chunk_size))
        return CLI_ERROR;
    const bool good = talk_to(&p.talk, operands.items[1]) && send_file(&p);
    talk_close(&p.talk);
    return good ? CLI_OK : CLI_ERROR;
}

const cli_command command_push = {
    .name = "push",
    .operands = "FILE.bly ADDRESS",
    .summary = "Send a filter file to a Redis or Valkey server",
    .description =
        "Makes a filter file a key of a server that has the Bloomery module loaded: a list that "
        "was built offline, in minutes and on any machine, serves there at once. The file is "
        "checked before anything is sent. It goes over in pieces, in order (BLY.LOAD), and the key "
        "appears, or is replaced, in one moment, when all of it has arrived and the server has "
        "checked it, too. Until then the old filter serves; if anything fails it stays.\n"
        "\n"
        "The address is redis://HOST:PORT/KEY, or redis://HOST:PORT/DATABASE/KEY with the number "
        "of a database. Without HOST it is this machine, without PORT 6379. A user and a password "
        "come before the host: redis://USER:PASSWORD@HOST/KEY, or :PASSWORD@ alone; whoever lists "
        "the processes of this machine sees them there, but not in the environment variable "
        "REDISCLI_AUTH, which is used where the address has no password. A socket is "
        "unix:///PATH?key=KEY. What is "
        "special in an address is written %XX. TLS (rediss://) needs a tunnel. In a cluster any of "
        "its servers will do.\n"
        "\n"
        "A keyed filter is sent without its key, which the server has in its own key file or not "
        "at all. A list that was built with --type is not sent without --as-is: the server would "
        "compare bytes, not addresses or names.",
    .examples = "# Build a list here, and serve it there\n"
                "bloomery build -o blocked.bly blocked.txt && bloomery push blocked.bly "
                "redis://cache.example:6379/blocked\n"
                "# Replace it by a newer one, while it is in use\n"
                "bloomery push --replace blocked.bly redis://cache.example/blocked\n"
                "# Go on after the connection broke\n"
                "bloomery push --resume blocked.bly redis://cache.example/blocked",
    .options = options,
    .values_size = sizeof(values),
    .run = run,
};
