/* bloomery check: which lines may be in a list.
 *
 * The list is mapped, not read, unless it is to be followed: a process starts in milliseconds
 * whatever its size, and many share one copy of it. Lines come in batches, and answers leave before
 * the next read that has to wait, so that it can stand in the middle of a pipe that never ends. A
 * list on a server is asked there, a batch in one trip.
 */
#include "cli.h"
#include "common_options.h"
#include "filters/list_query.h"
#include "io/output.h"
#include "io/pipeline.h"
#include "text/json.h"
#include "text/message.h"
#include "text/numbers.h"

#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct check_options {
    const char *key, *key_file;
    uint64_t field, gozero;
    cli_char delimiter;
    unsigned type, on_error;
    bool invert, count, line_number, with_filename, null, json, strict, follow, verify;
} check_options;

#define AT(name) offsetof(check_options, name)
static const cli_option options[] = {
    {.name = "invert-match",
     .letter = 'v',
     .type = CLI_FLAG,
     .at = AT(invert),
     .help = "Print the lines that are surely not in the list instead."},
    OPTION_COUNT(AT(count), "Print only how many lines there are."),
    {.name = "line-number",
     .letter = 'n',
     .type = CLI_FLAG,
     .at = AT(line_number),
     .help = "Print the number of each line in its file before it."},
    {.name = "with-filename",
     .letter = 'H',
     .type = CLI_FLAG,
     .at = AT(with_filename),
     .help = "Print the name of its file before each line."},
    OPTION_KEY(AT(key), "Look for this one line instead of reading any."),
    OPTION_TYPE(AT(type), "What the lines are; by default what the list says it was built from."),
    OPTION_FIELD(AT(field), "Look only for the Nth field of a line, counted from 1. A line without "
                            "it is not in the list."),
    OPTION_DELIMITER(AT(delimiter)),
    OPTION_NULL(AT(null), "Input and output lines"),
    OPTION_KEY_FILE(AT(key_file), "The secret that a keyed list was built with."),
    {.name = "follow",
     .type = CLI_FLAG,
     .at = AT(follow),
     .help = "Take over a new list as soon as LIST is replaced, without losing a line. A damaged "
             "one is refused, and the old one stays. The list is read into memory, so it takes its "
             "size there; one on a server stays there. Reads standard input."},
    OPTION_ON_ERROR(
        AT(on_error), LIVE_CHOICES,
        "Of a list on a server that gives no answer: stop with status 2 (the default), or go on, "
        "and take each line for one that is in the list (yes) or that is not (no), with a warning, "
        "until it answers. It is asked again every five seconds."),
    OPTION_GOZERO(AT(gozero)),
    {.name = "strict",
     .type = CLI_FLAG,
     .at = AT(strict),
     .help = "A line that is not of the list's type is an error: it is named, and the exit status "
             "is 2."},
    {.name = "verify",
     .type = CLI_FLAG,
     .at = AT(verify),
     .help = "Read the whole list first, and refuse it if it is damaged anywhere. Without this "
             "only its header is looked at; damage elsewhere gives wrong answers, never a crash."},
    OPTION_JSON(AT(json), "Print one JSON object for every line, whether it matches or not."),
    {0},
};

typedef struct job {
    const check_options *options;
    bool quiet;
    live_how live;
    follow list;
    pipeline lines;
    output out;
    query query;
    uint64_t selected, malformed, assumed;
} job;

/* ---- one batch ------------------------------------------------------------------------------- */

/* Where a line comes from: path NULL for --key. */
typedef struct origin {
    const char *path;
    uint64_t number;
} origin;

/* A record is followed by its separator. */
static bool print_line(job *j, origin from, bly_bytes record) {
    char number[24];
    bool good = true;
    if (j->options->with_filename && from.path)
        good = output_put(&j->out, from.path, strlen(from.path)) && output_put(&j->out, ":", 1);
    if (j->options->line_number && from.path) {
        int size = snprintf(number, sizeof number, "%llu:", (unsigned long long)from.number);
        good = good && output_put(&j->out, number, (size_t)size);
    }
    return good && output_put(&j->out, record.data, record.size + 1);
}

