#!/usr/bin/env python3
"""Faults of receivers, each with the clause that `bankrail conformance receiver` must find it in: `receiver_cases.py
FOLDER-OF-PROGRAMS [FAULT...]`.

Faults that do not disturb each other are judged in one run. Their rows must fail, and no others. Without faults none
may, also of those beyond SPEC.md. With faults named, each of them has a run of its own.
"""

import concurrent.futures
import fnmatch
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import receiver

HERE = pathlib.Path(__file__).parent
# The fault, and the row that must fail. `-` is a row beyond SPEC.md, which fails with --strict.
RECEIVER_CASES = [
    ("signature", "S23.21"),
    ("jwk", "S23.21"),
    ("none", "S9.5"),
    ("hmac", "S9.5"),
    ("pss", "S9.5"),
    ("unsigned", "S9.3"),
    ("bare", "S9.3"),
    ("oaep256", "S9.7"),
    ("rsa15", "S9.7"),
    ("gcm", "S9.8"),
    ("tag", "S9.10"),
    ("large-key", "S9.6"),
    ("header-members", "S9.1"),
    ("status", "S10.2"),
    ("id", "S10.1"),
    ("text", "S21.3"),
    ("duplicate", "S21.26"),
    ("event", "S23.2"),
    ("payment-key", "S23.7"),
    ("order", "S23.18"),
    ("twice", "S23.16"),
    ("last-wins", "S23.18"),
    ("lists-refused", "S22.16"),
    ("correlation", "S21.7"),
    ("attended", "S21.8"),
    ("request-key", "S21.9"),
    ("pending", "S12.24"),
    ("trigger", "S13.9"),
    ("narrative", "S15.14"),
    ("latin", "S15.13"),
    ("masked", "S15.31"),
    ("variant", "S11.6"),
    ("bomb", "S23.22"),
    ("body", "S23.22"),
    ("deep", "S23.22"),
    ("one-id", "S10.1"),
    ("message-key", "S23.4"),
    ("reminder", "S23.9"),
    ("kind", "S21.9"),
    ("required", "S21.9"),
    ("message-id", "S21.10"),
    ("offset", "S11.1"),
    ("money", "S11.13"),
    ("alias", "S16.10"),
    ("created", "-"),
    ("later", "-"),
    ("oracle", "-"),
    ("api-key", "-"),
]
# What tells apart the rows beyond SPEC.md: a part of their titles.
BEYOND = {
    "created": "with the HTTP status 200",
    "later": "members that a later release may add",
    "oracle": "refuses in one way",
    "api-key": "with the API key only",
}
# Rows that the same rule is seen in, and so fail too: ids, or parts of titles.
ALSO = {
    # Whatever stands under the signature is taken.
    "signature": {"S9.3", "S9.5", "S9.10"},
    "event": {"S23.4", "S23.6", "S23.9"},
    "payment-key": {"S23.18", "S23.19"},
    "correlation": {"S21.16"},
    "attended": {"S21.11", "S21.17", "S21.23"},
    # Inflated by hand, and without a look at crit.
    "bomb": {"S9.10"},
    "request-key": {"S21.18"},
    # A notification can be of a pending action too, and a mandate's life begins with one.
    "pending": {"S13.16", "S23.18"},
    "text": {"S10.1", "S10.2"},
    "one-id": {"S23.2", "S23.4", "S23.6", "S23.7", "S23.9", "S23.18", "S23.19", "S15.11"},
    "message-key": {"S23.2", "S23.6", "S23.9", "S23.16", "S21.26"},
    "reminder": {"S15.11"},
    "message-id": {"S21.6", "S21.15", "S21.19"},
    "offset": {"S12.9", "S12.31", "S13.1", "S14.1", "S14.16", "S15.1"},
    "money": {"S15.19", "S15.41", "S15.42"},
    # What is not read is not judged.
    "kind": {"S9.1", "S11.*", "S12.*", "S13.*", "S14.*", "S15.*", "S16.*", "S21.4", "S21.13", "S21.18"},
    "required": {"S21.4", "S21.13", "S21.18", "S11.13", "S15.19", "S15.41", "S15.42"},
}
# Faults of one run, each found in rows of its own.
RUNS = [
    "",
    "none,unsigned,oaep256,gcm,jwk,large-key,header-members,id,correlation,attended,pending,trigger,narrative,latin,"
    "masked,variant,duplicate",
    "hmac,bare,rsa15,status,event,order",
    "twice,last-wins,lists-refused",
    "pss,tag,text,payment-key",
    "request-key,bomb",
    "body",
    "signature,deep",
    "one-id,message-id,offset",
    "message-key,money,alias",
    "reminder",
    "created,later,oracle,api-key",
    "kind",
    "required",
]
# Rows are not run after a receiver has ended or takes no good message.
LEAVES = {"bomb", "body", "deep", "request-key"}


