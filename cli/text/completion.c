/* completion.c - writes scripts that complete commands, options and their values in bash, zsh and
 * fish.
 *
 * All three complete the same: commands, the options of each command, and values of closed sets.
 * File names are completed by the shell.
 */
#include "text/help.h"

#include "text/help_facts.h"
#include "text/help_text.h"

#include <string.h>

/* What an operand is completed with. */
typedef enum operand_kind { NOTHING, FILES, COMMANDS } operand_kind;

static operand_kind operands_of(const cli_command *command) {
    if (strstr(command->operands, "COMMAND"))
        return COMMANDS;
    bool files = strstr(command->operands, "FILE") || strstr(command->operands, "LIST");
    return files ? FILES : NOTHING;
}

static bool takes_file(const cli_option *option) {
    return option->type == CLI_FILE || option->type == CLI_FILES;
}

/* Prints an option's closed set of values, separated by blanks. Returns false if it has none. */
static bool put_choices(FILE *to, const cli_option *option) {
    char name[32];
    size_t i = 0;
    for (; cli_choice(option, i, name); i++)
        (void)fprintf(to, "%s%s", i ? " " : "", name);
    return i > 0;
}

/* Prints the first sentence of `text` without its full stop, for use between single quotes. Puts a
 * backslash before every byte of `special`, and replaces a single quote by `quote`. */
static void put_words(FILE *to, const char *text, const char *special, const char *quote) {
    text_span words = text_first_sentence(text);
    if (words.length && words.begin[words.length - 1] == '.')
        words.length--;
    for (size_t i = 0; i < words.length; i++) {
        char c = words.begin[i];
        if (c == '\'')
            (void)fputs(quote, to);
        else
            (void)fprintf(to, "%s%c", strchr(special, c) ? "\\" : "", c);
    }
}

/* ---- bash ------------------------------------------------------------------------------------ */

/* For bash 3.2 and later, without any package.
 *
 * File names are completed by readline, which quotes them correctly: the script returns nothing,
 * and `complete -o default` completes them. If a file name makes no sense, this is turned off (with
 * compopt, which 3.2 lacks). bash splits --name=value at the '=', which is in COMP_WORDBREAKS,
 * unless the user has removed it from there. The script handles both cases.
 */
static const char bash_head[] =
    "_bloomery() {\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local options='' operands=nothing value='' joined='' prefix='' i\n"
    "    COMPREPLY=()\n"
    "    case $word in\n"
    "    =) word='' joined=yes ;;\n"
    "    --*=*) before=${word%%=*} prefix=$before= word=${word#*=} joined=yes ;;\n"
    "    *) [ \"$before\" = = ] && before=${COMP_WORDS[COMP_CWORD - 2]} joined=yes ;;\n"
    "    esac\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        [ \"${COMP_WORDS[i]}\" = -- ] && before=--\n"
    "    done\n"
    "    [ \"$COMP_CWORD\" -eq 1 ] && set -- first || set -- \"${COMP_WORDS[1]}\"\n"
    "    case $1 in\n";

static const char bash_tail[] =
    "    esac\n"
    "    if [ -z \"$value\" ]; then\n"
    "        value=$operands\n"
    "        [ \"$before\" != -- ] && [ \"${word#-}\" != \"$word\" ] && value=$options\n"
    "    fi\n"
    "    [ \"$value\" = files ] && return\n"
    "    compopt +o default 2>/dev/null\n"
    "    [ \"$value\" = nothing ] && return\n"
    "    COMPREPLY=($(compgen -P \"$prefix\" -W \"$value\" -- \"$word\"))\n"
    "}\n"
    "complete -o default -F _bloomery bloomery\n";

static void bash_names(FILE *to, const cli_option *option, const char *between) {
    if (option->letter)
        (void)fprintf(to, "-%c%s", option->letter, between);
    (void)fprintf(to, "--%s", option->name);
}

static void command_names(FILE *to) {
    for (size_t i = 0; cli_commands[i]; i++)
        (void)fprintf(to, "%s%s", i ? " " : "", cli_commands[i]->name);
}

