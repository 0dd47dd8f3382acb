/* live_list.c - a list that is replaced, or whose server fails, while it is in use: see
 * live_list.h.
 *
 * `build` replaces a file by rename: the old file stays complete for processes that have it mapped,
 * and the path names the new one at once. So a new device, inode, size or time of the path shows a
 * change. If a file is overwritten in place instead, it may be read when it is incomplete. Its
 * length or its checksums are then wrong, so it is refused, and examined again after the next
 * change.
 *
 * With --follow, the old list must therefore not be mapped. If a mapped file is shortened, reading
 * a missing page raises SIGBUS. If it is overwritten, answers change. So a followed list is a copy
 * in memory. Other files stay mapped, and a SIGBUS handler prints what happened.
 *
 * If a server fails, there is no answer. The user chooses whether the command stops, or treats
 * every line as in the list, or as not in it, until the server answers again. A new attempt is made
 * every few seconds, with short timeouts, so that the pipe does not stall.
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

static const double file_interval = 0.25;  /* seconds between two checks of a file */
static const double server_interval = 1;   /* the same for a list on a server */
static const double retry_interval = 5;    /* between two attempts to reach a server */
static const double replacement_time = 10; /* maximum wait for the replacement of a filter */

static bool has_fallback(const live_list *l) {
    return l->options->fallback == LIVE_YES || l->options->fallback == LIVE_NO;
}

/* ---- the form of its entries ----------------------------------------------------------------- */

/* Returns the type as which lines are looked up in a list that records type `own`: that of --type,
 * or `own`. */
static bly_list_type effective_type(const live_list *l, bly_list_type own) {
    const bly_list_type requested = l->options->type;
    const bool same_lines = bly_list_is_lines(own) && requested == BLY_LIST_LINE;
    return requested && !same_lines ? requested : own;
}

/* Whether lines can be looked up as the type that is used; if not, reports why. */
static bool type_is_usable(const live_list *l, bly_list_type own) {
    const char *name = l->handle.name;
    if (l->type == BLY_LIST_NONE)
        return message_fail("%s: has keys of several types, or is too full to recognise the "
                            "type; choose one with --type",
                            name);
    if (l->type == BLY_LIST_OTHER)
        return message_fail(
            "%s: was created by bloomery dedup or count with --field or --ignore-case, so its keys "
            "are fields or lines in lower case; use --type line if your lines have the same form",
            name);
    if (l->type != own && own != BLY_LIST_NONE && !bly_list_is_lines(own))
        message_warn("%s: has keys of type %s; with --type %s, lines may not be found in it", name,
                     line_type_words(own), line_type_words(l->type));
    return true;
}

/* Reads the marks of a list of lines whose header records no key rule. `own` is the type by its
 * header and its type marks. Returns false if the server gave no answer. */
static bool read_old_marks(live_list *l, const bly_list_source *source, bool fields,
                           bly_list_type *own) {
    rule_marks marks = {0};
    const bly_list_type requested = l->options->type;
    const bool lines =
        *own == BLY_LIST_LINE || (*own == BLY_LIST_NONE && requested == BLY_LIST_LINE);
    const bool old = source->rule == BLY_KEYS_UNRECORDED && lines;
    if (old && rule_marks_read(source, fields, &marks) != BLY_OK)
        return false;
    l->keeps_return = old;
    /* dedup --redis cannot change what a list records, but it adds blank lines. */
    l->has_blanks = l->may_fail || rule_marks_any(&marks);
    l->urls[BLY_URL_STANDARD] = marks.url && !requested;
    l->urls[BLY_URL_CRAWL] = marks.crawl && !requested;
    if (marks.other)
        *own = BLY_LIST_OTHER;
    return true;
}

/* Reads the type that the list records, and the levels of the type that is used. Returns false if
 * the server gave no answer; see l->handle.status. */
