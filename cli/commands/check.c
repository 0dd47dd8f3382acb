/* bloomery check: which lines may be in a list.
 *
 * The list is mapped, not read, unless it is to be followed: a process starts in milliseconds
 * whatever its size, and many share one copy of it. Lines come in batches, and answers leave before
 * the next read that has to wait, so that it can stand in the middle of a pipe that never ends. A
 * list on a server is asked there, a batch in one trip.
 */
#include "cli.h"
#include "common_options.h"
#include "filters/list_set.h"
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
    cli_files lists;
    const char *key, *key_file;
    uint64_t field, gozero;
    cli_char delimiter;
    unsigned type, on_error, list_names;
    bool invert, count, line_number, with_filename, null, json, strict, follow, verify,
        allow_replica;
} check_options;

/* When the lists that matched are named before a line: in the order of the choices below. */
enum { LIST_NAMES_AUTO = 1, LIST_NAMES_ALWAYS, LIST_NAMES_NEVER };

#define AT(name) offsetof(check_options, name)
static const cli_option options[] = {
    {.name = "list",
     .letter = 'l',
     .type = CLI_FILES,
     .at = AT(lists),
     .metavar = "LIST",
     .help = "Look up the lines in LIST; may be given several times. Every operand is then a FILE. "
             "A line matches if at least one of the lists matches."},
    {.name = "invert-match",
     .letter = 'v',
     .type = CLI_FLAG,
     .at = AT(invert),
     .help = "Print the lines that do not match: they are certainly not in the list."},
    OPTION_COUNT(AT(count), "Print only the number of lines."),
    {.name = "line-number",
     .letter = 'n',
     .type = CLI_FLAG,
     .at = AT(line_number),
     .help = "Print the line number before each line."},
    {.name = "with-filename",
     .letter = 'H',
     .type = CLI_FLAG,
     .at = AT(with_filename),
     .help = "Print the name of the file before each line."},
    {.name = "list-names",
     .type = CLI_CHOICE,
     .at = AT(list_names),
     .metavar = "WHEN",
     .choices = "auto|always|never",
     .help =
         "Print before each line the names of the lists that have it, separated by commas: auto "
         "(the default) with several lists, always or never. With -c, always prints a count "
         "for each list."},
    OPTION_KEY(AT(key), "Look up this one line, and read no input."),
    OPTION_TYPE(AT(type), "What the lines are; by default the type that the list was built with."),
    OPTION_FIELD(AT(field), "Look up only the Nth field of each line, counted from 1. A line "
                            "without this field does not match."),
    OPTION_DELIMITER(AT(delimiter)),
    OPTION_NULL(AT(null), "Input and output lines"),
    OPTION_KEY_FILE(AT(key_file), "The secret key of a keyed list."),
    {.name = "follow",
     .type = CLI_FLAG,
     .at = AT(follow),
     .help = "Read standard input, and use the new list as soon as LIST is replaced, without "
             "losing a line. A damaged list is refused, and the old one stays in use. The list is "
             "loaded into memory, unless it is on a server."},
    OPTION_ON_ERROR(AT(on_error), LIVE_FALLBACK_CHOICES,
                    "When a server does not answer: stop with status 2 (stop, the default), or go "
                    "on with a warning and treat every line as in the list (yes) or as not in it "
                    "(no). The server is tried again every five seconds."),
    OPTION_ALLOW_REPLICA(AT(allow_replica),
                         "Let a replica answer. Keys that it has not yet received from its master "
                         "count as not in the list."),
    OPTION_GOZERO(AT(gozero)),
    {.name = "strict",
     .type = CLI_FLAG,
     .at = AT(strict),
     .help = "A line that is not of the list's type is an error: it is reported, and the exit "
             "status is 2."},
    {.name = "verify",
     .type = CLI_FLAG,
     .at = AT(verify),
     .help = "Check the whole list for damage before the first lookup. By default only its header "
             "is checked; other damage causes wrong answers, never a crash."},
    OPTION_JSON(AT(json),
                "Print one JSON object for each line of the input, whether it matches or not."),
    {0},
};

