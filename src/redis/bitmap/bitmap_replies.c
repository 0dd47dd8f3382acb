/* Reads the replies of servers: errors, redirections, and the replies to batches.
 *
 * An error begins with a word that identifies it: "MOVED 3999 10.0.0.7:6379". From Redis 7 on, that
 * is also true for an error inside a script. Older servers wrap such an error in other text, in
 * which the word is somewhere: "ERR Error running script (call to f_...): @user_script:7:
 * @user_script: 7: -OOM command not allowed ...". The table lists the known words, and what to do
 * about each.
 */
#include "redis/bitmap/bitmap_batch.h"

#include "base/little_endian.h"

#include <stdio.h>

/* ---- errors ---------------------------------------------------------------------------------- */

typedef struct reply_meaning {
    const char *word;
    bly_redis_verdict verdict;
    bly_status status;
    const char *advice;
    bool instead; /* true: show only the advice; false: the server's words, then the advice */
} reply_meaning;

static const char reply_needed_commands[] =
    "the user needs EVAL, EVALSHA, GETRANGE, SETRANGE, EXISTS, STRLEN, PTTL, PERSIST, PEXPIRE, "
    "PEXPIREAT, RENAME, UNLINK (for go-zero's SETBIT, GETBIT), and this key: see ACL SETUSER";

static const reply_meaning reply_meanings[] = {
    {"BLYMISSING", BLY_REDIS_REFUSED, BLY_EMISSING,
     "the filter is missing or incomplete: it was deleted, has expired, was evicted, or the server "
     "lost its data; create it again and add its keys",
     true},
    {"BLYOTHER", BLY_REDIS_REFUSED, BLY_EMISMATCH,
     "the key is no longer this filter: it was recreated or overwritten; open it again", true},
    {"BLYNATIVE", BLY_REDIS_REFUSED, BLY_EMISMATCH,
     "the key is a Bloomery filter, not one of go-zero; open it without the number of bits", true},
    {"BLYLONG", BLY_REDIS_REFUSED, BLY_EMISMATCH,
     "the string has more bits than a go-zero filter of that size; use the same number of bits as "
     "its other users",
     true},
    {"BLYEXISTS", BLY_REDIS_REFUSED, BLY_EEXISTS,
     "the key already exists; use another key, or replace it", true},
    {"BLYGONE", BLY_REDIS_REFUSED, BLY_EMISSING,
     "the incomplete filter was deleted: it waited for an hour, or was evicted; send it again",
     true},
    {"BLYRIVAL", BLY_REDIS_REFUSED, BLY_EMISMATCH,
     "another client is sending a filter to the same key; wait until it has finished, then send "
     "again",
     true},
    {"NOSCRIPT", BLY_REDIS_NO_SCRIPT, BLY_EREFUSED, "send the script itself with EVAL", false},
    {"MOVED", BLY_REDIS_MOVED, BLY_EREFUSED,
     "this is a node of a cluster, and the key is on another; connect to it as a cluster", false},
    {"ASK", BLY_REDIS_ASK, BLY_EREFUSED,
     "this is a node of a cluster, and the key is being moved to another; connect to it as a "
     "cluster",
     false},
    {"LOADING", BLY_REDIS_LATER, BLY_EREFUSED, "the server is loading its data; try again later",
     false},
    {"TRYAGAIN", BLY_REDIS_LATER, BLY_EREFUSED, "the cluster is moving keys; try again", false},
    {"CLUSTERDOWN", BLY_REDIS_LATER, BLY_EREFUSED,
     "some of the cluster's nodes are down; see CLUSTER INFO", false},
    {"MASTERDOWN", BLY_REDIS_LATER, BLY_EREFUSED,
     "this is a replica that has lost its master; connect to the master", false},
    {"BUSY", BLY_REDIS_LATER, BLY_EREFUSED,
     "another client's script is running; wait for it, or see SCRIPT KILL", false},
    {"READONLY", BLY_REDIS_LATER, BLY_EREFUSED, "this is a replica; write to its master", false},
    {"NOREPLICAS", BLY_REDIS_LATER, BLY_EREFUSED,
     "the server has fewer replicas than min-replicas-to-write", false},
    {"WRONGTYPE", BLY_REDIS_REFUSED, BLY_EREFUSED,
     "the key is not a string (it is a list, a hash, a filter of a module ...); use another key",
     true},
    {"NOAUTH", BLY_REDIS_REFUSED, BLY_EREFUSED,
     "the server requires a password: redis://:PASSWORD@...", true},
    {"WRONGPASS", BLY_REDIS_REFUSED, BLY_EREFUSED, "wrong user or password", true},
    {"NOPERM", BLY_REDIS_REFUSED, BLY_EREFUSED, reply_needed_commands, false},
    {"ERR The user executing the script can't run this command", BLY_REDIS_REFUSED, BLY_EREFUSED,
     reply_needed_commands, false},
    {"OOM", BLY_REDIS_REFUSED, BLY_EREFUSED,
     "the server is out of memory (see its maxmemory); nothing was added", false},
    {"MISCONF", BLY_REDIS_REFUSED, BLY_EREFUSED,
     "the server cannot save to its disk, and refuses writes until it can", false},
    {"CROSSSLOT", BLY_REDIS_REFUSED, BLY_EREFUSED,
     "two keys of one command are in different slots; does a proxy between here and the server "
     "change keys?",
     false},
    {"ERR max number of clients reached", BLY_REDIS_LATER, BLY_EREFUSED, "see its maxclients",
     false},
    {"ERR string exceeds maximum allowed size", BLY_REDIS_REFUSED, BLY_EREFUSED,
     "a shard is longer than the longest string that the server allows; use more shards", false},
    {"ERR unknown command", BLY_REDIS_REFUSED, BLY_EREFUSED,
     "the server, or a proxy in front of it, lacks a command that filters need", false},
};

