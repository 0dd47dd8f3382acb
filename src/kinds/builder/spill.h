/* spill.h - an unnamed file for what does not fit memory. Internal.
 *
 * The interface is here, where it is used; the code is in src/store with the other file code.
 */
#ifndef BLYI_KINDS_BUILDER_SPILL_H
#define BLYI_KINDS_BUILDER_SPILL_H

#include <bloomery/base.h>

/* Opens a new file without a name, so that it goes with its last descriptor, whatever happens.
 * Where the system has no such files it has a name for a moment: `path`, which ends in "XXXXXX";
 * that is written over then. BLY_EIO. */
bly_status blyi_temp_file_open(char *path, int *file);

/* All of it, at byte `at`. BLY_EIO. */
bly_status blyi_temp_file_write(int file, uint64_t at, const void *from, uint64_t bytes);
bly_status blyi_temp_file_read(int file, uint64_t at, void *to, uint64_t bytes);

void blyi_temp_file_close(int file); /* errno stays */

#endif
