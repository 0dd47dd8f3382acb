"""c_source.py - a simple reader of C files for the checks of the tree: code without comments and strings, includes,
functions. It relies on the formatting of clang-format."""
import os
import re

COMMENT = r"//[^\n]*|/\*.*?\*/"
LITERAL = r'"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'"
SKIPPED_FOLDERS = {"node_modules", "__pycache__"}


def blank(text):
    """Returns the text with a blank for every character but newlines, so that offsets and line numbers stay correct."""
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    return re.sub(f"{LITERAL}|{COMMENT}", lambda m: blank(m[0]) if m[0][0] == "/" else m[0], text, flags=re.S)


def code_of(text):
    """Returns the text with comments, strings and character constants blanked out."""
    return re.sub(f"{LITERAL}|{COMMENT}", lambda m: blank(m[0]), text, flags=re.S)


def without_directives(code):
    return re.sub(r"(?m)^[ \t]*#(?:.*\\\n)*.*$", lambda m: blank(m[0]), code)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def files_in(root, folders, endings):
    """Returns the paths of the files below these folders, relative to root, sorted."""
    found = []
    for folder in folders:
        for path, folders_here, names in os.walk(os.path.join(root, folder)):
            folders_here[:] = [f for f in folders_here if f not in SKIPPED_FOLDERS and f[0] != "."]
            found += [os.path.relpath(os.path.join(path, n), root) for n in names if n.endswith(endings)]
    return sorted(found)


class Function:
    """The definition of a function: its name, whether it is static, its first line and that of its closing brace."""

    def __init__(self, name, static, first, last):
        self.name, self.static, self.first, self.last = name, static, first, last


def name_in(header):
    """Returns the identifier before the parameters, which are the last parentheses in the header of a definition."""
    depth, at = 0, header.rindex(")")
    for at in range(at, -1, -1):
        depth += {")": 1, "(": -1}.get(header[at], 0)
        if depth == 0:
            break
    name = re.search(r"(\w+)\s*$", header[:at])
    return name[1] if name else None  # a macro makes the name


def functions_of(code):
    """Yields the functions that a file defines. `code` has neither comments nor directives."""
    for match in re.finditer(r"(?m)^[A-Za-z_][^;{}=]*\)\s*\{[ \t]*$", code):
        header = match[0]
        end = re.compile(r"(?m)^\}").search(code, match.end())
        name = name_in(header)
        if end and name and not re.match(r"(struct|union|enum|typedef)\b[^()]*$", header):
            yield Function(name, re.search(r"\bstatic\b", header) is not None, line_of(code, match.start()),
                           line_of(code, end.start()))


class Source:
    """One C file."""

    def __init__(self, root, path):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            self.text = file.read()
        self.path = path
        self.top = path.split(os.sep)[0]
        self.code = code_of(self.text)
        self.lines = self.text.count("\n")
        #: [(line, "quoted" or "angled", name)]
        self.includes = [(line_of(self.text, m.start()), "quoted" if m[1] == '"' else "angled", m[2])
                         for m in re.finditer(r'(?m)^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]',
                                              without_comments(self.text))]
        self.functions = list(functions_of(without_directives(self.code)))
