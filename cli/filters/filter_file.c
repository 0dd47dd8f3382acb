/* filter_file.c - opens filter files, explains why a file was refused, and writes files. */
#include "filters/filter_file.h"

#include "cli.h"
#include "filters/server_filter.h"
#include "io/fingerprint_file.h"
#include "io/interrupt.h"
#include "io/key_file.h"
#include "io/output.h"
#include "text/message.h"

#include <bloomery/host/chunks.h>
#include <bloomery/host/describe.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* offsets in the header of a file (docs/format.md, section 1) */
enum { KIND_AT = 5, BODY_SUM_AT = 56 };
static const char magic[] = "BLY1";

/* ---- why a file was refused ------------------------------------------------------------------ */

typedef struct beginning {
    uint8_t bytes[2 * BLY_FILE_HEADER]; /* also the header of the base of an overlay */
    size_t have;
    uint64_t length;   /* length of the whole file */
    bool regular;      /* false: the other fields are not set */
    bool header_valid; /* false: info is not set */
    bly_file_info info;
} beginning;

static beginning read_beginning(const char *path) {
    beginning b = {.regular = false, .info = {.struct_size = sizeof b.info}};
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return b;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        ssize_t n = read(fd, b.bytes, sizeof b.bytes);
        b.regular = n >= 0;
        b.have = n > 0 ? (size_t)n : 0;
        b.length = (uint64_t)st.st_size;
        b.header_valid = bly_file_parse_info(b.bytes, b.have, &b.info) == BLY_OK;
    }
    (void)close(fd);
    return b;
}

/* Whether the XXH64 of the body equals the checksum in the header. */
static bool body_sum_matches(const uint8_t *file, size_t size) {
    bly_hasher xxh64;
    uint8_t sum[20]; /* the most significant byte first */
    bool same = bly_hasher_init(&xxh64, BLY_HASH_XXH64, 0) == BLY_OK &&
                bly_hash_digest(&xxh64, file + BLY_FILE_HEADER, size - BLY_FILE_HEADER, sum) == 8;
    for (int i = 0; same && i < 8; i++)
        same = file[BODY_SUM_AT + i] == sum[7 - i];
    return same;
}

/* Whether the file still has the length b->length, and its body has the checksum in its header,
 * which must be valid. */
static bool has_right_sum(const char *path, const beginning *b) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    struct stat st;
    bool same = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == b->length;
    void *file = MAP_FAILED;
    if (same)
        file = mmap(NULL, (size_t)b->length, PROT_READ, MAP_PRIVATE, fd, 0);
    same = file != MAP_FAILED && body_sum_matches(file, (size_t)b->length);
    if (file != MAP_FAILED)
        (void)munmap(file, (size_t)b->length);
    (void)close(fd);
    return same;
}

static int report_damaged(const char *path, const beginning *b) {
    const unsigned long long length = b->length;
    if (!b->regular)
        return message_status(path, BLY_ECORRUPT);
    if (length == 0)
        return message_error("%s: is empty, so not a Bloomery filter", path);
    if (b->have >= 2 && b->bytes[0] == 0x1F && b->bytes[1] == 0x8B)
        return message_error("%s: is compressed; gunzip it first", path);
    if (pages_recognise(path))
        return message_error("%s: contains fingerprints (of dedup --exact or --confirm), not a "
                             "filter; use it with bloomery dedup, info or verify",
                             path);
    if (memcmp(b->bytes, magic, b->have < 4 ? b->have : 4) != 0)
        return message_error("%s: is not a Bloomery filter", path);
    if (b->have < BLY_FILE_HEADER)
        return message_error("%s: is cut short: %llu bytes, less than a header; copy it again",
                             path, length);
    if (!b->header_valid)
        return message_error(
            "%s: is damaged (invalid header); copy it again from its source, or build it again",
            path);
    const unsigned long long wanted = b->info.body_bytes + BLY_FILE_HEADER;
    if (length < wanted)
        return message_error("%s: is cut short: it has %llu of %llu bytes; copy it again", path,
                             length, wanted);
    if (length > wanted)
        return message_error("%s: is damaged: it has %llu bytes instead of %llu; copy it again",
                             path, length, wanted);
    if (has_right_sum(path, b))
        return message_error("%s: is not a valid filter: its checksum is right, but its contents "
                             "contradict each other; build it again",
                             path);
    return message_error(
        "%s: is damaged (wrong checksum); copy it again from its source, or build it again", path);
}

static int report_hasher(const char *path, const beginning *b, const bly_hasher *key) {
    if (!b->header_valid)
        return message_error(
            "%s: uses a hash function that this version does not know; use a newer bloomery", path);
    if (bly_hash_is_custom(b->info.hash))
        return message_error(
            "%s: uses a custom hash function, so only the program that created it can use it",
            path);
    if (!bly_hash_available(b->info.hash))
        return message_error("%s: needs %s, which this build of bloomery lacks", path,
                             bly_hash_name(b->info.hash));
    if (key)
        return message_error("%s: is not keyed; leave out --key-file", path);
    return message_status(path, BLY_EHASHER);
}

