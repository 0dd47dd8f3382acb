/* files.h - writing files that appear only when they are complete. bly_filter_save works this way;
 * programs can use it for their own files.
 *
 * The contents are written to a temporary file beside the target, ".NAME.bloomery-xxxxxx.tmp",
 * which is flushed and renamed. At any moment, and after any crash, the path has the old file or
 * the new one, complete.
 *
 * Links. A symbolic link stays, and the file that it points to is replaced or created. In a sticky
 * directory that everybody can write to, such as /tmp, the link must belong to the caller or to the
 * owner of the directory (BLY_EIO, errno EACCES): the rule of Linux's fs.protected_symlinks, on
 * every system. The system follows links in the path before its last name.
 *
 * Owner, group and permissions of a replaced file are kept where the system allows it. Without
 * privileges the owner becomes the caller; if the group cannot be kept, group and others keep only
 * the permissions that both had. In such a directory the file of a third user is replaced by one of
 * the caller's. Access control lists and other extended attributes are not kept. A new file has the
 * permissions that the umask leaves.
 *
 * Leftovers. A killed process leaves its temporary file behind. A later writer of the same target,
 * if the temporary name that it tries first is taken, removes the files that belong to the caller,
 * are not locked (flock) and were not written to for ten minutes. */
#ifndef BLOOMERY_HOST_FILES_H
#define BLOOMERY_HOST_FILES_H

#include "../base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A file that is being written. */
typedef struct bly_file_writer bly_file_writer;

/* Flags of bly_file_writer_open. */
enum {
    BLY_FILE_NEW = 1u << 0 /* never replace a file, not even one that appears meanwhile (on a file
                              system without hard links, one that appears at the last moment
                              may be replaced) */
};

/* Creates the temporary file. The caller closes *out with bly_file_writer_close.
 * Errors: BLY_EEXISTS (BLY_FILE_NEW, and the file exists), BLY_EINVAL (unknown flags), BLY_ENOMEM,
 * BLY_EIO (errno is EISDIR for a directory, EINVAL for another file that is not regular). */
BLY_CHECKED bly_status bly_file_writer_open(const char *path, uint32_t flags,
                                            bly_file_writer **out);

/* Returns the file descriptor to write to, borrowed until close. You may move its position. */
BLY_API int bly_file_writer_fd(const bly_file_writer *w);

/* Returns the path of the temporary file, for reading back what was written; NULL after commit. */
BLY_API const char *bly_file_writer_path(const bly_file_writer *w);

/* Flushes the file and renames it. Call it only once. After a failure the old file is unchanged; if
 * only flushing the directory failed, the new file is in place.
 * Errors: BLY_EEXISTS (as above), BLY_EIO (see errno). */
BLY_CHECKED bly_status bly_file_writer_commit(bly_file_writer *w);

/* Closes a writer, and removes the temporary file unless it was committed. errno is kept. NULL:
 * nothing. */
BLY_API void bly_file_writer_close(bly_file_writer *w);

/* Finds the file that would be replaced or created: `path`, or the target of the link there. The
 * caller frees *out with free. Errors: BLY_ENOMEM, BLY_EIO (see errno). */
BLY_CHECKED bly_status bly_file_target(const char *path, char **out);

#ifdef __cplusplus
}
#endif
#endif
