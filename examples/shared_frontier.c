/* shared_frontier.c - a crawl that any number of processes share, on a plain Redis or Valkey
 * server.
 *
 *     shared_frontier [-n PAGES] [-t SECONDS] [URL]      default: redis://127.0.0.1:6379/crawl
 *     cc shared_frontier.c $(pkg-config --cflags --libs bloomery)
 *
 * Start the program twice, or on ten machines, with the same arguments: together the processes
 * fetch every page of an imaginary site of PAGES pages, each page once. Each process prints the
 * pages that it has fetched. They share these keys:
 *
 *     KEY              a filter: every URL that was ever in the frontier
 *     {KEY}:frontier   a list: URLs to fetch
 *     {KEY}:busy       a list: URLs that a process is fetching
 *     {KEY}:started    set by the process that adds the first page
 *
 * The links of a page are added to the filter in one round trip, and the new ones are added to the
 * frontier. If several processes find the same link at the same time, the server tells exactly one
 * of them that it is new.
 *
 * After a failure a page may be fetched twice, but it is not lost. If a reply is lost, so that it
 * is unknown whether a link is new, the link counts as new. If a process dies, its page remains in
 * "busy"; when the frontier has been empty for SECONDS (-t), another process fetches that page
 * again. The links of the page may then be in the filter but not in the frontier, so all of them
 * are added to the frontier. There is one kind of loss: a new page is mistaken for a known one at
 * the filter's false-positive rate, here 1 in ten million.
 *
 * End of the crawl. A page is removed from "busy" after its links have been added to the frontier,
 * so the crawl is over when both lists are empty at the same time. One script reads both lengths.
 * The four keys remain on the server, so a process that is started later has nothing to do. For
 * another crawl, use another KEY, or delete these four. */
#define _POSIX_C_SOURCE 200809L
#include <bloomery/redis/filter.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINKS = 24, TEXT = 64, ATTEMPTS = 100 };
static const double rate = 1e-7;

typedef struct crawl {
    int pages;
    double patience; /* seconds */
    bly_redis_url url;
    bly_redis *lists;
    bly_redis_filter *seen;
    char frontier[256], busy[256], started[256];
    unsigned fetched, links, fresh, unsure, taken_over;
} crawl;

static void need(bool good, const char *what, const char *why) {
    if (good)
        return;
    (void)fprintf(stderr, "shared_frontier: %s: %s\n", what, why);
    exit(2);
}

/* ---- the site ---------------------------------------------------------------------------------
 * Page i links to 2i+1 and 2i+2, so that all can be reached from page 0, and to others at random.
 */

static void page_url(int page, char out[TEXT]) {
    (void)snprintf(out, TEXT, "https://site.test/page/%d", page);
}

static size_t fetch(const crawl *c, const char *url, char links[LINKS][TEXT]) {
    int page = atoi(strrchr(url, '/') + 1);
    uint64_t dice = (uint64_t)page;
    size_t n = 0;
    for (int child = 2 * page + 1; child <= 2 * page + 2 && child < c->pages; child++)
        page_url(child, links[n++]);
    while (n < LINKS) {
        dice = dice * 6364136223846793005U + 1442695040888963407U;
        page_url((int)(dice >> 33) % c->pages, links[n++]);
    }
    return n;
}

/* ---- the lists ----------------------------------------------------------------------------- */

static void pause_ms(long ms) {
    (void)nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Sends a command, and repeats it if its reply is lost: at worst a page is then fetched twice. */
static bly_redis_reply *ask(crawl *c, const char *const *words, size_t n) {
    bly_bytes args[LINKS + 8];
    bly_redis_reason why = {"no connection"};
    for (size_t i = 0; i < n; i++)
        args[i] = (bly_bytes){words[i], strlen(words[i])};
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        bly_redis_reply *reply = NULL;
        if (c->lists && bly_redis_command(c->lists, args, n, &reply) == BLY_OK) {
            if (bly_redis_reply_type(reply) != BLY_REDIS_ERROR)
                return reply;
            (void)snprintf(why.text, sizeof why.text, "%s",
                           (const char *)bly_redis_reply_text(reply).data);
            bly_redis_reply_free(reply);
            need(strncmp(why.text, "LOADING", 7) == 0, words[0], why.text);
        } else {
            bly_redis_options options = {.struct_size = sizeof options, .follow_moved = true};
            bly_redis_close(c->lists);
            if (bly_redis_open(&c->url, &options, &why, &c->lists) == BLY_OK)
                continue;
        }
        pause_ms(100);
    }
    need(false, words[0], why.text);
    return NULL;
}

static void tell(crawl *c, const char *const *words, size_t n) {
    bly_redis_reply_free(ask(c, words, n));
}

/* Moves a page from the end of a list to the beginning of "busy". Returns false if the list is
 * empty. */
static bool take(crawl *c, const char *list, char url[TEXT]) {
    bly_redis_reply *reply = ask(c, (const char *[]){"RPOPLPUSH", list, c->busy}, 3);
    bool taken = bly_redis_reply_type(reply) == BLY_REDIS_TEXT;
    if (taken)
        (void)snprintf(url, TEXT, "%s", (const char *)bly_redis_reply_text(reply).data);
    bly_redis_reply_free(reply);
    return taken;
}

