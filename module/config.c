/* config.c - the table of settings, and the three ways to set them.
 *
 * The engine registers every setting as bf.<name>. Redis 8 also accepts the names of RedisBloom's
 * eight settings without the prefix. Arguments of loadmodule replace the defaults. So the
 * configuration file and CONFIG SET override them; CONFIG REWRITE writes only settings that differ
 * from the arguments; and a server that starts from a rewritten file has the same settings as the
 * server that wrote it.
 */
#include "config.h"

#include "commands/command_args.h"
#include "runtime/keyring.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bm_config bm_configs;

typedef enum setting_kind { RATE, RATIO, NUMBER, BYTES, SWITCH, PATH } setting_kind;

/* A setting. Engines have no settings with fractions, so rates and ratios are registered as
 * text. */
typedef struct setting {
    const char *name;
    setting_kind kind;
    const char *standard; /* the default, as text */
    void *value;          /* where the value is stored: a double, long long, unsigned long long or
                             bool, depending on `kind` */
    long long min, max;
    const char *old_name; /* older name of the loadmodule argument in RedisBloom; or NULL */
    bool shared;          /* true: RedisBloom has a setting with this name */
    const char *initial;  /* the argument of loadmodule; without one, `standard` */
    double requested;     /* the value of a rate or ratio as requested, before `compat` limits it */
    rm_string *text;      /* the text of a rate, ratio or path as it was set */
} setting;

enum { MIN_EXPANSION = 0, MAX_EXPANSION = 32768, TEXT_SIZE = 64, WHY_SIZE = 256 };
static const long long max_items = 1LL << 40;
static const double max_ratio = 1e6;
/* RedisBloom silently replaces rates above this one by this one. So does this module if `compat` is
 * on. */
static const double compat_rate = 0.25;
static rm_string *compat_rate_text;

/* The settings, in the order in which they are set: compat and cf-bucket-size come before the
 * settings that depend on them. */
