#!/usr/bin/env python3
"""check_tree.py [--counts] [ROOT]: the rules that keep the tree easy to navigate.

Prints FILE:LINE: RULE: what is wrong, for each violation, and exits with status 1 if there are any. --counts also
prints the number of violations per rule. The rules:

  base-name         no file name occurs twice in src/, module/ and cli/
  static-name       no two files of src/ have a static function of the same name, so that src/ can be one translation unit
  include-cycle     no header includes itself through other headers
  include-path      includes in src/ are relative to src/, those in module/ to module/, those in cli/ to cli/
  include-order     a folder of src/ or cli/ includes only from itself and from earlier ones (ORDER)
  public-only       cli/, module/, examples/ and bench/ include only the library's public headers, <bloomery/...>
  commands-redis    no file of cli/commands/ distinguishes servers from files: cli/filters/ and cli/dedup/ do
  function-length   no function has more than 50 lines
  file-length       no file has more than 600 lines, unless it says why: /* Length: the reason */
  single-includer   an internal header is included by at least two files; tests count
  file-comment      every .c file of src/, module/ and cli/ begins with a comment; a file name at its beginning is this file's
  word              no identifier or file name contains a word that the glossary replaces
  condition         #if is used only in the files that choose a platform or a package (CONDITIONS)
"""
import collections
import functools
import io
import os
import re
import sys
import tokenize

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from c_source import Source, files_in, line_of, without_comments  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# The order of folders: a folder may use itself and those with a smaller number. Files directly in cli/ describe
# commands and options; all folders of cli/ may use their headers.
ORDER = {
    "src": {"base": 0, "hash": 1, "simd": 2, "filter": 3, "kinds": 4, "file": 5, "lists": 6, "formats": 6, "redis": 6},
    "cli": {"": 0, "text": 1, "io": 2, "filters": 3, "bench": 4, "build": 4, "count": 4, "dedup": 4, "plan": 4, "commands": 5},
}
# Files directly in cli/ that may use more: folders with a smaller number than this.
CLI_ROOT = {"cli/main.c": 9, "cli/options.c": 2}
# The one exception: the table of kinds names the descriptors of src/kinds.
KIND_TABLE = "src/filter/kind_table.c"

MAX_FUNCTION, MAX_FILE = 50, 600
LENGTH_REASON = re.compile(r"(?:/\*|#|\*) Length: \S")

# Words that must not be part of a name: in any case, and in capital letters (write MAX and MIN).
WORDS = {"hunch", "haunt", "desk", "seat", "errand", "card", "talk", "pace", "lone", "sees"}
CAPITAL_WORDS = {"MOST", "LEAST"}

# Where #if may choose a platform or an optional package.
CONDITIONS = {
    "include/bloomery/base.h": "the export attributes",
    "src/base/bits.h": "the 128-bit product, byte order, prefetching for a write",
    "src/base/memory.c": "whether the system has huge-page advice",
    "src/base/temp_file.c": "what the system's file calls can do",
    "src/hash/hash_crypto.c": "whether libcrypto is available",
    "src/hash/hash_siphash.c": "whether libsodium is available",
    "src/file/replace_file.c": "what the system's file calls can do",
    "src/lists/idn.c": "whether libidn2 is available",
    "src/kinds/window/window_layout.h": "vector instructions for the slices of a line",
    "src/redis/client/connection.c": "what the installed hiredis can do",
    "src/redis/client/net.c": "what the system's sockets can do",
}
CONDITION_FOLDERS = ("src/simd/",)  # the instruction set


class Tree:
    """The C files, and what they include."""

    def __init__(self, root):
        self.root = root
        folders = ("include", "src", "module", "cli", "examples", "bench", "tests", "fuzz")
        self.sources = {path: Source(root, path) for path in files_in(root, folders, (".c", ".h"))}
        self.by_name = collections.defaultdict(list)
        for path in self.sources:
            self.by_name[os.path.basename(path)].append(path)
        self.included = {path: list(self.resolve(source)) for path, source in self.sources.items()}

    def of(self, *folders):
        return [s for s in self.sources.values() if s.top in folders]

    def resolve(self, source):
        """Yields (line, path) for each file of this tree that it includes."""
        for line, how, name in source.includes:
            path = self.find(source, how, name)
            if path:
                yield line, path

    def find(self, source, how, name):
        beside = os.path.normpath(os.path.join(os.path.dirname(source.path), name))
        places = ([beside, source.top + "/" + name] if how == "quoted" else []) + ["include/" + name]
        if source.top in ("tests", "fuzz"):
            places += [folder + name for folder in ("src/", "module/", "cli/", "tests/", "tests/support/")]
        for path in places:
            if path in self.sources:
                return path
        return None


