/* cmd_hash.c - bloomery hash: prints hash values of keys, and lists the hash functions. */
#include "cli.h"
#include "common_options.h"
#include "io/input.h"
#include "io/key.h"
#include "io/key_file.h"
#include "text/json.h"
#include "text/message.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct values {
    bly_hash_id with;
    uint64_t seed;
    const char *key_file;
    bool null, words, list, json;
} values;

#define AT(field) offsetof(values, field)

static const cli_option options[] = {
    OPTION_VALUE("with", 0, CLI_HASH, AT(with), "HASH",
                 "Use the hash function HASH. The default is xxh3, as for filters."),
    OPTION_SEED(AT(seed), "Use the seed SEED, 0 by default. The fnv functions, crc64, md5 and sha1 "
                          "take no seed: for them it changes the words, not the hash value."),
    OPTION_KEY_FILE(AT(key_file), "Use the secret key in FILE " KEY_FILE_FORM ", for siphash."),
    OPTION_NULL(AT(null), "Keys and output lines"),
    OPTION_FLAG(
        "words", 0, AT(words),
        "Print the two 64-bit words, low and high, that a filter uses, instead of the hash value."),
    OPTION_FLAG("list", 0, AT(list),
                "List the hash functions: name, bits, and whether this build has them."),
    OPTION_JSON(AT(json), "Print a JSON object for each key, with digest and words, or for each "
                          "function with --list."),
    {0},
};

/* ---- the list -------------------------------------------------------------------------------- */

static const char *remark(bly_hash_id id) {
    return !bly_hash_available(id)  ? "not in this build"
           : id == BLY_HASH_XXH3    ? "the default"
           : id == BLY_HASH_SIPHASH ? "needs a secret key"
                                    : "";
}

static int list(bool as_json) {
    for (int i = BLY_HASH_NONE + 1; i < BLY_HASH_CUSTOM; i++) {
        bly_hash_id id = (bly_hash_id)i;
        const char *name = bly_hash_name(id);
        if (!name)
            continue;
        if (as_json) {
            json j = json_begin(stdout);
            json_text(&j, "hash", name);
            json_integer(&j, "bits", bly_hash_bits(id));
            json_bool(&j, "available", bly_hash_available(id));
            json_bool(&j, "keyed", id == BLY_HASH_SIPHASH);
            json_end(&j);
        } else
            (void)printf("%-10s%5u bits%s%s\n", name, bly_hash_bits(id), *remark(id) ? "  " : "",
                         remark(id));
    }
    return CLI_OK;
}

/* ---- keys ------------------------------------------------------------------------------------ */

enum { HEX = 2 * 20 + 1 };

