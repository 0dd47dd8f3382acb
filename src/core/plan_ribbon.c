#include "planner.h"
