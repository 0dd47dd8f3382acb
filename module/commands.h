/* commands.h - every command, in one list. module.c registers them, docs.c describes them. */
#ifndef BLOOMERY_MODULE_COMMANDS_H
#define BLOOMERY_MODULE_COMMANDS_H

#include "api.h"

/* X(function, name, arity, flags, ACL categories, what is done with the key: docs.h). */
#define BM_COMMANDS(X)                                                                             \
    X(bm_bf_reserve, "BF.RESERVE", -4, "write deny-oom", "bloom write fast", INSERT)               \
    X(bm_bf_add, "BF.ADD", 3, "write deny-oom", "bloom write", INSERT)                             \
    X(bm_bf_madd, "BF.MADD", -3, "write deny-oom", "bloom write", INSERT)                          \
    X(bm_bf_insert, "BF.INSERT", -4, "write deny-oom", "bloom write", INSERT)                      \
    X(bm_bf_exists, "BF.EXISTS", 3, "readonly fast", "bloom read", READ)                           \
    X(bm_bf_mexists, "BF.MEXISTS", -3, "readonly fast", "bloom read", READ)                        \
    X(bm_bf_info, "BF.INFO", -2, "readonly fast", "bloom read fast", READ)                         \
    X(bm_bf_card, "BF.CARD", 2, "readonly fast", "bloom read fast", READ)                          \
    X(bm_bf_debug, "BF.DEBUG", 2, "readonly fast", "bloom read", READ)                             \
    X(bm_bf_scandump, "BF.SCANDUMP", 3, "readonly fast", "bloom read", READ)                       \
    X(bm_bf_loadchunk, "BF.LOADCHUNK", 4, "write deny-oom", "bloom write", UPDATE)                 \
    X(bm_cf_reserve, "CF.RESERVE", -3, "write deny-oom", "cuckoo write fast", INSERT)              \
    X(bm_cf_add, "CF.ADD", 3, "write deny-oom", "cuckoo write", INSERT)                            \
    X(bm_cf_addnx, "CF.ADDNX", 3, "write deny-oom", "cuckoo write", INSERT)                        \
    X(bm_cf_insert, "CF.INSERT", -4, "write deny-oom", "cuckoo write", INSERT)                     \
    X(bm_cf_insertnx, "CF.INSERTNX", -4, "write deny-oom", "cuckoo write", INSERT)                 \
    X(bm_cf_exists, "CF.EXISTS", 3, "readonly fast", "cuckoo read", READ)                          \
    X(bm_cf_mexists, "CF.MEXISTS", -3, "readonly fast", "cuckoo read", READ)                       \
    X(bm_cf_count, "CF.COUNT", 3, "readonly fast", "cuckoo read", READ)                            \
    X(bm_cf_del, "CF.DEL", 3, "write fast", "cuckoo write", DELETE)                                \
    X(bm_cf_compact, "CF.COMPACT", 2, "write", "cuckoo write", UPDATE)                             \
    X(bm_cf_info, "CF.INFO", 2, "readonly fast", "cuckoo read fast", READ)                         \
    X(bm_cf_debug, "CF.DEBUG", 2, "readonly fast", "cuckoo read", READ)                            \
    X(bm_cf_scandump, "CF.SCANDUMP", 3, "readonly fast", "cuckoo read", READ)                      \
    X(bm_cf_loadchunk, "CF.LOADCHUNK", 4, "write deny-oom", "cuckoo write", UPDATE)                \
    X(bm_bly_reserve, "BLY.RESERVE", -4, "write deny-oom", "bloomery write slow", RESERVE)         \
    X(bm_bly_add, "BLY.ADD", -3, "write deny-oom", "bloomery write slow", INSERT)                  \
    X(bm_bly_check, "BLY.CHECK", -3, "readonly fast allow-loading allow-stale",                    \
      "bloomery read fast", READ)                                                                  \
    X(bm_bly_del, "BLY.DEL", -3, "write", "bloomery write slow", DELETE)                           \
    X(bm_bly_count, "BLY.COUNT", -3, "readonly fast", "bloomery read fast", READ)                  \
    X(bm_bly_card, "BLY.CARD", 2, "readonly fast", "bloomery read fast", READ)                     \
    X(bm_bly_age, "BLY.AGE", -3, "readonly fast", "bloomery read fast", READ)                      \
    X(bm_bly_info, "BLY.INFO", 2, "readonly fast", "bloomery read fast", READ)                     \
    X(bm_bly_stats, "BLY.STATS", 2, "readonly", "bloomery read slow", READ)                        \
    X(bm_bly_merge, "BLY.MERGE", -3, "write deny-oom", "bloomery write slow", MERGE)               \
    X(bm_bly_clear, "BLY.CLEAR", 2, "write", "bloomery write slow", DELETE)                        \
    X(bm_bly_dump, "BLY.DUMP", -3, "readonly", "bloomery read slow", READ)                         \
    X(bm_bly_load, "BLY.LOAD", -5, "write deny-oom", "bloomery write slow", UPDATE)                \
    X(bm_bly_tick, "BLY.TICK", 3, "write", "bloomery write slow", UPDATE)                          \
    X(bm_bly_noop, "BLY.NOOP", -3, "readonly fast", "bloomery read fast", READ)                    \
    X(bm_bly_keyring, "BLY.KEYRING", 1, "readonly fast allow-loading allow-stale",                 \
      "bloomery read fast", NONE)

#define BM_DECLARE(function, name, arity, flags, acl, access)                                      \
    int function(rm_ctx *ctx, rm_string **argv, int argc);
BM_COMMANDS(BM_DECLARE)
#undef BM_DECLARE

#endif
