"""What `bloomery plan --json` computes: bits per key, memory, cache lines and rates of a kind."""
import json
import math
import os
import subprocess
import tempfile
from decimal import ROUND_HALF_UP, Decimal

KEYS = 1_000_000  # for which figures per key are given
FLAGS = {"auto": [], "window": ["--window"], "counts": ["--counts"]}


class Planner:
    """Runs one program, each command once."""

    def __init__(self, program):
        self.program = os.path.abspath(program)
        self.plans = {}

    def plan(self, keys, rate, *flags):
        command = (self.program, "plan", "-n", str(keys), "-p", repr(rate), "--json", *flags)
        if command not in self.plans:
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            if done.returncode:
                raise ValueError(done.stderr.strip())
            self.plans[command] = json.loads(done.stdout)
        return self.plans[command]

    def kind(self, name, keys, rate, first=None, width=None):
        """The row of a kind in the plan, or None if no such filter is possible. With `first`, the filter was
        created for that many keys and has grown. `auto` is the kind that bly_filter_new creates."""
        flags = FLAGS.get(name, ["--static"])  # every other kind can be filled once, too
        if first:
            flags = ["--grows", "--first", str(first)]
        if width:
            flags = ["--kind", name, "--counter-bits", str(width)]
        plan = self.plan(keys, rate, *flags)
        if name == "auto":
            name = plan["kind"]
        rows = [row for row in plan["kinds"] if row["kind"] == name]
        if not rows:
            raise ValueError(f"there is no kind {name}")
        return rows[0] if rows[0]["fits"] else None

    def overlay_bits(self, changes):
        """Bits per removed key of an overlay whose capacity for removed keys is `changes`, measured: the kind has
        no plan. By default an overlay is for changes of a twentieth of its base's capacity."""
        with tempfile.TemporaryDirectory() as folder:
            def run(*words):
                done = subprocess.run([self.program, *words], check=True, capture_output=True, text=True, cwd=folder)
                return done.stdout

            def size(name):
                return json.loads(run("info", "--json", name))["size"]

            with open(os.path.join(folder, "keys"), "w", encoding="utf-8") as file:
                file.writelines(f"{i}\n" for i in range(20 * changes))
            with open(os.path.join(folder, "removed"), "w", encoding="utf-8") as file:
                file.writelines(f"{i}\n" for i in range(changes))
            run("build", "-q", "--kind", "classic", "-o", "base.bly", "keys")
            run("build", "-q", "--over", "base.bly", "-o", "over.bly")
            run("remove", "-q", "over.bly", "removed")
            # The size of the base is in bits, that of an overlay in bytes with a header of 64 before each part.
            base = math.ceil(size("base.bly") / 512) * 64
            return 8 * (size("over.bly") - base - 2 * 64) / changes


def number(text):
    """1000, 100M, 2G."""
    units = {"k": 10**3, "M": 10**6, "G": 10**9}
    return int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text)


def rate_of(text):
    """The number that 0.1% stands for."""
    if not text.endswith("%"):
        raise ValueError(f"{text} is not a rate such as 0.1%")
    return float(Decimal(text[:-1]) / 100)


def rounded(value, digits):
    step = Decimal(1).scaleb(-digits)
    return f"{Decimal(repr(value)).quantize(step, ROUND_HALF_UP):,}"


def significant(value, digits):
    """12.3 for 12.345 and three digits."""
    before = math.floor(math.log10(value)) + 1
    return rounded(value, max(digits - before, 0))


def bits_text(bits, digits=1):
    return rounded(bits, 0 if bits >= 100 else digits)
