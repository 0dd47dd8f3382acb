/* lock.h - one changer of a filter file at a time.
 *
 * A filter is changed by loading it, changing it in memory and saving it in place of the old file.
 * Of two programs that do so at once, the one that saves first would lose its keys, and a lost key
 * is what a filter must never have. So a changer holds a lock (flock) on the file from before it
 * loads until after it has saved. The file that is locked is itself replaced by the save, so one
 * who has waited looks whether what he locked is still what the path names, and else begins again.
 *
 * Readers need no lock: they find the old file or the new one, whole.
 */
#ifndef BLOOMERY_CLI_LOCK_H
#define BLOOMERY_CLI_LOCK_H

#include <stdbool.h>

/* Waits, and says so, while another holds it. Returns what lock_release takes: -1 when the file
 * cannot be opened (loading it will tell why) or its file system has no locks. */
int lock_take(const char *path);
void lock_release(int lock);

/* Whether `fd` is still the file that `path` names. */
bool lock_still_named(const char *path, int fd);

#endif