/* Whether the word is at position `at` of the text, and is not part of a longer word. */
static bool reply_is_word_at(const char *text, size_t size, size_t at, const char *word) {
    const size_t length = strlen(word);
    if (size - at < length || memcmp(text + at, word, length) != 0)
        return false;
    const bool starts = at == 0 || text[at - 1] == ' ' || text[at - 1] == '-';
    const bool ends = at + length == size || text[at + length] == ' ';
    return starts && ends;
}

static const reply_meaning *reply_find_meaning_at(const char *text, size_t size, size_t at) {
    for (size_t i = 0; i < sizeof reply_meanings / sizeof *reply_meanings; i++)
        if (reply_is_word_at(text, size, at, reply_meanings[i].word))
            return &reply_meanings[i];
    return NULL;
}

/* Returns the meaning of an error, or NULL if it is unknown. */
static const reply_meaning *reply_meaning_of(bly_bytes error) {
    static const char wrapped[] = "ERR Error running script";
    enum { FAR = 512 }; /* how many bytes to search: the word is within them in all known errors */
    const char *text = error.data;
    const size_t size = error.size < FAR ? error.size : FAR;
    const reply_meaning *found = size ? reply_find_meaning_at(text, size, 0) : NULL;
    if (found || size < sizeof wrapped || memcmp(text, wrapped, sizeof wrapped - 1) != 0)
        return found;
    for (size_t at = sizeof wrapped; at < size && !found; at++)
        found = reply_find_meaning_at(text, size, at);
    return found;
}

bly_redis_verdict bly_redis_classify(const bly_redis_value *value) {
    if (value->type != BLY_REDIS_ERROR)
        return BLY_REDIS_DONE;
    const reply_meaning *m = reply_meaning_of(value->text);
    return m ? m->verdict : BLY_REDIS_REFUSED;
}

/* Copies the server's words, which are untrusted: at most room - 1 bytes, and with control
 * characters replaced. The position of a script's error (" script: 106e..., on @user_script:21.")
 * is cut off, because it does not help the reader. */
static void reply_quote(bly_bytes text, char *out, size_t room) {
    const uint8_t *from = text.data;
    size_t size = text.size < room - 1 ? text.size : room - 1;
    for (size_t i = 0; i < size; i++)
        out[i] = from[i] >= ' ' && from[i] != 127 ? (char)from[i] : ' ';
    out[size] = 0;
    const char *raised = strstr(out, " script: ");
    if (raised)
        size = (size_t)(raised - out);
    while (size > 0 && (out[size - 1] == '.' || out[size - 1] == ' '))
        size--;
    out[size] = 0;
}

bly_status bly_bitmap_refusal(const bly_redis_value *value, bly_redis_reason *why) {
    static const char nothing[] = "the server refused without a reason";
    char words[160];
    if (value->type != BLY_REDIS_ERROR)
        return BLY_OK;
    const reply_meaning *m = reply_meaning_of(value->text);
    reply_quote(value->text, words, sizeof words);
    if (why && m)
        (void)snprintf(why->text, sizeof why->text, "%s%s%s", m->instead ? "" : words,
                       m->instead ? "" : "; ", m->advice);
    else if (why)
        (void)snprintf(why->text, sizeof why->text, "%s", words[0] ? words : nothing);
    return m ? m->status : BLY_EREFUSED;
}

/* ---- MOVED and ASK --------------------------------------------------------------------------- */

/* Reads the number at *at, and moves *at past it. Returns false if there are no digits, or if the
 * number is above `max`. */
