/* fake_commands.c - the fake engine's strings, commands, replies, replication and AOF. */
#include "fake_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- strings --------------------------------------------------------------------------------- */

rm_string *fake_string(const void *data, size_t size) {
    rm_string *s = fake_alloc(NULL, sizeof *s);
    *s = (rm_string){.data = fake_alloc(NULL, size + 1), .size = size, .holders = 1};
    if (size)
        memcpy(s->data, data, size);
    return s;
}

void fake_string_free(rm_string *s) {
    if (--s->holders)
        return;
    free(s->data);
    free(s);
}

rm_string *fake_CreateString(rm_ctx *ctx, const char *data, size_t size) {
    (void)ctx;
    return fake_string(data, size);
}

__attribute__((format(printf, 2, 3))) rm_string *fake_CreateStringPrintf(rm_ctx *ctx,
                                                                         const char *fmt, ...) {
    char text[1024];
    va_list args;
    (void)ctx;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return fake_string(text, strlen(text));
}

void fake_FreeString(rm_ctx *ctx, rm_string *s) {
    (void)ctx;
    fake_string_free(s);
}

rm_string *fake_retain(rm_string *s) {
    s->holders++;
    return s;
}

const char *fake_StringPtrLen(const rm_string *s, size_t *size) {
    if (size)
        *size = s->size;
    return s->data;
}

/* RM_OK if the number that ends at `end` takes up the whole string and is in range; otherwise
 * RM_ERR. */
static int is_whole(const rm_string *s, const char *end) {
    return s->size && s->data[0] > ' ' && end == s->data + s->size && errno == 0 ? RM_OK : RM_ERR;
}

int fake_StringToLongLong(const rm_string *s, long long *out) {
    char *end;
    errno = 0;
    *out = strtoll(s->data, &end, 10);
    return s->data[0] == '+' ? RM_ERR : is_whole(s, end);
}

int fake_StringToDouble(const rm_string *s, double *out) {
    char *end;
    errno = 0;
    *out = strtod(s->data, &end);
    return isnan(*out) ? RM_ERR : is_whole(s, end);
}

/* ---- commands that are emitted --------------------------------------------------------------- */

fake_commands fake_replicated;

static void add_word(fake_command *c, rm_string *word) {
    c->argv = fake_alloc(c->argv, (size_t)(c->argc + 1) * sizeof *c->argv);
    c->argv[c->argc++] = word;
}

static rm_string *number(long long value) {
    char text[32];
    int size = snprintf(text, sizeof text, "%lld", value);
    return fake_string(text, (size_t)size);
}

fake_command fake_command_of(const char *name, const char *fmt, va_list args) {
    fake_command c = {0};
    add_word(&c, fake_string(name, strlen(name)));
    for (; *fmt; fmt++) {
        if (*fmt == 's') {
            add_word(&c, fake_retain(va_arg(args, rm_string *)));
        } else if (*fmt == 'c') {
            const char *word = va_arg(args, const char *);
            add_word(&c, fake_string(word, strlen(word)));
        } else if (*fmt == 'b') {
            const char *data = va_arg(args, const char *);
            add_word(&c, fake_string(data, va_arg(args, size_t)));
        } else if (*fmt == 'l') {
            add_word(&c, number(va_arg(args, long long)));
        } else if (*fmt == 'v') {
            rm_string **words = va_arg(args, rm_string **);
            for (size_t n = va_arg(args, size_t); n; n--)
                add_word(&c, fake_retain(*words++));
        }
    }
    return c;
}

void fake_commands_add(fake_commands *commands, fake_command command) {
    if (commands->n == commands->capacity) {
        commands->capacity = 2 * commands->capacity + 16;
        commands->all = fake_alloc(commands->all, commands->capacity * sizeof command);
    }
    commands->all[commands->n++] = command;
}

void fake_commands_clear(fake_commands *commands) {
    for (size_t i = 0; i < commands->n; i++) {
        for (int j = 0; j < commands->all[i].argc; j++)
            fake_string_free(commands->all[i].argv[j]);
        free(commands->all[i].argv);
    }
    free(commands->all);
    *commands = (fake_commands){0};
}

void fake_EmitAOF(rm_io *io, const char *command, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    fake_commands_add(io->commands, fake_command_of(command, fmt, args));
    va_end(args);
}

int fake_Replicate(rm_ctx *ctx, const char *command, const char *fmt, ...) {
    va_list args;
    (void)ctx;
    va_start(args, fmt);
    fake_commands_add(&fake_replicated, fake_command_of(command, fmt, args));
    va_end(args);
    return RM_OK;
}

/* ---- commands that are run ------------------------------------------------------------------- */

