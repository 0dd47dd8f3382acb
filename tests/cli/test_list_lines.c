/* Lines in messages: control characters are escaped. Types have the same names as the commands. */
#include "support.h"

#include "io/list_lines.h"

static void quoting_is_safe(void **state) {
    char out[LINE_QUOTE], text[200];
    (void)state;
    assert_string_equal(line_quote(blyt_text("plain"), out), "plain");
    assert_string_equal(line_quote(blyt_text("\033[31mred\x7F"), out), "\\x1b[31mred\\x7f");
    assert_string_equal(line_quote(blyt_text("\xC2\x9B"
                                             "2J \xC3\xA4"),
                                   out),
                        "\\xc2\\x9b2J \xC3\xA4");
    memset(text, 1, sizeof text);
    (void)line_quote((bly_bytes){text, sizeof text}, out);
    assert_int_equal(strlen(out), 60 * 4 + 3);
    memset(text, 'a', sizeof text);
    text[59] = '\xC3'; /* the cut must not fall inside this character of two bytes */
    text[60] = '\xA4';
    (void)line_quote((bly_bytes){text, sizeof text}, out);
    assert_int_equal(strlen(out), 59 + 3);
}

static void types_are_named_as_commands_name_them(void **state) {
    (void)state;
    assert_string_equal(line_type_words(BLY_LIST_DOMAIN), "domain");
    assert_string_equal(line_type_words(BLY_LIST_LINE), "line");
    assert_string_equal(line_type_words(BLY_LIST_RECORD), "line");
    assert_string_equal(line_type_words(BLY_LIST_RECORD_CRAWL), "URL lines (--url=crawl)");
    assert_null(line_type_words(BLY_LIST_NONE));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quoting_is_safe),
        cmocka_unit_test(types_are_named_as_commands_name_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
