/* engine_api.h - declares the functions ("calls") of the engine, Redis or Valkey, that this module
 * uses.
 *
 * An engine passes a module one function, GetApi, in the first word of the context that OnLoad
 * receives. All others are resolved by name. Valkey registers its calls under Redis's names too, so
 * one binary works on both. The calls of the first list (RM_NEEDED) exist since Redis 7.0 and
 * Valkey 7.2; without them, loading the module fails. The calls of the second list (RM_OPTIONAL)
 * are NULL on engines that do not have them, so callers must check.
 */
#ifndef BLOOMERY_MODULE_ENGINE_API_H
#define BLOOMERY_MODULE_ENGINE_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct rm_ctx rm_ctx;
typedef struct rm_string rm_string;
typedef struct rm_key rm_key;
typedef struct rm_type rm_type;
typedef struct rm_io rm_io;
typedef struct rm_digest rm_digest;
typedef struct rm_info rm_info;
typedef struct rm_defrag rm_defrag;
typedef struct rm_command rm_command;
typedef struct rm_opt rm_opt;
typedef struct rm_reply rm_reply;

enum { RM_OK = 0, RM_ERR = 1 };
enum { RM_READ = 1 << 0, RM_WRITE = 1 << 1, RM_NOTOUCH = 1 << 16 };
enum { RM_KEY_EMPTY = 0, RM_KEY_MODULE = 6 };
enum {
    RM_CTX_MASTER = 1 << 2,
    RM_CTX_REPLICATED = 1 << 12, /* the command comes from a master */
    RM_CTX_LOADING = 1 << 13,    /* the server is loading an RDB file or the AOF */
    RM_CTX_STALE = 1 << 14,      /* the server is a replica without a connection to its master */
    RM_CTX_RESP3 = 1 << 22,
    RM_CTX_ASYNC_LOADING = 1 << 23
};
enum {
    RM_OPTION_HANDLE_IO_ERRORS = 1 << 0,
    RM_OPTION_NO_IMPLICIT_SIGNAL = 1 << 1, /* closing a key that was opened for writing does not
                                              mark it as modified; the module calls
                                              SignalModifiedKey */
};
enum { RM_NOTIFY_GENERIC = 1 << 2 };
enum {
    RM_CONFIG_DEFAULT = 0,
    RM_CONFIG_MEMORY = 1 << 7,
    RM_CONFIG_UNPREFIXED = 1 << 9 /* Redis 8 */
};

/* ---- what COMMAND DOCS and COMMAND INFO show ------------------------------------------------- */

typedef enum rm_arg_type {
    RM_ARG_STRING,
    RM_ARG_INTEGER,
    RM_ARG_DOUBLE,
    RM_ARG_KEY,
    RM_ARG_PATTERN,
    RM_ARG_UNIX_TIME,
    RM_ARG_TOKEN, /* a token that has no value */
    RM_ARG_ONEOF,
    RM_ARG_BLOCK
} rm_arg_type;

enum { RM_ARG_OPTIONAL = 1 << 0, RM_ARG_MULTIPLE = 1 << 1 };

typedef struct rm_arg {
    const char *name;
    rm_arg_type type;
    int key_spec; /* for a key: the index of its key specification; for any other argument: -1 */
    const char *token;
    const char *summary;
    const char *since;
    int flags;
    const char *deprecated_since;
    struct rm_arg *parts; /* for RM_ARG_ONEOF and RM_ARG_BLOCK; an entry without a name ends the
                             list */
} rm_arg;

enum {
    RM_KEYSPEC_RO = 1 << 0,
    RM_KEYSPEC_RW = 1 << 1,
    RM_KEYSPEC_OW = 1 << 2,
    RM_KEYSPEC_ACCESS = 1 << 4,
    RM_KEYSPEC_UPDATE = 1 << 5,
    RM_KEYSPEC_INSERT = 1 << 6,
    RM_KEYSPEC_DELETE = 1 << 7
};
enum { RM_BEGIN_INDEX = 2, RM_BEGIN_KEYWORD = 3, RM_FIND_RANGE = 2 };