struct rm_command {
    const char *name;
    rm_command_fn run;
};
static rm_command commands[128];
static size_t n_commands;
static fake_command running;

int fake_CreateCommand(rm_ctx *ctx, const char *name, rm_command_fn fn, const char *flags,
                       int first, int last, int step) {
    (void)ctx, (void)flags, (void)first, (void)last, (void)step;
    if (n_commands == sizeof commands / sizeof *commands)
        return RM_ERR;
    commands[n_commands++] = (rm_command){name, fn};
    return RM_OK;
}

rm_command *fake_GetCommand(rm_ctx *ctx, const char *name) {
    (void)ctx;
    for (size_t i = 0; i < n_commands; i++)
        if (strcasecmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

int fake_SetCommandInfo(rm_command *command, const rm_command_info *info) {
    (void)command, (void)info;
    return RM_OK;
}

int fake_ReplicateVerbatim(rm_ctx *ctx) {
    (void)ctx;
    fake_command copy = {0};
    for (int i = 0; i < running.argc; i++)
        add_word(&copy, fake_retain(running.argv[i]));
    fake_commands_add(&fake_replicated, copy);
    return RM_OK;
}

const char *fake_run_strings(rm_string *const *argv, int argc) {
    rm_command *command = fake_GetCommand(NULL, argv[0]->data);
    fake_reply_clear();
    if (!command)
        return "-ERR unknown command";
    running = (fake_command){(rm_string **)(uintptr_t)argv, argc};
    command->run(fake_context(), running.argv, argc);
    return fake_reply();
}

const char *fake_run(const char *name, ...) {
    fake_command c = {0};
    va_list args;
    va_start(args, name);
    for (const char *word = name; word; word = va_arg(args, const char *))
        add_word(&c, fake_string(word, strlen(word)));
    va_end(args);
    const char *reply = fake_run_strings(c.argv, c.argc);
    for (int i = 0; i < c.argc; i++)
        fake_string_free(c.argv[i]);
    free(c.argv);
    return reply;
}

/* ---- replies --------------------------------------------------------------------------------- */

static char *reply;
static size_t reply_size, reply_capacity;

void fake_reply_clear(void) {
    reply_size = 0;
}

const char *fake_reply(void) {
    return reply_size ? reply : "";
}

static int append_reply(const char *mark, const char *data, size_t size) {
    size_t need = reply_size + strlen(mark) + size + 2;
    if (need > reply_capacity) {
        reply_capacity = 2 * need;
        reply = fake_alloc(reply, reply_capacity);
    }
    if (reply_size)
        reply[reply_size++] = ' ';
    memcpy(reply + reply_size, mark, strlen(mark));
    reply_size += strlen(mark);
    if (size)
        memcpy(reply + reply_size, data, size);
    reply_size += size;
    reply[reply_size] = 0;
    return RM_OK;
}

static int append_number(const char *mark, long long value) {
    char text[32];
    int size = snprintf(text, sizeof text, "%lld", value);
    return append_reply(mark, text, (size_t)size);
}

int fake_ReplyWithLongLong(rm_ctx *ctx, long long value) {
    (void)ctx;
    return append_number("", value);
}

int fake_ReplyWithError(rm_ctx *ctx, const char *text) {
    (void)ctx;
    return append_reply("-", text, strlen(text));
}

int fake_ReplyWithSimpleString(rm_ctx *ctx, const char *text) {
    (void)ctx;
    return append_reply("", text, strlen(text));
}

int fake_ReplyWithCString(rm_ctx *ctx, const char *text) {
    (void)ctx;
    return append_reply("", text, strlen(text));
}

int fake_ReplyWithStringBuffer(rm_ctx *ctx, const char *data, size_t size) {
    (void)ctx;
    return append_reply("", data, size);
}

int fake_ReplyWithArray(rm_ctx *ctx, long n) {
    (void)ctx;
    return append_number("*", n);
}

int fake_ReplyWithMap(rm_ctx *ctx, long n) {
    (void)ctx;
    return append_number("%", n);
}

int fake_ReplyWithNull(rm_ctx *ctx) {
    (void)ctx;
    return append_reply("nil", NULL, 0);
}

int fake_ReplyWithBool(rm_ctx *ctx, int value) {
    (void)ctx;
    return append_reply(value ? "true" : "false", NULL, 0);
}

int fake_ReplyWithDouble(rm_ctx *ctx, double value) {
    char text[40];
    (void)ctx;
    int size = snprintf(text, sizeof text, "%.17g", value);
    return append_reply("", text, (size_t)size);
}

int fake_WrongArity(rm_ctx *ctx) {
    return fake_ReplyWithError(ctx, "ERR wrong number of arguments");
}