static bool read_form(live_list *l, bool fields, bly_list_type *own, bly_list_levels *levels) {
    const bly_filter *filter = handle_filter(&l->handle);
    *own = BLY_LIST_LINE;
    *levels = bly_list_levels_all();
    if (!(l->handle.capabilities & HANDLE_DESCRIBES)) /* go-zero: it has no marks */
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

/* ---- servers that do not answer -------------------------------------------------------------- */

/* Whether the error may go away without the user, unlike a wrong secret key, or a key on the server
 * that is not a filter. */
static bool is_temporary(bly_status status) {
    return status == BLY_EIO || status == BLY_EMISSING || status == BLY_EMISMATCH ||
           status == BLY_EREFUSED;
}

static void use_fallback(live_list *l) {
    if (!l->unavailable)
        message_warn(
            "%s: until the list is available again, all lines are treated as %sin the list",
            l->handle.name, l->options->fallback == LIVE_NO ? "not " : "");
    l->unavailable = true;
    l->retry_at = progress_clock() + retry_interval;
}

/* If several lists share a key, the new filter may be keyed even if the old one was not, and vice
 * versa. So the key is tried first. */
static bly_status reopen(live_list *l, bool report) {
    const bool tries_key = l->options->key && l->options->key_is_shared;
    l->handle.options.key = l->options->key;
    const bly_status status = handle_reopen(&l->handle, report && !tries_key);
    if (!tries_key || status == BLY_OK)
        return status;
    if (status == BLY_EHASHER)
        l->handle.options.key = NULL;
    else if (!report)
        return status;
    return handle_reopen(&l->handle, report);
}

/* A filter of several strings is replaced string by string, so it may be incomplete for a while. */
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

/* Whether the filter on the server was replaced, or is missing, and --follow waits for the new one.
 */
static bool may_be_replaced(const live_list *l) {
    const bly_status status = l->handle.status;
    return l->options->follow && (status == BLY_EMISMATCH || status == BLY_EMISSING);
}

/* Decides what to do after a call on the handle has failed. */
static live_result after_failure(live_list *l) {
    const bly_status status = l->handle.status;
    bly_status now = status;
    if (may_be_replaced(l)) {
        if (wait_for_replacement(l) == BLY_OK) {
            message_note("%s: was replaced; the new list is in use", l->handle.name);
            return LIVE_RENEWED;
        }
        now = reopen(l, true); /* reports why it cannot be opened */
        if (now == BLY_OK)
            return LIVE_RENEWED;
    } else {
        (void)handle_failed(&l->handle);
        if (has_fallback(l) && status == BLY_EMISMATCH) /* see what replaced it */
            now = reopen(l, false);
    }
    if (!has_fallback(l) || (now != BLY_OK && !is_temporary(now))) {
        if (status == BLY_EMISMATCH && !l->options->follow && !l->options->gozero)
            message_note("use --follow to continue with a list that replaces another");
        return LIVE_FAILED;
    }
    use_fallback(l);
    return LIVE_ANSWERED;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* A signal handler: calls only async-signal-safe functions. */
static void report_shortened(int signal_number) {
    static const char text[] = "bloomery check: the list was shortened while it was in use; "
                               "replace lists by rename, as build -f does\n";
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
                            .wait_ms = has_fallback(l) ? SHORT_MS : 0};
}

static bool open_handle(live_list *l, const char *name) {
    handle_options options = options_for(l), header = options;
    handle_facts facts;
    if (options.access != HANDLE_COPIED && !l->may_fail)
        watch_for_shortening();
    if (!options.key || !l->options->key_is_shared)
        return handle_open(&l->handle, name, &options);
    /* The header tells whether the list is keyed. */
    header.access = HANDLE_HEADER;
    header.key = NULL;
    header.without_key = true;
    const bool good = handle_open(&l->handle, name, &header);
    if (good && handle_get_facts(&l->handle, &facts, false) == BLY_OK && !facts.keyed)
        options.key = NULL;
    l->handle.options = options;
    return good && handle_reopen(&l->handle, true) == BLY_OK;
}

static bool supports_lookups(const live_list *l) {
    if (l->handle.capabilities & HANDLE_LOOKS_UP)
        return true;
    const bly_kind kind = bly_filter_geometry(handle_filter(&l->handle)).kind;
    return message_fail(
        "%s: is %s %s filter, which only counts different lines; use bloomery info to see the "
        "number, or bloomery distinct --state to continue counting",
        l->handle.name, kinds_article(kind), bly_kind_name(kind));
}

/* While the list is unavailable, its type is unknown. */
static bool find_type(live_list *l) {
    bly_list_type own = BLY_LIST_LINE;
    while (!l->unavailable && !read_form(l, true, &own, &l->levels))
        if (after_failure(l) == LIVE_FAILED)
            return false;
    l->type = effective_type(l, own);
    if (!l->unavailable)
        return type_is_usable(l, own);
    l->levels = bly_list_levels_all();
    return true;
}

bool live_list_open(live_list *l, const char *name, const live_list_options *options) {
    *l = (live_list){.options = options,
                     .may_fail = handle_capabilities(name) & HANDLE_MAY_FAIL,
                     .has_blanks = handle_capabilities(name) & HANDLE_MAY_FAIL,
                     .checked_at = progress_clock()};
    /* Before opening: if the file is replaced in between, the next check sees it. */
    if (stat(name, &l->known) != 0)
        memset(&l->known, 0, sizeof l->known);
    bool good = open_handle(l, name);
    if (good)
        good = supports_lookups(l);
    else if (l->may_fail && has_fallback(l) && is_temporary(l->handle.status)) {
        use_fallback(l);
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

/* Tries to open an unavailable list again, if the last attempt was long enough ago. */
static live_result retry(live_list *l) {
    if (progress_clock() < l->retry_at)
        return LIVE_ANSWERED;
    bly_status status = reopen(l, false);
    if (status != BLY_OK && !is_temporary(status))
        status = reopen(l, true); /* reports why */
    if (status == BLY_OK) {
        l->unavailable = false;
        return LIVE_RENEWED;
    }
    if (!is_temporary(status))
        return LIVE_FAILED;
    use_fallback(l);
    return LIVE_ANSWERED;
}

/* A list that replaces another may have another type. */
static live_result with_new_type(live_list *l, live_result result) {
    return result == LIVE_RENEWED && !find_type(l) ? LIVE_FAILED : result;
}

live_result live_list_contains(live_list *l, const bly_bytes *keys, size_t n, uint8_t *answers) {
    if (n == 0)
        return LIVE_ANSWERED;
    live_result result = LIVE_ANSWERED;
    if (l->unavailable) {
        memset(answers, BLY_UNKNOWN, n);
        result = retry(l);
    } else if (handle_contains(&l->handle, keys, n, answers) != BLY_OK)
        result = after_failure(l);
    return with_new_type(l, result);
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
        /* Size -1 differs from every file. It shows that the error was reported. */
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

/* Reads the type and the levels of a list on a server again. Others may have added keys of a new
 * level, or replaced the list by one of another type, whose keys are made differently from lines.
 * If the list was replaced, opens the new one. Other errors are ignored, because the next lookup
 * reports them. On failure, reports the error and returns false. */
static bool refresh_form(live_list *l) {
    bly_list_type own;
    bly_list_levels levels;
    if (!read_form(l, false, &own, &levels))
        return l->handle.status != BLY_EMISMATCH ||
               with_new_type(l, after_failure(l)) != LIVE_FAILED;
    if (l->options->type || own == l->type)
        l->levels = levels;
    else if (own != BLY_LIST_NONE && own != BLY_LIST_OTHER) {
        message_note("%s: is now a list of type %s", l->handle.name, line_type_words(own));
        l->type = own;
        l->levels = levels;
    }
    return true;
}

bool live_list_refresh(live_list *l) {
    /* Lines that the old type cannot read have no keys to look up, so retry here, too. */
    if (l->unavailable)
        return with_new_type(l, retry(l)) != LIVE_FAILED;
    if (!l->options->follow)
        return true;
    const double interval = l->may_fail ? server_interval : file_interval;
    if (progress_clock() - l->checked_at < interval)
        return true;
    l->checked_at = progress_clock();
    if (l->may_fail)
        return refresh_form(l);
    refresh_file(l);
    return true;
}