typedef struct rm_key_spec {
    const char *notes;
    uint64_t flags;
    int begin; /* RM_BEGIN_INDEX or RM_BEGIN_KEYWORD */
    union {
        struct {
            int pos;
        } index;
        struct {
            const char *word;
            int from;
        } keyword;
    } at;
    int find; /* RM_FIND_RANGE */
    union {
        struct {
            int last, step, limit;
        } range;
        struct {
            int number_at, first, step;
        } counted;
    } keys;
} rm_key_spec;

typedef struct rm_history {
    const char *since, *changes;
} rm_history;

typedef struct rm_command_version {
    int version;
    size_t history_size, key_spec_size, arg_size;
} rm_command_version;

typedef struct rm_command_info {
    const rm_command_version *version;
    const char *summary, *complexity, *since;
    rm_history *history;
    const char *tips;
    int arity;
    rm_key_spec *key_specs; /* an entry of zeroes ends the list */
    rm_arg *args;
} rm_command_info;

/* ---- a data type ----------------------------------------------------------------------------- */

/* The methods of a data type. Version 4 of this struct is that of Redis 7.0. Engines accept
 * versions that are older than their own. */
typedef struct rm_type_methods {
    uint64_t version;
    void *(*rdb_load)(rm_io *io, int encver);
    void (*rdb_save)(rm_io *io, void *value);
    void (*aof_rewrite)(rm_io *io, rm_string *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(rm_digest *digest, void *value);
    void (*free)(void *value);
    int (*aux_load)(rm_io *io, int encver, int when);
    void (*aux_save)(rm_io *io, int when);
    int aux_save_triggers;
    size_t (*free_effort)(rm_string *key, const void *value);
    void (*unlink)(rm_string *key, const void *value);
    void *(*copy)(rm_string *from, rm_string *to, const void *value);
    int (*defrag)(rm_defrag *ctx, rm_string *key, void **value);
    size_t (*mem_usage2)(rm_opt *ctx, const void *value, size_t sample);
    size_t (*free_effort2)(rm_opt *ctx, const void *value);
    void (*unlink2)(rm_opt *ctx, const void *value);
    void *(*copy2)(rm_opt *ctx, const void *value);
} rm_type_methods;
enum { RM_TYPE_METHODS_VERSION = 4 };

typedef struct rm_event {
    uint64_t id, data_version;
} rm_event;
enum {
    RM_EVENT_ROLE = 0,
    RM_EVENT_LOADING = 3,
    RM_EVENT_LINK = 7, /* a replica's connection to its master */
    RM_EVENT_ASYNC_LOAD = 14,
    RM_EVENT_CONFIG = 16, /* CONFIG SET */
};

typedef int (*rm_command_fn)(rm_ctx *ctx, rm_string **argv, int argc);
typedef void (*rm_info_fn)(rm_info *info, int for_crash_report);
typedef void (*rm_timer_fn)(rm_ctx *ctx, void *data);
typedef void (*rm_event_fn)(rm_ctx *ctx, rm_event event, uint64_t sub, void *data);
typedef rm_string *(*rm_config_get_string)(const char *name, void *priv);
typedef int (*rm_config_set_string)(const char *name, rm_string *value, void *priv,
                                    rm_string **err);
typedef long long (*rm_config_get_number)(const char *name, void *priv);
typedef int (*rm_config_set_number)(const char *name, long long value, void *priv, rm_string **err);
typedef int (*rm_config_get_bool)(const char *name, void *priv);
typedef int (*rm_config_set_bool)(const char *name, int value, void *priv, rm_string **err);
typedef int (*rm_config_apply)(rm_ctx *ctx, void *priv, rm_string **err);

/* ---- the calls: X(result, name, parameters) -------------------------------------------------- */

#define RM_NEEDED(X)                                                                               \
    X(void *, TryAlloc, (size_t bytes))                                                            \
    X(void, Free, (void *ptr))                                                                     \
    X(size_t, MallocSize, (void *ptr))                                                             \
    X(void, SetModuleAttribs, (rm_ctx * ctx, const char *name, int version, int api))              \
    X(int, IsModuleNameBusy, (const char *name))                                                   \
    X(void, SetModuleOptions, (rm_ctx * ctx, int options))                                         \
    X(int, GetContextFlags, (rm_ctx * ctx))                                                        \
    X(void, Log, (rm_ctx * ctx, const char *level, const char *fmt, ...))                          \
    X(void, LogIOError, (rm_io * io, const char *level, const char *fmt, ...))                     \
    X(int, CreateCommand,                                                                          \
      (rm_ctx * ctx, const char *name, rm_command_fn fn, const char *flags, int first, int last,   \
       int step))                                                                                  \
    X(rm_command *, GetCommand, (rm_ctx * ctx, const char *name))                                  \
    X(int, SetCommandInfo, (rm_command * command, const rm_command_info *info))                    \
    X(int, WrongArity, (rm_ctx * ctx))                                                             \
    X(int, ReplyWithLongLong, (rm_ctx * ctx, long long value))                                     \
    X(int, ReplyWithError, (rm_ctx * ctx, const char *text))                                       \
    X(int, ReplyWithSimpleString, (rm_ctx * ctx, const char *text))                                \
    X(int, ReplyWithArray, (rm_ctx * ctx, long n))                                                 \
    X(int, ReplyWithMap, (rm_ctx * ctx, long n))                                                   \
    X(int, ReplyWithStringBuffer, (rm_ctx * ctx, const char *data, size_t size))                   \
    X(int, ReplyWithCString, (rm_ctx * ctx, const char *text))                                     \
    X(int, ReplyWithNull, (rm_ctx * ctx))                                                          \
    X(int, ReplyWithBool, (rm_ctx * ctx, int value))                                               \
    X(int, ReplyWithDouble, (rm_ctx * ctx, double value))                                          \
    X(const char *, StringPtrLen, (const rm_string *string, size_t *size))                         \
    X(int, StringToLongLong, (const rm_string *string, long long *out))                            \
    X(int, StringToDouble, (const rm_string *string, double *out))                                 \
    X(rm_string *, CreateString, (rm_ctx * ctx, const char *data, size_t size))                    \
    X(rm_string *, CreateStringPrintf, (rm_ctx * ctx, const char *fmt, ...))                       \
    X(void, FreeString, (rm_ctx * ctx, rm_string * string))                                        \
    X(rm_key *, OpenKey, (rm_ctx * ctx, rm_string * name, int mode))                               \
    X(void, CloseKey, (rm_key * key))                                                              \
    X(int, KeyType, (rm_key * key))                                                                \
    X(int, DeleteKey, (rm_key * key))                                                              \
    X(int, GetSelectedDb, (rm_ctx * ctx))                                                          \
    X(int, SelectDb, (rm_ctx * ctx, int db))                                                       \
    X(rm_type *, CreateDataType,                                                                   \
      (rm_ctx * ctx, const char *name, int encver, rm_type_methods *methods))                      \
    X(int, ModuleTypeSetValue, (rm_key * key, rm_type * type, void *value))                        \
    X(rm_type *, ModuleTypeGetType, (rm_key * key))                                                \
    X(void *, ModuleTypeGetValue, (rm_key * key))                                                  \
    X(int, IsIOError, (rm_io * io))                                                                \
    X(void, SaveUnsigned, (rm_io * io, uint64_t value))                                            \
    X(uint64_t, LoadUnsigned, (rm_io * io))                                                        \
    X(void, SaveDouble, (rm_io * io, double value))                                                \
    X(double, LoadDouble, (rm_io * io))                                                            \
    X(void, SaveStringBuffer, (rm_io * io, const char *data, size_t size))                         \
    X(char *, LoadStringBuffer, (rm_io * io, size_t * size))                                       \
    X(const rm_string *, GetKeyNameFromIO, (rm_io * io))                                           \
    X(int, GetDbIdFromIO, (rm_io * io))                                                            \
    X(void, EmitAOF, (rm_io * io, const char *command, const char *fmt, ...))                      \
    X(void, DigestAddStringBuffer, (rm_digest * digest, const char *data, size_t size))            \
    X(void, DigestAddLongLong, (rm_digest * digest, long long value))                              \
    X(void, DigestEndSequence, (rm_digest * digest))                                               \
    X(int, Replicate, (rm_ctx * ctx, const char *command, const char *fmt, ...))                   \
    X(int, ReplicateVerbatim, (rm_ctx * ctx))                                                      \
    X(rm_reply *, Call, (rm_ctx * ctx, const char *command, const char *fmt, ...))                 \
    X(rm_reply *, CallReplyArrayElement, (rm_reply * reply, size_t i))                             \
    X(const char *, CallReplyStringPtr, (rm_reply * reply, size_t * size))                         \
    X(void, FreeCallReply, (rm_reply * reply))                                                     \
    X(int, SignalModifiedKey, (rm_ctx * ctx, rm_string * name))                                    \
    X(int, NotifyKeyspaceEvent, (rm_ctx * ctx, int type, const char *event, rm_string *name))      \
    X(int, RegisterInfoFunc, (rm_ctx * ctx, rm_info_fn fn))                                        \
    X(int, InfoAddSection, (rm_info * info, const char *name))                                     \
    X(int, InfoAddFieldULongLong, (rm_info * info, const char *name, unsigned long long value))    \
    X(int, InfoAddFieldDouble, (rm_info * info, const char *name, double value))                   \
    X(int, InfoAddFieldCString, (rm_info * info, const char *name, const char *value))             \
    X(int, RegisterBoolConfig,                                                                     \
      (rm_ctx * ctx, const char *name, int def, unsigned flags, rm_config_get_bool get,            \
       rm_config_set_bool set, rm_config_apply apply, void *priv))                                 \
    X(int, RegisterNumericConfig,                                                                  \
      (rm_ctx * ctx, const char *name, long long def, unsigned flags, long long min,               \
       long long max, rm_config_get_number get, rm_config_set_number set, rm_config_apply apply,   \
       void *priv))                                                                                \
    X(int, RegisterStringConfig,                                                                   \
      (rm_ctx * ctx, const char *name, const char *def, unsigned flags, rm_config_get_string get,  \
       rm_config_set_string set, rm_config_apply apply, void *priv))                               \
    X(int, LoadConfigs, (rm_ctx * ctx))                                                            \
    X(uint64_t, CreateTimer, (rm_ctx * ctx, long long ms, rm_timer_fn fn, void *data))             \
    X(long long, Milliseconds, (void))                                                             \
    X(int, AvoidReplicaTraffic, (void))                                                            \
    X(int, SubscribeToServerEvent, (rm_ctx * ctx, rm_event event, rm_event_fn fn))                 \
    X(void, GetRandomBytes, (unsigned char *to, size_t size))                                      \
    X(void *, DefragAlloc, (rm_defrag * ctx, void *ptr))                                           \
    X(int, DefragShouldStop, (rm_defrag * ctx))                                                    \
    X(int, DefragCursorSet, (rm_defrag * ctx, unsigned long cursor))                               \
    X(int, DefragCursorGet, (rm_defrag * ctx, unsigned long *cursor))                              \
    X(long long, GetAbsExpire, (rm_key * key))                                                     \
    X(int, SetAbsExpire, (rm_key * key, long long ms))

#define RM_OPTIONAL(X)                                                                             \
    X(int, AddACLCategory, (rm_ctx * ctx, const char *name))                                       \
    X(int, SetCommandACLCategories, (rm_command * command, const char *categories))                \
    X(float, GetUsedMemoryRatio, (void))       /* 0: no maxmemory */                               \
    X(int, LoadDefaultConfigs, (rm_ctx * ctx)) /* Redis 8 and later */

/* The calls, as one function pointer each: rm.OpenKey(...) calls the engine. main.c sets the
 * pointers when the module is loaded. */
typedef struct rm_api {
#define RM_MEMBER(result, name, parameters) result(*name) parameters;
    RM_NEEDED(RM_MEMBER) RM_OPTIONAL(RM_MEMBER)
#undef RM_MEMBER
} rm_api;
extern rm_api rm;

#endif