static bool over(crawl *c) {
    static const char both[] = "return redis.call('LLEN', KEYS[1]) + redis.call('LLEN', KEYS[2])";
    bly_redis_reply *reply = ask(c, (const char *[]){"EVAL", both, "2", c->frontier, c->busy}, 5);
    bool empty = bly_redis_reply_integer(reply) == 0;
    bly_redis_reply_free(reply);
    return empty;
}

/* ---- the crawl ----------------------------------------------------------------------------- */

/* Fetches a page and adds its links to the filter and the frontier. `again` is true if another
 * process has begun with this page, and may have died. */
static void crawl_page(crawl *c, const char *url, bool again) {
    char links[LINKS][TEXT];
    bly_bytes keys[LINKS];
    uint8_t answers[LINKS];
    const char *words[LINKS + 2] = {"LPUSH", c->frontier};
    bly_redis_batch_result tally;
    size_t n = fetch(c, url, links), pushed = 0;
    printf("%s\n", url);
    for (size_t i = 0; i < n; i++)
        keys[i] = (bly_bytes){links[i], strlen(links[i])};
    bly_status status = bly_redis_filter_add_many(c->seen, keys, n, BLY_YES, answers, &tally);
    /* Stop if the filter is lost: without it, every link would always count as new. */
    need(status == BLY_OK || status == BLY_EIO, "the filter", bly_redis_filter_error(c->seen));
    for (size_t i = 0; i < n; i++)
        if (answers[i] == BLY_YES || again)
            words[2 + pushed++] = links[i];
    if (pushed > 0)
        tell(c, words, 2 + pushed);
    tell(c, (const char *[]){"LREM", c->busy, "1", url}, 4);
    c->fetched++;
    c->links += (unsigned)n;
    c->fresh += (unsigned)tally.yes;
    c->unsure += (unsigned)(tally.unsure + tally.unknown);
    c->taken_over += again;
}

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void work(crawl *c) {
    char url[TEXT];
    for (double since = now();;) {
        if (take(c, c->frontier, url)) {
            crawl_page(c, url, false);
            since = now();
        } else if (over(c)) {
            return;
        } else if (now() - since > c->patience && take(c, c->busy, url)) { /* the page that has been
                                                                              busy longest */
            crawl_page(c, url, true);
            since = now();
        } else {
            pause_ms(5);
        }
    }
}

/* Every process adds the first page to the filter; only one adds it to the frontier. */
static void start(crawl *c) {
    static const char once[] = "if redis.call('SETNX', KEYS[1], 1) == 1 then "
                               "redis.call('LPUSH', KEYS[2], ARGV[1]) end return 1";
    bly_bitmap_spec spec = {
        .struct_size = sizeof spec, .capacity = (uint64_t)c->pages, .fpr = rate};
    bly_redis_reason why;
    bly_answer answer;
    char first[TEXT];
    page_url(0, first);
    bly_status status = bly_redis_filter_create(&c->url, &spec, NULL, &why, &c->seen);
    need(status == BLY_OK, "the filter", why.text);
    status = bly_redis_filter_add(c->seen, first, strlen(first), BLY_UNKNOWN, &answer);
    need(status == BLY_OK, "the filter", bly_redis_filter_error(c->seen));
    tell(c, (const char *[]){"EVAL", once, "2", c->started, c->frontier, first}, 6);
}

static void options(crawl *c, int argc, char **argv) {
    static const char usage[] = "usage: shared_frontier [-n PAGES] [-t SECONDS] [URL]\n";
    bool good = true;
    for (int option; (option = getopt(argc, argv, "n:t:")) != -1;) {
        if (option == 'n')
            good = good && (c->pages = atoi(optarg)) > 0 && c->pages <= 100000000;
        else if (option == 't')
            good = good && (c->patience = atof(optarg)) > 0;
        else
            good = false;
    }
    if (!good || argc - optind > 1) {
        (void)fputs(usage, stderr);
        exit(2);
    }
    const char *why = "it has no key; use redis://host/crawl";
    const char *text = optind < argc ? argv[optind] : "redis://127.0.0.1:6379/crawl";
    bly_status status = bly_redis_url_parse(text, &why, &c->url);
    need(status == BLY_OK && c->url.key.data, text, why);
    const char *key = c->url.key.data;
    int length = (int)c->url.key.size;
    need(c->url.key.size < sizeof c->started - 16, "the key", "it is too long for this program");
    (void)snprintf(c->frontier, sizeof c->frontier, "{%.*s}:frontier", length, key);
    (void)snprintf(c->busy, sizeof c->busy, "{%.*s}:busy", length, key);
    (void)snprintf(c->started, sizeof c->started, "{%.*s}:started", length, key);
}

int main(int argc, char **argv) {
    static crawl c = {.pages = 10000, .patience = 30};
    options(&c, argc, argv);
    (void)setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* a page is printed before its links are shared */
    start(&c);
    work(&c);
    (void)fprintf(stderr, "fetched %u pages (%u taken over), found %u links: %u new, %u unsure\n",
                  c.fetched, c.taken_over, c.links, c.fresh, c.unsure);
    if (c.fetched == 0)
        (void)fprintf(stderr,
                      "nothing was left to fetch: the crawl of this key is over. "
                      "To start again, use another key, or delete %.*s, %s, %s and %s\n",
                      (int)c.url.key.size, (const char *)c.url.key.data, c.started, c.frontier,
                      c.busy);
    bly_redis_filter_close(c.seen);
    bly_redis_close(c.lists);
    bly_redis_url_free(&c.url);
    return fflush(stdout) == 0 ? 0 : 2;
}
