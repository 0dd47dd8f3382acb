/* bloomery check: prints the lines that may be in a list.
 *
 * A list file is mapped, not read, unless --follow is given. So a process starts in milliseconds
 * for any size, and processes share one copy. Lines are looked up in batches. Results are flushed
 * before a read that has to wait, so that the command works in an endless pipe. For a list on a
 * server, the keys of many lines are looked up in one round trip.
 */
#include "cli.h"
#include "common_options.h"
#include "filters/list_set.h"
#include "io/output.h"
#include "io/pipeline.h"
#include "io/source.h"
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

/* When the names of the matching lists are printed: in the order of the choices below. */
enum { LIST_NAMES_AUTO = 1, LIST_NAMES_ALWAYS, LIST_NAMES_NEVER };

#define AT(name) offsetof(check_options, name)
static const cli_option options[] = {
    OPTION_VALUE("list", 'l', CLI_FILES, AT(lists), "LIST",
                 "Look up the lines in LIST; may be given several times. Every operand is then a "
                 "FILE. A line matches if at least one of the lists matches."),
    OPTION_FLAG("invert-match", 'v', AT(invert),
                "Print the lines that do not match: they are certainly not in the list."),
    OPTION_COUNT(AT(count), "Print only the number of lines."),
    OPTION_FLAG("line-number", 'n', AT(line_number), "Print the line number before each line."),
    OPTION_FLAG("with-filename", 'H', AT(with_filename),
                "Print the name of the file before each line."),
    OPTION_CHOICE("list-names", 0, AT(list_names), "WHEN", "auto|always|never",
                  "Print before each line the names of the lists that match it, separated by "
                  "commas: auto (the default) with several lists, always or never. With -c, always "
                  "prints a count for each list."),
    OPTION_KEY(AT(key), "Look up this one line, and read no input."),
    OPTION_TYPE(AT(type),
                "The type of the lines; by default the type that the list was built with."),
    OPTION_FIELD(AT(field), "Look up only the Nth field of each line, counted from 1. A line "
                            "without this field does not match."),
    OPTION_DELIMITER(AT(delimiter)),
    OPTION_NULL(AT(null), "Input and output lines"),
    OPTION_KEY_FILE(AT(key_file), "Use the secret key in FILE, for a keyed list."),
    OPTION_FLAG("follow", 0, AT(follow),
                "Read standard input, and use the new list as soon as LIST is replaced; no line is "
                "lost. If the new list is damaged, the old one stays in use. The list is loaded "
                "into memory, unless it is on a server."),
    OPTION_ON_ERROR(AT(on_error), LIVE_FALLBACK_CHOICES,
                    "When a server does not answer: stop with status 2 (stop, the default), or "
                    "print a warning and treat every line as in the list (yes) or as not in it "
                    "(no). A new attempt is made every five seconds."),
    OPTION_ALLOW_REPLICA(AT(allow_replica), "Accept a replica. Keys that it has not yet received "
                                            "from its master count as not in the list."),
    OPTION_GOZERO(AT(gozero)),
    OPTION_FLAG("strict", 0, AT(strict),
                "Report lines that are not of the list's type as errors (the first ten, and the "
                "number of the others), and exit with status 2."),
    OPTION_FLAG("verify", 0, AT(verify),
                "Check the whole list for damage before the first lookup. By default only its "
                "header is checked; other damage causes wrong answers, never a crash."),
    OPTION_JSON(AT(json),
                "Print one JSON object for each line of the input, whether it matches or not."),
    {0},
};

typedef struct check_run {
    const check_options *options;
    bool quiet;
    bool list_names; /* printed before each line */
    list_set set;
    pipeline lines;
    output out;
    uint64_t selected, malformed;
} check_run;

/* ---- one line -------------------------------------------------------------------------------- */

/* A line of a batch. Its separator follows the record in memory. */
typedef struct checked_line {
    const char *path; /* NULL for --key */
    uint64_t number;
    bly_bytes record;
    size_t at; /* its index in the answers */
} checked_line;

static bool put_text(check_run *r, const char *text) {
    return output_put(&r->out, text, strlen(text));
}

