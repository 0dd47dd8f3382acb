/* filter_move.h - the blocks of a whole filter, piece by piece between memory and servers.
 * Internal. */
#ifndef BLYI_REDIS_FILTER_MOVE_H
#define BLYI_REDIS_FILTER_MOVE_H

#include "redis/filter/redis_filter.h"

enum {
    BLYI_PIECE_BYTES = 1 << 20,
    BLYI_ROUND_PIECES = 8 /* under way at once */
};

typedef struct blyi_piece {
    uint32_t shard;
    uint64_t at; /* in the blocks of the shard */
    size_t bytes;
    uint8_t *here; /* in the body; sending only reads it */
} blyi_piece;

/* How far a move has come. Start with body, progress and ctx. */
typedef struct blyi_move {
    uint8_t *body;
    bly_redis_progress progress; /* NULL: nobody asks */
    void *ctx;
    bool stopped; /* by whom it was told to */
    blyi_piece round[BLYI_ROUND_PIECES];
    size_t count;
    uint32_t shard; /* where the next round begins */
    uint64_t at;
} blyi_move;

/* Moves all of f's blocks: `errand` has the move as its ctx, and its number i is round[i]. BLY_EIO
 * and errno EINTR: the caller wanted to stop. */
bly_status blyi_move_all(bly_redis_filter *f, blyi_move *move, const blyi_errand *errand);

#endif
