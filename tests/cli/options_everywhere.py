#!/usr/bin/env python3
"""Help, manual pages and completions describe every command and option, and agree with each other.

    options_everywhere.py PROGRAM

`COMMAND -h` lists the options. The parser must accept each of them, and each must be in the long help,
the manual page and the three completion scripts. Every command must have a summary, a description and
examples, and every example must be a command line that the parser accepts.
"""
import fcntl
import functools
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios

LABEL = re.compile(r"^  (?:-\S, |    )--")
VALUE = r"([A-Z][A-Z|]*(?:,\.\.\.)?)"
OPTION = re.compile(r"^  (?:-(\S), |    )--([a-z0-9-]+)(?: %s|\[=%s\])?(?:  |$)" % (VALUE, VALUE))
PROGRAM = sys.argv[1]
failures = []


def run(*args):
    done = subprocess.run([PROGRAM, *args], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60)
    return done.returncode, done.stdout.decode("ascii"), done.stderr.decode("utf-8", "replace")


@functools.lru_cache(maxsize=None)
def output(*args):
    status, out, err = run(*args)
    expect(status == 0 and not err, "bloomery %s: status %d, %s" % (" ".join(args), status, err))
    return out


def expect(truth, message):
    if not truth:
        failures.append(message)


class Option:
    def __init__(self, match):
        self.letter, self.name, value, optional = match.groups()
        self.metavar, self.optional = value or optional, bool(optional)

    def names(self):
        return (["-" + self.letter] if self.letter else []) + ["--" + self.name]


def options_of(command):
    lines = [line for line in output(command, "-h").split("\n") if LABEL.match(line)]
    for line in lines:
        expect(OPTION.match(line), "%s: not an option: %s" % (command, line))
    return [Option(match) for match in map(OPTION.match, lines) if match]


def roff_words(page):
    """A manual page's text without its escapes."""
    return re.sub(r"\\f[BIR]", "", page.replace("\\-", "-"))


def check_option(command, option, help_text, page, scripts):
    where = "%s --%s" % (command, option.name)
    labels = [label for label in map(OPTION.match, help_text) if label]
    row = [l for l in labels if l.group(2) == option.name]
    expect(len(row) == 1 and row[0].group(1) == option.letter, where + ": not in --help")
    value = "" if not option.metavar else \
        "[=%s]" % option.metavar if option.optional else " " + option.metavar
    tag = ", ".join(option.names()) + value
    expect(".TP\n" + tag + "\n" in page, where + ": not in the manual page")

    words = option.names()
    listed = re.search(r"^    %s\)\n        options='([^']*)'" % command, scripts["bash"], re.M)
    expect(listed and all(word in listed.group(1).split() for word in words),
           where + ": bash does not complete it")
    zsh = re.search(r"^    %s\) (.*?);;$" % command, scripts["zsh"], re.M | re.S)
    expect(zsh and all(re.search(r"[ {,]%s[+=-]*[},'\[]" % re.escape(word), zsh.group(1))
                       for word in words), where + ": zsh does not complete it")
    rule = r"^complete -c bloomery -n '__bloomery_in %s' %s-l %s " % (
        command, "-s %s " % re.escape(option.letter) if option.letter else "", option.name)
    expect(re.search(rule, scripts["fish"], re.M), where + ": fish does not complete it")

    if option.metavar and not option.optional:
        for word in words:
            status, _, err = run(command, "-h", word)
            expect(status == 2 and "needs a value" in err, where + ": " + err)


def check_parser_takes(command, options):
    """Parses the options that need no value: all at once or, if some exclude each other, one by one."""
    words = [word for option in options for word in option.names()
             if not option.metavar or option.optional]
    if run(command, "-h", *words)[0] != 0:
        for word in words:
            expect(run(command, "-h", word)[0] == 0, "%s: the parser refuses %s" % (command, word))


def section(text, heading):
    """The lines below a heading of --help, up to the next."""
    lines = text.split("\n")
    if heading not in lines:
        return []
    begin = lines.index(heading) + 1
    end = next((i for i in range(begin, len(lines)) if re.match(r"\S.*:$", lines[i])), len(lines))
    return [line for line in lines[begin:end] if line]


HEADINGS = ["Most used options:", "Options:", "More options:", "Server options:", "General options:"]


def options_section(text):
    """The lines below the headings of options; the groups must come in this order."""
    found = [line for line in text.split("\n") if line in HEADINGS]
    expect(found == sorted(set(found), key=HEADINGS.index), "headings: " + " ".join(found))
    return [line for heading in found for line in section(text, heading)]


