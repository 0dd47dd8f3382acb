/* follow.c - a list that is replaced while it is in use.
 *
 * A new list comes by rename, as `build` and every careful program do it: the old file stays whole
 * for who has it mapped, and the path leads to the new one at once. So a change shows in what the
 * path leads to: device, inode, size or time. A file that is overwritten in place instead may be
 * seen half-written; it is refused then, since its length or its sums do not fit, and looked at
 * again when it changes once more.
 *
 * For that the old list must not be in that file. Whoever has a file mapped that is shortened gets
 * SIGBUS at the next page that has gone, and what is written into it changes his answers. So a list
 * to be followed is a copy in memory. One that is only asked stays mapped, and for SIGBUS there is
 * a handler that says what happened.
 */
#include "filters/reload.h"

#include "cli.h"
#include "filters/kind_words.h"
#include "filters/rule_marks.h"
#include "text/message.h"
#include "text/progress.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double look_after = 0.25; /* seconds, of a file */
static const double ask_after = 1;     /* of a server */

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Which type a list that says that it is of type `own` is taken for. */
static bool choose_type(follow *f, bly_list_type own) {
    const bool same_lines = bly_list_is_lines(own) && f->asked == BLY_LIST_LINE;
    f->type = f->asked && !same_lines ? f->asked : own;
    if (f->type == BLY_LIST_NONE) {
        (void)message_error("%s: its keys are of several types, or it is too full to tell; choose "
                            "one by --type",
                            f->path);
        return false;
    }
    if (f->type == BLY_LIST_OTHER) {
        (void)message_error("%s: its keys are parts of lines, or lines in small letters, made by "
                            "the --field or --ignore-case of bloomery dedup or count; look them up "
                            "with that command, or give --type line if your lines have that form",
                            f->path);
        return false;
    }
    if (f->type != own && bly_list_is_typed(own))
        message_warn("%s: was built with --type %s; as %s its lines may not be found", f->path,
                     line_type_words(own), line_type_words(f->type));
    else if (f->type != own && own != BLY_LIST_NONE && !bly_list_is_lines(own))
        message_warn("%s: was made by bloomery %s; as %s its lines may not be found", f->path,
                     own == BLY_LIST_OTHER ? "dedup or count, with --field or --ignore-case"
                                           : line_type_words(own),
                     line_type_words(f->type));
    return true;
}

/* What a list of lines tells of itself that records no rule: `own` is what its header and the marks
 * of types say. false: there is no answer. */
static bool know_old_state(follow *f, const bly_list_source *list, bool fields,
                           bly_list_type *own) {
    rule_marks marks = {0};
    const bool lines =
        *own == BLY_LIST_LINE || (*own == BLY_LIST_NONE && f->asked == BLY_LIST_LINE);
    const bool old = list->rule == BLY_KEYS_UNRECORDED && lines;
    if (old && rule_marks_read(list, fields, &marks) != BLY_OK)
        return false;
    f->keeps_return = old;
    /* On a server dedup --redis cannot change what a list records, so its blank lines count too. */
    f->has_blanks = f->live != NULL || rule_marks_any(&marks);
    f->urls[BLY_URL_STANDARD] = marks.url && !f->asked;
    f->urls[BLY_URL_CRAWL] = marks.crawl && !f->asked;
    if (marks.other)
        *own = BLY_LIST_OTHER;
    return true;
}

static bool know_type(follow *f) {
    bly_list_type own = bly_list_recognise(f->file.filter, &f->levels);
    const bly_list_source list = bly_list_source_of(f->file.filter);
    if (!know_old_state(f, &list, true, &own) || !choose_type(f, own))
        return false;
    if (f->type != own)
        return bly_list_recognise_levels(&list, f->type, &f->levels) == BLY_OK;
    if (list.rule != BLY_KEYS_UNRECORDED)
        f->levels = bly_list_levels_recorded(f->type, &f->levels);
    return true;
}

/* Only what a signal handler may do. */
static void say_shortened(int signal_number) {
    static const char text[] =
        "bloomery check: the list was shortened while it was in use; replace "
        "a list by rename, as build -f does\n";
    (void)signal_number;
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    _exit(CLI_ERROR);
}

static void watch_for_shortening(void) {
    struct sigaction action = {.sa_handler = say_shortened};
    (void)sigaction(SIGBUS, &action, NULL);
}

static bool hold(follow *f) {
    if (f->how == FOLLOW_COPIED) {
        f->file.loaded = open_load(f->path, f->key, 0);
        f->file.filter = f->file.loaded;
        return f->file.loaded != NULL;
    }
    watch_for_shortening();
    return open_read(&f->file, f->path, f->key, f->how == FOLLOW_VERIFIED ? BLY_OPEN_VERIFY : 0) ==
           BLY_OK;
}