/* What is known of a line. */
typedef struct verdict {
    bool match, malformed, assumed;
} verdict;

static bool print_json(job *j, origin from, bly_bytes record, verdict v) {
    char room[BLY_LIST_WORDS];
    bly_bytes by = {room, 0};
    json out = json_begin(stdout);
    if (from.path) {
        json_text(&out, "file", from.path);
        json_integer(&out, "number", from.number);
    }
    json_bytes(&out, "line", record);
    json_bool(&out, "match", v.match);
    if ((v.match && !v.assumed) || v.malformed)
        by = query_explain(&j->query, &j->list, record, room);
    if (v.match && !v.assumed)
        json_bytes(&out, "by", by);
    else
        json_null(&out, "by");
    if (v.malformed)
        json_text(&out, "malformed", j->query.reason);
    if (v.assumed)
        json_bool(&out, "assumed", true);
    json_end(&out);
    return output_stdio_is_well();
}

static void complain(job *j, origin from, bly_bytes record) {
    char room[BLY_LIST_WORDS];
    (void)query_explain(&j->query, &j->list, record, room);
    line_complain(j->query.reason, from.path, from.number, record, false);
}

/* What is to be said of one line. false: it cannot be said. */
static bool tell(job *j, origin from, bly_bytes record, verdict v) {
    const check_options *o = j->options;
    bool selected = v.match != o->invert;
    j->malformed += v.malformed;
    j->assumed += v.assumed;
    j->selected += selected;
    if (v.malformed && o->strict)
        complain(j, from, record);
    if (j->quiet || o->count)
        return true;
    if (!o->json)
        return !selected || print_line(j, from, record);
    return print_json(j, from, record, v);
}

/* ---- all batches ----------------------------------------------------------------------------- */

/* false: reported. */
static bool show_what_is_there(job *j) {
    /* JSON goes the first way, everything else the second. */
    return output_stdio_flush() && output_flush(&j->out);
}

/* Before a read that has to wait. A list to be followed is looked at while nothing comes. */
static bool while_idle(void *ctx) {
    enum { WAIT = 250 };
    job *j = ctx;
    struct pollfd standard_input = {STDIN_FILENO, POLLIN, 0};
    if (!show_what_is_there(j))
        return false;
    while (j->options->follow && poll(&standard_input, 1, WAIT) == 0)
        follow_refresh(&j->list);
    return true;
}

static bool take_batch(void *ctx, const bly_bytes *records, size_t n) {
    job *j = ctx;
    const query *q = &j->query;
    origin from = {j->lines.in.path, j->lines.in.number};
    if (j->options->follow)
        follow_refresh(&j->list);
    if (!query_batch(&j->query, &j->list, records, n))
        return false;
    for (size_t i = 0; i < n; i++, from.number++)
        if (!tell(j, from, records[i], (verdict){q->match[i], q->malformed[i], q->assumed[i]}))
            return false;
    j->lines.stop = j->quiet && j->selected;
    return true;
}

