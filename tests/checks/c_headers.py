"""c_headers.py - reads the public headers as a compiler sees them: their structs, enumerators, constants and
functions. The C preprocessor expands macros and removes comments; the rest relies on clang-format."""
import os
import re
import subprocess

from c_source import files_in

UMBRELLA = "bloomery/bloomery.h"


def compiler():
    return os.environ.get("CC", "cc").split()


def preprocess(root, headers, *options):
    text = "".join(f"#include <{name}>\n" for name in headers)
    command = [*compiler(), "-std=c11", "-I", os.path.join(root, "include"), "-E", *options, "-x", "c", "-"]
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout


def without_attributes(text):
    """Without __attribute__((...)); its parentheses nest once more at most."""
    return re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", " ", text)


def headers_of(root):
    """bloomery/base.h and so on."""
    return [os.path.relpath(path, "include") for path in files_in(root, ["include/bloomery"], ".h")]


def own_text(root, headers):
    """What these headers declare, and those of ours that they include, without the system's."""
    kept, ours = [], False
    for line in preprocess(root, headers).splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            ours = "/include/bloomery/" in marker[1].replace(os.sep, "/")
        elif ours:
            kept.append(line)
    return without_attributes("\n".join(kept))


def closing(text, at):
    """Where the brace that opens at `at` closes."""
    depth = 0
    for i in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return i
    raise ValueError(f"no closing brace: {text[at:at + 60]!r}")


def blocks(text, word):
    """[(tag or "", body)] of every struct or enum with a body, nested ones included."""
    return [(m[1] or "", text[m.end():closing(text, m.end() - 1)])
            for m in re.finditer(rf"\b{word}\s*(\w+)?\s*\{{", text)]


def without_bodies(text):
    """Nothing between braces, and no braces."""
    while re.search(r"\{[^{}]*\}", text):
        text = re.sub(r"\{[^{}]*\}", " ", text)
    return text


def members(body):
    """[(type, name)] of a struct's body, in order. A function pointer's type is "()"."""
    found = []
    for declaration in without_bodies(body).split(";"):
        declaration = " ".join(declaration.split())
        pointer = re.search(r"\(\s*\*\s*(\w+)\s*\)", declaration)
        if pointer:
            found.append(("()", pointer[1]))
        elif declaration:
            first, *more = declaration.split(",")
            kind, name = re.fullmatch(r"(.*?)(\w+)\s*(?:\[.*\])?", first).groups()
            found += [(kind.strip(), name)] + [(kind.strip(), re.search(r"(\w+)\s*(?:\[.*\])?$", m)[1]) for m in more]
    return found


def structs(text):
    """{tag: members}"""
    return {tag: members(body) for tag, body in blocks(text, "struct")}


def enumerators(text):
    """[(enum's tag or "", name)]"""
    return [(tag, re.match(r"\s*(\w+)", item)[1]) for tag, body in blocks(text, "enum")
            for item in body.split(",") if item.strip()]


def constants(root):
    """Names of macros that have a number: all but export macros, include guards, the version, and those with
    parameters."""
    lines = preprocess(root, headers_of(root), "-dM").splitlines()
    named = [m for m in (re.match(r"#define (BLY_\w+|BLOOMERY_\w+) (.+)", line) for line in lines) if m]
    return sorted(m[1] for m in named if not m[1].startswith("BLOOMERY_VERSION_") and "__attribute__" not in m[2])


def functions(text):
    """The functions that are declared or, static inline, defined: sorted names."""
    text, names, depth = without_bodies(text), set(), 0
    for m in re.finditer(r"[()]|\btypedef\b[^;]*;|\b(bly_\w+)\s*(?=\()", text):
        if m[1] and depth == 0:
            names.add(m[1])
        depth += {"(": 1, ")": -1}.get(m[0], 0)
    return sorted(names)


def inline_functions(text):
    """Those that are defined in the headers."""
    return set(re.findall(r"\bstatic inline\b[^;(){}]*?\b(bly_\w+)\s*\(", without_bodies(text)))
