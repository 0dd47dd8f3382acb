/* driver.c - runs commands on filters on plain servers, one per line, for tests in other languages.
 *
 * A command is a line on standard input: words between spaces, then any number of options
 * NAME=VALUE. Each command is answered by one line on standard output: a JSON object that always
 * has "status" (BLY_OK, BLY_EIO, ...) and "why" (empty if the command succeeded). The status of a
 * command that cannot be understood is "USAGE". The program ends with its input.
 *
 *   create URL n=KEYS p=RATE      these three open a filter, which later commands use; a filter
 *   open URL                      that was open is closed first, even if the command fails
 *   gozero URL bits=BITS
 *   close
 *   add PREFIX A B                the keys PREFIX || decimal number, for the numbers A .. B-1
 *   contains PREFIX A B           ("-" is the empty prefix)
 *   addkeys HEX HEX ...           keys, each as the hexadecimal digits of its bytes
 *   askkeys HEX HEX ...           ("-" is the empty key)
 *   look                          information about the filter
 *   expire MS
 *   drop
 *   send FILE URL                 sends a file to a server, and opens that filter
 *   fetch FILE                    writes the open filter to a file
 *   command URL WORD ...          sends one command to a server by bly_redis_command; its options
 *                                 are connect_ms= and command_ms=
 *
 * Options:
 *   create, open, gozero, send    connect_ms= command_ms= retry_ms= no_retry=1 replicas=
 *                                 replicas_ms= batch= without_key=1 allow_replica=1: as in
 *                                 bly_redis_filter_options;
 *                                 key=32 hexadecimal digits: siphash under that key
 *   create                        kind= seed= hash=NAME shards= shard_bytes= expire=MS
 *   send                          shards= shard_bytes= expire=MS replace=1
 *   add, contains, ...keys        otherwise=yes, no or unknown (the default is unknown);
 *                                 out=FILE: writes the answers, a digit for each key (bly_answer);
 *                                 step=N: keys in one call (0: all); after a call that fails,
 *                                 no more calls are made
 *   send, fetch                   stop=BYTES: stop after at least that many bytes
 *
 * Members of answers, besides "status" and "why":
 *   create, open, gozero, send    kind, hash, seed, blocks (for go-zero: bits), capacity, fpr,
 *                                 shards, bytes, stamp
 *   add, contains, ...keys        yes, no, unsure, unknown: numbers of keys with that answer;
 *                                 tally: the four numbers of bly_redis_batch_result, each the sum
 *                                 over all calls; calls: number of calls; answers: the digits
 *                                 (of ...keys only); seconds
 *   look                          count, bytes, set_bits, expected_fpr, expires_ms, nodes
 *   send, fetch                   moved, total: from the last report of progress; fetch: count
 */
#include <bloomery/bloomery.h>
#include <bloomery/redis/filter.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_WORDS = 1 << 20 };

/* ---- requests -------------------------------------------------------------------------------- */

typedef struct line {
    char **words; /* words without "=" */
    size_t count;
    bly_bitmap_spec spec;
    bly_redis_filter_options options;
    bly_hasher keyed; /* made by key=; BLY_HASH_NONE: no key was given */
    uint64_t bits, step, stop;
    bool replace;
    bly_answer otherwise;
    const char *out;
} line;

static bly_redis_filter *filter; /* the open filter, or NULL */