/* The values of an option: a line of the `case` over the previous word. */
static void bash_value(FILE *to, const cli_option *option) {
    if (option->type == CLI_FLAG)
        return;
    (void)fputs("        ", to);
    bash_names(to, option, " | ");
    (void)fputs(option->without ? ") [ \"$joined\" ] && value='" : ") value='", to);
    if (!put_choices(to, option))
        (void)fputs(takes_file(option) ? "files" : "nothing", to);
    (void)fputs("' ;;\n", to);
}

static void bash_operands(FILE *to, const cli_command *command) {
    operand_kind kind = operands_of(command);
    (void)fputs("        operands='", to);
    if (kind == COMMANDS)
        command_names(to);
    else
        (void)fputs(kind == FILES ? "files" : "nothing", to);
    (void)fputs("'\n", to);
}

static void bash_command_case(FILE *to, const cli_command *command) {
    const cli_option *option;
    (void)fprintf(to, "    %s)\n        options='", command->name);
    for (size_t i = 0; (option = help_option(command, i, NULL)) != NULL; i++) {
        (void)fputs(i ? " " : "", to);
        bash_names(to, option, " ");
    }
    (void)fputs("'\n", to);
    bash_operands(to, command);
    (void)fputs("        case $before in\n", to);
    for (size_t i = 0; (option = help_option(command, i, NULL)) != NULL; i++)
        bash_value(to, option);
    (void)fputs("        esac\n        ;;\n", to);
}

static void bash_script(FILE *to) {
    (void)fprintf(to, "# bash completion for bloomery %s\n%s    first)\n        options='",
                  bly_version(), bash_head);
    for (const cli_option *o = help_top_options; o->name; o++) {
        (void)fputs(o == help_top_options ? "" : " ", to);
        bash_names(to, o, " ");
    }
    (void)fputs("'\n        operands='", to);
    command_names(to);
    (void)fputs("'\n        ;;\n", to);
    for (size_t i = 0; cli_commands[i]; i++)
        bash_command_case(to, cli_commands[i]);
    (void)fputs(bash_tail, to);
}

/* ---- zsh ------------------------------------------------------------------------------------- */

/* For zsh: a function _bloomery, to be autoloaded or sourced.
 *
 * _arguments is called twice: for the words up to the command, then, with the words from the
 * command on, for the command's own options and operands.
 */
static const char zsh_quote[] = "'\\''";

static const char zsh_head[] = "_bloomery_commands() {\n"
                               "    local -a commands\n"
                               "    commands=(\n";

static const char zsh_body[] = "    )\n"
                               "    _describe -t commands command commands\n"
                               "}\n"
                               "\n"
                               "_bloomery() {\n"
                               "    local curcontext=$curcontext state line\n"
                               "    local -A opt_args\n"
                               "    _arguments -C -s -S \\\n";

static const char zsh_cases[] = "        '1:command:_bloomery_commands' \\\n"
                                "        '*:: :->rest' && return\n"
                                "    [[ $state == rest ]] || return 1\n"
                                "    case $words[1] in\n";

static const char zsh_tail[] = "    esac\n"
                               "}\n"
                               "\n"
                               "if [[ $funcstack[1] == _bloomery ]]; then\n"
                               "    _bloomery \"$@\"\n"
                               "else\n"
                               "    compdef _bloomery bloomery\n"
                               "fi\n";

/* The names of an option, where each excludes the other: '(-n --expect)'{-n+,--expect=}. An option
 * that may be given several times: '*'{-l+,--list=} */