/* Prints the names of the lists that match, as in "a.bly,b.bly:". */
static bool print_names(check_run *r, size_t at) {
    bool good = true, first = true;
    for (const set_list *l = r->set.lists; good && l < r->set.lists + r->set.count; l++) {
        if (!l->answers.match[at])
            continue;
        good = (first || put_text(r, ",")) && put_text(r, list_set_name(l));
        first = false;
    }
    return good && (first || put_text(r, ":"));
}

static bool print_line(check_run *r, const checked_line *line) {
    char number[24];
    bool good = true;
    if (r->options->with_filename && line->path)
        good = put_text(r, line->path) && put_text(r, ":");
    if (r->options->line_number && line->path) {
        (void)snprintf(number, sizeof number, "%llu:", (unsigned long long)line->number);
        good = good && put_text(r, number);
    }
    if (r->list_names)
        good = good && print_names(r, line->at);
    return good && output_put(&r->out, line->record.data, line->record.size + 1);
}

/* Writes which entry of the list the line matched, or null. */
static void json_entry(check_run *r, json *out, set_list *l, const checked_line *line) {
    char room[BLY_LIST_WORDS];
    if (l->answers.match[line->at] && !l->answers.assumed[line->at])
        json_bytes(out, "by", list_set_entry(&r->set, l, line->record, room));
    else
        json_null(out, "by");
}

/* Writes one object for each list of -l that matches. */
static void json_lists(check_run *r, json *out, const checked_line *line) {
    char *unanswered[CLI_MAX_FILES];
    size_t count = 0;
    json_open(out, "lists", '[');
    for (set_list *l = r->set.lists; l < r->set.lists + r->set.count; l++) {
        if (l->answers.assumed[line->at])
            unanswered[count++] = (char *)list_set_name(l);
        if (!l->answers.match[line->at])
            continue;
        json_open(out, NULL, '{');
        json_text(out, "list", list_set_name(l));
        json_entry(r, out, l, line);
        json_close(out, '}');
    }
    json_close(out, ']');
    if (count > 0)
        json_texts(out, "unanswered", unanswered, count);
}

static bool print_json(check_run *r, const checked_line *line) {
    const bool several = r->options->lists.count > 0;
    json out = json_begin(stdout);
    if (line->path) {
        json_text(&out, "file", line->path);
        json_integer(&out, "number", line->number);
    }
    json_bytes(&out, "line", line->record);
    json_bool(&out, "match", r->set.any.match[line->at]);
    if (several)
        json_lists(r, &out, line);
    else
        json_entry(r, &out, r->set.lists, line);
    if (r->set.any.malformed[line->at])
        json_text(&out, "malformed", list_set_reason(&r->set, line->record));
    if (!several && r->set.any.assumed[line->at])
        json_bool(&out, "assumed", true);
    json_end(&out);
    return output_stdio_is_well();
}

/* Counts one line, and prints it if the options say so. Returns false if it cannot be printed. */
static bool report_line(check_run *r, const checked_line *line) {
    const check_options *o = r->options;
    const bool malformed = r->set.any.malformed[line->at];
    const bool selected = r->set.any.match[line->at] != o->invert;
    r->malformed += malformed;
    r->selected += selected;
    if (malformed && o->strict && r->malformed <= MAX_NAMED_LINES)
        line_complain(list_set_reason(&r->set, line->record), line->path, line->number,
                      line->record, false);
    if (r->quiet || o->count)
        return true;
    if (o->json)
        return print_json(r, line);
    return !selected || print_line(r, line);
}

/* ---- all batches ----------------------------------------------------------------------------- */

/* On failure, reports the error and returns false. */
static bool flush_answers(check_run *r) {
    /* JSON is written through stdio, everything else to r->out. */
    return output_stdio_flush() && output_flush(&r->out);
}

/* Called before a read that has to wait. With --follow, looks for replaced lists until there is
 * input. */
static bool wait_for_input(void *ctx) {
    enum { WAIT_MS = 250 };
    check_run *r = ctx;
    struct pollfd standard_input = {STDIN_FILENO, POLLIN, 0};
    if (!flush_answers(r))
        return false;
    while (r->options->follow && poll(&standard_input, 1, WAIT_MS) == 0)
        if (!list_set_refresh(&r->set))
            return false;
    return true;
}

