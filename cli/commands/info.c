/* bloomery info - what a filter file is, or a filter on a server, on a card. */
#include "cli.h"
#include "common_options.h"
#include "filters/describe.h"
#include "filters/describe_fingerprints.h"
#include "io/fingerprint_file.h"
#include "text/message.h"

#include <stdio.h>

typedef struct values {
    uint64_t gozero;
    bool header, json;
} values;

static const cli_option options[] = {
    {.name = "header",
     .type = CLI_FLAG,
     .at = offsetof(values, header),
     .help = "Read only the header: instant for a file of any size. The estimated number of keys, "
             "the current rate, the fill, the type of the lines and the number of marks are then "
             "unknown, and the checksum of the bits is not checked. A filter on a server is not "
             "asked for its type."},
    OPTION_GOZERO(offsetof(values, gozero)),
    OPTION_JSON(offsetof(values, json), "Print one JSON object per file, each on its own line."),
    {0},
};

/* A keyed filter is described without its key. */
static bool show_filter(const values *v, const char *name, bool first) {
    const handle_options how = {.access = v->header ? HANDLE_HEADER : HANDLE_VERIFIED,
                                .without_key = true,
                                .gozero = v->gozero};
    filter_handle h;
    description d;
    const bool good = handle_open(&h, name, &how) && describe(&d, &h, !v->header);
    if (good && v->json)
        description_json(&d, stdout);
    else if (good) {
        if (!first)
            (void)putchar('\n');
        description_print(&d, stdout);
    }
    handle_close(&h);
    return good;
}

/* A file of dedup --exact or --confirm is no filter. */
static bool show_fingerprints(const values *v, const char *path, bool first) {
    fingerprints f;
    if (!fingerprints_read(&f, path, v->header))
        return false;
    if (v->json)
        fingerprints_json(&f, stdout);
    else {
        if (!first)
            (void)putchar('\n');
        fingerprints_print(&f, stdout);
    }
    return true;
}

static int run(void *at, cli_operands operands) {
    const values *v = at;
    int status = CLI_OK;
    bool first = true;
    if (operands.count == 0)
        return message_error("name a filter file: bloomery info LIST.bly");
    for (size_t i = 0; i < operands.count; i++) {
        const char *name = operands.items[i];
        const bool is_pages = !v->gozero && pages_recognise(name);
        if (is_pages ? show_fingerprints(v, name, first) : show_filter(v, name, first))
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
    .description =
        "Prints a card for each filter file: its kind and shape, its hash function with the seed "
        "or the id of its secret key, how many keys it was made for and how many it holds, and "
        "its false-positive rate: requested when it was made, expected by formula for its keys, "
        "and current, as its bits stand. A line may need several lookups: one for each prefix "
        "length of the blocks in a list of addresses, and for each number of labels in a list of "
        "domains. Such a list has two rates, per line and per lookup; -p of `bloomery build` is "
        "the one per line.\n"
        "\n"
        "The keys are told twice: as counted when they were added, and as estimated from the bits. "
        "The count misses the few keys that looked present already; the estimate is what remains "
        "true after filters were merged. A list with a type has marks: 16 keys that "
        "no line can be, 4 for each width of block or number of labels, and for such types 4 that "
        "tell "
        "for how many lookups per line its rate was requested. They are told apart, "
        "and so is the room for them; in JSON the count and the capacity include them, and marks "
        "says how many they are.\n"
        "\n"
        "The bar shows how much of its capacity is used. It is green while the filter keeps its "
        "promise, yellow when it is overfull, and red when it answers wrongly more than twice as "
        "often as was asked.\n"
        "\n"
        "What only some kinds have is told too: levels; generations, the keys in the one being "
        "filled, and the clock of a window, or, of one by number, the arrivals (keys that were "
        "added, repeats included); how much longer a cuckoo filter's remainders are than "
        "they must be, so that it can double; counters that have reached their limit and stay "
        "there, with the advice to build the list again when they are more than a tenth of those "
        "in use; "
        "of an overlay what it lies over, what was removed and added since, how many of its keys "
        "may be missed, and, when the changes are more than a fifth of the keys, the same advice.\n"
        "\n"
        "Of a list that holds copies of keys the count is one of copies, and the estimate one of "
        "different keys. Of a state of `bloomery distinct` (kind hll) there is only the number of "
        "different keys to tell, with the range that holds the truth in 95 of 100 cases.\n"
        "\n"
        "The files that `bloomery dedup` keeps with --exact and --confirm are no filters, but sets "
        "of fingerprints, and are described as such: how many there are, the seed of their hash "
        "function, what of a line they are fingerprints of, and how likely a new line has one that "
        "is there.\n"
        "\n"
        "A keyed filter is described without its key. The checksums are verified; a file that "
        "cannot be opened, or is damaged, is reported, the others are described all the same, and "
        "the exit status is 2.\n"
        "\n"
        "A filter on a Redis or Valkey server that has no module is named by its address, "
        "redis://HOST/KEY (`bloomery help push` tells more of addresses). Its keys are those that "
        "were new when they were added, as the server has counted them; the rate now follows from "
        "their number. In how many strings it lies, on how many servers, and when it expires is "
        "told, too, and its stamp, by which it differs from every other filter, one made anew "
        "under the same key included. Of a filter of go-zero's, which tells nothing of itself, "
        "--gozero gives the number of bits; keys and rate are then judged by the bits set.",
    .examples =
        "# Describe a list\n"
        "bloomery info blocked.bly\n"
        "# False positives per million lookups, of several lists\n"
        "bloomery info --json *.bly | jq -r '[.file, .rate_per_lookup_current * 1e6] | @tsv'\n"
        "# What a huge file is, without reading it\n"
        "bloomery info --header seen-urls.bly\n"
        "# A filter on a server\n"
        "bloomery info redis://cache.example/blocked",
    .options = options,
    .values_size = sizeof(values),
    .run = run,
};
