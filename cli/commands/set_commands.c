/* set_commands.c - bloomery merge, intersect and subtract: filters combined into one.
 *
 * The operands and options differ; the work is that of filters/set_operation.c.
 */
#include "common_options.h"
#include "filters/set_operation.h"
#include "text/message.h"

/* ---- merge ----------------------------------------------------------------------------------- */

static const cli_option merge_options[] = {
    OPTION_OUTPUT(offsetof(set_options, out), "FILE",
                  "Where to write the merged filter; - is standard output. Needed."),
    OPTION_FOLD(offsetof(set_options, fold)),
    OPTION_FORCE_FILTER(offsetof(set_options, force)),
    OPTION_JSON(offsetof(set_options, json), "Print what was done as a JSON object."),
    {0},
};

static int merge(void *at, cli_operands operands) {
    static const set_operation merging = {"merged", BLY_CAN_UNION, BLY_OP_UNION, bly_filter_union};
    const set_options *v = at;
    if (operands.count == 0)
        return message_error(
            "no filter files given; for example: bloomery merge -o ALL.bly A.bly B.bly");
    if (!v->out)
        return message_error("no output file given; add -o ALL.bly");
    return set_operation_run(&merging, v, operands);
}

const cli_command command_merge = {
    .name = "merge",
    .operands = "-o OUT.bly FILE.bly...",
    .summary = "Unite filters into one",
    .description =
        "Writes a filter of all the keys of several filters, as if it had been built from all of "
        "them at once: of Bloom filters bit for bit the same. The inputs are left alone; one of "
        "them may be the output, with -f.\n"
        "\n"
        "The filters must have been built alike: the same kind, size, number of bits per key, "
        "hash function, and seed or secret key. What differs is said. Build the parts with the "
        "same --expect (the keys of the whole) and --rate. Filters of different sizes can be "
        "folded to a common one with --fold, at the price of a higher false-positive rate.\n"
        "\n"
        "The rate and the capacity of the result are those of the first file. Since it holds "
        "more keys than each of its parts it may be too full; a warning says so, and the result "
        "is written all the same, unless it would match more than half of everything. Keyed "
        "filters are merged without their key.\n"
        "\n"
        "Of filters that hold copies of keys (cuckoo, hybrid, counting and others), a key that is "
        "in several of them is in the result as often, and must be removed as often; what does not "
        "fit is an error. Counts add up, and of the states of `bloomery distinct` the result is "
        "the state of all their lines. Fuse and ribbon filters, and overlays, cannot be merged: "
        "build one from the lines of all. Nor can the files of `bloomery dedup` with --exact or "
        "--confirm: each has a random seed of its own.",
    .examples = "# Parts built on several machines, as one\n"
                "bloomery merge -o all.bly part1.bly part2.bly part3.bly\n"
                "# Take today's keys into the big list\n"
                "bloomery merge -f -o all.bly all.bly today.bly\n"
                "# Filters of different sizes\n"
                "bloomery merge --fold -o all.bly big.bly small.bly",
    .options = merge_options,
    .values_size = sizeof(set_options),
    .run = merge,
};

/* ---- intersect ------------------------------------------------------------------------------- */

static const cli_option intersect_options[] = {
    OPTION_OUTPUT(
        offsetof(set_options, out), "FILE",
        "Where to write the intersection; - is standard output. Needed, except with --estimate."),
    {.name = "estimate",
     .type = CLI_FLAG,
     .at = offsetof(set_options, estimate),
     .help = "Write nothing, but print about how many keys two filters have: each, both, either, "
             "and the "
             "share of the keys of either that is in both (their Jaccard index)."},
    OPTION_FOLD(offsetof(set_options, fold)),
    OPTION_FORCE_FILTER(offsetof(set_options, force)),
    OPTION_JSON(offsetof(set_options, json),
                "Print what was done, or the estimates, as a JSON object."),
    {0},
};

