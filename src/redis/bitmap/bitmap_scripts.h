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
 * with BLYMISSING if the key does not exist, and with BLYOTHER if it is anything else; for staged
 * strings with BLYGONE and BLYRIVAL. */
typedef enum blyi_script_id {
    /* ARGV[2]: for each key its block and the 8 words of its mask. Reply: "0" or "1" for each. */
    BLYI_SCRIPT_ADD8,
    BLYI_SCRIPT_ADD16, /* the same with 16 words */
    /* ARGV[2]: block numbers, [3]: bytes in a block. Reply: the blocks. */
    BLYI_SCRIPT_BLOCKS,
    /* ARGV: head, bytes of the string, expiry time, bytes to check for if there is no cluster (for
     * the first shard: those of all shards). Reply: "0" (the key existed) or "1", and the head. */
    BLYI_SCRIPT_CREATE,
    BLYI_SCRIPT_COMPLETE,
    BLYI_SCRIPT_EXPIRE, /* ARGV[2]: a time in ms; "0": never */
    /* ARGV[2] (optional): delete it only in this state. Reply: 1 if it was there and had the
     * identity. */
    BLYI_SCRIPT_DROP,
    BLYI_SCRIPT_STAGE, /* ARGV: head, bytes of the string, and the last one of CREATE */
    BLYI_SCRIPT_WRITE, /* ARGV[2]: position in the string, [3]: bytes */
    /* KEYS[2]: the shard's own key, [3] (optional): the parking key. ARGV[2]: count and state, [3]:
     * expiry time, [4]: replace, [5]: identity of the replaced filter, or an empty string. */
    BLYI_SCRIPT_COMMIT,
    /* KEYS[1]: the parking key, [2]: the shard's own key. ARGV[1]: identity of the committed shard,
     * [2]: "1" if the parked string had no expiry. Reply: 1: the committed shard is gone; 0: it was
     * not there. */
    BLYI_SCRIPT_ROLLBACK,
    BLYI_SCRIPT_READ,            /* ARGV[2], [3]: first and last position in the string */
    BLYI_SCRIPT_FACTS,           /* "COUNT PTTL STRLEN" */
    BLYI_SCRIPT_GOZERO_ADD,      /* ARGV[1]: 14 offsets for each key. Reply: "0" or "1" for each. */
    BLYI_SCRIPT_GOZERO_CONTAINS, /* the same */
    BLYI_SCRIPTS
} blyi_script_id;

extern const blyi_script blyi_scripts[BLYI_SCRIPTS];

#endif
