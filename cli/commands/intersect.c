/* bloomery intersect - the keys that several filters have in common, or how many they are. */
#include "commands/set_commands.h"
#include "text/message.h"

static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_FILE,
     .at = offsetof(algebra_values, out),
     .metavar = "FILE",
     .help =
         "Where to write the intersection; - is standard output. Needed, except with --estimate."},
    {.name = "estimate",
     .type = CLI_FLAG,
     .at = offsetof(algebra_values, estimate),
     .help = "Write nothing, but print about how many keys two filters have: each, both, either, "
             "and the "
             "share of the keys of either that is in both (their Jaccard index)."},
    {.name = "fold",
     .type = CLI_FLAG,
     .at = offsetof(algebra_values, fold),
     .help =
         "Fold filters of different sizes to the largest size that all of them can be folded to."},
    {.name = "force",
     .letter = 'f',
     .type = CLI_FLAG,
     .at = offsetof(algebra_values, force),
     .help = "Replace the output file if it exists; write to a terminal."},
    {.name = "json",
     .type = CLI_FLAG,
     .at = offsetof(algebra_values, json),
     .help = "Print what was done, or the estimates, as a JSON object."},
    {0},
};

static int run(void *at, cli_operands operands) {
    static const algebra intersecting = {"intersected", BLY_CAN_INTERSECT, BLY_OP_INTERSECT,
                                         bly_filter_intersect};
    const algebra_values *v = at;
    if (v->estimate && v->out)
        return message_error("--estimate writes no filter; leave -o out");
    if (v->estimate && operands.count != 2)
        return message_error("name two filter files: bloomery intersect --estimate A.bly B.bly");
    if (v->estimate)
        return algebra_estimate(v, operands);
    if (operands.count < 2)
        return message_error("name two filter files or more: bloomery intersect -o BOTH.bly A.bly "
                             "B.bly");
    if (!v->out)
        return message_error("say where the intersection goes: -o BOTH.bly");
    return algebra_run(&intersecting, v, operands);
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
    .options = options,
    .values_size = sizeof(algebra_values),
    .run = run,
};
