#!/usr/bin/env python3
"""check_function_count.py [--list]: <bloomery/bloomery.h> declares at most LIMIT functions, exported or inline.

Functions that only some programs need belong in another header, which these programs include themselves.
"""
import os
import sys

sys.dont_write_bytecode = True

import c_headers  # noqa: E402

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
LIMIT = 120


def names(root):
    return c_headers.functions(c_headers.own_text(root, [c_headers.UMBRELLA]))


def main():
    found = names(ROOT)
    if "--list" in sys.argv[1:]:
        print("\n".join(found))
    print(f"<{c_headers.UMBRELLA}> declares {len(found)} functions; at most {LIMIT} are allowed")
    return 1 if len(found) > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