static void digest_of(const bly_hasher *hasher, bly_bytes key, char out[HEX]) {
    uint8_t digest[20];
    size_t length = bly_hash_digest(hasher, key.data, key.size, digest);
    for (size_t i = 0; i < length; i++) {
        out[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    out[2 * length] = '\0';
}

static void words_of(const bly_hasher *hasher, bly_bytes key, char low[17], char high[17]) {
    bly_hash h = bly_hash_key(hasher, key.data, key.size);
    (void)snprintf(low, 17, "%016llx", (unsigned long long)h.lo);
    (void)snprintf(high, 17, "%016llx", (unsigned long long)h.hi);
}

static void print_json(const bly_hasher *hasher, bly_bytes key) {
    char digest[HEX], low[17], high[17];
    json j = json_begin(stdout);
    digest_of(hasher, key, digest);
    words_of(hasher, key, low, high);
    json_bytes(&j, "key", key);
    json_text(&j, "hash", bly_hash_name((bly_hash_id)hasher->id));
    json_text(&j, "digest", digest);
    json_text(&j, "low", low);
    json_text(&j, "high", high);
    json_end(&j);
}

/* `text` is printed beside the hash: the key, or the line it was made from. */
static void print(const values *v, const bly_hasher *hasher, bly_bytes key, bly_bytes text) {
    char digest[HEX], low[17], high[17];
    if (v->json) {
        print_json(hasher, key);
        return;
    }
    if (v->words) {
        words_of(hasher, key, low, high);
        (void)printf("%s %s  ", low, high);
    } else {
        digest_of(hasher, key, digest);
        (void)printf("%s  ", digest);
    }
    (void)fwrite(text.data, 1, text.size, stdout);
    (void)fputc(v->null ? '\0' : '\n', stdout);
}

/* A failure to write is reported when the program ends. */
static bool flush(void *unused) {
    (void)unused;
    return fflush(stdout) == 0;
}

static int hash_input(const values *v, const bly_hasher *hasher) {
    static input in; /* too large for the stack */
    if (!input_open(&in, NULL, 0, v->null ? '\0' : '\n', 0))
        return CLI_ERROR;
    in.idle = flush;
    while (!ferror(stdout) && input_next(&in))
        for (size_t i = 0; i < in.count; i++)
            print(v, hasher, v->null ? in.records[i] : bly_list_without_return(in.records[i]),
                  in.records[i]);
    input_close(&in);
    return in.failed ? CLI_ERROR : CLI_OK;
}

/* ---- the hasher ------------------------------------------------------------------------------ */

static int open_hasher(const values *v, bly_hasher *out) {
    bly_hash_id id = v->with != BLY_HASH_NONE ? v->with : BLY_HASH_XXH3;
    bool keyed = id == BLY_HASH_SIPHASH;
    if (!bly_hash_available(id))
        return message_error(
            "this build does not have %s; use --list to see which functions it has",
            bly_hash_name(id));
    if (keyed && !v->key_file)
        return message_error("siphash needs a secret key; pass it with --key-file");
    if (!keyed && v->key_file)
        return message_error("%s takes no secret key; use --with siphash, or leave out --key-file",
                             bly_hash_name(id));
    if (keyed && v->seed)
        return message_error(
            "--seed cannot be combined with siphash, which has a secret key instead of a seed");
    if (keyed)
        return keyfile_read(v->key_file, out) ? CLI_OK : CLI_ERROR;
    bly_status status = bly_hasher_init(out, id, v->seed);
    return status ? message_error("%s", bly_strerror(status)) : CLI_OK;
}

static int run(void *untyped, cli_operands operands) {
    const values *v = untyped;
    bly_hasher hasher;
    if (v->list && operands.count)
        return message_error("--list takes no keys; leave out '%s'", operands.items[0]);
    if (v->list)
        return list(v->json);
    int status = open_hasher(v, &hasher);
    if (status)
        return status;
    if (operands.count == 0 || (operands.count == 1 && strcmp(operands.items[0], "-") == 0))
        return hash_input(v, &hasher);
    for (size_t i = 0; i < operands.count; i++) {
        const bly_bytes key = {operands.items[i], strlen(operands.items[i])};
        print(v, &hasher, key, key);
    }
    return CLI_OK;
}

const cli_command command_hash = {
    .name = "hash",
    .operands = "[KEY...]",
    .summary = "Print hash values of keys",
    .brief = "Prints a line for each KEY: the hash value in hexadecimal, two spaces, and the key. "
             "Without a KEY, or if it is -, the keys are the lines of standard input.",
    .description = "The value is written as in the publication of the function, so that it can be "
                   "compared with that of other programs. A carriage return at the end of a line "
                   "is printed, but is not part of the key (except with -0).\n"
                   "\n"
                   "A filter does not use the key itself, but two 64-bit words that are computed "
                   "from the hash value. --words prints them. Two keys with the same words are the "
                   "same key to every filter with this function and seed.",
    .examples = "# hash with the default function\n"
                "bloomery hash hello\n"
                "# hash the lines of a file with another function\n"
                "bloomery hash --with murmur3 <urls.txt\n"
                "# the two words that a filter uses\n"
                "bloomery hash --words --seed 7 hello\n"
                "# hash with a secret key\n"
                "bloomery hash --with siphash --key-file secret.key hello\n"
                "# list the functions\n"
                "bloomery hash --list\n",
    .options = options,
    .most_used = {"with", "seed", "words"},
    .values_size = sizeof(values),
    .run = run,
};