static int digit(char c) {
    const char *const digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Decodes hexadecimal digits in place. Returns the number of bytes; -1: not hexadecimal digits. */
static long unhex(char *text) {
    const size_t n = strlen(text);
    if (strcmp(text, "-") == 0)
        return 0;
    for (size_t i = 0; i + 1 < n; i += 2) {
        const int high = digit(text[i]), low = digit(text[i + 1]);
        if (high < 0 || low < 0)
            return -1;
        text[i / 2] = (char)(high * 16 + low);
    }
    return n % 2 ? -1 : (long)(n / 2);
}

static bool number(const char *text, uint64_t *out) {
    char *end;
    *out = strtoull(text, &end, 10);
    return end != text && *end == '\0';
}

static bool small_number(const char *text, uint32_t *out) {
    uint64_t value;
    if (!number(text, &value) || value > UINT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

/* Only sets the id: the hasher is initialised when the seed is known. */
static bool hash_option(const char *value, line *to) {
    bly_hash_id id;
    if (bly_hash_by_name(value, &id) != BLY_OK)
        return false;
    to->spec.hasher.id = (uint16_t)id;
    return true;
}

static bool key_option(char *value, line *to) {
    return unhex(value) == 16 && bly_hasher_keyed(&to->keyed, (const uint8_t *)value) == BLY_OK;
}

static bool otherwise_option(const char *value, line *to) {
    static const char *const names[] = {"no", "yes", "unsure", "unknown"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(value, names[i]) == 0) {
            to->otherwise = (bly_answer)i;
            return true;
        }
    return false;
}

static bool number_option(const char *name, const char *value, line *to) {
    const struct {
        const char *name;
        uint64_t *wide;
        uint32_t *narrow;
        bool *flag;
    } all[] = {
        {"n", &to->spec.capacity, NULL, NULL},
        {"seed", &to->spec.seed, NULL, NULL},
        {"shard_bytes", &to->spec.shard_bytes, NULL, NULL},
        {"expire", &to->spec.expire_ms, NULL, NULL},
        {"bits", &to->bits, NULL, NULL},
        {"step", &to->step, NULL, NULL},
        {"stop", &to->stop, NULL, NULL},
        {"shards", NULL, &to->spec.shards, NULL},
        {"connect_ms", NULL, &to->options.connect_ms, NULL},
        {"command_ms", NULL, &to->options.command_ms, NULL},
        {"retry_ms", NULL, &to->options.retry_ms, NULL},
        {"replicas", NULL, &to->options.replicas, NULL},
        {"replicas_ms", NULL, &to->options.replicas_ms, NULL},
        {"batch", NULL, &to->options.batch, NULL},
        {"no_retry", NULL, NULL, &to->options.no_retry},
        {"allow_replica", NULL, NULL, &to->options.allow_replica},
        {"without_key", NULL, NULL, &to->options.without_key},
        {"allow_replica", NULL, NULL, &to->options.allow_replica},
        {"replace", NULL, NULL, &to->replace},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        uint64_t wide;
        if (strcmp(name, all[i].name) != 0)
            continue;
        if (all[i].narrow)
            return small_number(value, all[i].narrow);
        if (!number(value, &wide))
            return false;
        if (all[i].wide)
            *all[i].wide = wide;
        else
            *all[i].flag = wide != 0;
        return true;
    }
    return false;
}

static bool option(const char *name, char *value, line *to) {
    if (strcmp(name, "p") == 0) {
        char *end;
        to->spec.fpr = strtod(value, &end);
        return end != value && *end == '\0';
    }
    if (strcmp(name, "kind") == 0)
        return bly_kind_by_name(value, &to->spec.kind) == BLY_OK;
    if (strcmp(name, "hash") == 0)
        return hash_option(value, to);
    if (strcmp(name, "key") == 0)
        return key_option(value, to);
    if (strcmp(name, "otherwise") == 0)
        return otherwise_option(value, to);
    if (strcmp(name, "out") == 0) {
        to->out = value;
        return true;
    }
    return number_option(name, value, to);
}

/* Whether a word is an option, NAME=VALUE. A URL may contain '=' too, but never directly after
 * lowercase letters at its beginning. */
static bool is_option(const char *word) {
    const size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz_");
    return n > 0 && word[n] == '=';
}

/* Splits the line into words and options, in place. */
static bool parse(char *text, line *to) {
    static char *words[MAX_WORDS];
    char *rest;
    memset(to, 0, sizeof *to);
    BLY_INIT(to->spec);
    BLY_INIT(to->options);
    to->words = words;
    to->otherwise = BLY_UNKNOWN;
    for (char *word = strtok_r(text, " \t\r\n", &rest); word;
         word = strtok_r(NULL, " \t\r\n", &rest)) {
        if (is_option(word)) {
            char *equals = strchr(word, '=');
            *equals = '\0';
            if (!option(word, equals + 1, to))
                return false;
        } else if (to->count == MAX_WORDS) {
            return false;
        } else {
            words[to->count++] = word;
        }
    }
    if (to->keyed.id != BLY_HASH_NONE)
        to->spec.hasher = to->keyed;
    else if (to->spec.hasher.id != BLY_HASH_NONE)
        return bly_hasher_init(&to->spec.hasher, (bly_hash_id)to->spec.hasher.id, to->spec.seed) ==
               BLY_OK;
    return true;
}

/* ---- what is answered ------------------------------------------------------------------------ */

static const char *status_name(bly_status status) {
    switch (status) {
#define NAME(name, value, text)                                                                    \
    case name:                                                                                     \
        return #name;
        BLY_STATUS_MAP(NAME)
#undef NAME
    }
    return "?";
}

static void print_text(const char *text) {
    putchar('"');
    for (; *text; text++)
        if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
            printf("\\u%04x", (unsigned)*text);
        else
            putchar(*text);
    putchar('"');
}

/* Prints the answer to a command, one line. The format `more` begins with a comma, or is empty. */
static void answer(const char *status, const char *why, const char *more, ...) {
    va_list args;
    printf("{\"status\": \"%s\", \"why\": ", status);
    print_text(why);
    va_start(args, more);
    vprintf(more, args);
    va_end(args);
    printf("}\n");
    fflush(stdout);
}

static void usage(const char *why) {
    answer("USAGE", why, "%s", "");
}

static const char *last_why(bly_status status) {
    return status ? bly_redis_filter_error(filter) : "";
}

/* ---- opening --------------------------------------------------------------------------------- */

static void answer_opened(bly_status status, const char *why, uint64_t moved, uint64_t total) {
    if (status) {
        answer(status_name(status), why, ", \"moved\": %" PRIu64 ", \"total\": %" PRIu64, moved,
               total);
        return;
    }
    const bly_bitmap *b = bly_redis_filter_bitmap(filter);
    answer(status_name(status), "",
           ", \"kind\": \"%s\", \"hash\": \"%s\", \"seed\": %" PRIu64 ", \"blocks\": %" PRIu64
           ", \"capacity\": %" PRIu64 ", \"fpr\": %.17g, \"shards\": %" PRIu32
           ", \"bytes\": %" PRIu64 ", \"stamp\": %" PRIu64 ", \"moved\": %" PRIu64
           ", \"total\": %" PRIu64,
           bly_kind_name(b->geometry.kind), bly_hash_name((bly_hash_id)b->hasher.id),
           b->hasher.seed, b->geometry.size, b->capacity, b->fpr, b->shards, bly_bitmap_bytes(b),
           b->stamp, moved, total);
}

/* The progress of a transfer, and the number of bytes after which to stop it. */
typedef struct course {
    uint64_t moved, total, stop;
} course;

static bool note(void *ctx, uint64_t done, uint64_t total) {
    course *c = ctx;
    c->moved = done;
    c->total = total;
    return c->stop == 0 || done < c->stop;
}

static bly_status send_file(const line *l, const bly_redis_url *url, course *c,
                            bly_redis_reason *why) {
    const bly_open_options opening = {
        .struct_size = sizeof opening,
        .flags = l->options.without_key ? BLY_OPEN_WITHOUT_KEY : 0,
        .hasher = l->keyed.id != BLY_HASH_NONE ? &l->keyed : NULL,
    };
    bly_filter *from;
    bly_status status = bly_filter_load(l->words[1], &opening, &from);
    if (status) {
        (void)snprintf(why->text, sizeof why->text, "the file: %s", bly_strerror(status));
        return status;
    }
    status =
        bly_redis_filter_push(from, url, &l->spec, l->replace, &l->options, note, c, why, &filter);
    bly_filter_destroy(from);
    return status;
}

/* Runs create, open, gozero or send. */
static void open_one(const line *l) {
    const bool sending = strcmp(l->words[0], "send") == 0;
    const char *wrong, *text = l->words[sending ? 2 : 1];
    course c = {.stop = l->stop};
    bly_redis_url url;
    bly_redis_reason why = {""};
    bly_redis_filter_close(filter);
    filter = NULL;
    bly_status status = bly_redis_url_parse(text, &wrong, &url);
    if (status) {
        usage(wrong);
        return;
    }
    if (sending)
        status = send_file(l, &url, &c, &why);
    else if (strcmp(l->words[0], "create") == 0)
        status = bly_redis_filter_create(&url, &l->spec, &l->options, &why, &filter);
    else if (strcmp(l->words[0], "gozero") == 0)
        status = bly_redis_filter_gozero(&url, l->bits, &l->options, &why, &filter);
    else
        status = bly_redis_filter_open(&url, l->keyed.id != BLY_HASH_NONE ? &l->keyed : NULL,
                                       &l->options, &why, &filter);
    bly_redis_url_free(&url);
    answer_opened(status, why.text, c.moved, c.total);
}

/* ---- keys ------------------------------------------------------------------------------------ */

typedef struct keys {
    bly_bytes *at;
    size_t n;
    char *block; /* the memory that `at` points into, if the keys own it */
} keys;

static void free_keys(keys *k) {
    free(k->at);
    free(k->block);
}

static bool numbered_keys(const line *l, keys *out) {
    const char *prefix = strcmp(l->words[1], "-") == 0 ? "" : l->words[1];
    const size_t room = strlen(prefix) + sizeof "18446744073709551615";
    uint64_t from, to;
    if (!number(l->words[2], &from) || !number(l->words[3], &to) || to < from)
        return false;
    out->n = (size_t)(to - from);
    out->at = calloc(out->n + 1, sizeof *out->at);
    out->block = malloc((out->n + 1) * room);
    if (!out->at || !out->block)
        return false;
    char *text = out->block;
    for (size_t i = 0; i < out->n; i++) {
        const int size = snprintf(text, room, "%s%" PRIu64, prefix, from + i);
        out->at[i] = (bly_bytes){text, (size_t)size};
        text += size;
    }
    return true;
}

static bool given_keys(const line *l, keys *out) {
    out->n = l->count - 1;
    out->at = calloc(out->n + 1, sizeof *out->at);
    for (size_t i = 0; out->at && i < out->n; i++) {
        const long size = unhex(l->words[i + 1]);
        if (size < 0)
            return false;
        out->at[i] = (bly_bytes){l->words[i + 1], (size_t)size};
    }
    return out->at != NULL;
}

typedef struct outcome {
    bly_status status;
    bly_redis_batch_result tally;
    size_t calls;
    double seconds;
} outcome;

static outcome ask(const line *l, bool adding, const keys *k, uint8_t *answers) {
    outcome o = {.status = BLY_OK};
    struct timespec begin, end;
    const size_t step = l->step ? (size_t)l->step : k->n;
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    for (size_t at = 0; o.status == BLY_OK && (at < k->n || o.calls == 0); at += step, o.calls++) {
        bly_redis_batch_result tally = {0};
        const size_t n = k->n - at < step ? k->n - at : step;
        o.status = (adding ? bly_redis_filter_add_many : bly_redis_filter_contains_many)(
            filter, k->at + at, n, l->otherwise, answers + at, &tally);
        o.tally.yes += tally.yes;
        o.tally.unsure += tally.unsure;
        o.tally.unknown += tally.unknown;
        o.tally.round_trips += tally.round_trips;
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    o.seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    return o;
}

static bool write_digits(const char *path, const char *digits, size_t n) {
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    const bool written = fwrite(digits, 1, n, file) == n;
    return fclose(file) == 0 && written;
}

/* Runs add, contains, addkeys or askkeys. Keys that no call was made for are counted as unknown. */
static void run_keys(const line *l) {
    const bool adding = l->words[0][0] == 'a' && l->words[0][1] == 'd',
               given = strlen(l->words[0]) == strlen("addkeys");
    keys k = {0};
    uint8_t *answers = NULL;
    char *digits = NULL;
    const bool understood = given ? given_keys(l, &k) : numbered_keys(l, &k);
    if (understood) {
        answers = malloc(k.n + 1);
        digits = malloc(k.n + 1);
    }
    if (answers && digits) {
        size_t counts[4] = {0};
        memset(answers, BLY_UNKNOWN, k.n);
        const outcome o = ask(l, adding, &k, answers);
        for (size_t i = 0; i < k.n; i++) {
            counts[answers[i] & 3]++;
            digits[i] = (char)('0' + answers[i]);
        }
        digits[k.n] = '\0';
        if (l->out && !write_digits(l->out, digits, k.n))
            usage("the answers cannot be written");
        else
            answer(status_name(o.status), last_why(o.status),
                   ", \"yes\": %zu, \"no\": %zu, \"unsure\": %zu, \"unknown\": %zu, \"tally\": "
                   "{\"yes\": %zu, \"unsure\": %zu, \"unknown\": %zu, \"trips\": %zu}, \"calls\": "
                   "%zu, \"answers\": \"%s\", \"seconds\": %.6f",
                   counts[BLY_YES], counts[BLY_NO], counts[BLY_UNSURE], counts[BLY_UNKNOWN],
                   o.tally.yes, o.tally.unsure, o.tally.unknown, o.tally.round_trips, o.calls,
                   given ? digits : "", o.seconds);
    } else {
        usage(understood ? "no memory" : "these are no keys");
    }
    free(answers);
    free(digits);
    free_keys(&k);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void look(void) {
    bly_redis_filter_info facts = {.struct_size = sizeof facts};
    const bly_status status = bly_redis_filter_get_info(filter, &facts);
    answer(status_name(status), last_why(status),
           ", \"count\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"set_bits\": %" PRIu64
           ", \"expected_fpr\": %.17g, \"expires_ms\": %" PRId64 ", \"nodes\": %" PRIu32,
           facts.count, facts.bytes, facts.set_bits, facts.expected_fpr, facts.expires_ms,
           facts.nodes);
}

static void fetch(const line *l) {
    course c = {.stop = l->stop};
    bly_filter *copy;
    const bly_status status = bly_redis_filter_pull(filter, note, &c, &copy);
    uint64_t count = 0;
    if (status == BLY_OK) {
        const bly_status saved = bly_filter_save(copy, l->words[1]);
        count = bly_filter_count(copy);
        bly_filter_destroy(copy);
        if (saved) {
            usage("the file cannot be written");
            return;
        }
    }
    answer(status_name(status), last_why(status),
           ", \"moved\": %" PRIu64 ", \"total\": %" PRIu64 ", \"count\": %" PRIu64, c.moved,
           c.total, count);
}

/* Runs a command on the open filter. */
static void use(const line *l) {
    const char *what = l->words[0];
    uint64_t ms;
    if (!filter) {
        usage("no filter is open");
    } else if (((strcmp(what, "add") == 0 || strcmp(what, "contains") == 0) && l->count == 4) ||
               strcmp(what, "addkeys") == 0 || strcmp(what, "askkeys") == 0) {
        run_keys(l);
    } else if (strcmp(what, "look") == 0) {
        look();
    } else if (strcmp(what, "expire") == 0 && l->count == 2 && number(l->words[1], &ms)) {
        const bly_status status = bly_redis_filter_expire(filter, ms);
        answer(status_name(status), last_why(status), "%s", "");
    } else if (strcmp(what, "drop") == 0) {
        const bly_status status = bly_redis_filter_drop(filter);
        answer(status_name(status), last_why(status), "%s", "");
    } else if (strcmp(what, "fetch") == 0 && l->count == 2) {
        fetch(l);
    } else {
        usage("no such command, or not so");
    }
}

static void command(const line *l) {
    const bly_redis_options options = {.struct_size = sizeof options,
                                       .connect_ms = l->options.connect_ms,
                                       .command_ms = l->options.command_ms};
    const char *wrong;
    const size_t n = l->count - 2;
    bly_redis_url url;
    bly_redis_reason why = {""};
    bly_redis *link = NULL;
    bly_redis_reply *reply = NULL;
    bly_bytes *args = calloc(n, sizeof *args);
    bly_status status = bly_redis_url_parse(l->words[1], &wrong, &url);
    if (!args || status) {
        usage(args ? wrong : "no memory");
        free(args);
        return;
    }
    for (size_t i = 0; i < n; i++)
        args[i] = (bly_bytes){l->words[i + 2], strlen(l->words[i + 2])};
    status = bly_redis_open(&url, &options, &why, &link);
    if (status == BLY_OK)
        status = bly_redis_command(link, args, n, &reply);
    answer(status_name(status), status && link ? bly_redis_error(link) : why.text, "%s", "");
    bly_redis_reply_free(reply);
    bly_redis_close(link);
    bly_redis_url_free(&url);
    free(args);
}

static void obey(const line *l) {
    const char *what = l->count ? l->words[0] : "";
    const bool opens =
        strcmp(what, "create") == 0 || strcmp(what, "open") == 0 || strcmp(what, "gozero") == 0;
    if ((opens && l->count == 2) || (strcmp(what, "send") == 0 && l->count == 3)) {
        open_one(l);
    } else if (strcmp(what, "command") == 0 && l->count > 2) {
        command(l);
    } else if (strcmp(what, "close") == 0) {
        bly_redis_filter_close(filter);
        filter = NULL;
        answer("BLY_OK", "", "%s", "");
    } else {
        use(l);
    }
}

int main(void) {
    char *text = NULL;
    size_t room = 0;
    while (getline(&text, &room, stdin) >= 0) {
        line l;
        if (parse(text, &l))
            obey(&l);
        else
            usage("an option cannot be understood");
    }
    free(text);
    bly_redis_filter_close(filter);
    return 0;
}
