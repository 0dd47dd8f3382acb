/* window.h */
#ifndef BLOOMERY_WINDOW_H
#define BLOOMERY_WINDOW_H

#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
