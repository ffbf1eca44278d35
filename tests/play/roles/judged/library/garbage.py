#!/usr/bin/python
"""A module that prints garbage around its result, as broken libraries do."""

import sys

sys.stdout.write("\x1b[K!!!\x1b[3D\x1b[K\n")
sys.stderr.write("\udcff not UTF-8\n".encode(errors="surrogateescape").decode(errors="replace"))
print('{"changed": false, "odd": "\\u0000\\u001b[31m"}')
