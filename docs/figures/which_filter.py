"""The picture that leads from a need to a kind, as an SVG, in English or Chinese. update.py writes it.

It is narrow enough for a telephone, and has a background of its own for dark pages."""
from figures import row_of
from planner import rounded

RATES = ("1%", "0.1%")
DARK, LIGHT = "#0969da", "#a5cdf5"  # of the bars: at the first and the second rate
MAX_BITS = 26.0

# A need: its kinds, each with the keys that it grows from.
NEEDS = [
    [("auto", None)],
    [("scalable", "1000")],
    [("cuckoo", None), ("hybrid", None)],
    [("window", None)],
    [("fuse", None), ("ribbon", None)],
]
WORDS = {
    "en": {
        "language": "en",
        "font": "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif",
        "title": "Which filter?",
        "columns": "bits per key at a false-positive rate of",
        "auto": "sbbf, split512",
        "needs": ["Add and look up; number of keys known", "Number of keys unknown or unlimited",
                  "Remove keys again, or count them", "Remember only recent keys",
                  "All keys known in advance, never changed"],
        "notes": {"auto": "chosen by the rate; bb2x512 below 0.1%", "scalable": "grows; here from 1,000 keys to a million",
                  "cuckoo": "keys can be removed", "hybrid": "the same, with exact counts",
                  "window": "the last N keys, or those of the last hours", "fuse": "three cache lines per lookup",
                  "ribbon": "the smallest kind"}},
    "zh": {
        "language": "zh-CN",
        "font": "'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', 'Noto Sans SC', sans-serif",
        "title": "选哪一种过滤器？",
        "columns": "每个键的比特数，误判率为",
        "auto": "sbbf, split512",
        "needs": ["添加和查询，键的数量大致已知", "键的数量未知或无限增长", "需要删除键，或统计次数", "只记住最近的键",
                  "全部键预先已知，不再改变"],
        "notes": {"auto": "按误判率自动选择；低于 0.1% 时用 bb2x512", "scalable": "自动增长；此处从一千个键增长到一百万个",
                  "cuckoo": "可以删除键", "hybrid": "可以删除键，并精确计数", "window": "最近 N 个键，或最近一段时间内的键",
                  "fuse": "每次查询读三个缓存行", "ribbon": "最省内存的种类"}},
}

WIDTH, TOP, GAP = 480, 86, 12
CARD, NAME, BAR, BAR_WIDTH = 36, 50, 226, 140
COLUMNS = (408, 462)
ROW, HEADING = 44, 34


def card_height(kinds):
    return HEADING + ROW * len(kinds) + 2


def text(x, y, content, more=""):
    return f'<text x="{x}" y="{y}"{more}>{content}</text>'


def kind_row(planner, words, y, kind, first):
    options = {"first": first} if first else {}
    values = [row_of(planner, kind, rate, **options)["bits_per_key"] for rate in RATES]
    name = words["auto"] if kind == "auto" else kind
    yield text(NAME, y + 12, name, ' font-family="ui-monospace, Menlo, Consolas, monospace" font-size="16" fill="#0550ae"')
    yield text(NAME, y + 30, words["notes"][kind], ' font-size="13" fill="#57606a"')
    for value, colour in zip(reversed(values), (LIGHT, DARK)):
        yield f'<rect x="{BAR}" y="{y}" width="{value / MAX_BITS * BAR_WIDTH:.1f}" height="13" rx="2" fill="{colour}"/>'
    for value, x in zip(values, COLUMNS):
        yield text(x, y + 13, rounded(value, 1), ' text-anchor="end"')


def card(planner, words, y, need, kinds):
    middle = y + HEADING / 2
    yield f'<path d="M18 {middle}H{CARD}" stroke="#8c959f" stroke-width="2"/>'
    yield (f'<rect x="{CARD}" y="{y}" width="{WIDTH - CARD - 8}" height="{card_height(kinds)}" rx="8" '
           'fill="#f6f8fa" stroke="#d0d7de"/>')
    yield text(NAME, y + 23, need, ' font-weight="600"')
    for at, (kind, first) in enumerate(kinds):
        yield from kind_row(planner, words, y + HEADING + at * ROW, kind, first)


def draw(planner, language):
    words = WORDS[language]
    tops, y = [], TOP
    for kinds in NEEDS:
        tops.append(y)
        y += card_height(kinds) + GAP
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" viewBox="0 0 {WIDTH} {y}" xml:lang="{words["language"]}" '
           f'font-family="{words["font"]}" font-size="16" fill="#24292f">')
    yield f"<title>{words['title']}</title>"
    yield f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{y - 1}" rx="10" fill="#ffffff" stroke="#d0d7de"/>'
    yield text(16, 32, words["title"], ' font-size="20" font-weight="600"')
    yield text(COLUMNS[1], 56, words["columns"], ' text-anchor="end" font-size="13" fill="#57606a"')
    for rate, x, colour in zip(RATES, COLUMNS, (DARK, "#4a7fb5")):
        yield text(x, 76, rate, f' text-anchor="end" font-size="14" font-weight="600" fill="{colour}"')
    yield f'<path d="M18 44V{tops[-1] + HEADING / 2}" stroke="#8c959f" stroke-width="2"/>'
    for need, kinds, top in zip(words["needs"], NEEDS, tops):
        yield from card(planner, words, top, need, kinds)
    yield "</svg>"