static int report_key(const char *path, const beginning *b, const bly_hasher *key) {
    const unsigned long long id = b->info.seed;
    if (!b->header_valid)
        return message_status(path, BLY_EKEY);
    if (key)
        return message_error("%s: needs the secret key with the id %016llx, but the id of the key "
                             "in --key-file is %016llx; pass the right key file",
                             path, id, (unsigned long long)key->seed);
    return message_error("%s: is keyed; pass its key file (key id %016llx) with --key-file", path,
                         id);
}

int open_refuse_removed(const char *name, const uint8_t *bytes, size_t size) {
    const size_t at = size >= BLY_FILE_HEADER && bytes[KIND_AT] == BLY_OVERLAY
                          ? BLY_FILE_HEADER + KIND_AT
                          : KIND_AT;
    const bly_removed_kind *gone = at < size ? bly_kind_removed(bytes[at]) : NULL;
    if (!gone)
        return message_status(name, BLY_EUNSUPPORTED);
    return message_error(
        "%s: is a filter of kind %s, which is no longer supported; build it again as %s", name,
        gone->name, gone->replacement);
}

static int refused(const char *path, bly_status status, const bly_hasher *key) {
    struct stat st;
    const int error = errno;
    if (status == BLY_EIO && error == EINVAL && stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return message_error("%s: is not a regular file", path);
    errno = error;
    if (status == BLY_EIO && error == ENOENT && strcmp(path, "-") == 0)
        return message_error("a filter cannot be read from standard input; name its file");
    if (status == BLY_EIO && error == ENOENT && remote_is_address(path))
        return message_error("this command works only on files; fetch the filter with bloomery "
                             "pull, and put it back with bloomery push --replace");
    if (status == BLY_EVERSION)
        return message_error("%s: was written by a newer version; use a newer bloomery", path);
    if (status != BLY_ECORRUPT && status != BLY_EHASHER && status != BLY_EKEY &&
        status != BLY_EKIND && status != BLY_EUNSUPPORTED)
        return message_status(path, status);
    const beginning b = read_beginning(path);
    if (status == BLY_EUNSUPPORTED)
        return open_refuse_removed(path, b.bytes, b.have);
    if (status == BLY_ECORRUPT)
        return report_damaged(path, &b);
    if (status == BLY_EHASHER)
        return report_hasher(path, &b, key);
    if (status == BLY_EKEY)
        return report_key(path, &b, key);
    return message_error(
        "%s: contains a kind of filter that this version does not know; use a newer bloomery",
        path);
}

/* ---- reading --------------------------------------------------------------------------------- */

bool open_key(const char *path, bly_hasher *space, const bly_hasher **out) {
    *out = NULL;
    if (!path)
        return true;
    if (!keyfile_read(path, space))
        return false;
    *out = space;
    return true;
}

bly_status open_read(opened *o, const char *path, const bly_hasher *key, uint32_t flags) {
    const bly_open_options options = {.struct_size = sizeof options, .flags = flags, .hasher = key};
    *o = (opened){0};
    bly_status status = bly_map_open(path, &options, &o->map);
    if (status == BLY_EUNSUPPORTED) {
        status = bly_filter_load(path, &options, &o->loaded);
        o->filter = o->loaded;
    } else if (status == BLY_OK)
        o->filter = bly_map_filter(o->map);
    const int error = errno;
    if (status != BLY_OK)
        (void)refused(path, status, key);
    errno = error;
    return status;
}

void open_close(opened *o) {
    bly_map_close(o->map);
    bly_filter_destroy(o->loaded);
    *o = (opened){0};
}

bly_filter *open_load(const char *path, const bly_hasher *key, uint32_t flags) {
    const bly_open_options options = {.struct_size = sizeof options, .flags = flags, .hasher = key};
    bly_filter *f;
    bly_status status = bly_filter_load(path, &options, &f);
    if (status != BLY_OK)
        (void)refused(path, status, key);
    return f;
}

bly_status open_header(const char *path, bly_file_info *out) {
    BLY_INIT(*out);
    bly_status status = bly_file_get_info(path, out);
    if (status != BLY_OK)
        (void)refused(path, status, NULL);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool standard_output(const char *path) {
    return strcmp(path, "-") == 0;
}

bool open_may_save(const char *path, bool force) {
    if (!standard_output(path))
        return output_may_replace(path, force);
    if (force || !isatty(STDOUT_FILENO))
        return true;
    return message_fail("not writing a filter to a terminal; use -f to force");
}

static bly_status put(void *ctx, const void *data, size_t size) {
    return output_put(ctx, data, size) ? BLY_OK : BLY_EIO;
}

static bool write_out(const bly_filter *f) {
    output o;
    if (!output_open(&o, NULL, false))
        return false;
    bool good = bly_filter_write(f, put, &o) == BLY_OK && output_commit(&o);
    output_close(&o);
    return good;
}

bool open_save(const bly_filter *f, const char *path) {
    if (standard_output(path))
        return write_out(f);
    /* A signal must not leave the temporary file behind. So it is handled before the file is
     * written, or after. */
    interrupt_watch();
    if (interrupt_seen())
        return false;
    bly_status status = bly_filter_save(f, path);
    if (status != BLY_OK)
        (void)refused(path, status, NULL);
    return status == BLY_OK;
}
