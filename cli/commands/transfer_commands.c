/* bloomery push, pull and drop - filter files become keys of a server, and the other way round;
 * filters are deleted from a server. */
#include "cli.h"
#include "common_options.h"
#include "filters/transfer.h"
#include "text/message.h"

#define AT(field) offsetof(transfer_values, field)

/* ---- push ------------------------------------------------------------------------------------ */

static const cli_option push_options[] = {
    OPTION_CHUNK_SIZE(AT(chunk), "Send"),
    {.name = "replace",
     .type = CLI_FLAG,
     .at = AT(replace),
     .help = "Replace an existing filter. It stays in use until the new one is complete."},
    {.name = "resume",
     .type = CLI_FLAG,
     .at = AT(resume),
     .help = "Continue an interrupted push of the same file. Needs the module."},
    {.name = "as-is",
     .type = CLI_FLAG,
     .at = AT(as_is),
     .help = "Send a list that was built with --type to a server with the module, too. The module "
             "does not know types: its clients must look up keys in canonical form."},
    OPTION_PLAIN(AT(plain), "Store the filter in strings of the server, even where the module is "
                            "loaded. For lists of kind sbbf and split512."),
    OPTION_SHARDS(AT(shards), "On a server without the module"),
    OPTION_EXPIRE(
        AT(expire),
        "On a server without the module: the filter expires after TIME: 90s, 15m, 24h or 7d."),
    OPTION_KEY_FILE(AT(key_file), "The secret key of a keyed list. A server without the module "
                                  "stores an id of the key; the key itself is not sent."),
    OPTION_JSON(AT(json), "Print a report as a JSON object."),
    {0},
};

static int run_push(void *values, cli_operands operands) {
    if (operands.count != 2)
        return message_error("name a filter file and where it goes: bloomery push LIST.bly "
                             "redis://HOST:PORT/KEY");
    return transfer_push(values, operands.items[0], operands.items[1]);
}

const cli_command command_push = {
    .name = "push",
    .operands = "FILE.bly ADDRESS",
    .summary = "Send a filter file to a Redis or Valkey server",
    .description =
        "Makes a filter file a key of a server: a list that was built offline, in minutes and on "
        "any machine, serves there at once. The file is checked before anything is sent. It goes "
        "over in pieces, and the key appears, or is replaced, in one moment, when all of it has "
        "arrived. Until then the old filter serves; if anything fails it stays.\n"
        "\n"
        "On a server that has the Bloomery module loaded it becomes a filter of the module "
        "(BLY.LOAD), of any kind, and the server checks it, too. On any other, and with --plain, "
        "it becomes one or more strings, which need no module; that takes the kinds sbbf and "
        "split512. Such a filter is asked and added to by `bloomery check`, `add` and `dedup`, and "
        "by programs through the library. Of several strings the first is replaced last; whoever "
        "meets an old one and a new one gets an error and no wrong answer.\n"
        "\n"
        "The address is redis://HOST:PORT/KEY, or redis://HOST:PORT/DATABASE/KEY with the number "
        "of a database. Without HOST it is this machine, without PORT 6379. A user and a password "
        "come before the host: redis://USER:PASSWORD@HOST/KEY, or :PASSWORD@ alone; whoever lists "
        "the processes of this machine sees them there, but not in the environment variable "
        "REDISCLI_AUTH, which is used where the address has no password. A socket is "
        "unix:///PATH?key=KEY. What is special in an address is written %XX. rediss:// is TLS, "
        "where this build has it, and needs a tunnel where not. In a cluster any of its servers "
        "will do.\n"
        "\n"
        "A keyed filter is sent without its key, which a server with the module has in its own "
        "key file or not at all. A list that was built with --type is not sent to the module "
        "without --as-is, for that would compare bytes, not addresses or names. Without the module "
        "it is as with a file: whoever asks brings his keys into the list's form, and `bloomery "
        "check` does so by itself.",
    .examples = "# Build a list here, and serve it there\n"
                "bloomery build -o blocked.bly blocked.txt && bloomery push blocked.bly "
                "redis://cache.example:6379/blocked\n"
                "# Replace it by a newer one, while it is in use\n"
                "bloomery push --replace blocked.bly redis://cache.example/blocked\n"
                "# Go on after the connection broke\n"
                "bloomery push --resume blocked.bly redis://cache.example/blocked\n"
                "# Over a cluster without the module, for a day\n"
                "bloomery push --shards 3 --expire 24h blocked.bly redis://cache.example/blocked",
    .options = push_options,
    .most_used = {"replace", "resume", "expire"},
    .values_size = sizeof(transfer_values),
    .run = run_push,
};

