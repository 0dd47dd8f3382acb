/* temp_file.h - an unnamed temporary file, for data that does not fit in memory. Internal. */
#ifndef BLYI_BASE_TEMP_FILE_H
#define BLYI_BASE_TEMP_FILE_H

#include <bloomery/base.h>

/* Opens a new unnamed file in the directory of `path`. The system removes it when its last
 * descriptor is closed, also after a crash. If the system does not support unnamed files, the file
 * has a name for a moment: `path`, which must end in "XXXXXX", with these letters replaced. Returns
 * BLY_OK or BLY_EIO. */
bly_status blyi_temp_file_open(char *path, int *file);

/* Both transfer exactly `bytes` bytes at offset `at`, and return BLY_OK or BLY_EIO. */
bly_status blyi_temp_file_write(int file, uint64_t at, const void *from, uint64_t bytes);
bly_status blyi_temp_file_read(int file, uint64_t at, void *to, uint64_t bytes);

void blyi_temp_file_close(int file); /* preserves errno */

#endif
