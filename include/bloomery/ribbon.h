/* ribbon.h */
#ifndef BLOOMERY_RIBBON_H
#define BLOOMERY_RIBBON_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