static setting settings[] = {
    {"compat", SWITCH, "no", &bm_configs.compat},
    {"compat-layout", SWITCH, "no", &bm_configs.compat_layout},
    {"bf-error-rate", RATE, "0.01", &bm_configs.bf_error_rate, .old_name = "ERROR_RATE",
     .shared = true},
    {"bf-initial-size", NUMBER, "100", &bm_configs.bf_initial_size, 1, 1LL << 40,
     .old_name = "INITIAL_SIZE", .shared = true},
    {"bf-expansion-factor", NUMBER, "2", &bm_configs.bf_expansion, MIN_EXPANSION, MAX_EXPANSION,
     .shared = true},
    {"cf-error-rate", RATE, "0.01", &bm_configs.cf_error_rate},
    {"cf-bucket-size", NUMBER, "2", &bm_configs.cf_bucket_size, 1, 255, .shared = true},
    {"cf-initial-size", NUMBER, "1024", &bm_configs.cf_initial_size, 2, 1LL << 40, .shared = true},
    {"cf-max-iterations", NUMBER, "20", &bm_configs.cf_max_iterations, 1, 65535, .shared = true},
    {"cf-expansion-factor", NUMBER, "1", &bm_configs.cf_expansion, MIN_EXPANSION, MAX_EXPANSION,
     .shared = true},
    {"cf-max-expansions", NUMBER, "32", &bm_configs.cf_max_expansions, 1, 65536,
     .old_name = "CF_MAX_EXPANSIONS", .shared = true},
    {"max-filter-memory", BYTES, "0", &bm_configs.max_filter, 0, LLONG_MAX},
    {"max-total-memory", BYTES, "0", &bm_configs.max_total, 0, LLONG_MAX},
    {"warn-ratio", RATIO, "1.5", &bm_configs.warn_ratio},
    {"key-file", PATH, ""},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* ---- values ---------------------------------------------------------------------------------- */

static int refuse(rm_string **err, const char *why) {
    if (err)
        *err = rm.CreateStringPrintf(NULL, "%s", why);
    return RM_ERR;
}

static int check_number(const setting *s, long long value, char why[WHY_SIZE]) {
    if (value >= s->min && value <= s->max)
        return RM_OK;
    snprintf(why, WHY_SIZE, "Value for `%s` must be in the range [%lld, %lld]", s->name, s->min,
             s->max);
    return RM_ERR;
}

static int check_double(const setting *s, const rm_string *text, double *out, char why[WHY_SIZE]) {
    double value, max = s->kind == RATE ? 1.0 : max_ratio;
    if (!bm_double(text, &value)) {
        snprintf(why, WHY_SIZE, "Invalid value for `%s`", s->name);
        return RM_ERR;
    }
    if (!(value > 0 && value < max)) {
        snprintf(why, WHY_SIZE, "Value for `%s` must be in the range (%f, %f)", s->name, 0.0, max);
        return RM_ERR;
    }
    *out = value;
    return RM_OK;
}

static void keep_text(setting *s, const char *text, size_t size) {
    rm_string *old = s->text;
    s->text = rm.CreateString(NULL, text, size);
    if (old)
        rm.FreeString(NULL, old);
}

static bool is_capped(const setting *s) {
    return bm_configs.compat && s->kind == RATE && s->shared && s->requested > compat_rate;
}

/* Sets the rates and ratios that commands use. The requested rates are kept, because a CONFIG SET
 * that fails halfway, or that sets compat to no, restores them. */
static void apply_rates(void) {
    for (setting *s = settings; s < settings + SETTINGS; s++)
        if (s->kind == RATE || s->kind == RATIO)
            *(double *)s->value = is_capped(s) ? compat_rate : s->requested;
}

static int set_double(const char *name, rm_string *text, void *priv, rm_string **err) {
    (void)name;
    setting *s = priv;
    char why[WHY_SIZE];
    if (check_double(s, text, &s->requested, why) != RM_OK)
        return refuse(err, why);
    bly_bytes bytes = bm_bytes(text);
    keep_text(s, bytes.data, bytes.size);
    apply_rates();
    return RM_OK;
}

static int set_path(const char *name, rm_string *text, void *priv, rm_string **err) {
    (void)name;
    char why[WHY_SIZE];
    bly_bytes bytes = bm_bytes(text);
    if (bytes.size != strlen(bytes.data))
        return refuse(err, "the path contains a zero byte");
    if (!bm_keyring_read(bytes.data, why, sizeof why))
        return refuse(err, why);
    keep_text(priv, bytes.data, bytes.size);
    return RM_OK;
}

static rm_string *get_text(const char *name, void *priv) {
    (void)name;
    const setting *s = priv;
    return is_capped(s) ? compat_rate_text : s->text;
}

static int set_number(const char *name, long long value, void *priv, rm_string **err) {
    (void)name;
    setting *s = priv;
    char why[WHY_SIZE];
    if (check_number(s, value, why) != RM_OK)
        return refuse(err, why);
    if (s->kind == BYTES)
        *(unsigned long long *)s->value = (unsigned long long)value;
    else
        *(long long *)s->value = value;
    return RM_OK;
}

static long long get_number(const char *name, void *priv) {
    (void)name;
    const setting *s = priv;
    return s->kind == BYTES ? (long long)*(unsigned long long *)s->value : *(long long *)s->value;
}

static int set_switch(const char *name, int value, void *priv, rm_string **err) {
    (void)name;
    (void)err;
    *(bool *)((setting *)priv)->value = value != 0;
    apply_rates();
    return RM_OK;
}

static int get_switch(const char *name, void *priv) {
    (void)name;
    return *(bool *)((setting *)priv)->value;
}

/* Checks cf-initial-size against cf-bucket-size. A CONFIG SET may change both, so the engine calls
 * this after both are set. */
static int check_sizes(rm_ctx *ctx, void *priv, rm_string **err) {
    (void)ctx;
    (void)priv;
    char why[WHY_SIZE];
    if (bm_configs.cf_initial_size >= 2 * bm_configs.cf_bucket_size)
        return RM_OK;
    snprintf(why, sizeof why,
             "Value for `cf-initial-size` must be in the range [2 * cf-bucket-size, %lld]",
             max_items);
    return refuse(err, why);
}

/* ---- arguments of loadmodule ----------------------------------------------------------------- */

/* Parses a number of bytes, with or without a unit, like engines. */
static bool parse_bytes(const char *text, long long *out) {
    static const struct {
        const char *name;
        unsigned long long times;
    } units[] = {{"", 1},        {"b", 1},        {"k", 1000},       {"kb", 1 << 10},
                 {"m", 1000000}, {"mb", 1 << 20}, {"g", 1000000000}, {"gb", 1 << 30}};
    unsigned long long value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (value > (LLONG_MAX - 9) / 10)
            return false;
        value = value * 10 + (unsigned long long)(*at - '0');
    }
    if (at == text)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcasecmp(at, units[i].name) && value <= LLONG_MAX / units[i].times) {
            *out = (long long)(value * units[i].times);
            return true;
        }
    return false;
}

static bool parse_number(const setting *s, const char *text, long long *out) {
    if (s->kind == BYTES)
        return parse_bytes(text, out);
    const char *at = text;
    return *at >= '0' && *at <= '9' && parse_bytes(text, out) && !at[strspn(at, "0123456789")];
}

/* Returns RM_OK if the argument is valid as the setting's default. Paths are checked only when they
 * are set. */
static int check_argument(const setting *s, const rm_string *arg, char why[WHY_SIZE]) {
    const char *text = bm_bytes(arg).data;
    long long number;
    double fraction;
    switch (s->kind) {
    case RATE:
    case RATIO:
        return check_double(s, arg, &fraction, why);
    case NUMBER:
    case BYTES:
        if (parse_number(s, text, &number))
            return check_number(s, number, why);
        break;
    case SWITCH:
        if (bm_is(arg, "YES") || bm_is(arg, "NO"))
            return RM_OK;
        break;
    case PATH:
        return RM_OK;
    }
    snprintf(why, WHY_SIZE, "Invalid value for `%s`", s->name);
    return RM_ERR;
}

/* Finds a setting by its name, with or without the prefix "bf.", or by the older name in
 * RedisBloom. */
