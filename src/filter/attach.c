/* A sketch beside a filter.
 *
 * The bits of a filter tell how many keys have set them, until nearly all are set, or until old
 * ones are cleared under new keys. A sketch that sees the same hashes goes on telling; the key is
 * hashed once for both. Whether there is a sketch is asked once for a call, at the edge where keys
 * come in (filter.c), and a filter without one takes the ways it always took.
 */
#include "filter/attach.h"

#include "filter/batch.h"
#include <bloomery/sketch.h>

enum { CHUNK = 256 }; /* keys hashed at a time */

static bool is_sketch(const bly_filter *f) {
    return f->geometry.kind == BLY_HLL || f->geometry.kind == BLY_COUNTS;
}

bly_status bly_filter_attach(bly_filter *f, bly_filter *sketch) {
    if (!sketch) {
        f->sketch = NULL;
        return BLY_OK;
    }
    if (sketch == f)
        return BLY_EINVAL;
    if (!is_sketch(sketch))
        return BLY_EKIND;
    if (f->sharing != BLY_EXCLUSIVE || !(f->ops->capabilities & BLY_CAN_ADD))
        return BLY_EUNSUPPORTED;
    /* No chains: what comes by way of an attachment is not passed on. */
    if (is_sketch(f) || sketch->sketch)
        return BLY_EUNSUPPORTED;
    if (f->hasher.id != sketch->hasher.id || f->hasher.seed != sketch->hasher.seed)
        return BLY_EMISMATCH;
    f->sketch = sketch;
    return BLY_OK;
}

void blyi_attached_feed(bly_filter *f, const bly_hash *h, size_t n) {
    bly_tally unused = {0, 0};
    (void)blyi_batch_hashes(f->sketch, f->sketch, h, n, NULL, &unused); /* sketches take any key */
}

bly_status blyi_attached_keys(bly_filter *f, const bly_bytes *keys, size_t n, uint8_t *added,
                              bly_tally *sum) {
    bly_hash h[CHUNK];
    bly_status status = BLY_OK;
    for (size_t done = 0, some; status == BLY_OK && done < n; done += some) {
        bly_tally part = {0, 0};
        some = n - done < CHUNK ? n - done : CHUNK;
        blyi_batch_hash(f, keys + done, some, h);
        status = blyi_batch_hashes(f, f, h, some, added ? added + done : NULL, &part);
        blyi_attached_feed(f, h, part.done);
        sum->done += part.done;
        sum->fresh += part.fresh;
    }
    return status;
}

void blyi_attached_unite(bly_filter *dst, const bly_filter *src) {
    if (!dst->sketch || dst->sketch == src->sketch)
        return;
    if (!src->sketch || bly_filter_union(dst->sketch, src->sketch) != BLY_OK)
        dst->sketch = NULL;
}
