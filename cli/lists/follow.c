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
#include "follow.h"

#include "cli.h"
#include "kinds.h"
#include "message.h"
#include "progress.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double look_after = 0.25; /* seconds */

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Which type the list is taken for, and its levels. */
static bool know_type(follow *f) {
    keytype own = keytype_recognise(f->file.filter, &f->levels);
    f->type = f->asked ? f->asked : own;
    if (f->type == KEYTYPE_NONE) {
        (void)message_error("%s: says of itself that its keys are of several types; choose one by "
                            "--type",
                            f->path);
        return false;
    }
    if (f->type == own)
        return true;
    f->levels = keytype_recognise_levels(f->file.filter, f->type);
    if (own != KEYTYPE_LINE && own != KEYTYPE_NONE)
        message_warn("%s: was built with --type %s; as %s its lines may not be found", f->path,
                     keytype_name(own), keytype_name(f->type));
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

bool follow_open(follow *f, const char *path, const bly_hasher *key, keytype asked,
                 follow_how how) {
    *f = (follow){.path = path, .key = key, .asked = asked, .how = how, .looked = progress_clock()};
    /* Before opening: if the file is replaced in between, the next look will see it. */
    if (stat(path, &f->known) != 0)
        memset(&f->known, 0, sizeof f->known);
    if (!hold(f))
        return false;
    const bly_kind kind = bly_filter_geometry(f->file.filter).kind;
    if (kinds_can(kind, BLY_ONLY_COUNTS)) {
        (void)message_error(
            "%s: is %s %s filter, which tells how many different lines it was given, "
            "not which: bloomery info tells it, bloomery distinct --state goes on "
            "counting",
            f->path, kinds_article(kind), bly_kind_name(kind));
        follow_close(f);
        return false;
    }
    if (kinds_can(kind, BLY_IS_LOSSY))
        message_warn("%s: may forget keys: a line that it does not know may have been in it",
                     f->path);
    if (know_type(f))
        return true;
    follow_close(f);
    return false;
}

void follow_refresh(follow *f) {
    struct stat st;
    follow next;
    if (progress_clock() - f->looked < look_after)
        return;
    f->looked = progress_clock();
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
}