def check_base_names(tree):
    for name, paths in sorted(tree.by_name.items()):
        inside = [p for p in paths if p.startswith(("src/", "module/", "cli/"))]
        extra = [p for p in paths if re.match(r"include/bloomery/\w+/", p)]
        for same in (inside, extra):
            if len(same) > 1 and name != "main.c":
                for path in same[1:]:
                    yield path, 1, f"{name} is also {same[0]}"


def check_static_names(tree):
    first = {}
    for source in tree.of("src"):
        for function in source.functions:
            if function.static:
                there = first.setdefault(function.name, (source.path, function.first))
                if there[0] != source.path:
                    yield source.path, function.first, f"{function.name} is also in {there[0]}:{there[1]}"


def check_include_cycles(tree):
    done, stack, found = set(), [], []

    def visit(path):
        stack.append(path)
        for line, target in tree.included[path]:
            if target in stack:
                found.append((path, line, " -> ".join(stack[stack.index(target):] + [target])))
            elif target not in done:
                visit(target)
        done.add(stack.pop())

    for source in tree.of("include", "src", "module", "cli"):
        if source.path not in done:
            visit(source.path)
    return found


def check_include_paths(tree):
    for source in tree.of("src", "module", "cli"):
        for line, how, name in source.includes:
            if how == "quoted" and f"{source.top}/{name}" not in tree.sources:
                yield source.path, line, f'"{name}" is not a path from {source.top}/'


def folder_of(path):
    """Returns the name of the folder in src/ or cli/, and "" for a file directly in cli/."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else ""


def check_include_order(tree):
    for source in tree.of("src", "cli"):
        order, own = ORDER[source.top], folder_of(source.path)
        if own not in order:
            yield source.path, 1, f"{source.top}/{own} has no place in the order of folders"
            continue
        for line, path in tree.included[source.path]:
            if not path.startswith(source.top + "/"):
                continue
            other = folder_of(path)
            allowed = other == own or order.get(other, 99) < CLI_ROOT.get(source.path, order[own])
            if not allowed and not (source.path == KIND_TABLE and other == "kinds"):
                yield source.path, line, f"{own or source.top} includes {path}"


def check_public_only(tree):
    for source in tree.of("cli", "module", "examples", "bench"):
        for line, how, name in source.includes:
            path = tree.find(source, how, name)
            inside = path is not None and path.startswith(source.top + "/")
            if how == "quoted" and not inside:
                yield source.path, line, f'"{name}" is not a file of {source.top}/'


def check_commands_redis(tree):
    for source in tree.of("cli"):
        if folder_of(source.path) != "commands":
            continue
        text = without_comments(source.text)
        code = re.sub(r"\bAT\(\w+\)", "", source.code) + "".join(f"\n{name}" for _, _, name in source.includes)
        named = re.search(r"(?i)\b\w*redis\w*|\bis_address\b|\bremote_is\w*", code)
        compared = re.search(r'\bstr\w*cmp\([^;]*"(redis|rediss|unix)\b', text)
        if named or compared:
            yield source.path, line_of(text, (compared or re.search(re.escape(named[0]), text)).start()), (named or compared)[0]


def check_function_lengths(tree):
    for source in tree.sources.values():
        for function in source.functions:
            lines = function.last - function.first + 1
            if lines > MAX_FUNCTION:
                yield source.path, function.first, f"{function.name} has {lines} lines"


def check_file_lengths(tree):
    texts = {path: source.text for path, source in tree.sources.items()}
    for path in files_in(tree.root, ("tests", "bench", "scripts"), (".py",)):
        with open(os.path.join(tree.root, path), encoding="utf-8") as file:
            texts[path] = file.read()
    for path, text in sorted(texts.items()):
        lines = text.count("\n")
        if lines > MAX_FILE and not LENGTH_REASON.search(text):
            yield path, lines, f"{lines} lines"


def check_single_includers(tree):
    includers = collections.defaultdict(set)
    for path, targets in tree.included.items():
        for _, target in targets:
            includers[target].add(path)
    for source in tree.of("src", "module", "cli"):
        users = includers[source.path]
        if source.path.endswith(".h") and len(users) < 2:
            yield source.path, 1, f"only {users.pop()} includes it" if users else "no file includes it"


def check_file_comments(tree):
    for source in tree.of("src", "module", "cli"):
        if source.path.endswith(".c") and not source.text.startswith("/*"):
            yield source.path, 1, "does not begin with a comment"
    for source in tree.of("include", "src", "module", "cli", "tests", "fuzz", "bench", "examples"):
        named = re.match(r"/\* (\S+\.[ch]\b)", source.text)
        if named and named[1].rpartition("/")[2] != os.path.basename(source.path):
            yield source.path, 1, f"its first comment names {named[1]}"


def parts_of(name):
    """Returns the words of a name, which underscores or a change from small to capital letters separate."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)


