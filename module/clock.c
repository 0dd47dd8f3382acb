/* clock.c - the timed windows there are, in the order in which they are to be turned next.
 *
 * Turning a window takes the bits of the generation to come out of every line. bly_window_advance
 * does as much of that as time has passed in the slice, so calls that come often do a little each.
 * Here a slice is divided into so many parts that one is at most PART_BYTES of the filter, and the
 * timer goes off at the end of each part. That is 30 microseconds of work, and up to 300 where the
 * system must find the pages first (measured on a virtual machine, where a page takes it 3). A
 * small window is one part, and turned once in a slice. One without keys need not be turned at all:
 * there is nothing to forget, and the next add will see to the clock.
 *
 * A window that was found to be late by more than its slice (it was loaded from disk, say) is
 * brought up part by part too, for half a millisecond at a time, or longer where the server's other
 * work lets the timer come late: to the end of the slice where its clock stands, from there to the
 * slice of the present, whatever lies between, and through that. Adds do a part each. But they do
 * not wait: what is added must be in the present slice. So a pass over all that is left of a slice
 * is made where the timer could not keep up: when a window is added to that has just been loaded,
 * or by a server that hardly gets to anything but adds. Windows whose slices are too short for
 * their work are not taken from clients.
 *
 * Places are kept in a binary heap, the earliest first. A place names its window by database and
 * key, since that is what a replica must be told, and by the value, to see that the key still holds
 * it. Values may be freed in any thread at any time once they are out of the keyspace; the lock
 * guards the heap and what is in it, and no place is looked at without it.
 */
#include "clock.h"

#include <bloomery/window.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

enum {
    PART_BYTES = 1 << 18,
    MOST_PARTS = 1 << 18,
    ADD_PARTS = 256, /* steps of the clock in a slice that adds make at least */
    IDLE_MS = 100,   /* when there is nothing to do: how soon to look again */
    PATIENCE_MS = 2, /* how long the timer may work before it lets others */
    LEAST_US = 500,  /* how long it may work on one late window, or an add may */
    MOST_US = 2000,  /* the timer, where others take their time */
    SHARE = 4,       /* of the time by which it comes too late: one part in so many */
    FIRST_PLACES = 64
};

struct bm_timed {
    bm_value *value;
    long long due;
    size_t at; /* its index in the heap */
    int db;
    size_t size; /* of the key's name */
    char name[];
};

static struct {
    pthread_mutex_t lock;
    struct bm_timed **heap;
    size_t n, room;
    struct bm_timed *taken; /* by the timer, which is looking for its key; NULL: gone since */
} places = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the heap -------------------------------------------------------------------------------- */

static void put_at(size_t at, struct bm_timed *t) {
    places.heap[at] = t;
    t->at = at;
}

/* Lets the one at `at` find its place, whichever way that lies. */
static void settle(size_t at) {
    struct bm_timed *t = places.heap[at];
    while (at > 0 && places.heap[(at - 1) / 2]->due > t->due) {
        put_at(at, places.heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= places.n)
            break;
        if (child + 1 < places.n && places.heap[child + 1]->due < places.heap[child]->due)
            child++;
        if (places.heap[child]->due >= t->due)
            break;
        put_at(at, places.heap[child]);
        at = child;
    }
    put_at(at, t);
}

static bool push(struct bm_timed *t) {
    if (places.n == places.room) {
        size_t room = places.room ? 2 * places.room : FIRST_PLACES;
        struct bm_timed **heap = rm.TryAlloc(room * sizeof *heap);
        if (!heap)
            return false;
        if (places.n)
            memcpy(heap, places.heap, places.n * sizeof *heap);
        if (places.heap)
            rm.Free(places.heap);
        places.heap = heap;
        places.room = room;
    }
    put_at(places.n++, t);
    settle(t->at);
    return true;
}

static void drop(struct bm_timed *t) {
    struct bm_timed *last = places.heap[--places.n];
    if (last != t) {
        put_at(t->at, last);
        settle(last->at);
    }
    if (places.taken == t)
        places.taken = NULL;
    t->value->timed = NULL;
    rm.Free(t);
}

/* ---- coming and going ------------------------------------------------------------------------ */

static bool is_timed(const bm_value *value, bly_window_info *info) {
    return value->what == BM_FILTER && value->as.filter &&
           bly_window_look(value->as.filter, info) == BLY_OK && info->span != 0;
}

static bool is_named(const struct bm_timed *t, int db, bly_bytes name) {
    return t->db == db && t->size == name.size && memcmp(t->name, name.data, name.size) == 0;
}

