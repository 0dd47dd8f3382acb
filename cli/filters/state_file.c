#include "filters/state_file.h"

#include "filters/filter_file.h"
#include "io/output.h"
#include "text/message.h"

#include <errno.h>
#include <sys/stat.h>

bool kept_begun(const char *path) {
    struct stat st;
    if (stat(path, &st) != 0)
        return errno != ENOENT;
    return !S_ISREG(st.st_mode) || st.st_size > 0;
}

bool kept_open(kept *k, const char *path, const bly_hasher *key) {
    *k = (kept){.path = path, .autosave = autosave_start()};
    if (!path)
        return true;
    if (!output_may_replace(path, true) || !lock_take(&k->lock, path, false))
        return false;
    if (!kept_begun(path))
        return true;
    k->filter = open_load(path, key, 0);
    k->loaded = k->filter != NULL;
    return k->loaded;
}

bool kept_save(kept *k) {
    if (!k->path)
        return true;
    autosave_begin(&k->autosave);
    const bly_status status = bly_filter_save(k->filter, k->path);
    autosave_end(&k->autosave);
    if (status != BLY_OK)
        (void)message_status(k->path, status);
    return status == BLY_OK;
}

bool kept_save_now_and_then(kept *k) {
    return !k->path || !autosave_due(&k->autosave) || kept_save(k);
}

void kept_close(kept *k) {
    bly_filter_destroy(k->filter);
    lock_release(&k->lock);
    k->filter = NULL;
}
