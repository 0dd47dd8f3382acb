/* bloomery info - describes filter files, filters on servers, and files of fingerprints. */
#include "cli.h"
#include "common_options.h"
#include "filters/describe.h"
#include "filters/describe_fingerprints.h"
#include "io/fingerprint_file.h"
#include "text/message.h"

#include <stdio.h>

typedef struct info_options {
    const char *key_file;
    uint64_t gozero;
    bool header, allow_replica, json;
} info_options;

static const cli_option options[] = {
    OPTION_FLAG("header", 0, offsetof(info_options, header),
                "Read only the header of a file, which is instant for any size. The estimated "
                "number of keys, the current rate, the fill, the type and the number of marks are "
                "then unknown, and the checksum of the bits is not verified. The type of a filter "
                "on a server is not looked up."),
    OPTION_KEY_FILE(offsetof(info_options, key_file),
                    "Use the secret key in FILE, for keyed lists. Without it, the number of marks, "
                    "the prefix lengths or numbers of labels, and the rate per line are unknown."),
    OPTION_ALLOW_REPLICA(offsetof(info_options, allow_replica),
                         "Accept a replica. It may lack the last keys of its master."),
    OPTION_GOZERO(offsetof(info_options, gozero)),
    OPTION_JSON(offsetof(info_options, json),
                "Print one JSON object per file, each on its own line."),
    {0},
};

/* Whether the filter of this file is keyed; only its header is read. True also if that fails; the
 * error is reported when the file is opened. */
static bool is_keyed(const char *path) {
    bly_file_info info = {.struct_size = sizeof info};
    return bly_file_get_info(path, &info) != BLY_OK || info.keyed;
}

/* `key` may be NULL, even for a keyed filter. */
static bool show_filter(const info_options *o, const bly_hasher *key, const char *name,
                        bool first) {
    const bool may_be_replica = handle_capabilities(name) & HANDLE_MAY_FAIL;
    const handle_options how = {.access = o->header ? HANDLE_HEADER : HANDLE_VERIFIED,
                                .key = key,
                                .without_key = !key,
                                .gozero = o->gozero,
                                .allow_replica = o->allow_replica && may_be_replica,
                                .offers_replica = true};
    filter_handle h;
    description d;
    const bool good = handle_open(&h, name, &how) && describe(&d, &h, !o->header);
    if (good && o->json)
        description_json(&d);
    else if (good) {
        if (!first)
            (void)putchar('\n');
        description_print(&d);
    }
    handle_close(&h);
    return good;
}

/* A file of dedup --exact or --confirm is not a filter. */
static bool show_fingerprints(const info_options *o, const char *path, bool first) {
    fingerprints f;
    if (!fingerprints_read(&f, path, o->header))
        return false;
    if (o->json)
        fingerprints_json(&f);
    else {
        if (!first)
            (void)putchar('\n');
        fingerprints_print(&f);
    }
    return true;
}

static bool options_agree(const info_options *o, cli_operands lists) {
    bool any_server = false;
    if (lists.count == 0)
        return message_fail("no list given; for example: bloomery info LIST.bly");
    for (size_t i = 0; i < lists.count; i++)
        any_server = any_server || handle_capabilities(lists.items[i]) & HANDLE_MAY_FAIL;
    if (o->header && o->key_file)
        return message_fail(
            "--header reads only the header, which needs no key; leave out --key-file");
    if (o->allow_replica && !any_server)
        return message_fail("--allow-replica needs a list on a server: redis://HOST/KEY");
    return true;
}

static int run(void *values, cli_operands operands) {
    const info_options *o = values;
    int status = CLI_OK;
    bool first = true;
    bly_hasher space;
    const bly_hasher *key;
    if (!options_agree(o, operands) || !open_key(o->key_file, &space, &key))
        return CLI_ERROR;
    for (size_t i = 0; i < operands.count; i++) {
        const char *name = operands.items[i];
        const bool is_pages = !o->gozero && pages_recognise(name);
        /* With several files, the key is used only for those that are keyed. */
        const bly_hasher *its_key = key && operands.count > 1 && !is_keyed(name) ? NULL : key;
        if (is_pages ? show_fingerprints(o, name, first) : show_filter(o, its_key, name, first))
            first = false;
        else
            status = CLI_ERROR;
    }
    return status;
}