bool follow_open(follow *f, const char *path, const bly_hasher *key, bly_list_type asked,
                 follow_how how) {
    *f = (follow){.path = path, .key = key, .asked = asked, .how = how, .looked = progress_clock()};
    /* Before opening: if the file is replaced in between, the next look will see it. */
    if (stat(path, &f->known) != 0)
        memset(&f->known, 0, sizeof f->known);
    if (!hold(f))
        return false;
    const bly_kind kind = bly_filter_geometry(f->file.filter).kind;
    if (kinds_can(kind, BLY_CARDINALITY_ONLY)) {
        (void)message_error(
            "%s: is %s %s filter, which tells how many different lines it was given, "
            "not which: bloomery info tells it, bloomery distinct --state goes on "
            "counting",
            f->path, kinds_article(kind), bly_kind_name(kind));
        follow_close(f);
        return false;
    }
    if (know_type(f))
        return true;
    follow_close(f);
    return false;
}

/* ---- on a server ----------------------------------------------------------------------------- */

/* Its type and levels. false: the server does not say; f->live->status. */
static bool ask_type(follow *f, bool fields, bly_list_type *own, bly_list_levels *levels) {
    live *l = f->live;
    *own = BLY_LIST_LINE;
    *levels = bly_list_levels_all();
    if (l->how->gozero) /* it has no marks */
        return true;
    const bly_list_source list = live_list(l);
    if (bly_list_recognise_source(&list, own, levels) != BLY_OK ||
        !know_old_state(f, &list, fields, own))
        return false;
    if (list.rule != BLY_KEYS_UNRECORDED)
        *levels = bly_list_levels_recorded(*own, levels);
    const bool other = f->asked && f->asked != *own;
    return !other || bly_list_recognise_levels(&list, f->asked, levels) == BLY_OK;
}

/* What is known of a list that is away. */
static bool guess_type(follow *f) {
    f->type = f->asked ? f->asked : BLY_LIST_LINE;
    f->levels = bly_list_levels_all();
    return true;
}

static bool know_live_type(follow *f) {
    bly_list_type own;
    while (!f->live->away && !ask_type(f, true, &own, &f->levels))
        if (live_fail(f->live) == LIVE_FAILED)
            return false;
    if (f->live->away)
        return guess_type(f);
    return choose_type(f, own);
}

bool follow_open_live(follow *f, const char *address, const bly_hasher *key, bly_list_type asked,
                      const live_how *how) {
    *f = (follow){.path = address, .key = key, .asked = asked, .looked = progress_clock()};
    f->live = calloc(1, sizeof *f->live);
    if (!f->live) {
        (void)message_error("out of memory");
        return false;
    }
    bool good = live_open(f->live, address, key, how);
    if (good) {
        f->path = f->live->remote.at.name;
        good = know_live_type(f);
    }
    if (!good)
        follow_close(f);
    return good;
}

/* Somebody may have added keys of a new level. If the server does not say, the next question tells.
 */
static void refresh_live(follow *f) {
    bly_list_type own;
    bly_list_levels levels;
    if (f->live->away || !ask_type(f, false, &own, &levels))
        return;
    if (f->asked || own == f->type)
        f->levels = levels;
    else if (own != BLY_LIST_NONE && own != BLY_LIST_OTHER) {
        message_note("%s: is a list of type %s now", f->path, line_type_words(own));
        f->type = own;
        f->levels = levels;
    }
}

live_result follow_ask(follow *f, const bly_bytes *keys, size_t n, uint8_t *answers) {
    if (!f->live) {
        (void)bly_filter_contains_many(f->file.filter, keys, n, answers);
        return LIVE_ANSWERED;
    }
    const live_result result = live_ask(f->live, keys, n, answers);
    return result == LIVE_RENEWED && !know_live_type(f) ? LIVE_FAILED : result;
}

/* ---- any list -------------------------------------------------------------------------------- */

void follow_refresh(follow *f) {
    struct stat st;
    follow next;
    if (progress_clock() - f->looked < (f->live ? ask_after : look_after))
        return;
    f->looked = progress_clock();
    if (f->live) {
        refresh_live(f);
        return;
    }
    if (stat(f->path, &st) != 0) {
        /* Tell once: a file of size -1 is like no other. */
        if (f->known.st_size != -1)
            message_warn("%s: %s; the old list stays in use", f->path, strerror(errno));
        memset(&f->known, 0, sizeof f->known);
        f->known.st_size = -1;
        return;
    }
    if (same_file(&st, &f->known))
        return;
    if (follow_open(&next, f->path, f->key, f->asked, f->how)) {
        follow_close(f);
        *f = next;
        message_note("%s: was replaced; the new list is in use", f->path);
    } else {
        f->known = st;
        message_warn("%s: the old list stays in use", f->path);
    }
}

void follow_close(follow *f) {
    open_close(&f->file);
    if (f->live)
        live_close(f->live);
    free(f->live);
    f->live = NULL;
}
