/* stable.h */
#ifndef BLOOMERY_STABLE_H
#define BLOOMERY_STABLE_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
