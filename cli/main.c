/* bloomery - the command line: finds the command, reads its options, runs it. */
#include "cli.h"
#include "io/interrupt.h"
#include "io/output.h"
#include "text/help.h"
#include "text/help_facts.h"
#include "text/message.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const cli_command *const cli_commands[] = {
    &command_dedup, &command_distinct, &command_count,  &command_build,     &command_check,
    &command_add,   &command_remove,   &command_merge,  &command_intersect, &command_subtract,
    &command_fold,  &command_info,     &command_verify, &command_push,      &command_pull,
    &command_drop,  &command_plan,     &command_hash,   &command_bench,     &command_help,
    NULL,
};

/* Returns the exit status of the run, which succeeds only if the output that stdio still buffers
 * can be written. */
static int finish(int status) {
    errno = 0;
    if (!output_stdio_flush() && !interrupt_reader_gone())
        status = CLI_ERROR;
    interrupt_finish();
    return status;
}

static int run(const cli_command *command, int argc, char **argv) {
    cli_common common = {0};
    cli_operands operands;
    void *values = calloc(1, command->values_size ? command->values_size : 1);
    message_setup(command->name, false, 0);
    if (!values)
        return message_error("out of memory");
    int status = CLI_ERROR;
    if (cli_parse(command->options, argc, argv, values, &common, &operands)) {
        message_setup(command->name, common.quiet, common.colour);
        status = CLI_OK;
        if (common.help)
            help_command(stdout, command, common.full_help);
        else
            status = command->run(values, operands);
    }
    free(values);
    return status;
}

/* If a standard stream is closed, the first file that we open would get its number, and messages
 * could be written into that file. So /dev/null is opened instead, in the direction that fails. */
static void hold_standard_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv) {
    hold_standard_streams();
    interrupt_watch_pipe();
    (void)signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error like a full disk */
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        (void)printf("bloomery %s\n", bly_version());
        return finish(CLI_OK);
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        help_overview(stdout);
        return finish(CLI_OK);
    }
    const cli_command *command = help_find(name);
    if (!command && !*name) {
        help_overview(stderr);
        return CLI_ERROR;
    }
    if (!command)
        return help_unknown_command(name);
    return finish(run(command, argc - 2, argv + 2));
}
