/* files.h - files that appear only when they are complete. bly_filter_save writes filters this way;
 * a program that keeps files of its own beside them can use it too.
 *
 * The new contents go to a temporary file beside the target, ".NAME.bloomery-xxxxxx.tmp", which is
 * flushed and then renamed. A program that opens the path, at any moment and after any crash, finds
 * the old file or the new one, complete.
 *
 * Links. A symbolic link at the path stays, and the file that it leads to is replaced or created.
 * In a sticky directory that everybody can write to, such as /tmp, such a link is followed only if
 * it belongs to the caller or to the owner of the directory (BLY_EIO, errno EACCES). Linux has the
 * same rule as fs.protected_symlinks; here it holds on every system. The system follows links in
 * the path before its last name.
 *
 * Owner, group and permissions of a replaced file are kept where the system allows it, except that
 * in such a directory the file of a user who is neither of these two is replaced by one of the
 * caller's. Without privileges the owner becomes the caller. If the group cannot be kept either,
 * group and others keep only the permissions that both of them had. Access control lists and other
 * extended attributes are not kept. A new file has the permissions that the umask leaves.
 *
 * Killed processes leave their temporary file behind. A temporary file is locked (flock) while it
 * is in use. A later writer of the same target removes those that are not locked, that belong to
 * the caller and that were not written to for ten minutes. It removes no other files. It looks for
 * them only if the temporary name that is tried first is taken, as it is after a killed writer.
 */
#ifndef BLOOMERY_HOST_FILES_H
#define BLOOMERY_HOST_FILES_H

#include "../base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bly_file_writer bly_file_writer;

enum {
    BLY_FILE_NEW = 1u << 0 /* never replace a file, not even one that appears meanwhile (where the
                              file system has hard links; else one that appears in the last
                              moment may be replaced) */
};

/* Creates the temporary file. BLY_EEXISTS (BLY_FILE_NEW, and there is a file already), BLY_EINVAL
 * (unknown flags), BLY_ENOMEM, BLY_EIO: errno is EISDIR for a directory, EINVAL for another file
 * that is not regular. */
BLY_CHECKED bly_status bly_file_writer_open(const char *path, uint32_t flags,
                                            bly_file_writer **out);

/* To write to, borrowed until close. Its file position is the caller's to move. */
BLY_API int bly_file_writer_fd(const bly_file_writer *w);

/* The temporary file's path, for reading back what was written; NULL once it is committed. */
BLY_API const char *bly_file_writer_path(const bly_file_writer *w);

/* Flushes the file and gives it its name. Once only. BLY_EEXISTS as above; BLY_EIO. After a failure
 * the old file is as it was, except that when only flushing the directory failed the new file is
 * in place all the same. */
BLY_CHECKED bly_status bly_file_writer_commit(bly_file_writer *w);

/* Frees; removes the temporary file if it was not committed. errno stays. NULL does nothing. */
BLY_API void bly_file_writer_close(bly_file_writer *w);

/* The path of the file that would be replaced or created: `path`, or where it leads if it is a
 * link. The caller frees *out with free(). BLY_ENOMEM, BLY_EIO. */
BLY_CHECKED bly_status bly_file_target(const char *path, char **out);

#ifdef __cplusplus
}
#endif
#endif