static bool reply_read_number(const char *text, size_t size, size_t *at, unsigned max,
                              uint16_t *out) {
    unsigned number = 0;
    const size_t first = *at;
    for (; *at < size && text[*at] >= '0' && text[*at] <= '9' && number <= max; ++*at)
        number = 10 * number + (unsigned)(text[*at] - '0');
    *out = (uint16_t)number;
    return *at > first && number <= max;
}

/* Returns the position of the last colon of `text`, or `size` if it has no colon. An IPv6 address
 * before the port contains colons, too. */
static size_t reply_last_colon(const char *text, size_t from, size_t size) {
    size_t at = size;
    while (at > from && text[at - 1] != ':')
        at--;
    return at == from ? size : at - 1;
}

bool bly_redis_redirect_parse(const bly_redis_value *value, bly_redis_redirect *out) {
    const bly_redis_verdict verdict = bly_redis_classify(value);
    const char *text = value->text.data;
    const size_t size = value->text.size;
    bly_redis_redirect place;
    if (verdict != BLY_REDIS_MOVED && verdict != BLY_REDIS_ASK)
        return false;
    size_t at = verdict == BLY_REDIS_MOVED ? sizeof "MOVED" : sizeof "ASK";
    if (!reply_read_number(text, size, &at, 16383, &place.slot) || at >= size || text[at] != ' ')
        return false;
    const size_t host = at + 1, colon = reply_last_colon(text, host, size);
    at = colon + 1;
    if (colon == size || !reply_read_number(text, size, &at, 65535, &place.port) || place.port == 0)
        return false;
    place.host = (bly_bytes){text + host, colon - host};
    const bool unknown = place.host.size == 1 && text[host] == '?';
    if (unknown || at < size || memchr(text + host, ' ', colon - host))
        return false;
    *out = place;
    return true;
}

/* ---- replies to batches ---------------------------------------------------------------------- */

static bool reply_block_contains(const bly_bitmap_batch *batch, const uint8_t *block,
                                 uint64_t bits) {
    uint8_t mask[64];
    const size_t bytes = blyi_bitmap_batch_mask(&batch->geometry, bits, mask);
    uint64_t missing = 0;
    for (size_t i = 0; i < bytes; i += 8)
        missing |= blyi_load64le(mask + i) & ~blyi_load64le(block + i);
    return missing == 0;
}

/* Returns how many bytes of a reply belong to one key. */
static size_t reply_bytes_per_key(const bly_bitmap_batch *batch) {
    if (batch->form == BLY_BITMAP_GOZERO || batch->what == BLY_BITMAP_ADD)
        return 1;
    return batch->geometry.kind == BLY_SBBF ? 32 : 64;
}

static bool reply_is_valid(const bly_bitmap_batch *batch, const blyi_batch_command *c,
                           const bly_redis_value *value) {
    const char *said = value->text.data;
    const size_t each = reply_bytes_per_key(batch);
    if (value->type != BLY_REDIS_TEXT || value->text.size != c->count * each)
        return false;
    for (size_t i = 0; each == 1 && i < c->count; i++)
        if (said[i] != '0' && said[i] != '1')
            return false;
    return true;
}

bly_status bly_bitmap_batch_parse(const bly_bitmap_batch *batch, size_t i,
                                  const bly_redis_value *value, bool repeated, uint8_t *answers,
                                  size_t *changed, bly_redis_reason *why) {
    const blyi_batch_command *c = &batch->command[i];
    bly_status status = bly_bitmap_refusal(value, why);
    if (status != BLY_OK)
        return status;
    if (!reply_is_valid(batch, c, value)) {
        if (why)
            (void)snprintf(why->text, sizeof why->text,
                           "unexpected reply to this command; does a proxy between here and the "
                           "server change replies?");
        return BLY_ECORRUPT;
    }
    const size_t each = reply_bytes_per_key(batch);
    const uint8_t *said = value->text.data;
    const uint8_t no = repeated && batch->what == BLY_BITMAP_ADD ? BLY_UNSURE : BLY_NO;
    size_t yes = 0;
    for (size_t k = 0; k < c->count; k++, said += each) {
        const size_t key = batch->order[c->first + k];
        const bool is =
            each == 1 ? *said == '1' : reply_block_contains(batch, said, batch->bits[key]);
        answers[key] = is ? BLY_YES : no;
        yes += is;
    }
    if (changed)
        *changed = yes;
    return BLY_OK;
}

void bly_bitmap_batch_fill(const bly_bitmap_batch *batch, size_t i, bly_answer answer,
                           uint8_t *answers) {
    const blyi_batch_command *c = &batch->command[i];
    for (size_t k = 0; k < c->count; k++)
        answers[batch->order[c->first + k]] = (uint8_t)answer;
}
