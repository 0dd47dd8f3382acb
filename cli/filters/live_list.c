/* live_list.c - a list that is replaced or away while it is in use: see live_list.h.
 *
 * A new file comes by rename, as `build` and every careful program do it: the old file stays whole
 * for who has it mapped, and the path leads to the new one at once. So a change shows in what the
 * path leads to: device, inode, size or time. A file that is overwritten in place instead may be
 * seen half-written; it is refused then, since its length or its sums do not fit, and examined
 * again when it changes once more.
 *
 * For that the old list must not be in that file. Whoever has a file mapped that is shortened gets
 * SIGBUS at the next page that has gone, and what is written into it changes his answers. So a list
 * to be followed is a copy in memory. Any other file stays mapped, and a handler for SIGBUS says
 * what happened.
 *
 * A server may be away, and an error is no answer. What to do about one is the user's choice: to
 * stop, or to go on and count every line as one that is in the list, or as one that is not, until
 * the server answers again. It is tried again every few seconds, with short time limits: a pipe
 * that waits is no better than one that stops.
 */
#include "filters/live_list.h"

#include "cli.h"
#include "filters/kind_words.h"
#include "filters/rule_marks.h"
#include "io/interrupt.h"
#include "text/message.h"
#include "text/progress.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double file_interval = 0.25;  /* seconds between two examinations of a file */
static const double server_interval = 1;   /* of a list on a server */
static const double retry_interval = 5;    /* between two attempts to reach a server that is away */
static const double replacement_time = 10; /* for a new filter to take the old one's place */

static bool goes_on(const live_list *l) {
    return l->options->fallback == LIVE_YES || l->options->fallback == LIVE_NO;
}

/* ---- the form of its entries ----------------------------------------------------------------- */

/* Which type a list that says that it is of type `own` is taken for. */
static bly_list_type effective_type(const live_list *l, bly_list_type own) {
    const bly_list_type wanted = l->options->type;
    const bool same_lines = bly_list_is_lines(own) && wanted == BLY_LIST_LINE;
    return wanted && !same_lines ? wanted : own;
}

/* false: it cannot be looked up in; reported. */
static bool type_is_usable(const live_list *l, bly_list_type own) {
    const char *name = l->handle.name;
    if (l->type == BLY_LIST_NONE) {
        (void)message_error("%s: its keys are of several types, or it is too full to tell; choose "
                            "one by --type",
                            name);
        return false;
    }
    if (l->type == BLY_LIST_OTHER) {
        (void)message_error("%s: its keys are parts of lines, or lines in small letters, made by "
                            "the --field or --ignore-case of bloomery dedup or count; look them up "
                            "with that command, or give --type line if your lines have that form",
                            name);
        return false;
    }
    if (l->type != own && bly_list_is_typed(own))
        message_warn("%s: was built with --type %s; as %s its lines may not be found", name,
                     line_type_words(own), line_type_words(l->type));
    else if (l->type != own && own != BLY_LIST_NONE && !bly_list_is_lines(own))
        message_warn("%s: was made by bloomery %s; as %s its lines may not be found", name,
                     own == BLY_LIST_OTHER ? "dedup or count, with --field or --ignore-case"
                                           : line_type_words(own),
                     line_type_words(l->type));
    return true;
}

/* What a list of lines tells of itself that records no rule: `own` is what its header and the marks
 * of types say. false: there is no answer. */
static bool read_old_marks(live_list *l, const bly_list_source *source, bool fields,
                           bly_list_type *own) {
    rule_marks marks = {0};
    const bly_list_type wanted = l->options->type;
    const bool lines = *own == BLY_LIST_LINE || (*own == BLY_LIST_NONE && wanted == BLY_LIST_LINE);
    const bool old = source->rule == BLY_KEYS_UNRECORDED && lines;
    if (old && rule_marks_read(source, fields, &marks) != BLY_OK)
        return false;
    l->keeps_return = old;
    /* On a server dedup --redis cannot change what a list records, so its blank lines count too. */
    l->has_blanks = l->may_fail || rule_marks_any(&marks);
    l->urls[BLY_URL_STANDARD] = marks.url && !wanted;
    l->urls[BLY_URL_CRAWL] = marks.crawl && !wanted;
    if (marks.other)
        *own = BLY_LIST_OTHER;
    return true;
}

/* The type that the list itself says, and the levels of the effective one. false: there is no
 * answer; l->handle.status. */
