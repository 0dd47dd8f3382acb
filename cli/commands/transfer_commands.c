/* bloomery push, pull and drop - send a filter file to a server, fetch a filter from one, and
 * delete filters there. */
#include "cli.h"
#include "common_options.h"
#include "filters/transfer.h"
#include "text/message.h"

#define AT(field) offsetof(transfer_options, field)

/* ---- push ------------------------------------------------------------------------------------ */

static const cli_option push_options[] = {
    OPTION_CHUNK_SIZE(AT(chunk), "Send"),
    OPTION_FLAG("replace", 0, AT(replace),
                "Replace an existing filter. It stays in use until the new one is complete."),
    OPTION_FLAG("resume", 0, AT(resume),
                "Continue an interrupted push of the same file. Needs the module."),
    OPTION_FLAG("as-is", 0, AT(as_is),
                "Send a list that was built with --type to a server with the module. The module "
                "does not know types: its clients must look up keys in canonical form."),
    OPTION_PLAIN(AT(plain), "Store the filter in strings, even if the server has the module. For "
                            "lists of kind sbbf and split512."),
    OPTION_SHARDS(AT(shards), "On a server without the module"),
    OPTION_EXPIRE(AT(expire), "On a server without the module: let the filter expire after TIME."),
    OPTION_KEY_FILE(AT(key_file), "The secret key of a keyed list. A server without the module "
                                  "stores an id of the key; the key itself is not sent."),
    OPTION_JSON(AT(json), "Print a report as a JSON object."),
    {0},
};

static int run_push(void *values, cli_operands operands) {
    if (operands.count != 2)
        return message_error("a filter file and an address are needed: bloomery push LIST.bly "
                             "redis://HOST:PORT/KEY");
    return transfer_push(values, operands.items[0], operands.items[1]);
}

const cli_command command_push = {
    .name = "push",
    .operands = "FILE.bly ADDRESS",
    .summary = "Send a filter file to a Redis or Valkey server",
    .brief = "Sends a filter file to a Redis or Valkey server, under the key that ADDRESS names: "
             "redis://HOST:PORT/KEY. The key appears, or is replaced, when the whole filter has "
             "arrived. Until then an old filter stays in use.\n"
             "\n"
             "A server with the Bloomery module accepts a filter of any kind. A server without it "
             "stores the filter in strings, which is possible for the kinds sbbf and split512.",
    .description =
        "The file is verified before anything is sent. If the transfer fails, an old filter "
        "stays.\n"
        "\n"
        "With the Bloomery module, the file becomes a filter of the module (BLY.LOAD). It is sent "
        "in chunks, and the server verifies it again. Without the module, and with --plain, it "
        "becomes one or more strings. `bloomery check`, `bloomery add` and `bloomery dedup` use "
        "such a filter, and so do programs through the library. If there are several strings, the "
        "first is replaced last. A client that meets old and new strings gets an error, never a "
        "wrong answer.\n"
        "\n"
        "The address is redis://HOST:PORT/KEY, or redis://HOST:PORT/DATABASE/KEY with the number "
        "of a database. HOST is 127.0.0.1 by default, and PORT is 6379. A user and a password come "
        "before the host: redis://USER:PASSWORD@HOST/KEY or redis://:PASSWORD@HOST/KEY. Other "
        "users of this machine can see them in the list of processes. They cannot see the "
        "environment variable REDISCLI_AUTH, whose password is used if the address has none. A "
        "Unix socket is unix:///PATH?key=KEY. Special characters are written as %XX. rediss:// is "
        "TLS, if this build supports it; otherwise use a tunnel. For a cluster, give the address "
        "of any of its servers.\n"
        "\n"
        "A keyed filter is sent without its key. A server with the module can use the filter only "
        "if its own key file has that key. A list that was built with --type is not sent to the "
        "module unless --as-is is given, because the module compares bytes, not addresses or "
        "domains. Without the module, `bloomery check` and `bloomery add` find the type and "
        "convert their lines; other clients must look up keys in canonical form.",
    .examples = "# build a list, and send it to a server\n"
                "bloomery build -o blocked.bly blocked.txt && bloomery push blocked.bly "
                "redis://cache.example:6379/blocked\n"
                "# replace it with a newer one, while it is in use\n"
                "bloomery push --replace blocked.bly redis://cache.example/blocked\n"
                "# continue after the connection broke\n"
                "bloomery push --resume blocked.bly redis://cache.example/blocked\n"
                "# divide a filter over a cluster without the module, for one day\n"
                "bloomery push --shards 3 --expire 24h blocked.bly redis://cache.example/blocked",
    .options = push_options,
    .most_used = {"replace", "resume", "expire"},
    .values_size = sizeof(transfer_options),
    .run = run_push,
};

