/* set_commands.c - bloomery merge, intersect and subtract: combine filters into one.
 *
 * Only the operands and options are here; filters/set_operation.c does the work.
 */
#include "common_options.h"
#include "filters/set_operation.h"
#include "text/message.h"

/* ---- merge ----------------------------------------------------------------------------------- */

static const cli_option merge_options[] = {
    OPTION_OUTPUT(offsetof(set_options, out), "FILE",
                  "Write the merged filter to FILE; - is standard output. Required."),
    OPTION_FOLD(offsetof(set_options, fold)),
    OPTION_FORCE_FILTER(offsetof(set_options, force)),
    OPTION_JSON(offsetof(set_options, json), "Print a report as a JSON object."),
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
    .summary = "Merge filters into one",
    .brief = "Writes a filter with all the keys of several filters. The result is the filter that "
             "would have been built from all of the keys at once; for Bloom filters, bit for bit. "
             "The inputs are not changed. One of them may also be the output, with -f.",
    .description =
        "The filters must have been built with the same options: the same kind, size, number of "
        "bits per key, hash function, and seed or secret key. If they differ, an error names the "
        "difference. Build the parts with the same --rate, and with the number of keys of the "
        "whole as --expect. With --fold, filters of different sizes are folded to a common size, "
        "which raises the false-positive rate.\n"
        "\n"
        "The result has the requested rate and the capacity of the first file. It has more keys "
        "than each part, so it may be too full. Then a warning is printed, and the result is still "
        "written, unless it would match more than half of all keys. Keyed filters are merged "
        "without their key.\n"
        "\n"
        "In filters that store copies of keys (cuckoo, hybrid, counting and others), a key that is "
        "in several inputs is stored as many times, and must be removed as many times. It is an "
        "error if the copies do not fit. Counts are added up, and states of `bloomery distinct` "
        "become the state of all their lines. Fuse filters, ribbon filters and overlays cannot be "
        "merged: build one list from all the lines. Fingerprint files of `bloomery dedup` "
        "(--exact, --confirm) cannot be merged either, because each has a different random seed.",
    .examples = "# Merge parts that were built on several machines\n"
                "bloomery merge -o all.bly part1.bly part2.bly part3.bly\n"
                "# Add today's keys to the big list\n"
                "bloomery merge -f -o all.bly all.bly today.bly\n"
                "# Merge filters of different sizes\n"
                "bloomery merge --fold -o all.bly big.bly small.bly",
    .options = merge_options,
    .values_size = sizeof(set_options),
    .run = merge,
};

/* ---- intersect ------------------------------------------------------------------------------- */

static const cli_option intersect_options[] = {
    OPTION_OUTPUT(
        offsetof(set_options, out), "FILE",
        "Write the intersection to FILE; - is standard output. Required, except with --estimate."),
    OPTION_FLAG("estimate", 0, offsetof(set_options, estimate),
                "Write no filter; print estimates for two filters: the keys of each, the keys in "
                "both, the keys in either, and their ratio (the Jaccard index)."),
    OPTION_FOLD(offsetof(set_options, fold)),
    OPTION_FORCE_FILTER(offsetof(set_options, force)),
    OPTION_JSON(offsetof(set_options, json), "Print a report, or the estimates, as a JSON object."),
    {0},
};

static int intersect(void *at, cli_operands operands) {
    static const set_operation intersecting = {"intersected", BLY_CAN_INTERSECT, BLY_OP_INTERSECT,
                                               bly_filter_intersect};
    const set_options *v = at;
    if (v->estimate && v->out)
        return message_error("--estimate writes no filter; leave out -o");
    if (v->estimate && operands.count != 2)
        return message_error(
            "exactly two filter files are needed: bloomery intersect --estimate A.bly B.bly");
    if (v->estimate)
        return set_operation_estimate(v, operands);
    if (operands.count < 2)
        return message_error(
            "at least two filter files are needed: bloomery intersect -o BOTH.bly A.bly B.bly");
    if (!v->out)
        return message_error("no output file given; add -o BOTH.bly");
    return set_operation_run(&intersecting, v, operands);
}

const cli_command command_intersect = {
    .name = "intersect",
    .operands = "-o OUT.bly FILE.bly FILE.bly...",
    .summary = "Keep the keys that filters have in common",
    .brief = "Writes a filter with every key that is in all of the given filters. The result is "
             "approximate: it matches a few more keys than a filter built from the common keys, "
             "but never more than any of the inputs.",
    .description =
        "The result is approximate because a bit that different keys have set in each of the "
        "filters stays set. The file records this, and `bloomery info` shows it.\n"
        "\n"
        "The filters must have been built with the same options: the same kind, size, number of "
        "bits per key, hash function, and seed or secret key. If they differ, an error names the "
        "difference. With --fold, filters of different sizes are folded to a common size. Filters "
        "that grow by levels, that forget, or that were built from all their keys at once cannot "
        "be intersected.\n"
        "\n"
        "With --estimate, no filter is written. Instead, the command estimates from the bits how "
        "many keys each of two filters has, and how many they have in common. For filters that are "
        "not too full, the error is a few percent of the larger number.",
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
                  "Write the remaining keys to FILE; - is standard output. Required."),
    OPTION_KEY_FILE(offsetof(set_options, key_file),
                    "Use the secret key in FILE, for keyed lists."),
    OPTION_FORCE_FILTER(offsetof(set_options, force)),
    OPTION_JSON(offsetof(set_options, json), "Print a report as a JSON object."),
    {0},
};

static int subtract(void *at, cli_operands operands) {
    static const set_operation subtracting = {"subtracted", BLY_CAN_SUBTRACT, BLY_OP_SUBTRACT,
                                              bly_filter_subtract};
    const set_options *v = at;
    if (operands.count < 2)
        return message_error(
            "at least two filter files are needed: bloomery subtract -o LEFT.bly ALL.bly GONE.bly");
    if (!v->out)
        return message_error("no output file given; add -o LEFT.bly");
    return set_operation_run(&subtracting, v, operands);
}

const cli_command command_subtract = {
    .name = "subtract",
    .operands = "-o OUT.bly FILE.bly FILE.bly...",
    .summary = "Remove the keys of filters from another filter",
    .brief = "Writes the first filter without the keys of the others, as if `bloomery remove` had "
             "removed each of them, but without the lines. The inputs are not changed. The first "
             "may also be the output, with -f. The result has the type of the first list.\n"
             "\n"
             "Every key of the others must be in the first filter. If one of them is only a false "
             "positive there, a different key is removed in its place, and will not be found any "
             "more. This cannot be detected. If some of the keys are certainly not in the first "
             "filter, a warning says how many.",
    .description =
        "The filters must have been built with the same options: the same kind, size, hash "
        "function, and seed or secret key. If they differ, an error names the difference. Only "
        "kinds that store copies of keys can be subtracted, as fingerprints (cuckoo and its "
        "relatives) or as counters (counting and its relatives). In a Bloom filter keys share "
        "bits, so clearing the bits of some keys would remove others. Counters do not distinguish "
        "single keys. In lists that have them, each group of keys that share counters is either "
        "subtracted as far as possible, or left unchanged.",
    .examples = "# Remove the withdrawn keys from the list\n"
                "bloomery subtract -f -o list.bly list.bly withdrawn.bly\n"
                "# Remove the keys of two lists\n"
                "bloomery subtract -o now.bly all.bly left-2024.bly left-2025.bly",
    .options = subtract_options,
    .values_size = sizeof(set_options),
    .run = subtract,
};
