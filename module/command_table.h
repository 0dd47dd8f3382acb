/* command_table.h - every command with its arity, flags, ACL categories and access to keys. */
#ifndef BLOOMERY_MODULE_COMMAND_TABLE_H
#define BLOOMERY_MODULE_COMMAND_TABLE_H

#include "engine_api.h"

/* The commands. Names are in lower case, like RedisBloom's, because INFO commandstats, COMMAND
 * LIST, ACLs and error messages show them as they are written here. (Clients may use any case.) The
 * parameters of X are: function, name, arity, flags, ACL categories, and the access to the key (a
 * key_access of command_table.c without its prefix). */
#define BM_COMMANDS(X)                                                                             \
    X(bm_bf_reserve, "bf.reserve", -4, "write deny-oom", "bloom write fast", INSERT)               \
    X(bm_bf_add, "bf.add", 3, "write deny-oom", "bloom write", INSERT)                             \
    X(bm_bf_madd, "bf.madd", -3, "write deny-oom", "bloom write", INSERT)                          \
    X(bm_bf_insert, "bf.insert", -4, "write deny-oom", "bloom write", INSERT)                      \
    X(bm_bf_exists, "bf.exists", 3, "readonly fast", "bloom read", READ)                           \
    X(bm_bf_mexists, "bf.mexists", -3, "readonly fast", "bloom read", READ)                        \
    X(bm_bf_info, "bf.info", -2, "readonly fast", "bloom read fast", READ)                         \
    X(bm_bf_cardinality, "bf.card", 2, "readonly fast", "bloom read fast", READ)                   \
    X(bm_bf_debug, "bf.debug", 2, "readonly fast", "bloom read", READ)                             \
    X(bm_bf_scandump, "bf.scandump", 3, "readonly fast", "bloom read", READ)                       \
    X(bm_bf_loadchunk, "bf.loadchunk", 4, "write deny-oom", "bloom write", UPDATE)                 \
    X(bm_cf_reserve, "cf.reserve", -3, "write deny-oom", "cuckoo write fast", INSERT)              \
    X(bm_cf_add, "cf.add", 3, "write deny-oom", "cuckoo write", INSERT)                            \
    X(bm_cf_addnx, "cf.addnx", 3, "write deny-oom", "cuckoo write", INSERT)                        \
    X(bm_cf_insert, "cf.insert", -4, "write deny-oom", "cuckoo write", INSERT)                     \
    X(bm_cf_insertnx, "cf.insertnx", -4, "write deny-oom", "cuckoo write", INSERT)                 \
    X(bm_cf_exists, "cf.exists", 3, "readonly fast", "cuckoo read", READ)                          \
    X(bm_cf_mexists, "cf.mexists", -3, "readonly fast", "cuckoo read", READ)                       \
    X(bm_cf_count, "cf.count", 3, "readonly fast", "cuckoo read", READ)                            \
    X(bm_cf_del, "cf.del", 3, "write fast", "cuckoo write", DELETE)                                \
    X(bm_cf_compact, "cf.compact", 2, "write", "cuckoo write", UPDATE)                             \
    X(bm_cf_info, "cf.info", 2, "readonly fast", "cuckoo read fast", READ)                         \
    X(bm_cf_debug, "cf.debug", 2, "readonly fast", "cuckoo read", READ)                            \
    X(bm_cf_scandump, "cf.scandump", 3, "readonly fast", "cuckoo read", READ)                      \
    X(bm_cf_loadchunk, "cf.loadchunk", 4, "write deny-oom", "cuckoo write", UPDATE)                \
    X(bm_bly_reserve, "bly.reserve", -4, "write deny-oom", "bloomery write slow", RESERVE)         \
    X(bm_bly_add, "bly.add", -3, "write deny-oom", "bloomery write slow", INSERT)                  \
    X(bm_bly_check, "bly.check", -3, "readonly fast allow-loading allow-stale",                    \
      "bloomery read fast", READ)                                                                  \
    X(bm_bly_del, "bly.del", -3, "write", "bloomery write slow", DELETE)                           \
    X(bm_bly_count, "bly.count", -3, "readonly fast", "bloomery read fast", READ)                  \
    X(bm_bly_cardinality, "bly.card", 2, "readonly fast", "bloomery read fast", READ)              \
    X(bm_bly_age, "bly.age", -3, "readonly fast", "bloomery read fast", READ)                      \
    X(bm_bly_info, "bly.info", 2, "readonly fast", "bloomery read fast", READ)                     \
    X(bm_bly_stats, "bly.stats", 2, "readonly", "bloomery read slow", READ)                        \
    X(bm_bly_merge, "bly.merge", -3, "write deny-oom", "bloomery write slow", MERGE)               \
    X(bm_bly_clear, "bly.clear", 2, "write", "bloomery write slow", DELETE)                        \
    X(bm_bly_dump, "bly.dump", -3, "readonly", "bloomery read slow", READ)                         \
    X(bm_bly_load, "bly.load", -5, "write deny-oom", "bloomery write slow", UPDATE)                \
    X(bm_bly_tick, "bly.tick", 3, "write", "bloomery write slow", UPDATE)                          \
    X(bm_bly_noop, "bly.noop", -3, "readonly fast", "bloomery read fast", READ)                    \
    X(bm_bly_keyring, "bly.keyring", 1, "readonly fast allow-loading allow-stale",                 \
      "bloomery read fast", NONE)

#define BM_DECLARE(function, name, arity, flags, acl, access)                                      \
    int function(rm_ctx *ctx, rm_string **argv, int argc);
BM_COMMANDS(BM_DECLARE)
#undef BM_DECLARE

/* Registers all commands, with the texts that COMMAND DOCS and COMMAND INFO show. Returns RM_ERR,
 * after logging the reason, if the engine rejects one. */
int bm_commands_start(rm_ctx *ctx);

#endif
