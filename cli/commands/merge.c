/* bloomery merge - the union of filters: bit for bit the filter of all their keys. */
#include "commands/set_commands.h"
#include "text/message.h"

static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_FILE,
     .at = offsetof(algebra_values, out),
     .metavar = "FILE",
     .help = "Where to write the merged filter; - is standard output. Needed."},
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
     .help = "Print what was done as a JSON object."},
    {0},
};

static int run(void *at, cli_operands operands) {
    static const algebra merging = {"merged", BLY_CAN_UNION, BLY_OP_UNION, bly_filter_union};
    const algebra_values *v = at;
    if (operands.count == 0)
        return message_error("name the filter files: bloomery merge -o ALL.bly A.bly B.bly");
    if (!v->out)
        return message_error("say where the merged filter goes: -o ALL.bly");
    return algebra_run(&merging, v, operands);
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
    .options = options,
    .values_size = sizeof(algebra_values),
    .run = run,
};
