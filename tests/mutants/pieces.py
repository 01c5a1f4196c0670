"""Finds a piece of Rust in a file however rustfmt has laid it out."""

import re


def pattern(piece):
    """A regular expression for the piece with any white space, and with or without commas and semicolons before closing
    brackets."""
    parts = []
    for token in re.findall(r"\w+|[^\w\s]", piece):
        if token in ")]}":
            parts.append("[,;]?")
        parts.append(re.escape(token))
    return re.compile(r"\s*".join(parts))
