/* bitmap_scripts.h - the Lua scripts that servers run. Internal. */
#ifndef BLYI_REDIS_BITMAP_SCRIPTS_H
#define BLYI_REDIS_BITMAP_SCRIPTS_H

/* A script, and its SHA-1 in hexadecimal digits. */
typedef struct blyi_script {
    const char *text;
    char digest[41];
} blyi_script;

/* Unless stated otherwise, KEYS[1] is the key of a shard, and ARGV[1] its identity, which is empty
 * for go-zero. Scripts that need the string to have that identity reply with an error that begins
 * with BLYMISSING if the key does not exist, or with BLYOTHER if its value has another identity.
 * For staged strings the words are BLYGONE and BLYRIVAL. */
typedef enum blyi_script_id {
    /* ARGV[2]: for each key its block number and the 8 words of its mask. Reply: for each key "1"
     * if it was new, else "0". */
    BLYI_SCRIPT_ADD8,
    BLYI_SCRIPT_ADD16, /* as ADD8, with 16 words per mask */
    /* ARGV[2]: block numbers; [3]: bytes per block. Reply: the blocks. */
    BLYI_SCRIPT_BLOCKS,
    /* ARGV[1]: head; [2]: bytes of the string; [3]: expiry time; [4]: bytes for which there must be
     * memory if there is no cluster (for the first shard: those of all shards). Reply: "0" if the
     * key existed, else "1"; then the head. */
    BLYI_SCRIPT_CREATE,
    BLYI_SCRIPT_COMPLETE,
    BLYI_SCRIPT_EXPIRE, /* ARGV[2]: when it expires, in ms since 1970; "0": never */
    /* ARGV[2] (optional): delete the string only if it is in this state. Reply: 1 if it was
     * deleted, else 0. */
    BLYI_SCRIPT_DROP,
    BLYI_SCRIPT_STAGE, /* ARGV[1], [2], [3]: as [1], [2], [4] of CREATE */
    BLYI_SCRIPT_WRITE, /* ARGV[2]: position in the string; [3]: bytes to write */
    /* KEYS[1]: the staging key; [2]: the shard's final key; [3] (optional): the parking key.
     * ARGV[2]: count and state; [3]: expiry time; [4]: "1" if an existing value is replaced; [5]:
     * identity of the replaced shard, or an empty string. */
    BLYI_SCRIPT_COMMIT,
    /* KEYS[1]: the parking key; [2]: the shard's final key. ARGV[1]: identity of the committed
     * shard; [2]: "1" if the parked string had no expiry. Reply: 1 if the committed shard was
     * removed, 0 if it was not there. */
    BLYI_SCRIPT_ROLLBACK,
    BLYI_SCRIPT_READ,       /* ARGV[2], [3]: positions of the first and last byte */
    BLYI_SCRIPT_FACTS,      /* reply: "COUNT PTTL STRLEN" */
    BLYI_SCRIPT_GOZERO_ADD, /* ARGV[1]: 14 offsets per key; [2]: maximum bytes. Reply: as ADD8 */
    BLYI_SCRIPT_GOZERO_CONTAINS, /* as GOZERO_ADD */
    BLYI_SCRIPTS
} blyi_script_id;

extern const blyi_script blyi_scripts[BLYI_SCRIPTS];

#endif
