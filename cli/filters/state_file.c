/* state_file.c - a filter that is loaded at the start of a run and saved as it changes. */
#include "filters/state_file.h"

#include "filters/filter_file.h"
#include "io/output.h"
#include "text/message.h"

#include <errno.h>
#include <sys/stat.h>

bool state_file_begun(const char *path) {
    struct stat st;
    if (stat(path, &st) != 0)
        return errno != ENOENT;
    return !S_ISREG(st.st_mode) || st.st_size > 0;
}

bool state_file_open(state_file *k, const char *path, const bly_hasher *key) {
    *k = (state_file){.path = path, .autosave = autosave_start()};
    if (!path)
        return true;
    if (!output_may_replace(path, true) || !lock_take(&k->lock, path, false))
        return false;
    if (!state_file_begun(path))
        return true;
    k->filter = open_load(path, key, 0);
    k->loaded = k->filter != NULL;
    return k->loaded;
}

bool state_file_save(state_file *k) {
    if (!k->path)
        return true;
    autosave_begin(&k->autosave);
    const bly_status status = bly_filter_save(k->filter, k->path);
    autosave_end(&k->autosave);
    if (status != BLY_OK)
        (void)message_status(k->path, status);
    return status == BLY_OK;
}

bool state_file_save_now_and_then(state_file *k) {
    return !k->path || !autosave_due(&k->autosave) || state_file_save(k);
}

void state_file_close(state_file *k) {
    bly_filter_destroy(k->filter);
    lock_release(&k->lock);
    k->filter = NULL;
}
