/* Completion for fish, 3.0 and later.
 *
 * Each rule holds under a condition on the word in the command's place; fish's own
 * __fish_seen_subcommand_from would also take an operand called `check` for the command.
 */
#include "text/completion.h"
#include "text/help_facts.h"

static const char head[] = "function __bloomery_first\n"
                           "    test (count (commandline -opc)) -eq 1\n"
                           "end\n"
                           "function __bloomery_in\n"
                           "    set -l words (commandline -opc)\n"
                           "    test (count $words) -ge 2; and test \"$words[2]\" = $argv[1]\n"
                           "end\n"
                           "complete -c bloomery -f\n";

static void described(FILE *to, const char *text) {
    (void)fputs(" -d '", to);
    completion_words(to, text, "\\", "\\'");
    (void)fputs("'\n", to);
}

static void commands(FILE *to, const char *condition) {
    for (size_t i = 0; cli_commands[i]; i++) {
        (void)fprintf(to, "complete -c bloomery -n %s -a %s", condition, cli_commands[i]->name);
        described(to, cli_commands[i]->summary);
    }
}

static void row(FILE *to, const cli_option *option, const char *condition) {
    char first[32];
    (void)fprintf(to, "complete -c bloomery -n %s", condition);
    if (option->letter)
        (void)fprintf(to, " -s %c", option->letter);
    (void)fprintf(to, " -l %s", option->name);
    if (option->type != CLI_FLAG && !option->without)
        (void)fputs(cli_takes_file(option) ? " -r -F" : " -x", to);
    if (cli_choice(option, 0, first)) {
        (void)fputs(" -a '", to);
        (void)completion_choices(to, option);
        (void)fputc('\'', to);
    }
    described(to, option->help);
}

static void command_rules(FILE *to, const cli_command *command) {
    char condition[64];
    const cli_option *option;
    (void)snprintf(condition, sizeof condition, "'__bloomery_in %s'", command->name);
    if (help_operands(command) == HELP_FILES)
        (void)fprintf(to, "complete -c bloomery -n %s -F\n", condition);
    else if (help_operands(command) == HELP_COMMANDS)
        commands(to, condition);
    for (size_t i = 0; (option = help_option(command, i, NULL)) != NULL; i++)
        row(to, option, condition);
}

void completion_fish(FILE *to) {
    (void)fprintf(to, "# fish completion for bloomery %s\n%s", bly_version(), head);
    commands(to, "__bloomery_first");
    for (const cli_option *o = help_top_options; o->name; o++)
        row(to, o, "__bloomery_first");
    for (size_t i = 0; cli_commands[i]; i++)
        command_rules(to, cli_commands[i]);
}
