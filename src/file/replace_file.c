/* Replaces files atomically: resolves the path, creates a temporary file, gives it the owner and
 * permissions of the old file, and renames it. The rules are in <bloomery/host/files.h>.
 *
 * The directory stays open, and names are relative to it. So a long path of the directory does not
 * matter for the temporary file, and the rules are checked in the same directory in which the file
 * is written.
 *
 * The first temporary name is free unless another writer of the file is active or was killed. Only
 * if that name is in use is the directory searched for files of killed writers. So a save normally
 * does not read the whole directory, which may be large.
 */
#define _GNU_SOURCE /* O_PATH */
#include "file/posix.h"
#include <bloomery/host/files.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_LINKS = 40,       /* symbolic links followed before ELOOP, as the kernel does */
    MAX_TRIES = 100,      /* temporary names tried before giving up, if each is already in use */
    KEEP_OF_NAME = 100,   /* at most as many bytes of the file's name are in its temporary name */
    LETTERS = 6,          /* random letters in a temporary name */
    STALE_SECONDS = 600,  /* an older temporary file, if unlocked, was left by a killed writer */
    NEW_FILE_MODE = 0666, /* minus the umask */
    PRIVATE_MODE = 0600,
};
static const char temp_alphabet[] = "abcdefghijklmnopqrstuvwxyz012345",
                  temp_first_letters[] = "000000", temp_mark[] = ".bloomery-", temp_end[] = ".tmp";

static void free_keeping_errno(void *ptr) {
    int saved = errno;
    free(ptr);
    errno = saved;
}

static bool is_same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* ---- the target ------------------------------------------------------------------------------ */

/* A file, as a name in a directory that is open. */
typedef struct file_target {
    int dir;
    char *path;       /* directory and name */
    const char *name; /* the end of `path` */
} file_target;

static void target_close(file_target *p) {
    if (p->dir != AT_FDCWD)
        blyi_close_quietly(p->dir);
    free_keeping_errno(p->path);
}

