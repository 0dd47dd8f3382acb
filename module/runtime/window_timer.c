/* window_timer.c - advances timed windows, in the order in which they are due.
 *
 * Advancing a window by a slice of time clears the bits of its next generation in every cache line.
 * bly_window_advance clears a share of them that corresponds to the time that has passed in the
 * slice, so each of many calls does a little work. Here a slice is divided into parts, in each of
 * which at most PART_BYTES of the filter are cleared, and the timer fires at the end of each part.
 * Clearing a part takes 30 microseconds, or up to 300 if its pages are not mapped yet (measured on
 * a virtual machine, at 3 microseconds per page). A small window has one part, and advances once
 * per slice. An empty window need not advance at all: there is nothing to clear, and the next add
 * sets its clock.
 *
 * A window may be late by more than a slice, for example because it was loaded from disk. The timer
 * then advances it part by part to the end of the slice in which its clock is, from there directly
 * to the beginning of the present slice, and then part by part to the present time. It works for
 * half a millisecond at a time, or longer if other work of the server delays the timer. Each add
 * also advances the window. But a key must be added to the present slice. So if the timer could not
 * keep up, an add clears all that remains of the old slice in one pass. This happens in a window
 * that has just been loaded, or on a server that is busy only with adds. Clients cannot create
 * windows whose slices are too short for this work (bm_window_min_span).
 *
 * Entries are in a binary heap, the earliest first. An entry refers to its window by database and
 * key, because BLY.TICK needs them, and also by the value, to check that the key still has this
 * value. After a value has been removed from the keyspace, any thread may free it at any time. So
 * the lock protects the heap and its entries, and no entry is accessed without holding it.
 */
#include "runtime/window_timer.h"

#include "runtime/server_state.h"

#include <bloomery/filter.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

enum {
    PART_BYTES = 1 << 18,
    MAX_PARTS = 1 << 18,
    ADD_PARTS = 256,      /* minimum number of steps into which adds divide a slice */
    IDLE_MS = 100,        /* the timer's period when no window is due */
    MAX_CALLBACK_MS = 2,  /* maximum time that one call of the timer works on all windows */
    MIN_BUDGET_US = 500,  /* time that the timer, or an add, may work on one late window */
    MAX_BUDGET_US = 2000, /* the same, at most, for the timer if it fires late */
    LATE_SHARE = 4,       /* the time for a late window is the timer's delay divided by this, but
                             within the two bounds above */
    FIRST_ENTRIES = 64
};

struct bm_timer_entry {
    bm_value *value;
    long long due;
    size_t at; /* index of the entry in the heap */
    int db;
    size_t size; /* length of the key's name */
    char name[];
};

static struct {
    pthread_mutex_t lock;
    struct bm_timer_entry **heap;
    size_t n, capacity;
    struct bm_timer_entry *current; /* the entry whose key the timer has opened; NULL after the
                                       entry was removed */
} timers = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the heap -------------------------------------------------------------------------------- */

static void heap_set(size_t at, struct bm_timer_entry *t) {
    timers.heap[at] = t;
    t->at = at;
}

/* Restores the order of the heap after the entry at index `at` has changed. */
static void heap_sift(size_t at) {
    struct bm_timer_entry *t = timers.heap[at];
    while (at > 0 && timers.heap[(at - 1) / 2]->due > t->due) {
        heap_set(at, timers.heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= timers.n)
            break;
        if (child + 1 < timers.n && timers.heap[child + 1]->due < timers.heap[child]->due)
            child++;
        if (timers.heap[child]->due >= t->due)
            break;
        heap_set(at, timers.heap[child]);
        at = child;
    }
    heap_set(at, t);
}

static bool heap_add(struct bm_timer_entry *t) {
    if (timers.n == timers.capacity) {
        size_t capacity = timers.capacity ? 2 * timers.capacity : FIRST_ENTRIES;
        struct bm_timer_entry **heap = rm.TryAlloc(capacity * sizeof *heap);
        if (!heap)
            return false;
        if (timers.n)
            memcpy(heap, timers.heap, timers.n * sizeof *heap);
        if (timers.heap)
            rm.Free(timers.heap);
        timers.heap = heap;
        timers.capacity = capacity;
    }
    heap_set(timers.n++, t);
    heap_sift(t->at);
    return true;
}

static void heap_remove(struct bm_timer_entry *t) {
    struct bm_timer_entry *last = timers.heap[--timers.n];
    if (last != t) {
        heap_set(t->at, last);
        heap_sift(last->at);
    }
    if (timers.current == t)
        timers.current = NULL;
    t->value->timer = NULL;
    rm.Free(t);
}

/* ---- adding and removing windows ------------------------------------------------------------- */

static bool is_timed(const bm_value *value, bly_window_info *info) {
    return value->type == BM_FILTER && value->as.filter &&
           bly_window_get_info(value->as.filter, info) == BLY_OK && info->span != 0;
}

static bool has_name(const struct bm_timer_entry *t, int db, bly_bytes name) {
    return t->db == db && t->size == name.size && memcmp(t->name, name.data, name.size) == 0;
}

