/* cuckoo.h */
#ifndef BLOOMERY_CUCKOO_H
#define BLOOMERY_CUCKOO_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
