/* info.h - the module's part of INFO. */
#ifndef BLOOMERY_MODULE_INFO_H
#define BLOOMERY_MODULE_INFO_H

#include "api.h"

/* From now on INFO has the section bf_filters. */
int bm_info_start(rm_ctx *ctx);

#endif