static bool read_form(live_list *l, bool fields, bly_list_type *own, bly_list_levels *levels) {
    const bly_filter *filter = handle_filter(&l->handle);
    *own = BLY_LIST_LINE;
    *levels = bly_list_levels_all();
    if (!(l->handle.capabilities & HANDLE_DESCRIBES)) /* it has no marks */
        return true;
    const bly_list_source source = handle_list(&l->handle);
    if (filter)
        *own = bly_list_recognise(filter, levels);
    else if (bly_list_recognise_source(&source, own, levels) != BLY_OK)
        return false;
    if (!read_old_marks(l, &source, fields, own))
        return false;
    const bly_list_type type = effective_type(l, *own);
    if (type != *own && type != BLY_LIST_NONE)
        return bly_list_recognise_levels(&source, type, levels) == BLY_OK;
    if (source.rule != BLY_KEYS_UNRECORDED)
        *levels = bly_list_levels_recorded(type, levels);
    return true;
}

/* ---- while there is no answer ---------------------------------------------------------------- */

/* What may pass, in contrast to a wrong key or to something that is no filter. */
static bool may_pass(bly_status status) {
    return status == BLY_EIO || status == BLY_EMISSING || status == BLY_EMISMATCH ||
           status == BLY_EREFUSED;
}

static void go_away(live_list *l) {
    if (!l->away)
        message_warn("%s: until it answers, all lines are taken for lines that are %sin the list",
                     l->handle.name, l->options->fallback == LIVE_NO ? "not " : "");
    l->away = true;
    l->retry_at = progress_clock() + retry_interval;
}

/* A key that several lists share is tried first: the new filter may be keyed or not, whatever the
 * old one was. */
static bly_status reopen(live_list *l, bool report) {
    const bool tries = l->options->key && l->options->key_is_shared;
    l->handle.options.key = l->options->key;
    const bly_status status = handle_reopen(&l->handle, report && !tries);
    if (!tries || status == BLY_OK)
        return status;
    if (status == BLY_EHASHER)
        l->handle.options.key = NULL;
    else if (!report)
        return status;
    return handle_reopen(&l->handle, report);
}

/* A filter of several strings is replaced string by string. */
static bly_status wait_for_replacement(live_list *l) {
    const struct timespec pause = {0, 250000000};
    const double end = progress_clock() + replacement_time;
    bly_status status = reopen(l, false);
    while ((status == BLY_EMISSING || status == BLY_EMISMATCH) && progress_clock() < end &&
           !interrupt_seen()) {
        (void)nanosleep(&pause, NULL);
        status = reopen(l, false);
    }
    return status;
}

/* It was replaced, or is gone. */
static bool may_be_replaced(const live_list *l) {
    const bly_status status = l->handle.status;
    return l->options->follow && (status == BLY_EMISMATCH || status == BLY_EMISSING);
}

