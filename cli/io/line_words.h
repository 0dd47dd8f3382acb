/* line_words.h - another name of list_lines.h, until nobody uses it. */
#include "io/list_lines.h"