/* A directory that may be written but not read can be opened with O_PATH. */
static int open_directory(int from, const char *path) {
    int fd = openat(from, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
#ifdef O_PATH
    if (fd < 0 && errno == EACCES)
        fd = openat(from, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
#endif
    return fd;
}

/* Returns `path` relative to the directory of `base`, which may be NULL. The caller frees it. */
static char *join_paths(const char *base, const char *path) {
    const char *slash = base && *path != '/' ? strrchr(base, '/') : NULL;
    size_t head = slash ? (size_t)(slash - base) + 1 : 0, size = strlen(path) + 1;
    char *out = malloc(head + size);
    if (out) {
        if (head)
            memcpy(out, base, head);
        memcpy(out + head, path, size);
    }
    return out;
}

/* Changes p to the file at `path`, which is relative to p's directory. Does not follow a link at
 * the end of `path`. */
static bly_status target_enter(file_target *p, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *last = slash ? slash + 1 : path;
    if (!*path)
        return blyi_fail_with(ENOENT);
    if (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
        return blyi_fail_with(EISDIR);
    char *dir = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    char *text = join_paths(p->path, path);
    if (!dir || !text) {
        free(dir);
        free(text);
        return BLY_ENOMEM;
    }
    int fd = open_directory(p->dir, dir);
    free_keeping_errno(dir);
    if (fd < 0) {
        free_keeping_errno(text);
        return BLY_EIO;
    }
    target_close(p);
    *p = (file_target){fd, text, text + strlen(text) - strlen(last)};
    return BLY_OK;
}

/* Whether the link or file p, whose status is `found`, can be trusted. In a sticky directory that
 * everybody can write to (such as /tmp), only links and files of the caller and of the directory's
 * owner are trusted. No other user can replace a trusted one, so it cannot change between this
 * check and its use. */
static bool target_is_trusted(const file_target *p, const struct stat *found) {
    const mode_t shared = S_ISVTX | S_IWOTH;
    struct stat dir;
    if (found->st_uid == geteuid())
        return true;
    if (fstat(p->dir, &dir) != 0)
        return false;
    return (dir.st_mode & shared) != shared || found->st_uid == dir.st_uid;
}

/* Sets *target to the contents of the link p, which the caller frees, or to NULL if p is not a
 * link. */
static bly_status target_read_link(const file_target *p, char **target) {
    struct stat st;
    *target = NULL;
    if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? BLY_OK : BLY_EIO;
    if (!S_ISLNK(st.st_mode))
        return BLY_OK;
    if (!target_is_trusted(p, &st))
        return blyi_fail_with(EACCES);
    for (size_t room = 256;; room *= 2) {
        char *text = malloc(room);
        if (!text)
            return BLY_ENOMEM;
        ssize_t n = readlinkat(p->dir, p->name, text, room);
        if (n >= 0 && (size_t)n < room) {
            text[n] = '\0';
            *target = text;
            return BLY_OK;
        }
        free_keeping_errno(text);
        if (n < 0)
            return BLY_EIO;
    }
}

static bly_status target_resolve(file_target *p, const char *path) {
    char *target = NULL;
    *p = (file_target){AT_FDCWD, NULL, NULL};
    bly_status status = target_enter(p, path);
    for (int links = 0; status == BLY_OK; links++) {
        status = target_read_link(p, &target);
        if (!target)
            break;
        status = links < MAX_LINKS ? target_enter(p, target) : blyi_fail_with(ELOOP);
        free_keeping_errno(target);
    }
    if (status != BLY_OK)
        target_close(p);
    return status;
}

bly_status bly_file_target(const char *path, char **out) {
    file_target p;
    *out = NULL;
    bly_status status = target_resolve(&p, path);
    if (status != BLY_OK)
        return status;
    *out = p.path;
    p.path = NULL;
    target_close(&p);
    return BLY_OK;
}

/* ---- temporary files ------------------------------------------------------------------------- */

struct bly_file_writer {
    file_target target;
    uint32_t flags;
    int fd;
    char *temp_path; /* NULL once the file is renamed */
    char *temp;      /* the name of the temporary file: the end of temp_path */
    int temp_prefix; /* bytes of `temp` before the random letters */
    bool replaces;   /* whether to keep the owner and mode of an old file, which are in `old` */
    struct stat old;
};

/* Chooses six letters that no other process or thread is likely to choose. If one does, O_EXCL
 * makes the open fail. */
static void temp_pick_letters(unsigned try, char out[LETTERS + 1]) {
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    uint64_t mix = (uint64_t)now.tv_sec * 1000000007U + (uint64_t)now.tv_nsec;
    mix = (mix ^ (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)out ^ try) * 0x9E3779B97F4A7C15U;
    for (int i = 0; i < LETTERS; i++)
        out[i] = temp_alphabet[mix >> (59 - 5 * i) & 31];
    out[LETTERS] = '\0';
}

static bool writer_is_temp_name(const bly_file_writer *w, const char *name) {
    if (strncmp(name, w->temp, (size_t)w->temp_prefix) != 0)
        return false;
    const char *letters = name + w->temp_prefix;
    return strspn(letters, temp_alphabet) == LETTERS && strcmp(letters + LETTERS, temp_end) == 0;
}

static bool temp_is_stale(const struct stat *st, time_t now) {
    return S_ISREG(st->st_mode) && st->st_uid == geteuid() && st->st_mtime < now - STALE_SECONDS;
}

static void temp_remove_if_stale(int dir, const char *name, time_t now) {
    struct stat st, named;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !temp_is_stale(&st, now))
        return;
    const int flags = O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
    int fd =
        openat(dir, name, O_WRONLY | flags); /* some systems lock only files open for writing */
    if (fd < 0 && errno == EACCES)
        fd = openat(dir, name, O_RDONLY | flags);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && temp_is_stale(&st, now) &&
        fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && is_same_file(&st, &named))
        (void)unlinkat(dir, name, 0);
    (void)close(fd);
}

/* Removes the temporary files of killed writers. If one cannot be removed, that is not an error.
 * The age of a file is the difference between its time and that of our own temporary file, which
 * the file system has just set by the same clock. */
static void writer_remove_stale(const bly_file_writer *w) {
    struct stat ours;
    int fd = openat(w->target.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir && fd >= 0)
        (void)close(fd);
    if (dir && fstat(w->fd, &ours) == 0)
        for (const struct dirent *e; (e = readdir(dir));)
            if (writer_is_temp_name(w, e->d_name) && strcmp(e->d_name, w->temp) != 0)
                temp_remove_if_stale(w->target.dir, e->d_name, ours.st_mtime);
    if (dir)
        (void)closedir(dir);
}

/* Allocates the temporary name, and writes the part before the random letters. */
static bly_status writer_name_temp(bly_file_writer *w) {
    const char *name = w->target.name;
    size_t folder = (size_t)(name - w->target.path);
    int keep = (int)strnlen(name, KEEP_OF_NAME);
    while (name[keep] && keep > 0 && ((unsigned char)name[keep] & 0xC0) == 0x80)
        keep--; /* not in the middle of a UTF-8 character */
    size_t room = (size_t)keep + 1 + sizeof temp_mark + LETTERS + sizeof temp_end;
    w->temp_path = malloc(folder + room);
    if (!w->temp_path)
        return BLY_ENOMEM;
    memcpy(w->temp_path, w->target.path, folder);
    w->temp = w->temp_path + folder;
    w->temp_prefix = snprintf(w->temp, room, ".%.*s%s", keep, name, temp_mark);
    return BLY_OK;
}

/* Creates and locks ".NAME.bloomery-xxxxxx.tmp". */
static bly_status writer_create_temp(bly_file_writer *w) {
    char letters[LETTERS + 1];
    bly_status status = writer_name_temp(w);
    if (status != BLY_OK)
        return status;
    memcpy(letters, temp_first_letters, sizeof letters);
    for (unsigned try = 0; w->fd < 0 && try < MAX_TRIES; try++) {
        if (try > 0)
            temp_pick_letters(try, letters);
        memcpy(w->temp + w->temp_prefix, letters, LETTERS);
        memcpy(w->temp + w->temp_prefix + LETTERS, temp_end, sizeof temp_end);
        w->fd = openat(w->target.dir, w->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                       w->replaces ? PRIVATE_MODE : NEW_FILE_MODE);
        if (w->fd < 0 && errno != EEXIST)
            break;
    }
    if (w->fd < 0)
        return BLY_EIO;
    (void)flock(w->fd, LOCK_EX | LOCK_NB); /* if locks do not work, no writer removes stale files */
    if (strcmp(letters, temp_first_letters) != 0)
        writer_remove_stale(w);
    return BLY_OK;
}

/* ---- the owner and mode of the new file ------------------------------------------------------ */

/* Gives the new file the owner, group and permissions of the file that it will replace, as far as
 * the system permits. */
static bly_status keep_owner_and_mode(int fd, const struct stat *old) {
    struct stat now;
    mode_t mode = old->st_mode & 0777;
    bool kept =
        fchown(fd, old->st_uid, old->st_gid) == 0 || fchown(fd, (uid_t)-1, old->st_gid) == 0;
    if (!kept && fstat(fd, &now) != 0)
        return BLY_EIO;
    if (!kept && now.st_gid != old->st_gid) {
        /* The group differs. In the old file, members of the new group had the permissions of
         * "others"; in the new file, members of the old group have them. So "group" and "others"
         * get only the permissions that both had. */
        const mode_t both = mode >> 3 & mode & 07;
        mode = (mode & 0700) | both << 3 | both;
    }
    return fchmod(fd, mode) == 0 ? BLY_OK : BLY_EIO;
}

/* Finds the file to be replaced, if there is one. If an earlier call found a file that has been
 * removed since, its owner and permissions are kept nevertheless: the new file must not get more
 * permissions. If another user may have planted the file, they are not kept, because they would
 * give that user access to the new contents. */
static bly_status writer_find_old(bly_file_writer *w) {
    struct stat st;
    if (fstatat(w->target.dir, w->target.name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? BLY_OK : BLY_EIO;
    if (w->flags & BLY_FILE_NEW) {
        errno = EEXIST;
        return BLY_EEXISTS;
    }
    if (!S_ISREG(st.st_mode))
        return blyi_fail_with(S_ISDIR(st.st_mode) ? EISDIR : EINVAL);
    if (target_is_trusted(&w->target, &st)) {
        w->replaces = true;
        w->old = st;
    }
    return BLY_OK;
}

/* ---- the writer ------------------------------------------------------------------------------ */

bly_status bly_file_writer_open(const char *path, uint32_t flags, bly_file_writer **out) {
    *out = NULL;
    if (flags & ~(uint32_t)BLY_FILE_NEW)
        return BLY_EINVAL;
    bly_file_writer *w = calloc(1, sizeof *w);
    if (!w)
        return BLY_ENOMEM;
    w->fd = -1;
    w->flags = flags;
    bly_status status = target_resolve(&w->target, path);
    if (status != BLY_OK) {
        free_keeping_errno(w);
        return status;
    }
    status = writer_find_old(w);
    if (status == BLY_OK)
        status = writer_create_temp(w);
    if (status != BLY_OK)
        bly_file_writer_close(w);
    else
        *out = w;
    return status;
}

int bly_file_writer_fd(const bly_file_writer *w) {
    return w->fd;
}

const char *bly_file_writer_path(const bly_file_writer *w) {
    return w->temp_path;
}

static bly_status flush_file(int fd) {
    int result;
    do
        result = fsync(fd);
    while (result != 0 && errno == EINTR);
    return result == 0 ? BLY_OK : BLY_EIO;
}

/* Some file systems cannot flush a directory, and a directory opened with O_PATH cannot be flushed.
 * Neither is treated as an error. */
static bly_status flush_directory(int fd) {
    bly_status status = flush_file(fd);
    bool cannot = errno == EINVAL || errno == EBADF || errno == ENOTSUP || errno == ENOSYS;
    return status == BLY_EIO && cannot ? BLY_OK : status;
}

/* Whether the temporary name still refers to the file that was written. That file may have been
 * removed, and another writer may have used its name. */
static bool writer_owns_temp(const bly_file_writer *w) {
    struct stat ours, named;
    return fstat(w->fd, &ours) == 0 &&
           fstatat(w->target.dir, w->temp, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           is_same_file(&ours, &named);
}

/* With BLY_FILE_NEW, a file that has appeared meanwhile must not be replaced, as rename would do.
 * So the name is created by a hard link, which fails in that case. If the file system has no hard
 * links, the file is renamed nevertheless. */
static bly_status writer_rename(const bly_file_writer *w) {
    const int dir = w->target.dir;
    if (!writer_owns_temp(w))
        return blyi_fail_with(ENOENT);
    if (w->flags & BLY_FILE_NEW) {
        if (linkat(dir, w->temp, dir, w->target.name, 0) == 0) {
            (void)unlinkat(dir, w->temp, 0); /* if this fails, the temporary name remains */
            return BLY_OK;
        }
        if (errno == EEXIST)
            return BLY_EEXISTS;
    }
    return renameat(dir, w->temp, dir, w->target.name) == 0 ? BLY_OK : BLY_EIO;
}

bly_status bly_file_writer_commit(bly_file_writer *w) {
    bly_status status = writer_find_old(w);
    if (status == BLY_OK && w->replaces)
        status = keep_owner_and_mode(w->fd, &w->old);
    if (status == BLY_OK)
        status = flush_file(w->fd);
    if (status == BLY_OK)
        status = writer_rename(w);
    if (status != BLY_OK)
        return status;
    free(w->temp_path);
    w->temp_path = NULL;
    return flush_directory(w->target.dir);
}

void bly_file_writer_close(bly_file_writer *w) {
    if (!w)
        return;
    int saved = errno;
    if (w->temp_path && w->fd >= 0 && writer_owns_temp(w))
        (void)unlinkat(w->target.dir, w->temp, 0);
    if (w->fd >= 0)
        (void)close(w->fd);
    target_close(&w->target);
    free(w->temp_path);
    free(w);
    errno = saved;
}