@functools.lru_cache(maxsize=None)
def bad_word(name):
    return next((p for p in parts_of(name) if p.lower() in WORDS or p in CAPITAL_WORDS), None)


def c_names(source):
    code = re.sub(r"(?m)^[ \t]*#[ \t]*include.*$", "", source.code)
    for name in sorted(filter(bad_word, set(re.findall(r"[A-Za-z_]\w*", code)))):
        yield line_of(code, re.search(rf"\b{name}\b", code).start()), name


def python_names(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        text = file.read()
    if any(bad_word(name) for name in set(re.findall(r"\w+", text))):  # it may be in a string or a comment
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NAME:
                yield token.start[0], token.string


def check_words(tree):
    named = [(s.path, c_names(s)) for s in tree.of("include", "src", "module", "cli", "tests")]
    named += [(path, python_names(tree.root, path)) for path in files_in(tree.root, ("tests",), (".py",))]
    for path, names in named:
        if bad_word(os.path.basename(path)):
            yield path, 1, f"file name with '{bad_word(os.path.basename(path))}'"
        seen = set()
        for line, name in names:
            if name not in seen and bad_word(name):
                yield path, line, f"{name} contains '{bad_word(name)}'"
            seen.add(name)


def check_conditions(tree):
    guard = re.compile(r"#ifndef (BLYI|BLOOMERY)_[A-Z0-9_]+_H\s*$|__cplusplus")
    used = set()
    for source in tree.of("src", "include"):
        text = without_comments(source.text)
        for match in re.finditer(r"(?m)^[ \t]*#[ \t]*if(def|ndef)?\b.*$", text):
            if guard.search(match[0]) or source.path.startswith(CONDITION_FOLDERS):
                continue
            used.add(source.path)
            if source.path not in CONDITIONS:
                yield source.path, line_of(text, match.start()), match[0].strip()
    for path in sorted(set(CONDITIONS) - used):
        yield path, 1, "is listed in check_tree.py, but needs no condition"


RULES = {
    "base-name": check_base_names,
    "static-name": check_static_names,
    "include-cycle": check_include_cycles,
    "include-path": check_include_paths,
    "include-order": check_include_order,
    "public-only": check_public_only,
    "commands-redis": check_commands_redis,
    "function-length": check_function_lengths,
    "file-length": check_file_lengths,
    "single-includer": check_single_includers,
    "file-comment": check_file_comments,
    "word": check_words,
    "condition": check_conditions,
}


def violations(root):
    """Returns [(file, line, rule, what is wrong)]."""
    tree = Tree(root)
    return [(path, line, rule, text) for rule, check in RULES.items() for path, line, text in check(tree)]


def main():
    arguments = sys.argv[1:]
    counts = "--counts" in arguments
    folders = [a for a in arguments if a != "--counts"]
    if len(folders) > 1 or any(a.startswith("-") for a in folders):
        sys.exit(__doc__)
    found = violations(folders[0] if folders else ROOT)
    for path, line, rule, text in found:
        print(f"{path}:{line}: {rule}: {text}")
    if counts:
        number = collections.Counter(rule for _, _, rule, _ in found)
        for rule in RULES:
            print(f"{number[rule]:6} {rule}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