def judge(program, folder, faults):
    """The exit status, the rows and the whole output."""
    handled = folder / f"{faults or 'none'}.jsonl"
    command = [sys.executable, "-B", HERE / "receiver.py", folder, "--faults", faults, "--handled", handled]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as served:
        try:
            url = f"https://localhost:{int(served.stdout.readline())}"
            by_clause = {fault for fault, id in RECEIVER_CASES if id != "-"}
            strict = [] if by_clause.intersection(faults.split(",")) else ["--strict"]
            command = [program, "conformance", "receiver", url, "--config", folder / "receiver.toml", "--json", *strict]
            command += ["--handled", handled]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        finally:
            served.kill()
    rows = json.loads(done.stdout)["rows"] if done.stdout else []
    return done.returncode, rows, done.stderr


def problems(program, folder, run):
    """What is wrong with the verdict on these faults."""
    faults = run.split(",") if run else []
    status, rows, errors = judge(program, folder, run)
    failed = [row for row in rows if row["verdict"] == "failed"]
    cases = dict(RECEIVER_CASES)

    def belongs(row, mark):
        return fnmatch.fnmatchcase(row["id"], mark) if row["id"] != "-" else mark in row["title"]

    allowed = set().union(*({BEYOND.get(fault, cases[fault])} | ALSO.get(fault, set()) for fault in faults))
    found = [f"{fault}: expected a failure of {BEYOND.get(fault, cases[fault])}, found none" for fault in faults
             if not any(belongs(row, BEYOND.get(fault, cases[fault])) for row in failed)]
    for row in failed:
        if not any(belongs(row, mark) for mark in allowed):
            found.append(f"expected no failure of {row['id']} {row['title']}: {row['detail']}")
    if status != bool(faults):
        found.append(f"expected the exit status {int(bool(faults))}, found {status}: {errors}")
    rest = [row["id"] for row in rows if row["verdict"] in ("not run", "not seen", "noted")]
    if rest and not (LEAVES & set(faults)) and "noted" not in {row["verdict"] for row in rows}:
        found.append(f"expected every row to be run, found {rest}")
    return [f"{run or 'no fault'}: {line}" for line in found]


def main():
    program = pathlib.Path(sys.argv[1]).resolve() / "bankrail"
    runs = sys.argv[2:] or RUNS
    begin = time.monotonic()
    listed = sorted(fault for run in RUNS for fault in run.split(",") if fault)
    assert listed == sorted(receiver.FAULTS) == sorted(fault for fault, _ in RECEIVER_CASES), listed
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(3) as pool:
        folder = pathlib.Path(name)
        receiver.make_files(folder)
        found = [line for lines in pool.map(lambda run: problems(program, folder, run), runs) for line in lines]
    for line in found:
        print(line, file=sys.stderr)
    seconds = time.monotonic() - begin
    faults = sum(len(run.split(",")) for run in runs if run)
    print(f"receivers: {faults} faults, {len(found)} verdicts wrong, {seconds:.0f} s")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