/* Adds an entry for a window. The timer processes it within IDLE_MS. If there is no memory for an
 * entry, only adds advance the window, until a later command adds the entry. */
static void add_entry(bm_value *value, int db, bly_bytes name) {
    struct bm_timer_entry *t = rm.TryAlloc(sizeof *t + name.size);
    if (!t)
        return;
    *t = (struct bm_timer_entry){.value = value, .db = db, .size = name.size};
    memcpy(t->name, name.data, name.size);
    pthread_mutex_lock(&timers.lock);
    if (value->timer)
        heap_remove(value->timer);
    value->timer = heap_add(t) ? t : NULL;
    if (!value->timer)
        rm.Free(t);
    pthread_mutex_unlock(&timers.lock);
}

void bm_window_timer_remove(bm_value *value) {
    pthread_mutex_lock(&timers.lock);
    if (value->timer)
        heap_remove(value->timer);
    pthread_mutex_unlock(&timers.lock);
}

void bm_window_timer_add(rm_ctx *ctx, bm_key *key) {
    bly_window_info info = {.struct_size = sizeof info};
    if (!key->value || !is_timed(key->value, &info))
        return;
    bly_bytes name = {0};
    int db = rm.GetSelectedDb(ctx);
    name.data = rm.StringPtrLen(key->name, &name.size);
    struct bm_timer_entry *t = key->value->timer;
    if (!t || !has_name(t, db, name))
        add_entry(key->value, db, name);
}

