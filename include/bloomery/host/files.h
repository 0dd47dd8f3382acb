/* files.h - writing files so that they appear only when they are complete. bly_filter_save does
 * this; programs can do the same with their own files.
 *
 * The contents are written to a temporary file beside the target, ".NAME.bloomery-xxxxxx.tmp",
 * which is flushed and renamed. At any moment, and after any crash, the path has either the
 * complete old file or the complete new one.
 *
 * Links. If the path is a symbolic link, the link remains, and the file that it points to is
 * replaced or created. In a sticky directory that everybody can write to, such as /tmp, the link
 * must belong to the caller or to the owner of the directory; otherwise the call fails with BLY_EIO
 * and errno EACCES. This is the rule of Linux's fs.protected_symlinks, which is applied here on
 * every system. Links in the path before its last component are followed as usual.
 *
 * Owner, group and permissions of a replaced file are kept where the system allows it. Without
 * privileges the owner becomes the caller. If the group cannot be kept, group and others get only
 * the permissions that both had. In a sticky directory, the file of another user is replaced by a
 * file that belongs to the caller. Access control lists and other extended attributes are not kept.
 * A new file has the permissions that the umask allows.
 *
 * Leftovers. A process that is killed leaves its temporary file behind. If a later writer of the
 * same target finds that the first temporary name that it tries is in use, it removes the temporary
 * files of this target that belong to the caller, are not locked (flock), and were not written to
 * for ten minutes. */
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
    BLY_FILE_NEW = 1u << 0 /* never replace a file, not even one that is created before the commit.
                              (On a file system without hard links, a file that is created at the
                              last moment may be replaced.) */
};

/* Creates the temporary file. The caller closes *out with bly_file_writer_close.
 * Errors: BLY_EEXISTS (BLY_FILE_NEW, and the file exists), BLY_EINVAL (unknown flags), BLY_ENOMEM,
 * BLY_EIO (see errno: EISDIR if the path is a directory, EINVAL if it is another file that is not
 * regular). */
BLY_CHECKED bly_status bly_file_writer_open(const char *path, uint32_t flags,
                                            bly_file_writer **out);

/* Returns the file descriptor to write to, borrowed until bly_file_writer_close. You may seek in
 * it. */
BLY_API int bly_file_writer_fd(const bly_file_writer *w);

/* Returns the path of the temporary file, from which you can read what was written; NULL after
 * bly_file_writer_commit. */
BLY_API const char *bly_file_writer_path(const bly_file_writer *w);

/* Flushes the file and renames it. Call this only once. If it fails, the old file is unchanged,
 * except that the new file is in place if only flushing the directory failed.
 * Errors: BLY_EEXISTS (BLY_FILE_NEW, and the file exists), BLY_EIO (see errno). */
BLY_CHECKED bly_status bly_file_writer_commit(bly_file_writer *w);

/* Closes a writer, and removes the temporary file unless it was committed. Does not change errno.
 * NULL does nothing. */
BLY_API void bly_file_writer_close(bly_file_writer *w);

/* Finds the file that a writer for `path` would replace or create: `path` itself or, if it is a
 * symbolic link, its target. The caller frees *out with free. Errors: BLY_ENOMEM, BLY_EIO (see
 * errno). */
BLY_CHECKED bly_status bly_file_target(const char *path, char **out);

#ifdef __cplusplus
}
#endif
#endif
