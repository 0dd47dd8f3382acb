/* select_case.c - runs only some cases of a test program: BLOOMERY_CASE is a pattern for their
 * names (with * and ?).
 *
 * It is linked into every test program and acts before main, so no program has to know about it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

__attribute__((constructor)) static void select_case(void) {
    const char *name = getenv("BLOOMERY_CASE");
    if (name && *name)
        cmocka_set_test_filter(name);
}