void bm_window_timer_add_loaded(rm_io *io, bm_value *value) {
    bly_window_info info = {.struct_size = sizeof info};
    const rm_string *key = rm.GetKeyNameFromIO(io);
    if (!key || !is_timed(value, &info))
        return;
    bly_bytes name = {0};
    name.data = rm.StringPtrLen(key, &name.size);
    add_entry(value, rm.GetDbIdFromIO(io), name);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Returns the length in milliseconds of a step, if a slice has at least `min_parts` parts. */
static uint64_t step_of(const bly_filter *f, const bly_window_info *info, uint64_t min_parts) {
    bly_geometry g = bly_filter_geometry(f);
    uint64_t parts = bly_plan_bytes(&g) / PART_BYTES;
    parts = parts < min_parts ? min_parts : parts > MAX_PARTS ? MAX_PARTS : parts;
    return info->slice > parts ? info->slice / parts : 1;
}

/* The minimum length of a slice is a millisecond per MiB of the window. Clearing takes an eighth of
 * that if the pages are in memory. */
uint64_t bm_window_min_span(const bly_filter *f) {
    bly_window_info info = {.struct_size = sizeof info};
    if (bly_window_get_info(f, &info) != BLY_OK || info.span == 0)
        return 0;
    bly_geometry g = bly_filter_geometry(f);
    uint64_t min_slice = bly_plan_bytes(&g) >> 20;
    if (info.slice >= min_slice)
        return 0;
    uint64_t slices = (info.span + info.slice - 1) / info.slice;
    return min_slice * slices;
}

/* Returns the time of the last end of a step that is not after `now`. Slices begin at multiples of
 * their length, and at the beginning of each slice a step begins, so a key is always added to the
 * slice of its time. */
static uint64_t step_before(uint64_t now, uint64_t slice, uint64_t step) {
    return now - now % slice % step;
}

static void set_clock(rm_ctx *ctx, bm_key *key, uint64_t now) {
    if (bly_window_advance(key->value->as.filter, now) != BLY_OK)
        return;
    bm_value_changed(key->value);
    (void)rm.SignalModifiedKey(ctx, key->name);
    rm.Replicate(ctx, "BLY.TICK", "sl", key->name, (long long)now);
}

/* Returns the processor time of the calling thread in microseconds. (Wall-clock time would include
 * the work of other processes, and windows on a busy machine would fall behind.) */
static uint64_t cpu_time(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Advances a window before an add. Its clock must reach the present slice. Within the slice a few
 * steps are enough, because the timer makes the others. */
void bm_window_advance(rm_ctx *ctx, bm_key *key) {
    bly_window_info info = {.struct_size = sizeof info};
    if (!key->value || !is_timed(key->value, &info) || bm_is_replayed(ctx))
        return;
    bm_window_timer_add(ctx, key);
    uint64_t step = step_of(key->value->as.filter, &info, ADD_PARTS);
    uint64_t now = step_before((uint64_t)rm.Milliseconds(), info.slice, step);
    if (now <= info.now)
        return;
    uint64_t begin = now - now % info.slice, since = cpu_time();
    if (info.now < begin) {
        set_clock(ctx, key, begin);
        return;
    }
    /* Each step is replicated, so steps are as long as possible: a small window needs only one. */
    step = step_of(key->value->as.filter, &info, 1);
    do {
        info.now = now - info.now > step ? info.now + step : now;
        set_clock(ctx, key, info.now);
    } while (info.now < now && cpu_time() - since < MIN_BUDGET_US);
}

/* ---- the timer ------------------------------------------------------------------------------- */

/* Returns the next time to which the timer sets the clock of a late window. */
static uint64_t next_stop(const bly_window_info *info, uint64_t now, uint64_t step) {
    uint64_t slice = info->slice, end = (info->now / slice + 1) * slice;
    if (now < end)
        return now - info->now > step ? info->now + step : now;
    return end - info->now > step ? info->now + step : now - now % slice;
}

/* Returns how many microseconds the timer may work on a window, if it fires `late` milliseconds
 * late. The later it fires, the longer it may work: otherwise a window on a busy server would fall
 * behind, and an add would have to clear the rest of a slice in one pass. */
static uint64_t budget(long long late) {
    uint64_t share = late > 0 ? (uint64_t)late * 1000 / LATE_SHARE : 0;
    return share < MIN_BUDGET_US ? MIN_BUDGET_US : share > MAX_BUDGET_US ? MAX_BUDGET_US : share;
}

/* Advances a window that is due. Returns the time at which it is due again. */
static long long advance_one(rm_ctx *ctx, bm_key *key, long long present, uint64_t until) {
    bly_filter *f = key->value->as.filter;
    bly_window_info info = {.struct_size = sizeof info};
    if (!is_timed(key->value, &info) || bly_filter_count(f) == 0)
        return present + IDLE_MS;
    uint64_t step = step_of(f, &info, 1);
    uint64_t target = step_before((uint64_t)present, info.slice, step);
    while (info.now < target) {
        info.now = next_stop(&info, target, step);
        set_clock(ctx, key, info.now);
        if (info.now < target && cpu_time() >= until)
            return present + 1;
    }
    /* The next end of a step. The last step of a slice is longer by the remainder of the
     * division. */
    uint64_t slice_end = ((uint64_t)present / info.slice + 1) * info.slice;
    uint64_t next = target + step;
    next = next > slice_end || slice_end - next < step ? slice_end : next;
    return (long long)next;
}

/* Removes the current entry, because its key does not have its value any more: the key was renamed,
 * moved or replaced. The next command that opens the window adds it again. */
static void remove_current(void) {
    pthread_mutex_lock(&timers.lock);
    if (timers.current)
        heap_remove(timers.current);
    pthread_mutex_unlock(&timers.lock);
}

/* Returns the first entry that is due, or NULL. The entry remains in the heap, with a later
 * time. */
static const struct bm_timer_entry *next_due(rm_ctx *ctx, long long present, int *db,
                                             rm_string **name) {
    pthread_mutex_lock(&timers.lock);
    struct bm_timer_entry *t = timers.n && timers.heap[0]->due <= present ? timers.heap[0] : NULL;
    if (t) {
        *db = t->db;
        *name = rm.CreateString(ctx, t->name, t->size);
        t->due = present + IDLE_MS;
        heap_sift(t->at);
    }
    timers.current = t;
    pthread_mutex_unlock(&timers.lock);
    return t;
}

static void advance_due(rm_ctx *ctx, long long present, long long late) {
    int db;
    rm_string *name;
    uint64_t until = cpu_time() + budget(late);
    for (const struct bm_timer_entry *t; (t = next_due(ctx, present, &db, &name));) {
        bool found = false;
        if (rm.SelectDb(ctx, db) == RM_OK) {
            bm_key key = bm_key_open(ctx, name, RM_READ | RM_WRITE | RM_NOTOUCH);
            found = key.value && key.value->timer == t;
            if (found) { /* the value is in the keyspace, so no other thread frees it */
                long long due = advance_one(ctx, &key, present, until);
                pthread_mutex_lock(&timers.lock);
                key.value->timer->due = due;
                heap_sift(key.value->timer->at);
                pthread_mutex_unlock(&timers.lock);
            }
            bm_key_close(&key);
        }
        if (!found)
            remove_current();
        rm.FreeString(ctx, name);
        if (rm.Milliseconds() - present >= MAX_CALLBACK_MS)
            return;
    }
}

static void on_timer(rm_ctx *ctx, void *data) {
    (void)data;
    static long long expected; /* the time at which this call was due */
    long long present = rm.Milliseconds(), wait = IDLE_MS;
    int flags = rm.GetContextFlags(ctx);
    bool ours = flags & RM_CTX_MASTER && !(flags & (RM_CTX_LOADING | RM_CTX_ASYNC_LOADING)) &&
                !rm.AvoidReplicaTraffic();
    if (ours) {
        advance_due(ctx, present, expected ? present - expected : 0);
        present = rm.Milliseconds();
        pthread_mutex_lock(&timers.lock);
        if (timers.n && timers.heap[0]->due < present + wait)
            wait = timers.heap[0]->due - present;
        pthread_mutex_unlock(&timers.lock);
    }
    wait = wait < 1 ? 1 : wait;
    expected = present + wait;
    rm.CreateTimer(ctx, wait, on_timer, NULL);
}

/* The timer fires from the start, every IDLE_MS, so that windows that were loaded advance even if
 * no command uses them. */
int bm_window_timer_start(rm_ctx *ctx) {
    rm.CreateTimer(ctx, IDLE_MS, on_timer, NULL);
    return RM_OK;
}
