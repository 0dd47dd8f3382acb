/* lock.h - one changer of a filter file at a time.
 *
 * A filter is changed by loading it, changing it in memory and saving it in place of the old file.
 * Of two programs that do so at once, the one that saves first would lose its keys, and a lost key
 * is what a filter must never have. So whoever means to replace a filter by what he makes of it
 * (add, remove, merge, intersect, fold, dedup --state) holds a lock from before he loads it until
 * after he has saved it for the last time.
 *
 * The filter's own file cannot be what is locked, since every save puts another in its place. It is
 * an empty file beside it, ".NAME.lock", that is there as long as somebody holds the lock; one that
 * is left behind by a killed program is in nobody's way. (confirm.h and exact.h lock their own
 * file, which they change in place.)
 *
 * The directory may be shared with other users. The file is created with the permissions that the
 * umask leaves. One that exists already is used if it is regular, empty and has one name; anything
 * else of that name is refused, and neither changed nor waited for. In a sticky directory it must
 * also belong to somebody who could replace the filter. Only a file of our own user is removed.
 *
 * Readers need no lock: they find the old file or the new one, whole.
 */
#ifndef BLOOMERY_CLI_LOCK_H
#define BLOOMERY_CLI_LOCK_H

#include <stdbool.h>

typedef struct lock {
    int fd;       /* -1: not held */
    bool made;    /* this process has created the lock file */
    char *path;   /* of the lock file */
    char *target; /* of the filter, where it is a link followed */
} lock;

/* While another holds it: waits, and says so; or, when `wait` is false, reports that and fails.
 * A folder in which no file can be made needs no lock, for nothing can be saved there either: then
 * *l is not held, and the result is true; so too for "-", standard output, and where the file
 * system has no locks. Whatever else goes wrong is reported, and the result is false; so too, in
 * silence, after a signal. From then on signals are watched (interrupt.h): they must not leave the
 * lock file behind. */
bool lock_take(lock *l, const char *path, bool wait);
void lock_release(lock *l); /* one that is not held, or zeroed, too */

/* Whether `fd` is still the file that `path` names. */
bool lock_still_named(const char *path, int fd);

#endif
