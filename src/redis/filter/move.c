/* The blocks of a whole filter, piece by piece.
 *
 * A piece is small enough that a server is never busy with one for long, and a round of them large
 * enough that waiting for its end costs little beside moving it. The blocks of the shards, one
 * after the other, are the body of a filter in memory; so a piece is a range of one shard and a
 * range of the body, and nothing is changed on the way.
 */
#include "redis/filter/move.h"

#include <errno.h>

/* The next pieces, as many as a round may have; false: there are none left. */
static bool begin_round(const bly_redis_filter *f, blyi_move *m) {
    const bly_bitmap *b = &f->bitmap;
    const uint64_t block = blyi_bitmap_block_bytes(b), stride = blyi_bitmap_stride(b) * block;
    m->count = 0;
    while (m->count < BLYI_ROUND_PIECES && m->shard < b->shards) {
        const uint64_t left = bly_bitmap_shard_blocks(b, m->shard) * block - m->at;
        if (left == 0) {
            m->shard++;
            m->at = 0;
            continue;
        }
        const size_t bytes = left < BLYI_PIECE_BYTES ? (size_t)left : BLYI_PIECE_BYTES;
        m->round[m->count++] = (blyi_piece){
            .shard = m->shard,
            .at = m->at,
            .bytes = bytes,
            .here = m->body + m->shard * stride + m->at,
        };
        m->at += bytes;
    }
    return m->count > 0;
}

bly_status blyi_move_all(bly_redis_filter *f, blyi_move *m, const blyi_errand *errand) {
    const uint64_t total = f->bitmap.geometry.size * blyi_bitmap_block_bytes(&f->bitmap);
    uint64_t done = 0;
    while (begin_round(f, m)) {
        const bly_status status = blyi_remote_run(f, errand, m, 0, m->count);
        if (status)
            return status;
        for (size_t i = 0; i < m->count; i++)
            done += m->round[i].bytes;
        m->stopped = m->progress && !m->progress(m->ctx, done, total);
        if (m->stopped) {
            errno = EINTR;
            return blyi_remote_fail(f, BLY_EIO, "stopped");
        }
    }
    return BLY_OK;
}
