/* scripts.h - the scripts that servers run for us. Internal. */
#ifndef BLYI_REDIS_SCRIPTS_H
#define BLYI_REDIS_SCRIPTS_H

#include "redis/bitmap/bitmap_layout.h"

/* KEYS[1] is the key of a shard; ARGV[1] its identity, empty of go-zero's, unless said otherwise.
 * Those that need the string to be the identity's answer an error that begins with BLYMISSING where
 * the key does not exist, and one with BLYOTHER where it holds anything else; of strings that
 * arrive, BLYGONE and BLYRIVAL. */
typedef enum blyi_script_id {
    BLYI_SCRIPT_ADD8,  /* ARGV[2]: per key its block and the 8 words of its mask; "0" or "1" each */
    BLYI_SCRIPT_ADD16, /* the same with 16 words */
    BLYI_SCRIPT_BLOCKS, /* ARGV[2]: blocks, [3]: bytes in one; the blocks themselves */
    BLYI_SCRIPT_CREATE, /* ARGV: head, bytes of the string, time it expires, bytes of this and of
                           those that come after it; "0" or "1", and a head */
    BLYI_SCRIPT_COMPLETE,
    BLYI_SCRIPT_EXPIRE, /* ARGV[2]: a time in ms; "0": never */
    BLYI_SCRIPT_DROP,   /* [2] (may be missing): only in this state; 1: it was there, and ours */
    BLYI_SCRIPT_ARRIVE, /* ARGV: head, bytes of the string, and as of CREATE */
    BLYI_SCRIPT_PIECE,  /* ARGV[2]: place in the string, [3]: bytes */
    BLYI_SCRIPT_LAND,   /* KEYS[2]: where to, [3] (may be missing): where what is there is parked;
                           ARGV[2]: count and state, [3]: time, [4]: replace, [5]: identity that is
                           replaced, empty if that is no filter */
    BLYI_SCRIPT_RETURN, /* KEYS[1]: where it was parked, [2]: where it belongs; ARGV[1]: identity of
                           what landed there, [2]: it had no expiry. 1: that is gone; 0: it was not
                           there */
    BLYI_SCRIPT_READ,   /* ARGV[2], [3]: first and last place in the string */
    BLYI_SCRIPT_FACTS,  /* "COUNT PTTL STRLEN" */
    BLYI_SCRIPT_GOZERO_ADD,      /* ARGV[1]: 14 offsets per key; "0" or "1" each */
    BLYI_SCRIPT_GOZERO_CONTAINS, /* the same */
    BLYI_SCRIPTS
} blyi_script_id;

extern const blyi_script blyi_scripts[BLYI_SCRIPTS];

#endif
