#!/usr/bin/env python3
"""Writes examples/data/crawl.txt: the links that a crawler might find on a few small sites, in order.

    python3 examples/make_crawl.py > examples/data/crawl.txt

About half of the lines repeat an earlier one, as links to menus and popular pages do; one in eight of these has
another spelling. All hosts are under names reserved for examples (RFC 2606). The program has its own random number
generator, so that every machine and every version of Python writes the same bytes.
"""
import sys

LINES = 20000
SITES = [
    "https://www.example.com", "https://shop.example.com", "https://docs.example.com",
    "https://www.example.org", "http://news.example.org", "https://wiki.example.org",
    "https://blog.example.net", "https://forum.example.net", "https://museum.test",
    "http://weather.test", "https://recipes.test", "https://jobs.test",
]
MENU = ["/", "/about", "/contact", "/search", "/login", "/feed.xml", "/sitemap.xml", "/privacy"]
WORDS = (
    "amber anvil basket bellows birch bridge bronze canal candle castle cedar charcoal cinder "
    "clay cobalt copper coral crane crucible delta ember falcon fern flint forge furnace garden "
    "glacier granite hammer harbour hazel hearth heron indigo iron island ivory kiln lantern "
    "lichen limestone linen maple marble meadow mill mortar nickel oak ochre orchard otter pebble "
    "pewter pine quarry quartz raven reed river saffron salt sandstone silver slag slate smelter "
    "spruce steel stone swallow tannin thistle tide timber tin valley velvet walnut willow zinc"
).split()


class Random:
    """The generator xorshift64* (Marsaglia 2003, Vigna 2016)."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        x = self.state
        x ^= x >> 12
        x = (x ^ x << 25) & 0xFFFFFFFFFFFFFFFF
        x ^= x >> 27
        self.state = x
        return ((x * 0x2545F4914F6CDD1D & 0xFFFFFFFFFFFFFFFF) >> 32) * n >> 32

    def pick(self, items):
        return items[self.below(len(items))]


def slug(rnd, words):
    return "-".join(rnd.pick(WORDS) for _ in range(words))


def new_path(rnd):
    shape = rnd.below(6)
    if shape == 0:
        date = f"{2018 + rnd.below(9)}/{1 + rnd.below(12):02}/{1 + rnd.below(28):02}"
        return f"/{date}/{slug(rnd, 3)}.html"
    if shape == 1:
        return f"/products/{rnd.pick(WORDS)}/{slug(rnd, 2)}-{10000 + rnd.below(90000)}"
    if shape == 2:
        return f"/category/{rnd.pick(WORDS)}/{rnd.pick(WORDS)}?page={1 + rnd.below(40)}&sort=newest"
    if shape == 3:
        return f"/wiki/{slug(rnd, 2).title().replace('-', '_')}#{rnd.pick(WORDS)}"
    if shape == 4:
        return f"/threads/{100000 + rnd.below(900000)}-{slug(rnd, 3)}?post={1 + rnd.below(300)}"
    return f"/images/{rnd.pick(WORDS)}/{slug(rnd, 2)}-{rnd.below(4096):03x}.jpg"


def respell(rnd, url):
    """Returns a URL of the same page in another spelling."""
    scheme, rest = url.split("://", 1)
    host, path = rest.split("/", 1)
    shape = rnd.below(6)
    if shape == 0:
        return f"{scheme.upper()}://{host}/{path}"
    if shape == 1:
        return f"{scheme}://{host.title()}/{path}"
    if shape == 2:
        return f"{scheme}://{host}:{443 if scheme == 'https' else 80}/{path}"
    if shape == 3:
        return f"{scheme}://{host}/{rnd.pick(WORDS)}/../{path}"
    if shape == 4:
        return f"{url.split('#')[0]}#{rnd.pick(WORDS)}"
    before, mark, fragment = url.partition("#")
    return f"{before}{'&' if '?' in before else '?'}utm_source={rnd.pick(WORDS)}{mark}{fragment}"


def crawl(rnd):
    found = []
    for _ in range(LINES):
        kind = rnd.below(100)
        if kind < 12 or not found:
            url = rnd.pick(SITES) + rnd.pick(MENU)
        elif kind < 18:
            url = respell(rnd, found[rnd.below(len(found))])
        elif kind < 30:
            url = found[-1 - rnd.below(min(len(found), 300))]  # a page linked a moment ago
        elif kind < 49:
            url = found[rnd.below(1 + rnd.below(len(found)))]  # older pages more often
        else:
            url = rnd.pick(SITES) + new_path(rnd)
        found.append(url)
        yield url


sys.stdout.write("".join(url + "\n" for url in crawl(Random(0xB1003E27))))
