/* bloomery subtract - a list without the keys of others, where its kind can. */
#include "commands/set_commands.h"
#include "text/message.h"

static const cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .type = CLI_FILE,
     .at = offsetof(algebra_values, out),
     .metavar = "FILE",
     .help = "Where to write what is left; - is standard output. Needed."},
    {.name = "key-file",
     .type = CLI_FILE,
     .at = offsetof(algebra_values, key_file),
     .metavar = "FILE",
     .help = "The secret key of keyed lists."},
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
    static const algebra subtracting = {"subtracted", BLY_CAN_SUBTRACT, BLY_OP_SUBTRACT,
                                        bly_filter_subtract};
    const algebra_values *v = at;
    if (operands.count < 2)
        return message_error("name two filter files or more: bloomery subtract -o LEFT.bly ALL.bly "
                             "GONE.bly");
    if (!v->out)
        return message_error("say where the result goes: -o LEFT.bly");
    return algebra_run(&subtracting, v, operands);
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
    .options = options,
    .values_size = sizeof(algebra_values),
    .run = run,
};
