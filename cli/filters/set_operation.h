/* set_operation.h - several filter files combined into one: merge, intersect and subtract; and what
 * these have in common with fold, which makes one file of another.
 *
 * The files must have been built alike. That is seen from their headers, before any bits are read,
 * and a message names what differs. Different sizes can be folded to their greatest common divisor,
 * on request.
 */
#ifndef BLOOMERY_CLI_SET_OPERATION_H
#define BLOOMERY_CLI_SET_OPERATION_H

#include "cli.h"
#include "filters/destination.h"

typedef struct set_operation {
    const char *done; /* "merged" */
    uint32_t needs;   /* what the kind must be able to do: BLY_CAN_UNION ... */
    bly_operation operation;
    bly_status (*combine)(bly_filter *into, const bly_filter *with);
} set_operation;

typedef struct set_options {
    const char *out;
    bool force, fold, json;
    bool estimate;        /* of intersect */
    const char *key_file; /* of subtract */
} set_options;

/* Combines the files into o->out, reports, and returns an exit status. */
int set_operation_run(const set_operation *op, const set_options *o, cli_operands files);

/* Prints how many keys two files have, alone and together; writes nothing. */
int set_operation_estimate(const set_options *o, cli_operands files);

/* Saves f and fills *info, unless f matches more than half of all keys; `advice` is what to do
 * then. false: reported. */
bool set_output_save(const bly_filter *f, destination *to, const char *advice,
                     bly_filter_info *info);

#endif
