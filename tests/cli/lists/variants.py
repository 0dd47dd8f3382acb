#!/usr/bin/env python3
"""Writes random entries of a list, and for each entry a line that must match it.

    variants.py TYPE COUNT ENTRIES ASKED

The line is the same entry in another spelling or, for addresses and domains, an address in the block or
a domain below it. The output depends only on the arguments.
"""
import ipaddress
import random
import string
import sys

LETTERS = string.ascii_lowercase + string.digits


def any_case(r, text):
    return "".join(r.choice((c.upper(), c.lower())) for c in text)


def label(r):
    inner = "".join(r.choice(LETTERS + "-_") for _ in range(r.randrange(8)))
    return r.choice(string.ascii_lowercase) + inner + r.choice(LETTERS)


def name(r):
    labels = [label(r) for _ in range(r.choice((1, 1, 1, 2, 3)))]
    return ".".join(labels + [r.choice(("com", "org", "co.uk", "example", "zip"))])


def spelled_v6(r, address):
    return r.choice((address.compressed, address.exploded, address.exploded.upper(),
                     "[%s]" % address.compressed))


def spelled_v4(r, address):
    number = int(address)
    return r.choice((str(address), "::ffff:%s" % address, "::FFFF:%x:%x" % (
        number >> 16, number & 0xFFFF), "%s/32" % address, "::ffff:%s/128" % address))


def ip(r):
    bits, make, spell = r.choice(((32, ipaddress.IPv4Address, spelled_v4),
                                  (128, ipaddress.IPv6Address, spelled_v6)))
    number = r.getrandbits(bits)
    if bits == 128:
        number |= 1 << 127  # not in the range that is IPv4
    prefix = bits if r.random() < 0.5 else r.randrange(8, bits + 1)
    inside = make(number ^ r.getrandbits(bits - prefix) if prefix < bits else number)
    network = ipaddress.ip_network((number, prefix), strict=False)
    entry = str(make(number)) if prefix == bits else str(network)
    if prefix < bits and r.random() < 0.3:  # a smaller block in it
        smaller = r.randrange(prefix, bits + 1)
        return entry, str(ipaddress.ip_network((int(inside), smaller), strict=False))
    return entry, spell(r, inside)


def phone(r):
    country = str(r.choice((1, 44, 49, 380)))
    rest = "".join(r.choice(string.digits) for _ in range(r.randrange(4, 11)))
    national = r.random() < 0.3
    spaced = "".join(r.choice(("", "", " ", "-", ".", "/")) + d for d in rest)
    if national:
        return "7" + rest, r.choice(("7%s", "(7) %s", "tel:7%s")) % spaced
    front = r.choice(("+%s", "00%s", "00 %s", "(+%s)", "+%s (0)", "00%s (0)", "tel:+%s"))
    return "+" + country + rest, front % country + spaced


def email(r):
    local = ".".join(label(r) for _ in range(r.randrange(1, 3)))
    local += r.choice(("", "+tag"))
    host = name(r)
    entry = "%s@%s" % (local, host)
    form = r.choice(("%s", "<%s>", "mailto:%s", " %s. ", "<%s.>"))
    return entry, form % any_case(r, entry)


def domain(r):
    host = name(r)
    below = "".join(label(r) + "." for _ in range(r.choice((0, 0, 1, 2, 5))))
    return r.choice(("%s", "*.%s", ".%s", "%s.")) % host, any_case(r, below + host) + \
        r.choice(("", "."))


def url(r):
    scheme, port = r.choice((("http", ":80"), ("https", ":443")))
    host, path = name(r), "/".join(label(r) for _ in range(r.randrange(1, 4)))
    entry = "%s://%s/%s" % (scheme, host, path)
    odd = "".join("%%%02x" % ord(c) if c != "/" and r.random() < 0.2 else c for c in path)
    odd = r.choice(("", "x/../", "./")) + odd
    return entry, "%s://%s%s/%s%s" % (any_case(r, scheme), any_case(r, host),
                                      r.choice(("", port)), odd, r.choice(("", "#top")))


def line(r):
    text = "".join(r.choice(string.printable[:95]) for _ in range(r.randrange(1, 40)))
    text = "x" + text
    return text, text + r.choice(("", "\r"))


def main():
    kind, count = sys.argv[1], int(sys.argv[2])
    r = random.Random(kind)
    make = globals()[kind]
    with open(sys.argv[3], "w", newline="") as entries, open(sys.argv[4], "w", newline="") as asked:
        for _ in range(count):
            entry, other = make(r)
            entries.write(entry + "\n")
            asked.write(other + "\n")


if __name__ == "__main__":
    main()
