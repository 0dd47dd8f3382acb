/* once.h - adds in which exactly one of several racing threads is told "new". Internal. */
#ifndef BLYI_FILTERS_ONCE_H
#define BLYI_FILTERS_ONCE_H

#include "ops.h"

/* As ops->add_shared, for BLY_SHARED_ONCE. */
size_t blyi_add_once(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added);

/* Starts loading what that will need besides ops->prefetch_shared. */
void blyi_once_prefetch(const bly_filter *f, const bly_hash *h, size_t n);

#endif