/* In time the timer comes by: it looks ten times a second.
 * Without memory for it the window is turned by adds alone, and entered by one of the next
 * commands. */
static void enter(bm_value *value, int db, bly_bytes name) {
    struct bm_timed *t = rm.TryAlloc(sizeof *t + name.size);
    if (!t)
        return;
    *t = (struct bm_timed){.value = value, .db = db, .size = name.size};
    memcpy(t->name, name.data, name.size);
    pthread_mutex_lock(&places.lock);
    if (value->timed)
        drop(value->timed);
    value->timed = push(t) ? t : NULL;
    if (!value->timed)
        rm.Free(t);
    pthread_mutex_unlock(&places.lock);
}

void bm_clock_leave(bm_value *value) {
    pthread_mutex_lock(&places.lock);
    if (value->timed)
        drop(value->timed);
    pthread_mutex_unlock(&places.lock);
}

void bm_clock_enter(rm_ctx *ctx, bm_key *key) {
    bly_window_info info;
    if (!key->value || !is_timed(key->value, &info))
        return;
    bly_bytes name = {0};
    int db = rm.GetSelectedDb(ctx);
    name.data = rm.StringPtrLen(key->name, &name.size);
    struct bm_timed *t = key->value->timed;
    if (!t || !is_named(t, db, name))
        enter(key->value, db, name);
}

void bm_clock_loaded(rm_io *io, bm_value *value) {
    bly_window_info info;
    const rm_string *key = rm.GetKeyNameFromIO(io);
    if (!key || !is_timed(value, &info))
        return;
    bly_bytes name = {0};
    name.data = rm.StringPtrLen(key, &name.size);
    enter(value, rm.GetDbIdFromIO(io), name);
}

/* ---- turning --------------------------------------------------------------------------------- */

/* The length of a step, when a slice is to have `least` parts or more. */
static uint64_t step_of(const bly_filter *f, const bly_window_info *info, uint64_t least) {
    bly_geometry g = bly_filter_geometry(f);
    uint64_t parts = bly_plan_bytes(&g) / PART_BYTES;
    parts = parts < least ? least : parts > MOST_PARTS ? MOST_PARTS : parts;
    return info->slice > parts ? info->slice / parts : 1;
}

/* A millisecond for each MiB: turning takes an eighth of that once the pages are there. */
uint64_t bm_clock_least_span(const bly_filter *f) {
    bly_window_info info;
    if (bly_window_look(f, &info) != BLY_OK || info.span == 0)
        return 0;
    bly_geometry g = bly_filter_geometry(f);
    uint64_t least = bly_plan_bytes(&g) >> 20;
    if (info.slice >= least)
        return 0;
    uint64_t slices = (info.span + info.slice - 1) / info.slice;
    return least * slices;
}

/* The last end of a step that is not after `now`. Slices begin at multiples of their length, and
 * steps with them: so what is added is always in the slice that it belongs to. */
static uint64_t step_before(uint64_t now, uint64_t slice, uint64_t step) {
    return now - now % slice % step;
}

static void move_on(rm_ctx *ctx, bm_key *key, uint64_t now) {
    if (bly_window_advance(key->value->as.filter, now) != BLY_OK)
        return;
    bm_value_changed(key->value);
    (void)rm.SignalModifiedKey(ctx, key->name);
    rm.Replicate(ctx, "BLY.TICK", "sl", key->name, (long long)now);
}

/* Processor time of the main thread, in microseconds: what others take of a busy machine must not
 * make a window fall behind as well. */