static int intersect(void *at, cli_operands operands) {
    static const set_operation intersecting = {"intersected", BLY_CAN_INTERSECT, BLY_OP_INTERSECT,
                                               bly_filter_intersect};
    const set_options *v = at;
    if (v->estimate && v->out)
        return message_error("--estimate writes no filter; remove -o");
    if (v->estimate && operands.count != 2)
        return message_error(
            "exactly two filter files are needed: bloomery intersect --estimate A.bly B.bly");
    if (v->estimate)
        return set_operation_estimate(v, operands);
    if (operands.count < 2)
        return message_error(
            "at least two filter files are needed: bloomery intersect -o BOTH.bly A.bly "
            "B.bly");
    if (!v->out)
        return message_error("no output file given; add -o BOTH.bly");
    return set_operation_run(&intersecting, v, operands);
}

const cli_command command_intersect = {
    .name = "intersect",
    .operands = "-o OUT.bly FILE.bly FILE.bly...",
    .summary = "Keep the keys that filters have in common",
    .description =
        "Writes a filter with every key that is in all of the given filters. It is approximate: a "
        "bit that different keys have set in the one and in the other stays set, so it holds a few "
        "keys more than a filter built from the common keys, though never more than any of the "
        "given ones. The file is marked so, and bloomery info says it.\n"
        "\n"
        "The filters must have been built alike: the same kind, size, number of bits per key, hash "
        "function, and seed or secret key. What differs is said. Filters of different sizes can be "
        "folded to a common one with --fold. Filters that grow by levels, forget, or were built "
        "from all their keys at once cannot be intersected, and why is said.\n"
        "\n"
        "With --estimate nothing is written: it prints about how many keys two filters have, and "
        "have in common, judged by their bits. For filters that are not too full the error is a "
        "few percent of the larger one.",
    .examples = "# The keys that are in both lists\n"
                "bloomery intersect -o both.bly a.bly b.bly\n"
                "# How much do two lists overlap?\n"
                "bloomery intersect --estimate monday.bly tuesday.bly",
    .options = intersect_options,
    .values_size = sizeof(set_options),
    .run = intersect,
};

/* ---- subtract -------------------------------------------------------------------------------- */

static const cli_option subtract_options[] = {
    OPTION_OUTPUT(offsetof(set_options, out), "FILE",
                  "Where to write what is left; - is standard output. Needed."),
    OPTION_KEY_FILE(offsetof(set_options, key_file), "The secret key of keyed lists."),
    OPTION_FORCE_FILTER(offsetof(set_options, force)),
    OPTION_JSON(offsetof(set_options, json), "Print what was done as a JSON object."),
    {0},
};

static int subtract(void *at, cli_operands operands) {
    static const set_operation subtracting = {"subtracted", BLY_CAN_SUBTRACT, BLY_OP_SUBTRACT,
                                              bly_filter_subtract};
    const set_options *v = at;
    if (operands.count < 2)
        return message_error(
            "at least two filter files are needed: bloomery subtract -o LEFT.bly ALL.bly "
            "GONE.bly");
    if (!v->out)
        return message_error("no output file given; add -o LEFT.bly");
    return set_operation_run(&subtracting, v, operands);
}

const cli_command command_subtract = {
    .name = "subtract",
    .operands = "-o OUT.bly FILE.bly FILE.bly...",
    .summary = "Take the keys of filters out of another, where its kind can",
    .description =
        "Writes the first filter without the keys of the others: as if each of them had been "
        "removed by `bloomery remove`, but without the lines at hand. The inputs are left alone; "
        "the first may be the output, with -f. What a list says of its own type stays.\n"
        "\n"
        "Every key of the others must be in the first. One that is not looks present at the "
        "filter's rate, and then another key goes in its place and will be missed. The filters "
        "themselves cannot tell; but when some of the keys are certainly not in the first, a "
        "warning says how many.\n"
        "\n"
        "The filters must have been built alike: the same kind, size, hash function, and seed or "
        "secret key. What differs is said. It works for the kinds that hold copies of keys, "
        "as fingerprints (cuckoo and its relatives) or in counters (counting and its relatives): "
        "in a Bloom filter keys share bits, and taking some out would lose others. Counters do not "
        "tell one key from another, so of lists that have them it takes out what it can of a group "
        "of keys, or leaves the group as it is.",
    .examples = "# Take the keys that were withdrawn out of the list\n"
                "bloomery subtract -f -o list.bly list.bly withdrawn.bly\n"
                "# Two lists of customers who left\n"
                "bloomery subtract -o now.bly all.bly left-2024.bly left-2025.bly",
    .options = subtract_options,
    .values_size = sizeof(set_options),
    .run = subtract,
};
