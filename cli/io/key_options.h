/* key_options.h - another name of key.h, until nobody uses it. */
#include "io/key.h"
