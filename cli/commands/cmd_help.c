/* cmd_help.c - bloomery help: prints help, manual pages and completion scripts. */
#include "cli.h"
#include "common_options.h"
#include "text/help.h"
#include "text/help_facts.h"
#include "text/message.h"

#include <stddef.h>

typedef struct values {
    bool man;
    unsigned completion; /* 1 bash, 2 zsh, 3 fish */
    bool list;
} values;

static const cli_option options[] = {
    OPTION_FLAG("man", 0, offsetof(values, man),
                "Print the manual page as roff: `bloomery help --man dedup | man -l -`."),
    OPTION_CHOICE("completion", 0, offsetof(values, completion), "SHELL", "bash|zsh|fish",
                  "Print the completion script for a shell: commands, options and values."),
    OPTION_FLAG("list", 0, offsetof(values, list),
                "Print the names of the commands, one per line."),
    {0},
};

static int list(void) {
    for (size_t i = 0; cli_commands[i]; i++)
        (void)printf("%s\n", cli_commands[i]->name);
    return CLI_OK;
}

static int run(void *untyped, cli_operands operands) {
    const values *v = untyped;
    const cli_command *command = NULL;
    if (v->man + v->list + (v->completion > 0) > 1)
        return message_error("--man, --completion and --list cannot be combined; give only one");
    if (operands.count > ((v->list || v->completion) ? 0 : 1))
        return message_error("unexpected argument '%s'; see --help",
                             operands.items[operands.count - 1]);
    if (operands.count && !(command = help_find(operands.items[0])))
        return help_unknown_command(operands.items[0]);
    if (v->list)
        return list();
    if (v->completion)
        completion_write(stdout, v->completion);
    else if (v->man)
        man_write(stdout, command);
    else if (command)
        help_command(stdout, command, true);
    else
        help_overview(stdout);
    return CLI_OK;
}

const cli_command command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "Print help, manual pages and completion scripts",
    .brief = "Without COMMAND, prints an overview. With COMMAND, prints everything about it, as "
             "`bloomery COMMAND --help` does.",
    .description =
        "Manual pages and completion scripts are installed with the program. If they are not, this "
        "command prints them. They come from the same tables as the parser of the options.",
    .examples = "# read about one command\n"
                "bloomery help dedup\n"
                "# complete commands and options in this bash session\n"
                "source <(bloomery help --completion bash)\n"
                "# complete them in fish, permanently\n"
                "bloomery help --completion fish >~/.config/fish/completions/bloomery.fish\n"
                "# read a manual page that is not installed\n"
                "bloomery help --man check | man -l -\n",
    .options = options,
    .values_size = sizeof(values),
    .run = run,
};