typedef struct job {
    const check_options *options;
    bool quiet;
    bool names_lists; /* before each line */
    list_set set;
    pipeline lines;
    output out;
    uint64_t selected, malformed;
} job;

/* ---- one line -------------------------------------------------------------------------------- */

/* A line of a batch. */
typedef struct checked_line {
    const char *path; /* NULL for --key */
    uint64_t number;
    bly_bytes record;
    size_t at; /* among the answers */
} checked_line;

static bool put_text(job *j, const char *text) {
    return output_put(&j->out, text, strlen(text));
}

/* "a.bly,b.bly:" */
static bool print_names(job *j, size_t at) {
    bool good = true, first = true;
    for (const set_list *l = j->set.lists; good && l < j->set.lists + j->set.count; l++) {
        if (!l->answers.match[at])
            continue;
        good = (first || put_text(j, ",")) && put_text(j, list_set_name(l));
        first = false;
    }
    return good && (first || put_text(j, ":"));
}

/* A record is followed by its separator. */
static bool print_line(job *j, const checked_line *line) {
    char number[24];
    bool good = true;
    if (j->options->with_filename && line->path)
        good = put_text(j, line->path) && put_text(j, ":");
    if (j->options->line_number && line->path) {
        (void)snprintf(number, sizeof number, "%llu:", (unsigned long long)line->number);
        good = good && put_text(j, number);
    }
    if (j->names_lists)
        good = good && print_names(j, line->at);
    return good && output_put(&j->out, line->record.data, line->record.size + 1);
}

/* The entry by which a list matched. */
static void json_entry(job *j, json *out, set_list *l, const checked_line *line) {
    char room[BLY_LIST_WORDS];
    if (l->answers.match[line->at] && !l->answers.assumed[line->at])
        json_bytes(out, "by", list_set_entry(&j->set, l, line->record, room));
    else
        json_null(out, "by");
}

/* Of the lists that -l names. */
static void json_lists(job *j, json *out, const checked_line *line) {
    char *silent[CLI_MAX_FILES];
    size_t count = 0;
    json_open(out, "lists", '[');
    for (set_list *l = j->set.lists; l < j->set.lists + j->set.count; l++) {
        if (l->answers.assumed[line->at])
            silent[count++] = (char *)list_set_name(l);
        if (!l->answers.match[line->at])
            continue;
        json_open(out, NULL, '{');
        json_text(out, "list", list_set_name(l));
        json_entry(j, out, l, line);
        json_close(out, '}');
    }
    json_close(out, ']');
    if (count > 0)
        json_texts(out, "unanswered", silent, count);
}

static bool print_json(job *j, const checked_line *line) {
    const bool several = j->options->lists.count > 0;
    json out = json_begin(stdout);
    if (line->path) {
        json_text(&out, "file", line->path);
        json_integer(&out, "number", line->number);
    }
    json_bytes(&out, "line", line->record);
    json_bool(&out, "match", j->set.any.match[line->at]);
    if (several)
        json_lists(j, &out, line);
    else
        json_entry(j, &out, j->set.lists, line);
    if (j->set.any.malformed[line->at])
        json_text(&out, "malformed", list_set_reason(&j->set, line->record));
    if (!several && j->set.any.assumed[line->at])
        json_bool(&out, "assumed", true);
    json_end(&out);
    return output_stdio_is_well();
}

/* Reports one line as the options want it. false: it cannot be printed. */
static bool report_line(job *j, const checked_line *line) {
    const check_options *o = j->options;
    const bool malformed = j->set.any.malformed[line->at];
    const bool selected = j->set.any.match[line->at] != o->invert;
    j->malformed += malformed;
    j->selected += selected;
    if (malformed && o->strict)
        line_complain(list_set_reason(&j->set, line->record), line->path, line->number,
                      line->record, false);
    if (j->quiet || o->count)
        return true;
    if (o->json)
        return print_json(j, line);
    return !selected || print_line(j, line);
}

/* ---- all batches ----------------------------------------------------------------------------- */