static setting *find_setting(const rm_string *arg) {
    char full[TEXT_SIZE];
    for (setting *s = settings; s < settings + SETTINGS; s++) {
        snprintf(full, sizeof full, "bf.%s", s->name);
        if (bm_is(arg, s->name) || bm_is(arg, full) || (s->old_name && bm_is(arg, s->old_name)))
            return s;
    }
    return NULL;
}

static int read_arguments(rm_ctx *ctx, rm_string **argv, int argc) {
    char why[WHY_SIZE];
    for (setting *s = settings; s < settings + SETTINGS; s++)
        s->initial = s->standard;
    if (argc == 1 && bm_bytes(argv[0]).size == 0)
        return RM_OK;
    for (int i = 0; i < argc; i += 2) {
        setting *s = find_setting(argv[i]);
        const char *word = bm_bytes(argv[i]).data;
        if (!s) {
            rm.Log(ctx, "warning", "unknown argument '%s'", word);
            return RM_ERR;
        }
        if (i + 1 == argc) {
            rm.Log(ctx, "warning", "argument '%s' needs a value", word);
            return RM_ERR;
        }
        if (check_argument(s, argv[i + 1], why) != RM_OK) {
            rm.Log(ctx, "warning", "argument '%s': %s", word, why);
            return RM_ERR;
        }
        s->initial = bm_bytes(argv[i + 1]).data;
    }
    return RM_OK;
}

/* ---- registering ----------------------------------------------------------------------------- */

static int register_as(rm_ctx *ctx, setting *s, const char *name, unsigned flags) {
    rm_config_apply apply =
        s->value == &bm_configs.cf_bucket_size || s->value == &bm_configs.cf_initial_size
            ? check_sizes
            : NULL;
    long long number = 0;
    switch (s->kind) {
    case RATE:
    case RATIO:
        return rm.RegisterStringConfig(ctx, name, s->initial, flags, get_text, set_double, apply,
                                       s);
    case PATH:
        return rm.RegisterStringConfig(ctx, name, s->initial, flags, get_text, set_path, apply, s);
    case SWITCH:
        return rm.RegisterBoolConfig(ctx, name, !strcasecmp(s->initial, "yes"), flags, get_switch,
                                     set_switch, apply, s);
    case NUMBER:
        /* The engine gets no range: set_number checks the range, so that the error text is
         * RedisBloom's. */
        parse_number(s, s->initial, &number);
        return rm.RegisterNumericConfig(ctx, name, number, flags, LLONG_MIN, LLONG_MAX, get_number,
                                        set_number, apply, s);
    case BYTES:
        parse_number(s, s->initial, &number);
        return rm.RegisterNumericConfig(ctx, name, number, flags | RM_CONFIG_MEMORY, 0, LLONG_MAX,
                                        get_number, set_number, apply, s);
    }
    return RM_ERR;
}

static int register_setting(rm_ctx *ctx, setting *s) {
    char both[2 * TEXT_SIZE];
    if (s->shared && rm.LoadDefaultConfigs) {
        snprintf(both, sizeof both, "%s|bf.%s", s->name, s->name);
        if (register_as(ctx, s, both, RM_CONFIG_UNPREFIXED) == RM_OK)
            return RM_OK;
    }
    return register_as(ctx, s, s->name, RM_CONFIG_DEFAULT);
}

/* Sets the initial value before registration, because an engine does not call the setter if the new
 * value equals the present one. The key file has not been read yet, so its path is empty. */
static void init_setting(setting *s) {
    long long number = 0;
    const char *text = s->kind == PATH ? "" : s->initial;
    keep_text(s, text, strlen(text));
    if (s->kind == RATE || s->kind == RATIO)
        bm_double(s->text, &s->requested);
    else if (s->kind == SWITCH)
        *(bool *)s->value = bm_is(s->text, "YES");
    else if (s->kind != PATH && parse_number(s, s->initial, &number))
        set_number(s->name, number, s, NULL);
}

int bm_config_start(rm_ctx *ctx, rm_string **argv, int argc) {
    rm_string *err = NULL;
    if (read_arguments(ctx, argv, argc) != RM_OK)
        return RM_ERR;
    compat_rate_text = rm.CreateStringPrintf(NULL, "%g", compat_rate);
    bm_keyring_read("", NULL, 0);
    for (setting *s = settings; s < settings + SETTINGS; s++)
        init_setting(s);
    apply_rates();
    for (setting *s = settings; s < settings + SETTINGS; s++)
        if (register_setting(ctx, s) != RM_OK) {
            rm.Log(ctx, "warning", "the server rejects the setting bf.%s", s->name);
            return RM_ERR;
        }
    if (rm.LoadConfigs(ctx) != RM_OK) {
        rm.Log(ctx, "warning", "a setting has an invalid value");
        return RM_ERR;
    }
    if (check_sizes(ctx, NULL, &err) != RM_OK) {
        rm.Log(ctx, "warning", "%s", (const char *)bm_bytes(err).data);
        rm.FreeString(NULL, err);
        return RM_ERR;
    }
    return RM_OK;
}
