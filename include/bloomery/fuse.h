/* fuse.h */
#ifndef BLOOMERY_FUSE_H
#define BLOOMERY_FUSE_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