static bool take_batch(void *ctx, const bly_bytes *records, size_t n) {
    check_run *r = ctx;
    if (!list_set_refresh(&r->set) || !list_set_batch(&r->set, records, n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!report_line(r, &(checked_line){r->lines.in.path, r->lines.first + i, records[i], i}))
            return false;
    r->lines.stop = r->quiet && r->selected;
    return true;
}

static bool read_lines(check_run *r, cli_operands files) {
    const check_options *o = r->options;
    const pipeline_options lines = {.text = o->key,
                                    .null = o->null,
                                    .prints = !r->quiet && !o->count,
                                    .idle = wait_for_input,
                                    .idle_ctx = r};
    return pipeline_open(&r->lines, &lines, files) && pipeline_run(&r->lines, take_batch, r) &&
           flush_answers(r);
}

/* ---- at the end ------------------------------------------------------------------------------ */

static bool print_count(check_run *r, const set_list *l) {
    char text[32];
    const uint64_t count = l ? l->matched : r->selected;
    (void)snprintf(text, sizeof text, "%llu\n", (unsigned long long)count);
    return (!l || (put_text(r, list_set_name(l)) && put_text(r, ":"))) && put_text(r, text);
}

static bool print_counts(check_run *r) {
    bool good = true;
    if (r->options->list_names != LIST_NAMES_ALWAYS)
        good = print_count(r, NULL);
    else
        for (size_t i = 0; good && i < r->set.count; i++)
            good = print_count(r, &r->set.lists[i]);
    return good && output_flush(&r->out);
}

static void note_malformed(const check_run *r) {
    char count[NUMBER_TEXT], types[LIST_SET_TYPES], what[64] = "is not";
    if (r->options->strict && r->malformed > MAX_NAMED_LINES)
        (void)message_error("and %s more malformed line%s",
                            number_grouped(r->malformed - MAX_NAMED_LINES, count),
                            r->malformed - MAX_NAMED_LINES == 1 ? "" : "s");
    if (!r->malformed || r->options->strict)
        return;
    const bool one = r->malformed == 1;
    if (r->options->field)
        (void)snprintf(what, sizeof what, "%s no field %llu", one ? "has" : "have",
                       (unsigned long long)r->options->field);
    else if (!one)
        (void)snprintf(what, sizeof what, "are not");
    message_note("%s line%s %s of type %s and so cannot match %s; use --strict to report %s",
                 number_grouped(r->malformed, count), one ? "" : "s", what,
                 list_set_types(&r->set, types), r->set.count > 1 ? "any list" : "the list",
                 one ? "it" : "them");
}

static void warn_assumed(const check_run *r) {
    char count[NUMBER_TEXT];
    for (const set_list *l = r->set.lists; l < r->set.lists + r->set.count; l++)
        if (l->assumed)
            message_warn("%s: no answer for %s line%s; treated as %sin the list", list_set_name(l),
                         number_grouped(l->assumed, count), l->assumed == 1 ? "" : "s",
                         r->set.options.fallback == LIVE_NO ? "not " : "");
}

static int check(check_run *r, cli_operands files) {
    const check_options *o = r->options;
    bool good = read_lines(r, files);
    bool failed = !good || r->lines.failed;
    if (good && o->count && !r->quiet)
        failed = !print_counts(r) || failed;
    if (good) {
        note_malformed(r);
        warn_assumed(r);
    }
    if (good && r->quiet && r->selected)
        return CLI_OK;
    if (failed || (o->strict && r->malformed))
        return CLI_ERROR;
    return r->selected ? CLI_OK : CLI_NONE;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Checks the options that depend on whether the lists are files or on servers. */
static bool server_options_agree(const check_options *o, cli_operands lists) {
    uint32_t any = 0, all = UINT32_MAX;
    for (size_t i = 0; i < lists.count; i++) {
        any |= handle_capabilities(lists.items[i]);
        all &= handle_capabilities(lists.items[i]);
    }
    if (!(any & HANDLE_MAY_FAIL) && (o->on_error || o->gozero))
        return message_fail("--on-error and --gozero need a list on a server: redis://HOST/KEY");
    if (!(any & HANDLE_MAY_FAIL) && o->allow_replica)
        return message_fail("--allow-replica needs a list on a server: redis://HOST/KEY");
    if (!(all & HANDLE_VERIFIES) && o->verify)
        return message_fail("--verify works only on files; fetch a list on a server with bloomery "
                            "pull, and verify the copy");
    if (o->gozero && lists.count > 1)
        return message_fail("--gozero gives the size of one filter; name only one list");
    if (o->gozero && o->key_file)
        return message_fail(
            "--gozero and --key-file cannot be combined: go-zero filters are not keyed");
    if (o->gozero && o->follow)
        return message_fail("--gozero and --follow cannot be combined: a go-zero filter does not "
                            "show that it was replaced");
    return true;
}

static bool names_agree(const check_options *o) {
    if (!o->list_names)
        return true;
    if (o->json)
        return message_fail("--json always names the lists of -l; leave out --list-names");
    if (o->invert && o->list_names == LIST_NAMES_ALWAYS)
        return message_fail("-v prints lines that are not in any list; leave out --list-names");
    return true;
}

static bool options_agree(const check_options *o, cli_operands lists, cli_operands files) {
    const bool stdin_only =
        files.count == 0 || (files.count == 1 && strcmp(files.items[0], "-") == 0);
    if (lists.count == 0)
        return message_fail("no list given; usage: bloomery check LIST [FILE...]");
    for (size_t i = 0; i < files.count; i++)
        if (source_is_filter(files.items[i]))
            return message_fail("%s: is a list, not a file of lines; to look lines up in several "
                                "lists, give each with -l",
                                files.items[i]);
    if (o->key && files.count > 0)
        return message_fail("--key and a FILE cannot be combined; give only one");
    if (o->key && o->follow)
        return message_fail("--key and --follow cannot be combined: --follow reads standard input");
    if (o->follow && !stdin_only)
        return message_fail("--follow reads standard input; leave out FILE, and use a pipe");
    if (o->json && (o->invert || o->count || o->line_number || o->with_filename))
        return message_fail(
            "--json prints every line with its number and file; leave out -v, -c, -n and -H");
    if (o->delimiter.given && !o->field)
        return message_fail("--delimiter needs --field");
    return names_agree(o) && server_options_agree(o, lists);
}

static check_run *check_run_create(const check_options *o, size_t list_count,
                                   const bly_hasher *key) {
    check_run *r = calloc(1, sizeof *r);
    if (!r) {
        (void)message_error("out of memory");
        return NULL;
    }
    r->options = o;
    r->quiet = message_quiet();
    r->list_names = !o->invert && (o->list_names == LIST_NAMES_ALWAYS ||
                                   (o->list_names != LIST_NAMES_NEVER && list_count > 1));
    r->set.options = (live_list_options){.type = (bly_list_type)o->type,
                                         .key = key,
                                         .follow = o->follow,
                                         .verify = o->verify,
                                         .fallback = (live_fallback)o->on_error,
                                         .gozero = o->gozero,
                                         .allow_replica = o->allow_replica};
    query *q = &r->set.query;
    q->flags = o->null ? BLY_LIST_RECORDS : 0;
    q->field.exact = o->null;
    q->field.field = o->field;
    q->field.delimiter = o->delimiter.given ? o->delimiter.value : '\t';
    return r;
}

static void check_run_destroy(check_run *r) {
    output_close(&r->out);
    pipeline_close(&r->lines);
    list_set_close(&r->set);
    free(r);
}

static int run(void *values, cli_operands operands) {
    check_options *o = values;
    const size_t first = o->lists.count == 0 && operands.count > 0; /* 1: LIST is an operand */
    const cli_operands files = {operands.items + first, operands.count - first};
    const cli_operands lists = first ? (cli_operands){operands.items, 1}
                                     : (cli_operands){(char **)o->lists.items, o->lists.count};
    bly_hasher space;
    const bly_hasher *key;
    if (!options_agree(o, lists, files) || !open_key(o->key_file, &space, &key))
        return CLI_ERROR;
    check_run *r = check_run_create(o, lists.count, key);
    if (!r)
        return CLI_ERROR;
    int status = CLI_ERROR;
    if (list_set_open(&r->set, lists) && output_open(&r->out, NULL, false))
        status = check(r, files);
    check_run_destroy(r);
    return status;
}

const cli_command command_check = {
    .name = "check",
    .operands = "{LIST | -l LIST...} [FILE...]",
    .summary = "Print the lines that may be in a list",
    .brief = "Prints the lines of the FILEs, or of standard input, that may be in LIST, a file "
             "made by `bloomery build`: what `grep -Fxf` prints, for lists of any size. Addresses, "
             "domains and other typed lines are compared in canonical form.\n"
             "\n"
             "A line that is in the list is always printed. A line that is not may be printed too, "
             "as a false positive; by default, this happens to 1 such line in 1,000 (see -p of "
             "`bloomery build`). -v prints the lines that are certainly not in the list. The exit "
             "status is 0 if a line was selected, 1 if none was, and 2 after an error.",
    .description =
        "Files compressed with gzip or zstd are decompressed. Whenever the input has no more data, "
        "the results so far are printed. With -q, no lines are printed: the exit status is the "
        "answer, and reading stops at the first selected line.\n"
        "\n"
        "A list records its type, and lines are compared in the canonical form of that type. For "
        "an IP address, the blocks that contain it are looked up too; for a domain, its parents. "
        "Only prefix lengths and numbers of labels that occur in the list are looked up: top-level "
        "domains, for example, only if one is listed. An IPv6 block does not contain IPv4 "
        "addresses.\n"
        "\n"
        "A line that is not of the list's type is certainly not in the list. Such lines are "
        "counted in a note at the end, or reported with --strict.\n"
        "\n"
        "A list that records no type, such as one made by your own program, is a list of lines. "
        "With --type, all prefix lengths or all parents are looked up in it. False positives are "
        "then as many times more frequent as there are lookups.\n"
        "\n"
        "LIST can also be a state of `bloomery dedup` or `count`. If it was made with --url, lines "
        "are looked up in canonical form. A state made with --field or --ignore-case is refused; "
        "if your lines already have the form of its keys, use --type line. A state made with "
        "--window contains only the lines that are still in the window.\n"
        "\n"
        "One carriage return before the newline is not part of a line, except with -0. In a list "
        "of lines that does not record this rule, a line that ends in one is looked up both with "
        "and without it.\n"
        "\n"
        "The file of a list is mapped, not read. So even a large list is ready at once, and "
        "processes share one copy. Replace the file by rename, as `build -f` does; do not "
        "overwrite it. If it is shortened while in use, `check` ends with an error. With --follow, "
        "the list is loaded into memory, and its file can be replaced in any way. `check` looks "
        "for a new file four times a second, and reads and verifies it before using it. Meanwhile "
        "both lists are in memory.\n"
        "\n"
        "LIST can also be a filter on a Redis or Valkey server without the module, as `bloomery "
        "build`, `push` and `dedup` create it: redis://HOST/KEY (for addresses, see `bloomery help "
        "push`). Lines are looked up on the server, thousands in one round trip, and keys added "
        "meanwhile are found. A failed lookup (no connection, no answer, the filter is missing or "
        "was replaced) never means \"not in the list\": `check` ends with status 2, unless "
        "--on-error sets the answer. With --follow, a filter that replaces another is used.",
    .examples = "# print the lines of a log whose first field is a listed address\n"
                "bloomery check --field 1 -t ' ' drop.bly access.log\n"
                "# is this domain, or a parent of it, listed? (see the exit status)\n"
                "bloomery check -q bad.bly -k www.example.com\n"
                "# print which of two lists contains a line\n"
                "bloomery check -l spam.bly -l phishing.bly hosts.txt\n"
                "# print what is certainly not in the list\n"
                "bloomery check -v known.bly candidates.txt >new.txt\n"
                "# watch a log, and use each new version of the list\n"
                "tail -F queries.log | bloomery check --follow bad.bly\n"
                "# print which entry matched\n"
                "bloomery check --json bad.bly hosts.txt\n"
                "# a list on a server; while it does not answer, let every line pass\n"
                "bloomery check --on-error yes redis://cache.example/known ids.txt\n",
    .options = options,
    .most_used = {"list", "field", "key"},
    .values_size = sizeof(check_options),
    .run = run,
};
