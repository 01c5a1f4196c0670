#!/usr/bin/env python3
"""Steers a bank in a box while it runs: `control.py FOLDER-OF-DATA TOKEN-URL CA-FILE`."""

import json
import pathlib
import ssl
import sys
import urllib.error
import urllib.request

data, token_url, ca = sys.argv[1:]
access = json.loads(pathlib.Path(data, "control.json").read_text())


def tell(name, **members):
    headers = {"Authorization": f"Bearer {access['token']}"}
    request = urllib.request.Request(f"{access['url']}/_bank/{name}", json.dumps(members).encode(), headers)
    return json.load(urllib.request.urlopen(request))  # Any status but 200 raises an error.


assert tell("set-clock", now="2030-02-28T23:59:00.000Z", rate=0)["rate"] == 0
assert tell("step-clock", seconds=120)["now"] == "2030-03-01T00:01:00.000Z"
assert tell("book", account="999001400100101", amount="25.00", narrative="rent 👍")["booked"] == 1
tell("forget-calls")
tell("add-fault", fault="token-503", count=1)
try:
    urllib.request.urlopen(token_url, b"", context=ssl.create_default_context(cafile=ca))
except urllib.error.HTTPError as refused:
    assert refused.code == 503
tell("assert-calls", endpoint="token", status=503, times=1)
tell("reset")
print("python")
