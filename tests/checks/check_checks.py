#!/usr/bin/env python3
"""check_checks.py: plants violations, to see that the checks of the tree find them.

A small tree that follows every rule is written to a temporary folder. Each case changes one thing and names the rule
that this breaks. The check must report that rule and no other.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import c_headers  # noqa: E402
import check_architecture  # noqa: E402
import check_documents  # noqa: E402
import check_kinds  # noqa: E402
import check_layout  # noqa: E402
import check_links  # noqa: E402
import check_phrases  # noqa: E402
import check_symbol_order  # noqa: E402
import check_tree  # noqa: E402

LONG_FUNCTION = "int long_one(int x) {\n" + "    x++;\n" * 49 + "    return x;\n}\n"
GOOD = {
    "include/bloomery/plan.h": "#ifndef BLOOMERY_PLAN_H\n#define BLOOMERY_PLAN_H\n#endif\n",
    "include/bloomery/redis/plan.h": "#ifndef BLOOMERY_REDIS_PLAN_H\n#define BLOOMERY_REDIS_PLAN_H\n#endif\n",
    "src/base/bits.h": "#ifndef BLYI_BASE_BITS_H\n#define BLYI_BASE_BITS_H\n#endif\n",
    "src/base/bytes.h": '#include "base/bits.h"\n',
    "src/base/first.c": '/* One. */\n#include "base/bits.h"\n#include "base/bytes.h"\nstatic int first(int x) {\n    return x;\n}\n',
    "src/filter/plan.h": '#include <bloomery/plan.h>\n#include "base/bits.h"\n',
    "src/filter/kind_table.c": '/* Kinds. */\n#include "filter/plan.h"\n#include "kinds/bloom/bloom.h"\n',
    "src/kinds/bloom/bloom.h": "extern const int blyi_bloom;\n",
    "src/kinds/bloom/bloom.c": '/* Bloom. */\n#include "filter/plan.h"\n#include "kinds/bloom/bloom.h"\n',
    "src/formats/other.h": '#include "base/bytes.h"\n',
    "src/formats/other.c": '/* Of others. */\n#include "formats/other.h"\n',
    "src/formats/more.c": '/* More of others. */\n#include "formats/other.h"\n',
    "module/main.c": '/* The module. */\n#include "load/value.h"\n#include <bloomery/plan.h>\n',
    "module/load/value.h": "",
    "module/load/value.c": '/* Values. */\n#include "load/value.h"\n',
    "cli/main.c": '/* The command line. */\n#include "cli.h"\n#include "commands/dedup.h"\n#include "text/json.h"\n#include <bloomery/plan.h>\n',
    "cli/cli.h": "",
    "cli/text/json.h": "",
    "cli/text/json.c": '/* Writes JSON. */\n#include "text/json.h"\n',
    "cli/commands/dedup.h": "",
    "cli/commands/dedup.c": '/* bloomery dedup: text of "redis". */\nint option = AT(redis);\n#include "cli.h"\n#include "commands/dedup.h"\n',
    "tests/unit/test_bits.c": '#include "base/bits.h"\n/* Nobody sees a desk here. */\nconst char *cardinality = "lone";\n',
    "tests/module/commands.py": '"""A talk."""\nclone = "seat"\n',
    "docs/architecture.md": "`src/base/bits.h`, `filter/plan.h`, `test_bits`, `base/{bits,bytes}.h`, `kinds/*/*.c`\n\n    cli/  main.c\n",
}
# (rule, file, its new text or, after a "+", the text that is appended to it)
BAD = [
    ("base-name", "module/first.c", "/* Another one. */\n"),
    ("base-name", "cli/text/first.c", "/* Another one. */\n"),
    ("base-name", "include/bloomery/host/plan.h", ""),
    ("static-name", "src/base/second.c", "/* Two. */\nstatic inline __attribute__((cold)) long first(\n    int y) {\n    return y;\n}\n"),
    ("include-cycle", "src/base/bits.h", '+#include "base/bytes.h"\n'),
    ("include-path", "src/base/first.c", '+#include "bits.h"\n'),
    ("include-path", "src/base/first.c", '+#include "../base/bits.h"\n'),
    ("include-path", "module/load/value.c", '+#include "value.h"\n'),
    ("include-path", "cli/text/json.c", '+#include "json.h"\n'),
    ("include-order", "src/base/first.c", '+#include "filter/plan.h"\n'),
    ("include-order", "src/filter/rate.c", '/* Rates. */\n#include "kinds/bloom/bloom.h"\n'),
    ("include-order", "src/redis/url.c", '/* Addresses. */\n#include "formats/other.h"\n'),
    ("include-order", "src/extra/new.c", "/* In a folder without a place. */\n"),
    ("include-order", "cli/text/json.c", '+#include "commands/dedup.h"\n'),
    ("include-order", "cli/extra/new.c", "/* In a folder without a place. */\n"),
    ("include-order", "cli/options.c", '/* Options. */\n#include "commands/dedup.h"\n'),
    ("public-only", "examples/one.c", '#include "../src/base/bits.h"\n'),
    ("commands-redis", "cli/commands/dedup.c", "+int redis_commands;\n"),
    ("commands-redis", "cli/commands/dedup.c", "+#include <bloomery/redis/url.h>\n"),
    ("commands-redis", "cli/commands/dedup.c", '+const char *address = "redis://";\nint is = strncmp(a, "redis://", 8);\n'),
    ("function-length", "src/base/first.c", "+" + LONG_FUNCTION),
    ("function-length", "cli/main.c", "+" + LONG_FUNCTION),
    ("file-length", "tests/unit/test_bits.c", "+" + "\n" * 600),
    ("file-length", "tests/module/commands.py", "+" + "\n" * 600),
    ("single-includer", "module/load/value.c", "/* Values. */\n"),
    ("single-includer", "src/base/unused.h", ""),
    ("file-comment", "cli/text/json.c", '#include "text/json.h"\n'),
    ("file-comment", "src/base/first.c", '#include "base/bytes.h"\n#include "base/bits.h"\n'),
    ("file-comment", "cli/text/json.h", "/* talk.h - writes JSON. */\n"),
    ("word", "src/base/first.c", "+int find_seat;\n"),
    ("word", "cli/text/json.c", "+int talk_to;\n"),
    ("word", "src/base/first.c", "+#define MOST_KEYS 1\n"),
    ("word", "include/bloomery/plan.h", "+int blyCardOf(void);\n"),
    ("word", "tests/module/commands.py", "+def ask_hunch():\n    pass\n"),
    ("word", "tests/module/talk.py", ""),
    ("condition", "src/base/first.c", "+#ifdef __linux__\n#endif\n"),
]


def write(root, files):
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        with open(os.path.join(root, path), "w", encoding="utf-8") as file:
            file.write(text)


def rules_broken(files, check):
    root = tempfile.mkdtemp()
    try:
        write(root, files)
        return check(root)
    finally:
        shutil.rmtree(root)


def tree_rules(root):
    return {rule for _, _, rule, _ in check_tree.violations(root)}


def changed(files, path, text):
    return {**files, path: files.get(path, "") + text[1:] if text.startswith("+") else text}


def check_tree_finds():
    check_tree.CONDITIONS.clear()  # they name files of the real tree
    assert rules_broken(GOOD, tree_rules) == set(), rules_broken(GOOD, check_tree.violations)
    for rule, path, text in BAD:
        found = rules_broken(changed(GOOD, path, text), tree_rules)
        assert found == {rule}, f"{path} with {text[:60]!r}: {found or 'nothing'} instead of {rule}"
    reason = changed(GOOD, "tests/unit/test_bits.c", "+/* Length: one row per case */\n" + "\n" * 600)
    assert rules_broken(reason, tree_rules) == set()
    check_tree.CONDITIONS["src/base/first.c"] = "a reason"
    assert rules_broken(GOOD, tree_rules) == {"condition"}  # a listed file has no condition
    return len(BAD)


def check_architecture_finds():
    names = ["`src/base/no.h`", "`no.c`", "`test_no`", "`base/{bits,no}.h`", "`kinds/*/*.py`", "\n\n    no/  folder\n", "`cli/no/`"]
    assert rules_broken(GOOD, check_architecture.missing) == []
    for name in names:
        found = rules_broken(changed(GOOD, "docs/architecture.md", "+" + name), check_architecture.missing)
        assert len(found) == 1, f"{name}: {found}"
    return len(names)


def check_kinds_finds():
    kinds = 'typedef enum bly_kind {\nBLY_KIND_NONE = 0,\nBLY_SBBF = 3, /* "sbbf" */\nBLY_LAST = 21 /* "last-one" */\n} bly_kind;\n'
    files = {"include/bloomery/kinds.h": kinds,
             "docs/format.md": "| 3 | sbbf | blocks |\n| 21 | last-one | bytes |\n", "docs/choosing.md": "`sbbf`, `last-one`\n"}
    assert rules_broken(files, check_kinds.missing) == []
    bad = [("docs/format.md", "| 3 | sbbf |\n| 22 | last-one |\n"), ("docs/choosing.md", "`sbbf`, `last`\n"),
           ("docs/format.md", "| 3 | sbbf-two |\n| 21 | last-one |\n"), ("include/bloomery/kinds.h", ""),
           ("include/bloomery/kinds.h", kinds.replace(' /* "sbbf" */', ""))]
    for path, text in bad:
        found = rules_broken(changed(files, path, text), check_kinds.missing)
        assert [document for document, _ in found] == [path], f"{path}: {found}"
    return len(bad)


def check_symbol_order_finds():
    """Compiles objects with a few symbols, with the installed compiler."""
    texts = {"src/base/low.c": "int low; extern int high; int *user = &high;", "src/filter/high.c": "extern int low; int high; int *down = &low;",
             "src/filter/kind_table.c": "extern int kind; int *table = &kind;", "src/kinds/kind.c": "int kind;",
             "src/filter/rate.c": "extern int kind; int *rate = &kind;"}

    def check(root):
        for path in texts:
            subprocess.run(["cc", "-c", os.path.join(root, path), "-o", os.path.join(root, path + ".o")], check=True)
        return check_symbol_order.violations([os.path.join(root, path + ".o") for path in texts])

    found = rules_broken(texts, check)
    assert found == [("src/base/low.c", "base uses high of src/filter/high.c"), ("src/filter/rate.c", "filter uses kind of src/kinds/kind.c")], found
    return len(found)


HEADER = """#ifndef BLOOMERY_BLOOMERY_H
#define BLOOMERY_BLOOMERY_H
#include <stddef.h>
#include <stdint.h>
#define BLY_API __attribute__((visibility("default")))
#define BLY_LIMIT 8u /* of all */
#define BLY_ERRORS(X) X(BLY_BAD, -1) X(BLY_WORSE, -2)
typedef enum bly_error {
#define BLY_ERROR(name, value) name = value,
    BLY_ERRORS(BLY_ERROR)
} bly_error;
enum { BLY_FIRST = 1u << 0, BLY_LAST = 1u << 1 };
typedef struct bly_info {
    size_t struct_size;
    uint32_t count, bits[4];
} bly_info;
typedef struct bly_source {
    bly_error (*read)(void *ctx, size_t n);
    struct bly_part {
        void *ctx;
    } parts[2];
} bly_source;
typedef bly_error (*bly_sink)(void *ctx, size_t n);
BLY_API bly_error bly_write(bly_sink sink, bly_error (*other)(void *ctx));
/* bly_comment(void) */
static inline int bly_twice(int x) {
    return x + x;
}
#endif
"""
STRUCTS = "## Growable structs\n`bly_info`\n## Fixed structs\n`bly_source` `bly_part`\n## More\n`bly_no`\nbly_info info = {\n    .struct_size = sizeof info};\n"
# (a text in the header or in the document, its replacement)
BAD_LAYOUTS = [
    ("count, bits[4]", "count, more, bits[4]"), ("uint32_t count", "uint16_t count"), ("bits[4]", "bits[5]"), ("bits[4]", "bytes[4]"),
    ("(void *ctx, size_t n);\n    struct", "(void *ctx, size_t n);\n    char c;\n    struct"), ("} parts[2]", "} parts[3]"),
    ("BLY_LIMIT 8u", "BLY_LIMIT 9u"), ("X(BLY_WORSE, -2)", "X(BLY_WORSE, -3)"), ("BLY_LAST = 1u << 1", "BLY_LAST = 1u << 2"),
    ("BLY_FIRST = 1u << 0, ", ""), ("size_t struct_size;\n    uint32_t count", "uint32_t count"), ("size_t struct_size", "uint64_t struct_size"),
    ("`bly_info`", ""), ("`bly_info`", "`bly_info` `bly_part`"), ("`bly_part`", ""), ("`bly_part`", "`bly_part` `bly_gone`"), ("    .struct_size = sizeof info", "    .count = 1"),
    ("static inline int bly_twice(int x) {", "BLY_API int bly_thrice(int x);\nstatic inline int bly_twice(int x) {"),
]


def check_layout_finds():
    """Checks a small header against a list of its own layout, then changes each."""
    files = {"include/bloomery/bloomery.h": HEADER, check_layout.DOCUMENT: STRUCTS, check_layout.LIST: "",
             check_layout.SYMBOLS: "bly_write\n"}

    def lines(root):
        return check_layout.layout(root, c_headers.own_text(root, [c_headers.UMBRELLA]))

    files[check_layout.LIST] = "\n".join(rules_broken(files, lines)) + "\n"
    assert rules_broken(files, check_layout.violations) == [], rules_broken(files, check_layout.violations)
    for old, new in BAD_LAYOUTS:
        assert old in HEADER + STRUCTS, old
        bad = {path: text if path == check_layout.LIST else text.replace(old, new) for path, text in files.items()}
        assert rules_broken(bad, check_layout.violations), f"{new} instead of {old} is not found"
    names = rules_broken(files, lambda root: c_headers.functions(c_headers.own_text(root, [c_headers.UMBRELLA])))
    assert names == ["bly_twice", "bly_write"], names
    return len(BAD_LAYOUTS) + 1


def check_symbols_finds():
    """Compiles libraries with a few symbols. The list comes from the first."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_symbols.sh")
    texts = ["int one; static int two;", "int one, two;", "int two;"]

    def check(root):
        results = []
        for text in texts:
            library = os.path.join(root, "lib.so")
            subprocess.run([*c_headers.compiler(), "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=text, text=True, check=True)
            if not results:
                subprocess.run([script, "--update", library, os.path.join(root, "list")], check=True)
            results.append(subprocess.run([script, library, os.path.join(root, "list")], capture_output=True, check=False).returncode)
        return results

    assert rules_broken({"list": ""}, check) == [0, 1, 1]
    return 2


def check_links_finds():
    files = {"README.md": "# One\n\n[a](docs/two.md#the-second-part) [b](#one) [c](docs) [d](https://two.test/x#y) `[e](no.md)`\n",
             "docs/two.md": "## The `second` part\n\n```sh\n# [f](no.md)\n```\n"}
    bad = ["[x](docs/no.md)", "[x](docs/two.md#second-part)", "[x](#two)", "[x `y`](no)", "![x](no.svg)", "[![x](no.svg)](docs)", '<img src="no.svg" width="9">']
    assert rules_broken(files, check_links.violations) == []
    for link in bad:
        found = rules_broken(changed(files, "README.md", "+" + link), check_links.violations)
        assert len(found) == 1, f"{link}: {found}"
    return len(bad)


def check_phrases_finds():
    good = {"src/a.c": "/* Many strange things, if there are no more. */\n", "README.md": "It says \"whoever\" and `anew`.\n\n```sh\nanew\n```\n"}
    bad = ["keys of strangers", "built\n * anew", "takes other keys for its own", "there is\n    none", "cannot be had", "the rate\nasked",
           "all but\n * for one", "kept for ever", "sent in\nvain", "each in its turn", "parted by tabs", "gone without a word",
           "told to one who adds", "a node that has not the slot"]
    assert rules_broken(good, check_phrases.violations) == []
    for words in bad:
        for path, text in (("src/a.c", f"+/* {words} */\n"), ("README.md", f"+\n{words}\n")):
            found = rules_broken(changed(good, path, text), check_phrases.violations)
            assert [place[0] for place in found] == [path], f"{words!r}: {found}"
    return 2 * len(bad)


def check_documents_finds():
    """Tests the parts that need no build: blocks, transcripts, commands of the shell."""
    bad = ["```sh no-run\nls\n```\n", "```sh no-run: no\nls\n```\n", "```bash\nls\n```\n", "text\n\n    bloomery dedup x\n", "```sh nowhere\nls\n```\n"]
    for text in bad:
        try:
            check_documents.blocks_of("d.md", text)
        except check_documents.BadDocument:
            continue
        raise AssertionError(f"{text!r} is accepted")
    text = "```c\nint x;\n```\n```sh\na\n```\n<!-- sh\nb\n-->\n```console\n$ c\nd\n```\n```sh no-run: needs root\ne\n```\n```sh endless\nf\n```\n"
    blocks = check_documents.blocks_of("d.md", text)
    assert [(b.how, b.line, b.text) for b in blocks] == [("sh", 5, "a\n"), ("sh", 8, "b\n"), ("console", 11, "$ c\nd\n"), ("no-run", 15, "e\n"), ("endless", 18, "f\n")]
    assert check_documents.transcript_of("$ a \\\n> b\nc\n$ d\n") == [["a \\\nb", ["c"]], ["d", []]]
    for expected, printed, same in [(["a"], "a\n", True), (["a"], "a", True), (["a"], "a\nb\n", False), (["a", "...", "c"], "a\nc\n", True),
                                    (["a", "...", "c"], "a\nb\nb\nc\n", True), (["..."], "", True), ([], "a\n", False), (["a."], "ab\n", False)]:
        assert check_documents.matches(expected, printed) == same, f"{expected} and {printed!r}"

    class Here:
        environment = dict(os.environ)

    for commands, endless, good in [("true", False, True), ("false", False, False), ("false; true", False, False), ("false | true", False, False),
                                    ("echo $no", False, False), ("echo a; sleep 9", True, True), ("echo a", True, False)]:
        assert check_documents.run(commands, ".", Here, endless)[0] == good, commands
    assert check_documents.quoted_plans("`plan -n 5` `bloomery plan -n N` `plan`\n```sh\n`plan -n 6`\n```\n") == ["bloomery plan -n 5"]
    return len(bad) + 14


def main():
    cases = check_tree_finds() + check_architecture_finds() + check_kinds_finds() + check_links_finds()
    cases += check_phrases_finds() + check_documents_finds()
    if shutil.which("cc") and shutil.which("nm"):
        cases += check_symbol_order_finds() + check_layout_finds() + check_symbols_finds()
    print(f"{cases} planted violations found")


if __name__ == "__main__":
    main()
