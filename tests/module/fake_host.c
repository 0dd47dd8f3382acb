/* fake_host.c - loads the module into the fake engine. Also the engine's log, clock, timers,
 * settings and data types. */
#include "fake_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int RedisModule_OnLoad(rm_ctx *ctx, rm_string **argv, int argc);

/* A module finds GetApi through the first word of its context. */
struct rm_ctx {
    int (*get_api)(const char *name, void *out);
};

int fake_flags = RM_CTX_MASTER;
long long fake_now = 1700000000000;
bool fake_verbose;
rm_string *fake_loading;
char fake_last_log[512];

void *fake_alloc(void *old, size_t size) {
    void *block = old ? realloc(old, size) : calloc(1, size ? size : 1);
    if (block)
        return block;
    fputs("fake host: no memory\n", stderr);
    abort();
}

/* ---- the calls by name ----------------------------------------------------------------------- */

static void not_faked(void) {
    fputs("fake host: a call that it does not have\n", stderr);
    abort();
}

static int get_api(const char *name, void *out) {
    void (*found)(void) = NULL;
#define FAKE_FIND(result, call, parameters)                                                        \
    if (strcmp(name, "RedisModule_" #call) == 0) {                                                 \
        result(*const fake) parameters = fake_##call;                                              \
        found = fake ? (void (*)(void))fake : not_faked;                                           \
    }
    RM_NEEDED(FAKE_FIND)
#undef FAKE_FIND
    if (!found)
        return RM_ERR;
    memcpy(out, &found, sizeof found);
    return RM_OK;
}

static rm_ctx context = {get_api};

rm_ctx *fake_context(void) {
    return &context;
}

int fake_host_start(const char *const *arguments) {
    rm_string *argv[16] = {0};
    int argc = 0;
    for (; arguments && arguments[argc]; argc++)
        argv[argc] = fake_string(arguments[argc], strlen(arguments[argc]));
    int result = RedisModule_OnLoad(&context, argv, argc);
    for (int i = 0; i < argc; i++)
        fake_string_free(argv[i]);
    return result;
}

/* ---- trivial calls --------------------------------------------------------------------------- */

void fake_SetModuleAttribs(rm_ctx *ctx, const char *name, int version, int api) {
    (void)ctx, (void)name, (void)version, (void)api;
}

int fake_IsModuleNameBusy(const char *name) {
    (void)name;
    return 0;
}

void fake_SetModuleOptions(rm_ctx *ctx, int options) {
    (void)ctx, (void)options;
}

int fake_GetContextFlags(rm_ctx *ctx) {
    (void)ctx;
    return fake_flags;
}

long long fake_Milliseconds(void) {
    return fake_now;
}

int fake_AvoidReplicaTraffic(void) {
    return 0;
}

void fake_GetRandomBytes(unsigned char *to, size_t size) {
    static unsigned char next;
    while (size--)
        *to++ = next += 77;
}

int fake_SubscribeToServerEvent(rm_ctx *ctx, rm_event event, rm_event_fn fn) {
    (void)ctx, (void)event, (void)fn;
    return RM_OK;
}

int fake_RegisterInfoFunc(rm_ctx *ctx, rm_info_fn fn) {
    (void)ctx, (void)fn;
    return RM_OK;
}

rm_reply *fake_Call(rm_ctx *ctx, const char *command, const char *fmt, ...) {
    (void)ctx, (void)command, (void)fmt;
    return NULL;
}

/* ---- the log --------------------------------------------------------------------------------- */

static void write_log(const char *fmt, va_list args) {
    vsnprintf(fake_last_log, sizeof fake_last_log, fmt, args);
    if (fake_verbose)
        fprintf(stderr, "log: %s\n", fake_last_log);
}

__attribute__((format(printf, 3, 4))) void fake_Log(rm_ctx *ctx, const char *level, const char *fmt,
                                                    ...) {
    va_list args;
    (void)ctx, (void)level;
    va_start(args, fmt);
    write_log(fmt, args);
    va_end(args);
}

__attribute__((format(printf, 3, 4))) void fake_LogIOError(rm_io *io, const char *level,
                                                           const char *fmt, ...) {
    va_list args;
    (void)io, (void)level;
    va_start(args, fmt);
    write_log(fmt, args);
    va_end(args);
}

/* ---- timers ---------------------------------------------------------------------------------- */

static struct {
    rm_timer_fn fn;
    void *data;
    uint64_t id;
} timers[16];
static uint64_t last_timer;

uint64_t fake_CreateTimer(rm_ctx *ctx, long long ms, rm_timer_fn fn, void *data) {
    (void)ctx, (void)ms;
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++)
        if (!timers[i].fn) {
            timers[i].fn = fn;
            timers[i].data = data;
            return timers[i].id = ++last_timer;
        }
    abort();
}