/* After a call on the handle failed. */
static live_result after_failure(live_list *l) {
    const bly_status status = l->handle.status;
    if (may_be_replaced(l)) {
        if (wait_for_replacement(l) == BLY_OK) {
            message_note("%s: was replaced; the new list is in use", l->handle.name);
            return LIVE_RENEWED;
        }
        if (reopen(l, true) == BLY_OK) /* which tells why not */
            return LIVE_RENEWED;
    } else
        (void)handle_failed(&l->handle);
    if (!goes_on(l)) {
        if (status == BLY_EMISMATCH && !l->options->follow)
            message_note("--follow takes over a list that takes the place of another");
        return LIVE_FAILED;
    }
    go_away(l);
    return LIVE_ANSWERED;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Only what a signal handler may do. */
static void report_shortened(int signal_number) {
    static const char text[] =
        "bloomery check: the list was shortened while it was in use; replace "
        "a list by rename, as build -f does\n";
    (void)signal_number;
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    _exit(CLI_ERROR);
}

static void watch_for_shortening(void) {
    struct sigaction action = {.sa_handler = report_shortened};
    (void)sigaction(SIGBUS, &action, NULL);
}

static handle_options options_for(const live_list *l) {
    enum { SHORT_MS = 2000 };
    const live_list_options *o = l->options;
    return (handle_options){.access = o->follow   ? HANDLE_COPIED
                                      : o->verify ? HANDLE_VERIFIED
                                                  : HANDLE_MAPPED,
                            .key = o->key,
                            .gozero = o->gozero,
                            .allow_replica = l->may_fail && o->allow_replica,
                            .offers_replica = true,
                            .wait_ms = goes_on(l) ? SHORT_MS : 0};
}

static bool open_handle(live_list *l, const char *name) {
    handle_options options = options_for(l), header = options;
    handle_facts facts;
    if (options.access != HANDLE_COPIED && !l->may_fail)
        watch_for_shortening();
    if (!options.key || !l->options->key_is_shared)
        return handle_open(&l->handle, name, &options);
    /* Whether it needs the key is in its header. */
    header.access = HANDLE_HEADER;
    header.key = NULL;
    header.without_key = true;
    const bool good = handle_open(&l->handle, name, &header);
    if (good && handle_get_facts(&l->handle, &facts, false) == BLY_OK && !facts.keyed)
        options.key = NULL;
    l->handle.options = options;
    return good && handle_reopen(&l->handle, true) == BLY_OK;
}

static bool holds_keys(const live_list *l) {
    if (l->handle.capabilities & HANDLE_LOOKS_UP)
        return true;
    const bly_kind kind = bly_filter_geometry(handle_filter(&l->handle)).kind;
    (void)message_error("%s: is %s %s filter, which tells how many different lines it was given, "
                        "not which: bloomery info tells it, bloomery distinct --state goes on "
                        "counting",
                        l->handle.name, kinds_article(kind), bly_kind_name(kind));
    return false;
}

/* Of a list that is away nothing is known. */
static bool find_type(live_list *l) {
    bly_list_type own = BLY_LIST_LINE;
    while (!l->away && !read_form(l, true, &own, &l->levels))
        if (after_failure(l) == LIVE_FAILED)
            return false;
    l->type = effective_type(l, own);
    if (!l->away)
        return type_is_usable(l, own);
    l->levels = bly_list_levels_all();
    return true;
}

bool live_list_open(live_list *l, const char *name, const live_list_options *options) {
    *l = (live_list){.options = options,
                     .may_fail = handle_capabilities(name) & HANDLE_MAY_FAIL,
                     .checked_at = progress_clock()};
    /* Before opening: if the file is replaced in between, the next examination will see it. */
    if (stat(name, &l->known) != 0)
        memset(&l->known, 0, sizeof l->known);
    bool good = open_handle(l, name);
    if (good)
        good = holds_keys(l);
    else if (l->may_fail && goes_on(l) && may_pass(l->handle.status)) {
        go_away(l);
        good = true;
    }
    good = good && find_type(l);
    if (!good)
        live_list_close(l);
    return good;
}

void live_list_close(live_list *l) {
    handle_close(&l->handle);
}

/* ---- lookups --------------------------------------------------------------------------------- */

static live_result do_without(live_list *l, size_t n, uint8_t *answers) {
    memset(answers, BLY_UNKNOWN, n);
    if (progress_clock() < l->retry_at)
        return LIVE_ANSWERED;
    if (reopen(l, false) != BLY_OK) {
        go_away(l);
        return LIVE_ANSWERED;
    }
    l->away = false;
    return LIVE_RENEWED;
}

live_result live_list_contains(live_list *l, const bly_bytes *keys, size_t n, uint8_t *answers) {
    if (n == 0)
        return LIVE_ANSWERED;
    live_result result = LIVE_ANSWERED;
    if (l->away)
        result = do_without(l, n, answers);
    else if (handle_contains(&l->handle, keys, n, answers) != BLY_OK)
        result = after_failure(l);
    return result == LIVE_RENEWED && !find_type(l) ? LIVE_FAILED : result;
}

/* ---- replacement ----------------------------------------------------------------------------- */

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void refresh_file(live_list *l) {
    const char *path = l->handle.name;
    struct stat st;
    live_list next;
    if (stat(path, &st) != 0) {
        /* Report once: a file of size -1 is like no other. */
        if (l->known.st_size != -1)
            message_warn("%s: %s; the old list stays in use", path, strerror(errno));
        memset(&l->known, 0, sizeof l->known);
        l->known.st_size = -1;
        return;
    }
    if (same_file(&st, &l->known))
        return;
    if (live_list_open(&next, path, l->options)) {
        live_list_close(l);
        *l = next;
        message_note("%s: was replaced; the new list is in use", path);
    } else {
        l->known = st;
        message_warn("%s: the old list stays in use", path);
    }
}

/* Somebody may have added keys of a new level. If the server does not say, the next lookup tells.
 */
static void refresh_form(live_list *l) {
    bly_list_type own;
    bly_list_levels levels;
    if (l->away || !read_form(l, false, &own, &levels))
        return;
    if (l->options->type || own == l->type)
        l->levels = levels;
    else if (own != BLY_LIST_NONE && own != BLY_LIST_OTHER) {
        message_note("%s: is a list of type %s now", l->handle.name, line_type_words(own));
        l->type = own;
        l->levels = levels;
    }
}

void live_list_refresh(live_list *l) {
    const double interval = l->may_fail ? server_interval : file_interval;
    if (progress_clock() - l->checked_at < interval)
        return;
    l->checked_at = progress_clock();
    if (l->may_fail)
        refresh_form(l);
    else
        refresh_file(l);
}
