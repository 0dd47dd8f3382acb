/* bloomery drop - a filter leaves a plain server, with all its strings. */
#include "cli.h"
#include "common_options.h"
#include "filters/server_filter.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <bloomery/redis/filter.h>
#include <stdio.h>

typedef struct values {
    bool json;
} values;

static const cli_option options[] = {
    OPTION_JSON(offsetof(values, json), "Print what was deleted as a JSON object for each filter."),
    {0},
};

static void report(const values *v, const remote *r, const bly_bitmap *was) {
    char bytes[NUMBER_TEXT];
    const uint64_t size = bly_bitmap_bytes(was);
    if (!v->json) {
        message_note("%s: deleted, %s in %u string%s", r->at.name, number_bytes(size, bytes),
                     (unsigned)was->shards, was->shards == 1 ? "" : "s");
        return;
    }
    json j = json_begin(stdout);
    json_text(&j, "address", r->at.name);
    json_integer(&j, "shards", was->shards);
    json_integer(&j, "bytes", size);
    json_end(&j);
}

static bool drop(const values *v, const char *address) {
    const bly_redis_filter_options how = {.struct_size = sizeof how, .without_key = true};
    remote r;
    bool good = remote_to(&r, address) && remote_open(&r, NULL, &how) == BLY_OK;
    if (good) {
        const bly_bitmap was = *bly_redis_filter_bitmap(r.filter);
        const bly_status status = bly_redis_filter_drop(r.filter);
        good = status == BLY_OK;
        if (good)
            report(v, &r, &was);
        else
            (void)remote_failed(&r, status);
    }
    remote_close(&r);
    return good;
}

static int run(void *at, cli_operands operands) {
    int status = CLI_OK;
    if (operands.count == 0)
        return message_error("name a filter on a server: bloomery drop redis://HOST/KEY");
    for (size_t i = 0; i < operands.count; i++) {
        const char *address = operands.items[i];
        if (!remote_is_address(address))
            status =
                message_error("%s: is no address of a server; a file is deleted with rm", address);
        else if (!drop(at, address))
            status = CLI_ERROR;
    }
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
    .options = options,
    .values_size = sizeof(values),
    .run = run,
};