void fake_timers_fire(void) {
    uint64_t last = last_timer;
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++)
        if (timers[i].fn && timers[i].id <= last) {
            rm_timer_fn fn = timers[i].fn;
            timers[i].fn = NULL;
            fn(&context, timers[i].data);
        }
}

/* ---- settings -------------------------------------------------------------------------------- */

typedef struct setting {
    const char *name; /* a copy */
    rm_config_set_bool set_bool;
    rm_config_set_number set_number;
    rm_config_set_string set_string;
    rm_config_apply apply;
    void *priv;
} setting;
static setting settings[64];
static size_t n_settings;

static int set(const setting *s, const char *value) {
    rm_string *err = NULL;
    int result;
    if (s->set_bool) {
        result = s->set_bool(s->name, strcasecmp(value, "yes") == 0, s->priv, &err);
    } else if (s->set_number) {
        result = s->set_number(s->name, atoll(value), s->priv, &err);
    } else {
        rm_string *text = fake_string(value, strlen(value));
        result = s->set_string(s->name, text, s->priv, &err);
        fake_string_free(text);
    }
    if (result == RM_OK && s->apply)
        result = s->apply(&context, s->priv, &err);
    if (err)
        fake_string_free(err);
    return result;
}

static int keep(setting s, const char *name, const char *value) {
    char *copy = fake_alloc(NULL, strlen(name) + 1);
    strcpy(copy, name);
    s.name = copy;
    settings[n_settings++] = s;
    s.apply = NULL; /* set later, when all settings have their defaults */
    return set(&s, value);
}

int fake_config_set(const char *name, const char *value) {
    for (size_t i = 0; i < n_settings; i++)
        if (strcasecmp(settings[i].name, name) == 0)
            return set(&settings[i], value);
    return RM_ERR;
}

int fake_RegisterBoolConfig(rm_ctx *ctx, const char *name, int def, unsigned flags,
                            rm_config_get_bool get, rm_config_set_bool set_bool,
                            rm_config_apply apply, void *priv) {
    (void)ctx, (void)flags, (void)get;
    return keep((setting){.set_bool = set_bool, .apply = apply, .priv = priv}, name,
                def ? "yes" : "no");
}

int fake_RegisterNumericConfig(rm_ctx *ctx, const char *name, long long def, unsigned flags,
                               long long min, long long max, rm_config_get_number get,
                               rm_config_set_number set_number, rm_config_apply apply, void *priv) {
    char text[32];
    (void)ctx, (void)flags, (void)get, (void)min, (void)max;
    snprintf(text, sizeof text, "%lld", def);
    return keep((setting){.set_number = set_number, .apply = apply, .priv = priv}, name, text);
}

int fake_RegisterStringConfig(rm_ctx *ctx, const char *name, const char *def, unsigned flags,
                              rm_config_get_string get, rm_config_set_string set_string,
                              rm_config_apply apply, void *priv) {
    (void)ctx, (void)flags, (void)get;
    return keep((setting){.set_string = set_string, .apply = apply, .priv = priv}, name, def);
}

int fake_LoadConfigs(rm_ctx *ctx) {
    (void)ctx;
    return RM_OK;
}

/* ---- types ----------------------------------------------------------------------------------- */

static rm_type types[8];
static size_t n_types;

rm_type *fake_CreateDataType(rm_ctx *ctx, const char *name, int encver, rm_type_methods *methods) {
    (void)ctx;
    if (strlen(name) != 9 || n_types == sizeof types / sizeof *types || fake_type(name))
        return NULL;
    rm_type *type = &types[n_types++];
    strcpy(type->name, name);
    type->encver = encver;
    type->methods = *methods;
    return type;
}

rm_type *fake_type(const char *name) {
    for (size_t i = 0; i < n_types; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

const rm_string *fake_GetKeyNameFromIO(rm_io *io) {
    (void)io;
    return fake_loading;
}

int fake_GetDbIdFromIO(rm_io *io) {
    (void)io;
    return 0;
}