static bool take_lines(job *j, cli_operands files) {
    const check_options *o = j->options;
    const pipeline_options how = {.text = o->key,
                                  .null = o->null,
                                  .prints = !j->quiet && !o->count,
                                  .idle = while_idle,
                                  .idle_ctx = j};
    return pipeline_open(&j->lines, &how, files) && pipeline_run(&j->lines, take_batch, j) &&
           show_what_is_there(j);
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool refuse(const char *why) {
    (void)message_error("%s", why);
    return false;
}

/* What goes with a list on a server, and what does not. */
static bool server_agrees(const check_options *o, bool on_server) {
    if (!on_server && (o->on_error || o->gozero))
        return refuse("--on-error and --gozero are for a list on a server: redis://HOST/KEY");
    if (on_server && o->verify)
        return refuse("--verify reads the whole list first; one on a server changes meanwhile. "
                      "Fetch it with bloomery pull, and verify that");
    if (o->gozero && o->key_file)
        return refuse("go-zero's filters are not keyed; leave --key-file out");
    if (o->gozero && o->follow)
        return refuse("a filter of go-zero's that takes the place of another cannot be told from "
                      "it; leave --follow out");
    return true;
}

static bool options_agree(const check_options *o, cli_operands operands) {
    bool stdin_only =
        operands.count == 1 || (operands.count == 2 && strcmp(operands.items[1], "-") == 0);
    if (operands.count == 0)
        return refuse("a list is needed: bloomery check LIST [FILE...]");
    if (o->key && operands.count > 1)
        return refuse("--key and a FILE cannot both be given");
    if (o->key && o->follow)
        return refuse("--key and --follow cannot both be given");
    if (o->follow && !stdin_only)
        return refuse("--follow reads standard input, so no FILE can be given; pipe into it");
    if (o->json && (o->invert || o->count || o->line_number || o->with_filename))
        return refuse("--json prints every line with all about it; leave -v, -c, -n and -H out");
    if (o->delimiter.given && !o->field)
        return refuse("--delimiter needs --field");
    return server_agrees(o, remote_is_address(operands.items[0]));
}

static bool print_count(job *j) {
    char text[32];
    int size = snprintf(text, sizeof text, "%llu\n", (unsigned long long)j->selected);
    return output_put(&j->out, text, (size_t)size) && output_flush(&j->out);
}

static void mention_malformed(const job *j) {
    char count[NUMBER_TEXT];
    if (!j->malformed || j->options->strict)
        return;
    bool one = j->malformed == 1;
    char what[64] = "is not";
    if (j->options->field)
        (void)snprintf(what, sizeof what, "%s no field %llu", one ? "has" : "have",
                       (unsigned long long)j->options->field);
    else if (!one)
        (void)snprintf(what, sizeof what, "are not");
    (void)number_grouped(j->malformed, count);
    message_note("%s line%s %s of type %s, so surely not in the list (--strict names %s)", count,
                 one ? "" : "s", what, line_type_words(j->list.type), one ? "it" : "them");
}

static void mention_assumed(const job *j) {
    char count[NUMBER_TEXT];
    if (j->assumed)
        message_warn("%s: no answer about %s line%s, taken to be %sin the list", j->list.path,
                     number_grouped(j->assumed, count), j->assumed == 1 ? "" : "s",
                     j->live.otherwise == LIVE_NO ? "not " : "");
}

static int check(job *j, cli_operands operands) {
    const check_options *o = j->options;
    const cli_operands files = {operands.items + 1, operands.count - 1};
    bool good = take_lines(j, files);
    bool failed = !good || j->lines.failed;
    if (good && o->count && !j->quiet)
        failed = !print_count(j) || failed;
    if (good) {
        mention_malformed(j);
        mention_assumed(j);
    }
    if (good && j->quiet && j->selected)
        return CLI_OK;
    if (failed || (o->strict && j->malformed))
        return CLI_ERROR;
    return j->selected ? CLI_OK : CLI_NONE;
}

static bool open_list(job *j, const char *path, const bly_hasher *key) {
    const check_options *o = j->options;
    const follow_how how = o->follow ? FOLLOW_COPIED : o->verify ? FOLLOW_VERIFIED : FOLLOW_MAPPED;
    if (!remote_is_address(path))
        return follow_open(&j->list, path, key, (bly_list_type)o->type, how);
    j->live = (live_how){o->gozero, (live_otherwise)o->on_error, o->follow};
    return follow_open_live(&j->list, path, key, (bly_list_type)o->type, &j->live);
}

static int run(void *values, cli_operands operands) {
    const check_options *o = values;
    bly_hasher space;
    const bly_hasher *key;
    if (!options_agree(o, operands) || !open_key(o->key_file, &space, &key))
        return CLI_ERROR;
    job *j = calloc(1, sizeof *j);
    if (!j || bly_list_reader_create(&j->query.reader) != BLY_OK) {
        free(j);
        return message_error("out of memory");
    }
    int status = CLI_ERROR;
    j->options = o;
    j->quiet = message_quiet();
    j->query.flags = o->null ? BLY_LIST_RECORDS : 0;
    j->query.field.exact = o->null;
    j->query.field.field = o->field;
    j->query.field.delimiter = o->delimiter.given ? o->delimiter.value : '\t';
    if (open_list(j, operands.items[0], key)) {
        if (output_open(&j->out, NULL, false))
            status = check(j, operands);
        output_close(&j->out);
        pipeline_close(&j->lines);
        follow_close(&j->list);
    }
    query_free(&j->query);
    free(j);
    return status;
}

const cli_command command_check = {
    .name = "check",
    .operands = "LIST [FILE...]",
    .summary = "Print the lines that may be in a list",
    .description =
        "Reads lines (from standard input when no FILE is named; gzip and zstd are read as they "
        "are) "
        "and prints, as grep would, those that LIST, a file made by `bloomery build`, may hold. "
        "What "
        "is in the list is always found. A line that is not is printed too at the rate that the "
        "list "
        "was built for; -v prints the lines that are surely not in it.\n"
        "\n"
        "The list knows what its lines are, so each is brought into the same form as when it was "
        "built. Of an IP address the blocks around it are looked for too, of a domain its parents, "
        "as far as the list has any of that prefix length or that number of labels: a top-level "
        "domain only if one is listed. An IPv6 block does not hold IPv4 addresses. A list that "
        "does "
        "not record its type, such as one made by a program of your own, is a list of lines; with "
        "--type, all lengths are tried then: a wrong yes is as many times more likely.\n"
        "\n"
        "A state of `bloomery dedup` or `count` can be asked, too: of one that was made with "
        "--url, "
        "lines are looked for in canonical form; one that was made with --field or --ignore-case "
        "is "
        "refused, unless --type line says that the lines have the form of its keys. In all of them "
        "one "
        "carriage return before the newline is not part of a line (but with -0). Where a list of "
        "lines "
        "does not record that, a line that ends in one is looked up with it, too.\n"
        "\n"
        "That what is in the list is always found holds for every kind of filter, but for a window "
        "(of `bloomery dedup --window`) only as far as the window reaches.\n"
        "\n"
        "A line that is no address, or whatever the list holds, is surely not in it; such lines "
        "are "
        "counted in a note at the end.\n"
        "\n"
        "-q here silences the lines too, not only the notes: the exit status tells, and reading "
        "stops at the first line found. The exit status is 0 if a line was selected, 1 if none "
        "was, "
        "2 after an error.\n"
        "\n"
        "The list is mapped, not read, so that even a large one is ready at once, and many "
        "processes "
        "share one copy. Its file must then be replaced by rename, as `build -f` does, and not "
        "written over: when it is shortened, `check` ends with an error. Answers are printed "
        "whenever the input has nothing more to give. With --follow the list is held in memory, "
        "and "
        "a new one is taken over when LIST is replaced, in whatever way: it is looked for four "
        "times "
        "a second, and read whole before it is believed. While it is read, both are in memory.\n"
        "\n"
        "LIST may also be the address of a filter on a Redis or Valkey server that has no module, "
        "as "
        "`bloomery build`, `push` and `dedup` make them: redis://HOST/KEY (`bloomery help push` "
        "tells "
        "more of addresses). It is asked where it is, thousands of lines in one trip, and what is "
        "added to it meanwhile is found. An error (no connection, no answer, the filter gone or "
        "replaced) is never taken for \"not in the list\": it ends the command with status 2, "
        "unless "
        "--on-error says what to think instead.",
    .examples = "# the lines of a log whose first field is a listed address\n"
                "bloomery check --field 1 -t ' ' drop.bly access.log\n"
                "# is this domain, or a parent of it, listed? the exit status tells\n"
                "bloomery check -q bad.bly -k www.example.com\n"
                "# what is surely not in the list\n"
                "bloomery check -v known.bly candidates.txt >new.txt\n"
                "# watch a log, and take over every new list\n"
                "tail -F queries.log | bloomery check --follow bad.bly\n"
                "# which entry matched\n"
                "bloomery check --json bad.bly hosts.txt\n"
                "# a list on a server; while that is away, let everything through\n"
                "bloomery check --on-error yes redis://cache.example/known ids.txt\n",
    .options = options,
    .most_used = {"invert-match", "key", "field"},
    .values_size = sizeof(check_options),
    .run = run,
};
