/* recipe_replicate.c - a recipe as the BLY.RESERVE that makes it again, on a server whose defaults
 * may be others. recipe_parse.c reads it.
 */
#include "recipe.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_WORDS = 48 };

typedef struct words {
    rm_string *at[MAX_WORDS];
    size_t n;
} words;

static void say(words *w, const char *text) {
    assert(w->n < MAX_WORDS);
    w->at[w->n++] = rm.CreateString(NULL, text, strlen(text));
}

static void say_text(words *w, const char *word, const char *text) {
    say(w, word);
    say(w, text);
}

/* Options that were left out read as 0. */
static void say_number(words *w, const char *word, uint64_t number) {
    if (number == 0)
        return;
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    say_text(w, word, text);
}

/* So many digits that the very same number is read back. */
static void say_double(words *w, const char *word, double number) {
    if (number == 0)
        return;
    char text[40];
    snprintf(text, sizeof text, "%.17g", number);
    say_text(w, word, text);
}

static void say_hash(words *w, const bm_recipe *r) {
    char text[24];
    if (r->keyed) {
        snprintf(text, sizeof text, "%016" PRIx64, r->key_id);
        say_text(w, "KEYED", text);
        return;
    }
    snprintf(text, sizeof text, "%" PRIu64, r->spec.seed);
    say_text(w, "SEED", text);
    if (r->hash != BLY_HASH_NONE)
        say_text(w, "HASH", bly_hash_name(r->hash));
}

static void say_own(words *w, const bm_recipe *r) {
    const bly_spec *s = &r->spec;
    say_text(w, "KIND", bly_kind_name(s->geometry.kind));
    say_number(w, "CHANGES", s->changes);
    if (s->marker != BLY_KIND_NONE)
        say_text(w, "MARKER", bly_kind_name(s->marker));
    if (r->base_name) {
        say(w, "BASE");
        assert(w->n < MAX_WORDS);
        size_t size;
        const char *name = rm.StringPtrLen(r->base_name, &size);
        w->at[w->n++] = rm.CreateString(NULL, name, size);
        return;
    }
    say_number(w, "CAPACITY", s->capacity);
    say_double(w, "ERROR", s->fpr);
    say_hash(w, r);
    say_number(w, "GROWTH", s->growth);
    say_double(w, "FIRSTSHARE", s->first_share);
    say_number(w, "HORIZON", s->horizon);
    say_number(w, "SPAN", s->span);
    say_number(w, "GENERATIONS", s->generations);
    say_number(w, "COUNTERBITS", s->counter_bits);
    say_number(w, "SIZE", s->geometry.size);
    say_number(w, "HASHES", s->geometry.hashes);
    say_number(w, "DETAIL", s->geometry.detail);
    if (s->geometry.options & BLY_TEXTBOOK)
        say(w, "TEXTBOOK");
    if (s->geometry.options & BLY_FOLDABLE)
        say(w, "FOLDABLE");
}

static void say_traits(words *w, const bm_traits *t) {
    if (t->face != BM_FACE_BLY)
        say_text(w, "FACE", bm_face_name(t->face));
    if (t->nonscaling)
        say(w, "NONSCALING");
    say_number(w, "EXPANSION", t->expansion);
    say_number(w, "BUCKETSIZE", t->bucket_size);
    say_number(w, "MAXITERATIONS", t->max_iterations);
}

void bm_recipe_replicate(rm_ctx *ctx, rm_string *name, const bm_recipe *recipe) {
    words w = {.n = 0};
    if (recipe->layout == BM_LAYOUT_OWN) {
        say_own(&w, recipe);
    } else {
        bool bloom = recipe->layout == BM_LAYOUT_RB_BLOOM;
        say_text(&w, "LAYOUT", bloom ? "redisbloom" : "redisbloom-cuckoo");
        say_number(&w, "CAPACITY", recipe->spec.capacity);
        if (bloom)
            say_double(&w, "ERROR", recipe->spec.fpr);
    }
    say_traits(&w, &recipe->traits);
    rm.Replicate(ctx, "BLY.RESERVE", "sv", name, w.at, w.n);
    for (size_t i = 0; i < w.n; i++)
        rm.FreeString(NULL, w.at[i]);
}
