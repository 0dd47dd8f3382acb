/* algebra.h - what merge, intersect and subtract have in common: several filter files made into
 * one.
 *
 * The files must have been built alike. That is seen from their headers, before any bits are read,
 * and what differs is told by name. Different sizes can be brought to their greatest common divisor
 * by folding, when that is asked for.
 */
#ifndef BLOOMERY_CLI_ALGEBRA_H
#define BLOOMERY_CLI_ALGEBRA_H

#include "cli.h"

typedef struct algebra {
    const char *done; /* "merged" */
    uint32_t needs;   /* what the kind must be able to do: BLY_CAN_UNION ... */
    bly_operation operation;
    bly_status (*combine)(bly_filter *into, const bly_filter *with);
} algebra;

typedef struct algebra_values {
    const char *out;
    bool force, fold, json;
    bool estimate;        /* intersect alone */
    const char *key_file; /* subtract alone */
} algebra_values;

/* Combines the files into v->out, reports, and returns an exit status. */
int algebra_run(const algebra *a, const algebra_values *v, cli_operands files);

/* Prints how many keys two files have, alone and together; writes nothing. */
int algebra_estimate(const algebra_values *v, cli_operands files);

#endif
