/* once.h - adds in which exactly one of several racing threads is told "new". Internal. */
#ifndef BLYI_FILTER_KEY_LOCKS_H
#define BLYI_FILTER_KEY_LOCKS_H

#include "filter/filter.h"

/* As ops->add_many_shared, for BLY_SHARED_ONCE. */
size_t blyi_add_with_key_locks(bly_filter *f, const bly_hash *h, size_t n, uint8_t *added);

/* Starts loading what that will need besides ops->prefetch_add_shared. */
void blyi_key_locks_prefetch(const bly_filter *f, const bly_hash *h, size_t n);

#endif
