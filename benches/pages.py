"""What the pages of measurements have in common: where was measured, and tables between markers."""
import datetime
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def said(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def place():
    """Where and what is measured."""
    try:
        described = Path("/proc/cpuinfo").read_text()
    except OSError:
        described = ""
    name = re.search(r"^model name\s*: (.*)$", described, re.M)
    processor = name[1].strip() if name else platform.processor() or platform.machine()
    if re.search(r"^flags\s*:.*\bavx512f\b", described, re.M):
        processor += " with AVX-512"
    changed = said("git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs")
    return {
        "machine": f"{platform.system()} {platform.machine()}",
        "processor": processor,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "rustc": said("rustc", "-V").removeprefix("rustc "),
        "commit": said("git", "rev-parse", "--short=8", "HEAD") + (", changed" if changed else ""),
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
    }


def places(results, names):
    """A line for each machine. The JSON has the commit of each."""
    together = {}
    for name in names:
        where = "{machine}, {processor}, {cores} cores, rustc {rustc}, {date}".format(**results[name])
        together.setdefault(where, []).append(f"`{name}`")
    return "\n".join(f"- {where}: {', '.join(of)}" for where, of in together.items())


def rounded(number):
    """Four digits: more would be noise."""
    return float(f"{number:.4g}")


def with_blocks(path, blocks):
    """The text of a page with these blocks between their markers."""
    page = path.read_text()
    for name, block in blocks.items():
        between = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=^<!-- /{name} -->$)", re.S | re.M)
        page, times = between.subn(lambda _: f"\n{block}\n\n", page)
        if times != 1:
            sys.exit(f"{path.relative_to(ROOT)} has {times} places for {name} between its markers, expected one")
    return page
