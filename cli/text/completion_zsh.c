/* Completion for zsh: an autoloaded function by the name of _bloomery that can also be sourced.
 *
 * _arguments is called twice: for what stands before and in the command's place, then, with the
 * words from the command on, for the command's own options and operands.
 */
#include "text/completion.h"
#include "text/help_facts.h"

static const char quote[] = "'\\''";

static const char head[] = "_bloomery_commands() {\n"
                           "    local -a commands\n"
                           "    commands=(\n";

static const char body[] = "    )\n"
                           "    _describe -t commands command commands\n"
                           "}\n"
                           "\n"
                           "_bloomery() {\n"
                           "    local curcontext=$curcontext state line\n"
                           "    local -A opt_args\n"
                           "    _arguments -C -s -S \\\n";

static const char cases[] = "        '1:command:_bloomery_commands' \\\n"
                            "        '*:: :->rest' && return\n"
                            "    [[ $state == rest ]] || return 1\n"
                            "    case $words[1] in\n";

static const char tail[] = "    esac\n"
                           "}\n"
                           "\n"
                           "if [[ $funcstack[1] == _bloomery ]]; then\n"
                           "    _bloomery \"$@\"\n"
                           "else\n"
                           "    compdef _bloomery bloomery\n"
                           "fi\n";

/* The names, such that either excludes the other: '(-n --keys)'{-n+,--keys=}; or, of an option that
 * may be given several times, '*'{-l+,--list=} */
static void names(FILE *to, const cli_option *option, const char *exclude) {
    bool takes = option->type != CLI_FLAG, optional = option->without != NULL;
    const char *short_mark = !takes ? "" : optional ? "-" : "+";
    const char *long_mark = !takes ? "" : optional ? "=-" : "=";
    if (option->type == CLI_FILES)
        (void)fputs("'*'", to);
    else if (option->letter && *exclude)
        (void)fprintf(to, "'(%s)'", exclude);
    else if (option->letter)
        (void)fprintf(to, "'(-%c --%s)'", option->letter, option->name);
    if (option->letter)
        (void)fprintf(to, "{-%c%s,--%s%s}", option->letter, short_mark, option->name, long_mark);
    else
        (void)fprintf(to, "--%s%s", option->name, long_mark);
}

static void row(FILE *to, const cli_option *option, const char *exclude) {
    (void)fputs("        ", to);
    names(to, option, exclude);
    (void)fputs("'[", to);
    completion_words(to, option->help, "[]:\\", quote);
    (void)fputc(']', to);
    if (option->type != CLI_FLAG) {
        char first[32];
        (void)fprintf(to, "%s:%s:", option->without ? ":" : "", option->metavar);
        if (cli_choice(option, 0, first)) {
            (void)fputc('(', to);
            (void)completion_choices(to, option);
            (void)fputc(')', to);
        } else
            (void)fputs(cli_takes_file(option) ? "_files" : " ", to);
    }
    (void)fputs("' \\\n", to);
}

static void command_case(FILE *to, const cli_command *command) {
    static const char *const actions[] = {[HELP_NOTHING] = "'*: : '",
                                          [HELP_FILES] = "'*:file:_files'",
                                          [HELP_COMMANDS] = "'*:command:_bloomery_commands'"};
    const cli_option *option;
    (void)fprintf(to, "    %s) _arguments -s -S \\\n", command->name);
    for (size_t i = 0; (option = help_option(command, i, NULL)) != NULL; i++)
        row(to, option, "");
    (void)fprintf(to, "        %s ;;\n", actions[help_operands(command)]);
}

void completion_zsh(FILE *to) {
    (void)fprintf(to, "#compdef bloomery\n# zsh completion for bloomery %s\n\n%s", bly_version(),
                  head);
    for (size_t i = 0; cli_commands[i]; i++) {
        (void)fprintf(to, "        '%s:", cli_commands[i]->name);
        completion_words(to, cli_commands[i]->summary, "\\", quote);
        (void)fputs("'\n", to);
    }
    (void)fputs(body, to);
    for (const cli_option *o = help_top_options; o->name; o++)
        row(to, o, "- *");
    (void)fputs(cases, to);
    for (size_t i = 0; cli_commands[i]; i++)
        command_case(to, cli_commands[i]);
    (void)fputs(tail, to);
}