def check_example(command, line):
    """Parses every `bloomery ...` in a shell command; with -h the program parses it and stops."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split = True
    lexer.commenters = ""
    words = list(lexer)
    uses = [i for i, word in enumerate(words) if word == "bloomery"]
    for i in uses:
        end = next((j for j in range(i, len(words)) if set(words[j]) <= set("|&;()") and words[j]),
                   len(words))
        args, skip = [], False
        for word in words[i + 1:end]:
            redirection = set(word) <= set("<>&") and word
            if not redirection and not skip:
                args.append(word)
            skip = bool(redirection)
        expect(args and args[0] in commands, "%s: no command in '%s'" % (command, line))
        if args and args[0] in commands:
            status, _, err = run(args[0], "-h", *args[1:])
            expect(status == 0 and not err, "%s: '%s': %s" % (command, line, err.strip()))
    return len(uses)


def check_command(command, scripts):
    text = output(command, "--help")
    expect(text == output("help", command), command + ": help and --help differ")
    head, usage = text.split("\n")[0], text.split("\n")[2]
    expect(re.fullmatch(r"bloomery %s: [A-Z].*[^. ]" % command, head), "summary: " + head)
    expect(usage.startswith("Usage: bloomery %s [OPTION...]" % command), "usage: " + usage)
    description = re.split(r"\n.*ptions:\n", text)[0].split("\n")[4:]
    expect(len(" ".join(description)) > 60, command + ": hardly a description")
    for line in text.split("\n"):
        kept = line.startswith("  ") or not " " in line
        expect(len(line) <= 80 or (kept and not line.startswith("  # ")),
               "%s: a line of %d columns: %s" % (command, len(line), line))

    options = options_of(command)
    names = [name for option in options for name in option.names()]
    expect(len(names) == len(set(names)), command + ": an option twice: " + " ".join(names))
    expect({"quiet", "color", "help"} <= {option.name for option in options},
           command + ": the common options are missing")
    below = [line for line in text.split("\n") if line in HEADINGS]
    first = [line for line in section(text, below[0]) if LABEL.match(line)]
    expect(len(options) < 10 or below[0] == "Most used options:" and len(first) == 3,
           command + ": no options that most people need")
    page = output("help", "--man", command)
    order = re.findall(r"^\.SH (.*)$", page, re.M)
    expect(order == ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS",
                     "ENVIRONMENT", "SEE ALSO"], command + ": sections " + ", ".join(order))
    for option in options:
        check_option(command, option, options_section(text), roff_words(page), scripts)
    check_parser_takes(command, options)

    examples = section(text, "Examples:")
    uses = sum(check_example(command, line) for line in examples if not line.startswith("  #"))
    expect(uses > 0, command + ": no examples")
    expect(examples and examples[0].startswith("  # "), command + ": an example without purpose")
    return options


def check_mentions(table):
    """Every option that a text mentions exists, in this command or another."""
    known = {name for options in table.values() for option in options for name in option.names()}
    for command in table:
        for word in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", output(command, "--help")):
            expect(word in known, "%s --help speaks of %s, which no command has" % (command, word))


def on_terminal(columns, environment, *args):
    """The output on a terminal of that many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen([PROGRAM, *args], stdout=theirs, stdin=subprocess.DEVNULL,
                             env={"TERM": "xterm", **environment})
    os.close(theirs)
    text = b""
    try:
        while chunk := os.read(ours, 65536):
            text += chunk
    except OSError:  # on Linux, the other end is closed
        pass
    os.close(ours)
    expect(child.wait() == 0, "on a terminal: status %d" % child.returncode)
    return text.decode("ascii").replace("\r\n", "\n")


def check_terminal(command):
    for columns, most in ((50, 50), (100, 100), (200, 100), (3, 40)):
        plain = on_terminal(columns, {"NO_COLOR": "1"}, command, "--help")
        expect("\033" not in plain, "NO_COLOR is not obeyed")
        prose = [line for line in plain.split("\nExamples:")[0].split("\n")[3:] if "  " not in line]
        longest = max(len(line) for line in prose)
        expect(most - 15 < longest <= most, "%s: lines of %d in %d columns" % (
            command, longest, columns))
    bold = on_terminal(80, {}, command, "--help")
    expect("\033[1mGeneral options:\033[0m\n" in bold, "headings are not bold on a terminal")
    expect(re.sub("\033\\[[0-9]*m", "", bold) == output(command, "--help"),
           command + ": more than colour differs on a terminal")
    expect("\033" not in on_terminal(80, {"TERM": "dumb"}, command, "--help"),
           "a dumb terminal gets colour")
    expect("\033[1m" in output(command, "--help", "--color=always"), "--color=always: no colour")


# In `check`, as in grep, which it replaces in scripts, -n numbers the lines.
LIKE_GREP = {("check", "n")}

# --list prints a list of names, except in `check`, where it names a list of entries.
LIKE_A_LIST = {("check", "list")}


def check_letters(table):
    """A letter has the same meaning in all commands, and so an option has the same letter and kind
    of value."""
    by_letter, by_name = {}, {}
    for command, options in table.items():
        for option in options:
            if option.letter and (command, option.letter) not in LIKE_GREP:
                by_letter.setdefault(option.letter, {}).setdefault(option.name, []).append(command)
            if (command, option.name) in LIKE_A_LIST:
                continue
            value = "FILE" if option.metavar == "LIST" else option.metavar  # a list is a file
            by_name.setdefault(option.name, {}).setdefault(
                (option.letter, value), []).append(command)
    for letter, meanings in sorted(by_letter.items()):
        expect(len(meanings) == 1, "-%s means %s" % (letter, "; ".join(
            "--%s in %s" % (name, ", ".join(where)) for name, where in meanings.items())))
    for name, shapes in sorted(by_name.items()):
        expect(len(shapes) == 1, "--%s differs: %s" % (name, "; ".join(
            "%s %s in %s" % (shape[0] or "no letter", shape[1] or "no value", ", ".join(where))
            for shape, where in shapes.items())))


commands = output("help", "--list").split()
overview = output("--help")
expect(overview == output("-h") == output("help"), "the overviews differ")
for line in section(overview, "Examples:"):
    if not line.startswith("  #"):
        check_example("overview", line)
listed = [line.split()[0] for line in section(overview, "Commands:") if line[2] != " "]
expect(listed == commands, "the overview lists other commands: " + " ".join(listed))
scripts = {shell: output("help", "--completion", shell) for shell in ("bash", "zsh", "fish")}
table = {command: check_command(command, scripts) for command in commands}
check_mentions(table)
check_terminal("help")
check_terminal("dedup")
check_letters(table)
for failure in failures:
    print(failure, file=sys.stderr)
print("%d commands, %d options, %d failures" % (
    len(commands), sum(map(len, table.values())), len(failures)))
sys.exit(1 if failures else 0)
