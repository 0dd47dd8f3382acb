/* set_operation.h - combines filter files into one, for merge, intersect and subtract; and saves
 * the result, for fold too.
 *
 * The files must have been built with the same options. Their headers are compared before any bits
 * are read, and a message names the difference. If requested, different sizes are folded to their
 * greatest common divisor.
 */
#ifndef BLOOMERY_CLI_SET_OPERATION_H
#define BLOOMERY_CLI_SET_OPERATION_H

#include "cli.h"
#include "filters/destination.h"

typedef struct set_operation {
    const char *done; /* for messages: "merged" */
    uint32_t needs;   /* the capability that the kind needs: BLY_CAN_UNION ... */
    bly_operation operation;
    bly_status (*combine)(bly_filter *into, const bly_filter *with);
} set_operation;

typedef struct set_options {
    const char *out;
    bool force, fold, json;
    bool estimate;        /* intersect only */
    const char *key_file; /* subtract only */
} set_options;

/* Combines the files into o->out, prints a report, and returns an exit status. */
int set_operation_run(const set_operation *op, const set_options *o, cli_operands files);

/* Prints estimates of the keys of two files, and of those in both and in either; writes nothing. */
int set_operation_estimate(const set_options *o, cli_operands files);

/* Saves f, and fills *info. If f would match more than half of all keys, refuses, and the message
 * ends with `advice`. On failure, reports the error and returns false. */
bool set_output_save(const bly_filter *f, destination *to, const char *advice,
                     bly_filter_info *info);

#endif
