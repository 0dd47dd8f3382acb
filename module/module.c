/* module.c - what happens when an engine loads bloomery.so.
 *
 * What can be refused comes first. The thread that frees memory and the events that the clock
 * listens to come last: an engine that gives up on a module takes neither of them back.
 */
#include "clock.h"
#include "commands.h"
#include "config.h"
#include "docs.h"
#include "info.h"
#include "memory.h"
#include "quota.h"
#include "readiness.h"
#include "value.h"

#include <bloomery/base.h>

#define MODULE_NAME "bf"
enum {
    MODULE_VERSION =
        BLOOMERY_VERSION_MAJOR * 10000 + BLOOMERY_VERSION_MINOR * 100 + BLOOMERY_VERSION_PATCH,
    API_VERSION = 1
};

typedef struct command {
    rm_command_fn run;
    const char *name;
    int arity;
    const char *flags, *categories;
    bm_access access;
} command;

static const command commands[] = {
#define COMMAND(function, name, arity, flags, categories, access)                                  \
    {function, name, arity, flags, categories, BM_ACCESS_##access},
    BM_COMMANDS(COMMAND)
#undef COMMAND
};

/* Engines before Redis 7.4 and Valkey 8 have only the categories that follow from flags. Categories
 * are an administrator's help: that one is taken already, or one too many, stops nothing. */
static void add_categories(rm_ctx *ctx) {
    static const char *const names[] = {"bloom", "cuckoo", "bloomery"};
    if (!rm.AddACLCategory)
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        rm.AddACLCategory(ctx, names[i]);
}

static int add_command(rm_ctx *ctx, const command *c) {
    int first = c->access != BM_ACCESS_NONE, last = c->access == BM_ACCESS_MERGE ? -1 : first;
    if (rm.CreateCommand(ctx, c->name, c->run, c->flags, first, last, first) != RM_OK) {
        rm.Log(ctx, "warning", "the command %s is there already, from another module?", c->name);
        return RM_ERR;
    }
    rm_command *made = rm.GetCommand(ctx, c->name);
    if (!made || bm_docs_set(made, c->name, c->arity, c->access) != RM_OK) {
        rm.Log(ctx, "warning", "the engine does not take the description of %s", c->name);
        return RM_ERR;
    }
    if (rm.SetCommandACLCategories && rm.SetCommandACLCategories(made, c->categories) != RM_OK)
        rm.Log(ctx, "notice", "%s is in no category of its own: %s", c->name, c->categories);
    return RM_OK;
}

static int add_commands(rm_ctx *ctx) {
    add_categories(ctx);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (add_command(ctx, &commands[i]) != RM_OK)
            return RM_ERR;
    return RM_OK;
}

static int start(rm_ctx *ctx, rm_string **argv, int argc) {
    if (bm_config_start(ctx, argv, argc) != RM_OK || add_commands(ctx) != RM_OK)
        return RM_ERR;
    if (bm_types_start(ctx) != RM_OK) {
        rm.Log(ctx, "warning",
               "the engine does not take the data types, or another module has "
               "types of these names");
        return RM_ERR;
    }
    if (bm_info_start(ctx) != RM_OK || bm_memory_start() != RM_OK) {
        rm.Log(ctx, "warning", "there is no thread to be had for freeing memory");
        return RM_ERR;
    }
    if (bm_quota_start(ctx) != RM_OK || bm_readiness_start(ctx) != RM_OK)
        return RM_ERR;
    return bm_clock_start(ctx);
}

static int refuse_engine(rm_ctx *ctx, const char *missing) {
    if (rm.Log)
        rm.Log(ctx, "warning",
               "bloomery.so needs Redis 7.0, Valkey 7.2 or later: this engine has no %s", missing);
    return RM_ERR;
}

__attribute__((visibility("default"))) int RedisModule_OnLoad(rm_ctx *ctx, rm_string **argv,
                                                              int argc);
int RedisModule_OnLoad(rm_ctx *ctx, rm_string **argv, int argc) {
    const char *missing = rm_resolve(ctx);
    if (missing)
        return refuse_engine(ctx, missing);
    if (rm.IsModuleNameBusy(MODULE_NAME)) {
        rm.Log(ctx, "warning",
               "a module named " MODULE_NAME " is loaded already (RedisBloom, valkey-bloom or "
               "Bloomery itself): remove it first");
        return RM_ERR;
    }
    rm.SetModuleAttribs(ctx, MODULE_NAME, MODULE_VERSION, API_VERSION);
    rm.SetModuleOptions(ctx, RM_OPTION_HANDLE_IO_ERRORS | RM_OPTION_NO_IMPLICIT_SIGNAL);
    return start(ctx, argv, argc);
}