static void zsh_names(FILE *to, const cli_option *option, const char *exclude) {
    bool has_value = option->type != CLI_FLAG, optional = option->without != NULL;
    const char *short_mark = !has_value ? "" : optional ? "-" : "+";
    const char *long_mark = !has_value ? "" : optional ? "=-" : "=";
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

static void zsh_row(FILE *to, const cli_option *option, const char *exclude) {
    (void)fputs("        ", to);
    zsh_names(to, option, exclude);
    (void)fputs("'[", to);
    put_words(to, option->help, "[]:\\", zsh_quote);
    (void)fputc(']', to);
    if (option->type != CLI_FLAG) {
        char first[32];
        (void)fprintf(to, "%s:%s:", option->without ? ":" : "", option->metavar);
        if (cli_choice(option, 0, first)) {
            (void)fputc('(', to);
            (void)put_choices(to, option);
            (void)fputc(')', to);
        } else
            (void)fputs(takes_file(option) ? "_files" : " ", to);
    }
    (void)fputs("' \\\n", to);
}

static void zsh_command_case(FILE *to, const cli_command *command) {
    static const char *const actions[] = {[NOTHING] = "'*: : '",
                                          [FILES] = "'*:file:_files'",
                                          [COMMANDS] = "'*:command:_bloomery_commands'"};
    const cli_option *option;
    (void)fprintf(to, "    %s) _arguments -s -S \\\n", command->name);
    for (size_t i = 0; (option = help_option(command, i, NULL)) != NULL; i++)
        zsh_row(to, option, "");
    (void)fprintf(to, "        %s ;;\n", actions[operands_of(command)]);
}

static void zsh_script(FILE *to) {
    (void)fprintf(to, "#compdef bloomery\n# zsh completion for bloomery %s\n\n%s", bly_version(),
                  zsh_head);
    for (size_t i = 0; cli_commands[i]; i++) {
        (void)fprintf(to, "        '%s:", cli_commands[i]->name);
        put_words(to, cli_commands[i]->summary, "\\", zsh_quote);
        (void)fputs("'\n", to);
    }
    (void)fputs(zsh_body, to);
    for (const cli_option *o = help_top_options; o->name; o++)
        zsh_row(to, o, "- *");
    (void)fputs(zsh_cases, to);
    for (size_t i = 0; cli_commands[i]; i++)
        zsh_command_case(to, cli_commands[i]);
    (void)fputs(zsh_tail, to);
}

/* ---- fish ------------------------------------------------------------------------------------ */

/* For fish 3.0 and later.
 *
 * Each rule has a condition on the word in the command's place. fish's own
 * __fish_seen_subcommand_from would also accept an operand called `check` as the command.
 */
static const char fish_head[] = "function __bloomery_first\n"
                                "    test (count (commandline -opc)) -eq 1\n"
                                "end\n"
                                "function __bloomery_in\n"
                                "    set -l words (commandline -opc)\n"
                                "    test (count $words) -ge 2; and test \"$words[2]\" = $argv[1]\n"
                                "end\n"
                                "complete -c bloomery -f\n";

static void fish_described(FILE *to, const char *text) {
    (void)fputs(" -d '", to);
    put_words(to, text, "\\", "\\'");
    (void)fputs("'\n", to);
}

static void fish_commands(FILE *to, const char *condition) {
    for (size_t i = 0; cli_commands[i]; i++) {
        (void)fprintf(to, "complete -c bloomery -n %s -a %s", condition, cli_commands[i]->name);
        fish_described(to, cli_commands[i]->summary);
    }
}

static void fish_row(FILE *to, const cli_option *option, const char *condition) {
    char first[32];
    (void)fprintf(to, "complete -c bloomery -n %s", condition);
    if (option->letter)
        (void)fprintf(to, " -s %c", option->letter);
    (void)fprintf(to, " -l %s", option->name);
    if (option->type != CLI_FLAG && !option->without)
        (void)fputs(takes_file(option) ? " -r -F" : " -x", to);
    if (cli_choice(option, 0, first)) {
        (void)fputs(" -a '", to);
        (void)put_choices(to, option);
        (void)fputc('\'', to);
    }
    fish_described(to, option->help);
}

static void fish_command_rules(FILE *to, const cli_command *command) {
    char condition[64];
    const cli_option *option;
    (void)snprintf(condition, sizeof condition, "'__bloomery_in %s'", command->name);
    if (operands_of(command) == FILES)
        (void)fprintf(to, "complete -c bloomery -n %s -F\n", condition);
    else if (operands_of(command) == COMMANDS)
        fish_commands(to, condition);
    for (size_t i = 0; (option = help_option(command, i, NULL)) != NULL; i++)
        fish_row(to, option, condition);
}

static void fish_script(FILE *to) {
    (void)fprintf(to, "# fish completion for bloomery %s\n%s", bly_version(), fish_head);
    fish_commands(to, "__bloomery_first");
    for (const cli_option *o = help_top_options; o->name; o++)
        fish_row(to, o, "__bloomery_first");
    for (size_t i = 0; cli_commands[i]; i++)
        fish_command_rules(to, cli_commands[i]);
}

void completion_write(FILE *to, unsigned shell) {
    static void (*const scripts[])(FILE *) = {bash_script, zsh_script, fish_script};
    scripts[shell - 1](to);
}
