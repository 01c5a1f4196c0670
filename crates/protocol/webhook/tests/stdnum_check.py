"""Reads lines `abn NUMBER` and `acn NUMBER`, answers 1 or 0 as python-stdnum says."""
import sys

from stdnum.au import abn, acn

CHECKS = {"abn": abn.is_valid, "acn": acn.is_valid}
for line in sys.stdin:
    kind, number = line.split()
    print(int(CHECKS[kind](number)))