/* ---- pull ------------------------------------------------------------------------------------ */

static const cli_option pull_options[] = {
    OPTION_CHUNK_SIZE(AT(chunk), "Fetch"),
    OPTION_FORCE(AT(replace), "Replace an existing file."),
    OPTION_JSON(AT(json), "Print a report as a JSON object."),
    {0},
};

static int run_pull(void *values, cli_operands operands) {
    if (operands.count != 2)
        return message_error("name a key and the file it goes to: bloomery pull "
                             "redis://HOST:PORT/KEY LIST.bly");
    return transfer_pull(values, operands.items[0], operands.items[1]);
}

const cli_command command_pull = {
    .name = "pull",
    .operands = "ADDRESS FILE.bly",
    .summary = "Fetch a filter from a Redis or Valkey server to a file",
    .description =
        "Writes the filter that a key of a server holds to a file, which the other commands read "
        "and the library maps. It comes in pieces, and the server goes on serving. A filter of the "
        "Bloomery module (BLY.DUMP) may be of any kind; when it changes meanwhile, what has "
        "arrived is of no use, and the pull starts over, five times at most. One of a server "
        "without the module, as `bloomery build`, `push` and `dedup` make them, is held in memory "
        "until it is whole, and may change: the file has every key that was added before the pull "
        "began, and perhaps some that came later.\n"
        "\n"
        "The file appears when all of it has arrived and, of a filter of the module, its checksums "
        "are right. An existing file is only replaced with --force.\n"
        "\n"
        "The address is redis://HOST:PORT/KEY, or redis://HOST:PORT/DATABASE/KEY with the number "
        "of a database; `bloomery help push` tells more of it. A keyed filter comes without its "
        "key.",
    .examples = "# A copy of what the server has\n"
                "bloomery pull redis://cache.example:6379/blocked blocked.bly\n"
                "# Check lines against it, offline\n"
                "bloomery check blocked.bly lines.txt",
    .options = pull_options,
    .values_size = sizeof(transfer_values),
    .run = run_pull,
};

/* ---- drop ------------------------------------------------------------------------------------ */

static const cli_option drop_options[] = {
    OPTION_JSON(AT(json), "Print a JSON object for each deleted filter."),
    {0},
};

static int run_drop(void *values, cli_operands operands) {
    int status = CLI_OK;
    if (operands.count == 0)
        return message_error("name a filter on a server: bloomery drop redis://HOST/KEY");
    for (size_t i = 0; i < operands.count; i++)
        if (transfer_drop(values, operands.items[i]) != CLI_OK)
            status = CLI_ERROR;
    return status;
}

const cli_command command_drop = {
    .name = "drop",
    .operands = "ADDRESS...",
    .summary = "Delete filters from a plain Redis or Valkey",
    .description =
        "Deletes filters that lie in strings of a server without the module, redis://HOST/KEY "
        "(`bloomery help push` tells more of addresses). One that is large lies in several "
        "strings, on a cluster on several servers: all of them go. Their memory is given back in "
        "the background.\n"
        "\n"
        "What is no such filter is left alone: another value under the key, or a filter of the "
        "module, which DEL or UNLINK deletes. Programs that have the filter open get an error, "
        "never the answer \"absent\".",
    .examples = "# A crawl is over\n"
                "bloomery drop redis://cache.example/crawl:seen",
    .options = drop_options,
    .values_size = sizeof(transfer_values),
    .run = run_drop,
};
