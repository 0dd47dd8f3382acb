/* lock.h - lets only one process at a time change a filter file.
 *
 * A filter is changed by loading it, changing it in memory, and saving it in place of the old file.
 * If two programs do that at the same time, the keys added by the one that saves first are
 * overwritten; a filter must never forget a key. So every command that replaces a filter by a
 * changed one (add, remove, merge, intersect, fold, dedup --state) holds a lock from before it
 * loads the filter until after it has saved it for the last time.
 *
 * The filter file itself cannot be locked, because every save replaces it. The lock is an empty
 * file beside it, ".NAME.lock", which exists as long as a process holds the lock. A lock file that
 * a killed program has left behind does no harm. (Fingerprint files are changed in place and are
 * locked themselves.)
 *
 * The directory may be shared with other users. The lock file is created with the permissions that
 * the umask leaves. An existing one is used if it is regular, empty and has one name; any other
 * file of that name is refused, neither changed nor waited for. In a sticky directory it must also
 * belong to a user who could replace the filter. Only a file of our own user is removed.
 *
 * Readers need no lock: they see either the old file or the new one, complete.
 */
#ifndef BLOOMERY_CLI_LOCK_H
#define BLOOMERY_CLI_LOCK_H

#include <stdbool.h>

typedef struct lock {
    int fd;       /* -1: not held */
    bool made;    /* created by this process */
    char *path;   /* path of the lock file */
    char *target; /* path of the filter, with links followed */
} lock;

/* Takes the lock. If another process holds it, waits and prints a note, or, if `wait` is false,
 * reports that and fails. A folder in which no file can be created needs no lock, because no filter
 * can be saved there either: then *l is not held, and the result is true. The same holds for "-",
 * standard output, and for file systems without locks. Every other failure is reported, and the
 * result is false; after a signal it is false without a message. From then on signals are watched
 * (interrupt.h), because they must not leave the lock file behind. */
bool lock_take(lock *l, const char *path, bool wait);
void lock_release(lock *l); /* also if it is not held, or zeroed */

/* Whether `fd` is still the file that `path` names. */
bool lock_still_named(const char *path, int fd);

#endif