/* false: reported. */
static bool flush_answers(job *j) {
    /* JSON goes the first way, everything else the second. */
    return output_stdio_flush() && output_flush(&j->out);
}

/* Before a read that has to wait. Lists that are followed are examined meanwhile. */
static bool while_idle(void *ctx) {
    enum { WAIT_MS = 250 };
    job *j = ctx;
    struct pollfd standard_input = {STDIN_FILENO, POLLIN, 0};
    if (!flush_answers(j))
        return false;
    while (j->options->follow && poll(&standard_input, 1, WAIT_MS) == 0)
        list_set_refresh(&j->set);
    return true;
}

static bool take_batch(void *ctx, const bly_bytes *records, size_t n) {
    job *j = ctx;
    const input *in = &j->lines.in;
    list_set_refresh(&j->set);
    if (!list_set_batch(&j->set, records, n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!report_line(j, &(checked_line){in->path, in->number + i, records[i], i}))
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
           flush_answers(j);
}

/* ---- at the end ------------------------------------------------------------------------------ */

static bool print_count(job *j, const set_list *l) {
    char text[32];
    const uint64_t count = l ? l->matched : j->selected;
    (void)snprintf(text, sizeof text, "%llu\n", (unsigned long long)count);
    return (!l || (put_text(j, list_set_name(l)) && put_text(j, ":"))) && put_text(j, text);
}

static bool print_counts(job *j) {
    bool good = true;
    if (j->options->list_names != LIST_NAMES_ALWAYS)
        good = print_count(j, NULL);
    else
        for (size_t i = 0; good && i < j->set.count; i++)
            good = print_count(j, &j->set.lists[i]);
    return good && output_flush(&j->out);
}

static void note_malformed(const job *j) {
    char count[NUMBER_TEXT], types[LIST_SET_TYPES], what[64] = "is not";
    if (!j->malformed || j->options->strict)
        return;
    const bool one = j->malformed == 1;
    if (j->options->field)
        (void)snprintf(what, sizeof what, "%s no field %llu", one ? "has" : "have",
                       (unsigned long long)j->options->field);
    else if (!one)
        (void)snprintf(what, sizeof what, "are not");
    message_note("%s line%s %s of type %s, so surely %s (--strict names %s)",
                 number_grouped(j->malformed, count), one ? "" : "s", what,
                 list_set_types(&j->set, types),
                 j->set.count > 1 ? "in no list" : "not in the list", one ? "it" : "them");
}

static void warn_assumed(const job *j) {
    char count[NUMBER_TEXT];
    for (const set_list *l = j->set.lists; l < j->set.lists + j->set.count; l++)
        if (l->assumed)
            message_warn("%s: no answer about %s line%s, taken to be %sin the list",
                         list_set_name(l), number_grouped(l->assumed, count),
                         l->assumed == 1 ? "" : "s",
                         j->set.options.fallback == LIVE_NO ? "not " : "");
}

static int check(job *j, cli_operands files) {
    const check_options *o = j->options;
    bool good = take_lines(j, files);
    bool failed = !good || j->lines.failed;
    if (good && o->count && !j->quiet)
        failed = !print_counts(j) || failed;
    if (good) {
        note_malformed(j);
        warn_assumed(j);
    }
    if (good && j->quiet && j->selected)
        return CLI_OK;
    if (failed || (o->strict && j->malformed))
        return CLI_ERROR;
    return j->selected ? CLI_OK : CLI_NONE;
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool refuse(const char *why) {
    (void)message_error("%s", why);
    return false;
}

/* What goes with lists on servers, and what does not. */
static bool places_agree(const check_options *o, cli_operands lists) {
    uint32_t any = 0, all = UINT32_MAX;
    for (size_t i = 0; i < lists.count; i++) {
        any |= handle_capabilities(lists.items[i]);
        all &= handle_capabilities(lists.items[i]);
    }
    if (!(any & HANDLE_MAY_FAIL) && (o->on_error || o->gozero))
        return refuse("--on-error and --gozero are for a list on a server: redis://HOST/KEY");
    if (!(any & HANDLE_MAY_FAIL) && o->allow_replica)
        return refuse("--allow-replica is for a list on a server: redis://HOST/KEY");
    if (!(all & HANDLE_VERIFIES) && o->verify)
        return refuse("--verify reads the whole list first; one on a server changes meanwhile. "
                      "Fetch it with bloomery pull, and verify that");
    if (o->gozero && lists.count > 1)
        return refuse("--gozero gives the size of one filter; name one list");
    if (o->gozero && o->key_file)
        return refuse("go-zero's filters are not keyed; leave --key-file out");
    if (o->gozero && o->follow)
        return refuse("a filter of go-zero's that takes the place of another cannot be told from "
                      "it; leave --follow out");
    return true;
}

static bool names_agree(const check_options *o) {
    if (!o->list_names)
        return true;
    if (o->json)
        return refuse("--json names the lists that -l gives; leave out --list-names");
    if (o->invert && o->list_names == LIST_NAMES_ALWAYS)
        return refuse("-v prints lines that are in no list; leave out --list-names");
    return true;
}

static bool options_agree(const check_options *o, cli_operands lists, cli_operands files) {
    const bool stdin_only =
        files.count == 0 || (files.count == 1 && strcmp(files.items[0], "-") == 0);
    if (lists.count == 0)
        return refuse("a list is needed: bloomery check LIST [FILE...]");
    if (o->key && files.count > 0)
        return refuse("--key and a FILE cannot both be given");
    if (o->key && o->follow)
        return refuse("--key and --follow cannot both be given");
    if (o->follow && !stdin_only)
        return refuse("--follow reads standard input, so no FILE can be given; pipe into it");
    if (o->json && (o->invert || o->count || o->line_number || o->with_filename))
        return refuse("--json prints every line with all about it; leave -v, -c, -n and -H out");
    if (o->delimiter.given && !o->field)
        return refuse("--delimiter needs --field");
    return names_agree(o) && places_agree(o, lists);
}

static job *job_create(const check_options *o, size_t list_count, const bly_hasher *key) {
    job *j = calloc(1, sizeof *j);
    if (!j) {
        (void)message_error("out of memory");
        return NULL;
    }
    j->options = o;
    j->quiet = message_quiet();
    j->names_lists = !o->invert && (o->list_names == LIST_NAMES_ALWAYS ||
                                    (o->list_names != LIST_NAMES_NEVER && list_count > 1));
    j->set.options = (live_list_options){.type = (bly_list_type)o->type,
                                         .key = key,
                                         .follow = o->follow,
                                         .verify = o->verify,
                                         .fallback = (live_fallback)o->on_error,
                                         .gozero = o->gozero,
                                         .allow_replica = o->allow_replica};
    query *q = &j->set.query;
    q->flags = o->null ? BLY_LIST_RECORDS : 0;
    q->field.exact = o->null;
    q->field.field = o->field;
    q->field.delimiter = o->delimiter.given ? o->delimiter.value : '\t';
    return j;
}

static void job_free(job *j) {
    output_close(&j->out);
    pipeline_close(&j->lines);
    list_set_close(&j->set);
    free(j);
}

static int run(void *values, cli_operands operands) {
    check_options *o = values;
    const size_t first = o->lists.count == 0 && operands.count > 0; /* the operand LIST */
    const cli_operands files = {operands.items + first, operands.count - first};
    const cli_operands lists = first ? (cli_operands){operands.items, 1}
                                     : (cli_operands){(char **)o->lists.items, o->lists.count};
    bly_hasher space;
    const bly_hasher *key;
    if (!options_agree(o, lists, files) || !open_key(o->key_file, &space, &key))
        return CLI_ERROR;
    job *j = job_create(o, lists.count, key);
    if (!j)
        return CLI_ERROR;
    int status = CLI_ERROR;
    if (list_set_open(&j->set, lists) && output_open(&j->out, NULL, false))
        status = check(j, files);
    job_free(j);
    return status;
}

const cli_command command_check = {
    .name = "check",
    .operands = "{LIST | -l LIST...} [FILE...]",
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
