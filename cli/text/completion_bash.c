/* Completion for bash, 3.2 and later; it needs no package.
 *
 * File names are left to readline, which quotes them as they must be: the script answers nothing,
 * and `complete -o default` does the rest. Where a file name makes no sense that is turned off
 * (with compopt, which 3.2 lacks). bash takes --name=value apart at the '=', one of its
 * COMP_WORDBREAKS, unless somebody has taken it out of them; the script copes with both.
 */
#include "text/completion.h"
#include "text/help_facts.h"

static const char head[] =
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

static const char tail[] =
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

static void names(FILE *to, const cli_option *option, const char *between) {
    if (option->letter)
        (void)fprintf(to, "-%c%s", option->letter, between);
    (void)fprintf(to, "--%s", option->name);
}

static void command_names(FILE *to) {
    for (size_t i = 0; cli_commands[i]; i++)
        (void)fprintf(to, "%s%s", i ? " " : "", cli_commands[i]->name);
}

/* What may follow an option: a line of the `case` over the word before. */
static void value(FILE *to, const cli_option *option) {
    if (option->type == CLI_FLAG)
        return;
    (void)fputs("        ", to);
    names(to, option, " | ");
    (void)fputs(option->without ? ") [ \"$joined\" ] && value='" : ") value='", to);
    if (!completion_choices(to, option))
        (void)fputs(cli_takes_file(option) ? "files" : "nothing", to);
    (void)fputs("' ;;\n", to);
}

static void operands(FILE *to, const cli_command *command) {
    help_operand kind = help_operands(command);
    (void)fputs("        operands='", to);
    if (kind == HELP_COMMANDS)
        command_names(to);
    else
        (void)fputs(kind == HELP_FILES ? "files" : "nothing", to);
    (void)fputs("'\n", to);
}

static void command_case(FILE *to, const cli_command *command) {
    const cli_option *option;
    (void)fprintf(to, "    %s)\n        options='", command->name);
    for (size_t i = 0; (option = help_option(command, i, NULL)) != NULL; i++) {
        (void)fputs(i ? " " : "", to);
        names(to, option, " ");
    }
    (void)fputs("'\n", to);
    operands(to, command);
    (void)fputs("        case $before in\n", to);
    for (size_t i = 0; (option = help_option(command, i, NULL)) != NULL; i++)
        value(to, option);
    (void)fputs("        esac\n        ;;\n", to);
}

void completion_bash(FILE *to) {
    (void)fprintf(to, "# bash completion for bloomery %s\n%s    first)\n        options='",
                  bly_version(), head);
    for (const cli_option *o = help_top_options; o->name; o++) {
        (void)fputs(o == help_top_options ? "" : " ", to);
        names(to, o, " ");
    }
    (void)fputs("'\n        operands='", to);
    command_names(to);
    (void)fputs("'\n        ;;\n", to);
    for (size_t i = 0; cli_commands[i]; i++)
        command_case(to, cli_commands[i]);
    (void)fputs(tail, to);
}