const cli_command command_info = {
    .name = "info",
    .operands = "LIST...",
    .summary = "Describe filters",
    .brief = "Describes each LIST: its kind, size and hash function, how many keys it has and was "
             "planned for, and its false-positive rate. A LIST is a filter file, or the address of "
             "a filter on a Redis or Valkey server.\n"
             "\n"
             "A row \"health\" appears if the current rate is too high, for example because the "
             "filter has more keys than planned. The checksums of files are verified, unless "
             "--header is given.",
    .description =
        "A filter has three false-positive rates: the one requested when it was created, the one "
        "expected by formula for its number of keys, and the current one, which is computed from "
        "the bits that are set. A line may need several lookups: in a list of addresses one for "
        "each prefix length, in a list of domains one for each number of labels. Such a list has a "
        "rate per line and a rate per lookup. The -p of `bloomery build` is the rate per line.\n"
        "\n"
        "The number of keys is printed twice. The counted keys are those that were new when they "
        "were added. A new key that was a false positive at that moment is not counted. The "
        "estimated number is computed from the bits, and is also right after filters were merged. "
        "In a list that stores copies of keys, the copies are counted, and the number of different "
        "keys is estimated.\n"
        "\n"
        "A list with a type contains marks, which are keys that no line can equal. 16 of them "
        "record the type, 4 more each prefix length or number of labels. Types that have those "
        "need 4 more, which record for how many lookups per line the rate was requested. Marks are "
        "printed separately from keys. In JSON, \"count\" and \"capacity\" include them, and "
        "\"marks\" is their number.\n"
        "\n"
        "The bar shows how much of the capacity is used. It is green while the rate is kept, "
        "yellow if the current rate is too high, and red if it is more than twice the requested "
        "rate.\n"
        "\n"
        "Some kinds have more rows:\n"
        "  levels    the levels of a filter that grows\n"
        "  window    the generations of a window, and the keys in the current one;\n"
        "            of a window by number also the arrivals (keys added, with repeats)\n"
        "  clock     the clock of a window by time\n"
        "  stuck     counters that have reached their limit, at which they stay\n"
        "  over      the base of an overlay\n"
        "  changes   the keys removed from an overlay, and those added to it\n"
        "  misses    how many of its keys an overlay may fail to find\n"
        "  distinct  the number of different keys in a state of `bloomery distinct`\n"
        "            (kind hll), with its 95% confidence interval\n"
        "\n"
        "A list should be built again if more than a tenth of the counters in use are stuck, or if "
        "the changes of an overlay are more than a fifth of its keys. The row then says so.\n"
        "\n"
        "The files that `bloomery dedup` writes with --exact and --confirm are not filters, but "
        "sets of fingerprints. Their description contains the number of fingerprints, the seed of "
        "the hash function, the part of a line that is compared, and how often a new line is "
        "mistaken for a repeat.\n"
        "\n"
        "Without --key-file, a keyed filter is described as far as possible without its key: marks "
        "count as keys, and in JSON what is unknown is null. If a file is damaged or cannot be "
        "opened, an error is printed, the other files are still described, and the exit status is "
        "2.\n"
        "\n"
        "A filter on a server without the Bloomery module is named by its address, "
        "redis://HOST/KEY (see `bloomery push --help`). The server counts its keys. Its bits are "
        "not read, so the current rate is unknown (null in JSON). More rows show how many "
        "strings and servers store it, when it expires, and its stamp. Every filter gets a "
        "different stamp, even if it replaces another under the same key. A filter of go-zero "
        "stores nothing but its bits, so --gozero must give their number. Its keys and its rate "
        "are then estimated from the bits set.",
    .examples =
        "# describe a list\n"
        "bloomery info blocked.bly\n"
        "# print the false positives per million lookups of several lists\n"
        "bloomery info --json *.bly | jq -r '[.file, .rate_per_lookup_current * 1e6] | @tsv'\n"
        "# describe a huge file without reading it\n"
        "bloomery info --header seen-urls.bly\n"
        "# describe a filter on a server\n"
        "bloomery info redis://cache.example/blocked",
    .options = options,
    .values_size = sizeof(info_options),
    .run = run,
};