/* ---- pull ------------------------------------------------------------------------------------ */

static const cli_option pull_options[] = {
    OPTION_CHUNK_SIZE(AT(chunk), "Fetch"),
    OPTION_FORCE(AT(replace), "Replace an existing file."),
    OPTION_ALLOW_REPLICA(AT(allow_replica),
                         "Accept a replica. It may lack the last keys of its master. A filter of "
                         "the module is also fetched from a replica without this option."),
    OPTION_JSON(AT(json), "Print a report as a JSON object."),
    {0},
};

static int run_pull(void *values, cli_operands operands) {
    if (operands.count != 2)
        return message_error(
            "an address and a file are needed: bloomery pull redis://HOST:PORT/KEY LIST.bly");
    return transfer_pull(values, operands.items[0], operands.items[1]);
}

const cli_command command_pull = {
    .name = "pull",
    .operands = "ADDRESS FILE.bly",
    .summary = "Fetch a filter from a Redis or Valkey server to a file",
    .brief =
        "Fetches a filter from a Redis or Valkey server and writes it to a file, for the other "
        "commands and for programs that use the library. ADDRESS is redis://HOST:PORT/KEY.\n"
        "\n"
        "The file appears when the whole filter has arrived. An existing file is replaced only "
        "with --force.",
    .description =
        "A filter of the Bloomery module (BLY.DUMP) can be of any kind. It is fetched in chunks, "
        "and its checksums are verified before the file appears. If it changes meanwhile, the pull "
        "starts again; after five attempts it fails.\n"
        "\n"
        "A filter of a server without the module, created by `bloomery build`, `bloomery push` or "
        "`bloomery dedup`, is collected in memory and may change meanwhile. The file then contains "
        "every key that was added before the pull began, and perhaps some that were added later.\n"
        "\n"
        "The forms of an address are explained by `bloomery push --help`. A keyed filter is "
        "fetched without its key.",
    .examples = "# copy a filter from a server\n"
                "bloomery pull redis://cache.example:6379/blocked blocked.bly\n"
                "# look up lines in the copy, offline\n"
                "bloomery check blocked.bly lines.txt",
    .options = pull_options,
    .values_size = sizeof(transfer_options),
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
        return message_error("no address given; for example: bloomery drop redis://HOST/KEY");
    for (size_t i = 0; i < operands.count; i++)
        if (transfer_drop(values, operands.items[i]) != CLI_OK)
            status = CLI_ERROR;
    return status;
}

const cli_command command_drop = {
    .name = "drop",
    .operands = "ADDRESS...",
    .summary = "Delete filters from a Redis or Valkey server",
    .brief = "Deletes filters from a Redis or Valkey server. Each ADDRESS names one: "
             "redis://HOST:PORT/KEY.\n"
             "\n"
             "Only filters that were stored there without the Bloomery module are deleted, for "
             "example by `bloomery build` or `bloomery dedup`. If the key contains anything else, "
             "it is not deleted. Use the server's command DEL for a filter of the module.",
    .description =
        "All strings of a filter are deleted, in a cluster on all servers. The servers free their "
        "memory in the background. A program that has the filter open gets an error, never the "
        "answer that a key is absent.\n"
        "\n"
        "The forms of an address are explained by `bloomery push --help`.",
    .examples = "# delete the state of a crawl\n"
                "bloomery drop redis://cache.example/crawl:seen",
    .options = drop_options,
    .values_size = sizeof(transfer_options),
    .run = run_drop,
};
