/* fake_keys.c - the fake engine's database: a list of keys. */
#include "fake_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
    rm_string *name;
    rm_type *type;
    void *value;
    long long expiry;
} entry;

static entry *entries;
static size_t n_entries;

struct rm_key {
    rm_string *name;
    int mode;
};

static entry *find(const rm_string *name) {
    for (size_t i = 0; i < n_entries; i++)
        if (entries[i].name->size == name->size &&
            memcmp(entries[i].name->data, name->data, name->size) == 0)
            return &entries[i];
    return NULL;
}

static void drop(entry *e) {
    if (!e)
        return;
    entry gone = *e;
    *e = entries[--n_entries];
    gone.type->methods.free(gone.value);
    fake_string_free(gone.name);
}

static entry *insert(const rm_string *name, rm_type *type, void *value) {
    entries = fake_alloc(entries, (n_entries + 1) * sizeof *entries);
    entries[n_entries] = (entry){fake_string(name->data, name->size), type, value, -1};
    return &entries[n_entries++];
}

/* ---- for tests ------------------------------------------------------------------------------- */

static entry *named(const char *key) {
    rm_string name = {.data = (char *)(uintptr_t)key, .size = strlen(key)};
    return find(&name);
}

void *fake_get(const char *key, rm_type **type) {
    entry *e = named(key);
    if (type)
        *type = e ? e->type : NULL;
    return e ? e->value : NULL;
}

void fake_set(const char *key, rm_type *type, void *value) {
    rm_string name = {.data = (char *)(uintptr_t)key, .size = strlen(key)};
    drop(find(&name));
    if (value)
        (void)insert(&name, type, value);
}

long long fake_expiry(const char *key) {
    entry *e = named(key);
    return e ? e->expiry : -1;
}

void fake_expire(const char *key, long long at) {
    named(key)->expiry = at;
}

void fake_flush(void) {
    while (n_entries)
        drop(&entries[n_entries - 1]);
    free(entries);
    entries = NULL;
}

/* ---- for the module -------------------------------------------------------------------------- */

rm_key *fake_OpenKey(rm_ctx *ctx, rm_string *name, int mode) {
    (void)ctx;
    if (!(mode & RM_WRITE) && !find(name))
        return NULL;
    rm_key *key = fake_alloc(NULL, sizeof *key);
    *key = (rm_key){fake_retain(name), mode};
    return key;
}

void fake_CloseKey(rm_key *key) {
    if (!key)
        return;
    fake_string_free(key->name);
    free(key);
}

int fake_KeyType(rm_key *key) {
    return key && find(key->name) ? RM_KEY_MODULE : RM_KEY_EMPTY;
}

int fake_DeleteKey(rm_key *key) {
    if (!(key->mode & RM_WRITE))
        return RM_ERR;
    drop(find(key->name));
    return RM_OK;
}

int fake_GetSelectedDb(rm_ctx *ctx) {
    (void)ctx;
    return 0;
}

int fake_SelectDb(rm_ctx *ctx, int db) {
    (void)ctx;
    return db == 0 ? RM_OK : RM_ERR;
}

int fake_ModuleTypeSetValue(rm_key *key, rm_type *type, void *value) {
    if (fake_DeleteKey(key) != RM_OK)
        return RM_ERR;
    (void)insert(key->name, type, value);
    return RM_OK;
}

rm_type *fake_ModuleTypeGetType(rm_key *key) {
    entry *e = key ? find(key->name) : NULL;
    return e ? e->type : NULL;
}

void *fake_ModuleTypeGetValue(rm_key *key) {
    entry *e = key ? find(key->name) : NULL;
    return e ? e->value : NULL;
}

long long fake_GetAbsExpire(rm_key *key) {
    entry *e = find(key->name);
    return e ? e->expiry : -1;
}

int fake_SetAbsExpire(rm_key *key, long long ms) {
    entry *e = find(key->name);
    if (!(key->mode & RM_WRITE) || !e)
        return RM_ERR;
    e->expiry = ms;
    return RM_OK;
}

int fake_SignalModifiedKey(rm_ctx *ctx, rm_string *name) {
    (void)ctx, (void)name;
    return RM_OK;
}

int fake_NotifyKeyspaceEvent(rm_ctx *ctx, int type, const char *event, rm_string *name) {
    (void)ctx, (void)type, (void)event, (void)name;
    return RM_OK;
}