static uint64_t spent(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Only the slice must be that of the present: within it a few steps are enough, and the timer
 * follows. */
void bm_clock_advance(rm_ctx *ctx, bm_key *key) {
    bly_window_info info;
    if (!key->value || !is_timed(key->value, &info) || bm_is_replayed(ctx))
        return;
    bm_clock_enter(ctx, key);
    uint64_t step = step_of(key->value->as.filter, &info, ADD_PARTS);
    uint64_t now = step_before((uint64_t)rm.Milliseconds(), info.slice, step);
    if (now <= info.now)
        return;
    uint64_t begin = now - now % info.slice, since = spent();
    if (info.now < begin) {
        move_on(ctx, key, begin);
        return;
    }
    /* Each step is replicated, so it shall be worth it: a small window takes but one. */
    step = step_of(key->value->as.filter, &info, 1);
    do {
        info.now = now - info.now > step ? info.now + step : now;
        move_on(ctx, key, info.now);
    } while (info.now < now && spent() - since < LEAST_US);
}

/* Where a late window's clock is to be put next by the timer. */
static uint64_t next_stop(const bly_window_info *info, uint64_t now, uint64_t step) {
    uint64_t slice = info->slice, end = (info->now / slice + 1) * slice;
    if (now < end)
        return now - info->now > step ? info->now + step : now;
    return end - info->now > step ? info->now + step : now - now % slice;
}

/* How long the timer may work on a window: longer where it is let in late, or a window would fall
 * behind whose server is busy, and an add would have to do what is left of a slice at once. */
static uint64_t patience(long long late) {
    uint64_t share = late > 0 ? (uint64_t)late * 1000 / SHARE : 0;
    return share < LEAST_US ? LEAST_US : share > MOST_US ? MOST_US : share;
}

/* A window that is due. Returns when it is due again. */
static long long turn(rm_ctx *ctx, bm_key *key, long long present, uint64_t until) {
    bly_filter *f = key->value->as.filter;
    bly_window_info info;
    if (!is_timed(key->value, &info) || bly_filter_count(f) == 0)
        return present + IDLE_MS;
    uint64_t step = step_of(f, &info, 1);
    uint64_t target = step_before((uint64_t)present, info.slice, step);
    while (info.now < target) {
        info.now = next_stop(&info, target, step);
        move_on(ctx, key, info.now);
        if (info.now < target && spent() >= until)
            return present + 1;
    }
    /* The next end of a step; the last step of a slice is longer by what the division leaves. */
    uint64_t slice_end = ((uint64_t)present / info.slice + 1) * info.slice;
    uint64_t next = target + step;
    next = next > slice_end || slice_end - next < step ? slice_end : next;
    return (long long)next;
}

/* The place is not that of the key's value: the key was renamed, moved or replaced. Whoever finds
 * the window next enters it anew. */
static void forget_taken(void) {
    pthread_mutex_lock(&places.lock);
    if (places.taken)
        drop(places.taken);
    pthread_mutex_unlock(&places.lock);
}

/* Takes the first place that is due, and puts it off, so that it stays in the heap. */
static const struct bm_timed *take(rm_ctx *ctx, long long present, int *db, rm_string **name) {
    pthread_mutex_lock(&places.lock);
    struct bm_timed *t = places.n && places.heap[0]->due <= present ? places.heap[0] : NULL;
    if (t) {
        *db = t->db;
        *name = rm.CreateString(ctx, t->name, t->size);
        t->due = present + IDLE_MS;
        settle(t->at);
    }
    places.taken = t;
    pthread_mutex_unlock(&places.lock);
    return t;
}

static void turn_due(rm_ctx *ctx, long long present, long long late) {
    int db;
    rm_string *name;
    uint64_t until = spent() + patience(late);
    for (const struct bm_timed *t; (t = take(ctx, present, &db, &name));) {
        bool found = false;
        if (rm.SelectDb(ctx, db) == RM_OK) {
            bm_key key = bm_key_open(ctx, name, RM_READ | RM_WRITE | RM_NOTOUCH);
            found = key.value && key.value->timed == t;
            if (found) { /* it is in the keyspace: nobody else can free it now */
                long long due = turn(ctx, &key, present, until);
                pthread_mutex_lock(&places.lock);
                key.value->timed->due = due;
                settle(key.value->timed->at);
                pthread_mutex_unlock(&places.lock);
            }
            bm_key_close(&key);
        }
        if (!found)
            forget_taken();
        rm.FreeString(ctx, name);
        if (rm.Milliseconds() - present >= PATIENCE_MS)
            return;
    }
}

static void on_timer(rm_ctx *ctx, void *data) {
    (void)data;
    static long long wished;
    long long present = rm.Milliseconds(), wait = IDLE_MS;
    int flags = rm.GetContextFlags(ctx);
    bool ours = flags & RM_CTX_MASTER && !(flags & (RM_CTX_LOADING | RM_CTX_ASYNC_LOADING)) &&
                !rm.AvoidReplicaTraffic();
    if (ours) {
        turn_due(ctx, present, wished ? present - wished : 0);
        present = rm.Milliseconds();
        pthread_mutex_lock(&places.lock);
        if (places.n && places.heap[0]->due < present + wait)
            wait = places.heap[0]->due - present;
        pthread_mutex_unlock(&places.lock);
    }
    wait = wait < 1 ? 1 : wait;
    wished = present + wait;
    rm.CreateTimer(ctx, wait, on_timer, NULL);
}

/* It runs from the start, ten times a second, so that what is loaded is turned without a command
 * that asks for it. */
int bm_clock_start(rm_ctx *ctx) {
    rm.CreateTimer(ctx, IDLE_MS, on_timer, NULL);
    return RM_OK;
}
