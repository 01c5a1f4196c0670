"""Faults of a provider, and the row in which the judge must find each:
`provider_cases.py FOLDER-OF-PROGRAMS [FAULT...]`.

The provider is the bank of tests/interop. Each fault must be found in its own row, and in no other one but those that
cannot hold without it.
"""

import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "interop"))
import bank as foreign  # noqa: E402

# Fault, its row, and the rows that depend on it.
PROVIDER_CASES = [
    # Who asks: rows of the assertion and of the token request.
    ("any-key", "S20.17", {"S8.1", "S8.20", "S8.21"}),
    ("alg-none", "S8.3", set()),
    ("alg-hs256", "S8.3", set()),
    ("alg-ps256", "S8.3", set()),
    # alg none has no signature at all.
    ("short-signature", "S8.20", {"S8.3"}),
    ("padding", "S8.1", set()),
    ("any-typ", "S8.5", set()),
    ("expired", "S8.13", set()),
    ("exp-cap", "S8.15", set()),
    ("exp-optional", "S8.11", set()),
    ("any-audience", "S8.18", set()),
    # A provider that accepts any customer code also accepts one in lower case.
    ("any-subject", "S8.10", {"S8.7", "S8.8"}),
    ("subject-case", "S8.8", set()),
    # An empty body has no client_assertion either.
    ("missing-401", "S20.18", {"S20.19"}),
    ("any-grant", "S20.7", set()),
    ("any-assertion-type", "S20.8", set()),
    ("scope-optional", "S20.18", set()),
    ("token-content-type", "S20.4", set()),
    ("token-without-api-key", "S20.5", set()),
    ("any-api-key", "S22.3", set()),
    # What a token looks like.
    ("created", "S20.13", set()),
    ("expires-text", "S7.3", set()),
    ("token-type", "S7.5", set()),
    ("long-token", "S7.6", set()),
    ("no-token-member", "S20.15", {"S7.5"}),
    ("errors-without-key", "S2.12", set()),
    ("same-request-key", "S2.11", set()),
    ("token-outlives", "S22.6", set()),
    # Who may see a statement.
    ("any-token", "S2.6", set()),
    ("no-token", "S19.6", set()),
    ("statement-without-api-key", "S19.7", set()),
    ("any-statement-api-key", "S22.1", {"S22.2"}),
    ("other-accounts", "S19.11", set()),
    ("account-optional", "S19.10", set()),
    ("crash", "S19.10", set()),
    ("any-body", "S19.22", set()),
    ("statement-content-type", "S19.4", set()),
    ("get", "S19.1", set()),
    # Errors of statements. Without an error there is nothing in it.
    ("unknown-empty", "S19.29", {"S5.2", "S19.11"}),
    ("error-code", "S24.1", set()),
    ("error-code-form", "S5.3", {"S24.1"}),
    ("error-title", "S5.6", set()),
    ("error-without-key", "S5.1", set()),
    ("error-flat", "S5.2", set()),
    # The members of a statement.
    ("account-echo", "S4.1", set()),
    ("no-extract", "S4.3", set()),
    ("sort-order-number", "S4.5", set()),
    ("payload-object", "S4.8", set()),
    ("request-key-upper", "S4.10", set()),
    ("request-key-plain", "S4.9", set()),
    ("cursor-always", "S4.11", set()),
    # What is no boolean says nothing of more pages.
    ("more-text", "S4.14", {"S4.15"}),
    ("duplicate-member", "S19.21", set()),
    ("more-early", "S4.15", set()),
    ("lost", "S4.15", set()),
    ("twice", "S6.24", set()),
    ("narrative-always", "S19.17", set()),
    ("narrative-without-text", "S19.15", set()),
    # The report. What the schema wants too is also missed by it.
    ("namespace", "S6.1", set()),
    ("root", "S6.2", {"S2.1"}),
    ("message-id", "S6.3", set()),
    ("no-offset", "S6.5", set()),
    ("no-fraction", "S6.5", set()),
    ("report-id", "S6.8", set()),
    ("no-source", "S6.10", set()),
    ("report-account", "S6.12", set()),
    ("no-sub-type", "S6.15", set()),
    ("balance-currency", "S6.16", set()),
    ("balance-time", "S6.18", set()),
    ("count", "S6.35", set()),
    ("sum", "S6.20", set()),
    ("net", "S6.21", set()),
    ("credits", "S6.22", set()),
    ("debits", "S6.23", set()),
    ("empty-sums", "S6.37", set()),
    ("no-status", "S6.26", {"S2.1"}),
    ("no-currency", "S6.25", {"S2.1"}),
    ("booking-time", "S6.27", set()),
    ("no-codes", "S6.28", set()),
    ("reference-type", "S6.29", {"S2.1"}),
    ("no-transaction-amount", "S6.30", {"S2.1"}),
    ("detail-indicator", "S6.30", set()),
    ("no-issuer", "S6.32", set()),
]

# Enough for every row.
BUDGET = "tokens=200,statements=200,tokens-per-second=100000"
WORKERS = 2


class World:
    """A bank that is started once, for one judgement after the other."""

    def __init__(self, program):
        self.program = program
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)
        self.bank = foreign.Bank(self.folder, quirks=(), seed=1)
        self.bank.start()

    def judge(self, fault=None, *arguments):
        """The exit status, and the rows of the judge."""
        self.bank.faults = {fault} - {None}
        command = [self.program, "conformance", "provider", "--json", "--connection", self.folder / "connection.toml"]
        command += ["--second-connection", self.folder / "other", *arguments]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert run.returncode in (0, 1, 3), (fault, run.returncode, run.stderr)
        return run.returncode, json.loads(run.stdout)["rows"]

    def find(self, case):
        """What is wrong with how a fault is found; None if it is found in its own row."""
        fault, row, dependent = case
        status, rows = self.judge(fault, "--budget", BUDGET)
        failed = {row["id"] for row in rows if row["verdict"] == "failed"}
        if status == 1 and row in failed and failed <= {row} | dependent:
            return None
        return f"{fault}: expected {row} and at most {sorted(dependent)} beside it, found {sorted(failed)}"


def without_faults(world):
    """A bank without faults passes, all rows of it and those that the limits of an hour allow."""
    status, rows = world.judge(None, "--budget", BUDGET)
    bad = [row for row in rows if row["verdict"] in ("failed", "not run")]
    assert status == 0 and not bad, (status, bad)
    world.bank.token_calls, world.bank.statement_calls = 0, []
    status, rows = world.judge(None, "--budget", "tokens=10,statements=25,tokens-per-second=1000")
    assert status == 3 and not any(row["verdict"] == "failed" for row in rows), (status, rows)
    calls = world.bank.token_calls, len(world.bank.statement_calls)
    # One more as the other customer, who gets no token here.
    assert calls[0] <= 11 and calls[1] <= 25, calls
    # It has no limits, which is a fault.
    status, rows = world.judge(None, "--budget", BUDGET, "--limits", "--only", "S24")
    failed = {row["id"] for row in rows if row["verdict"] == "failed"}
    assert (status, failed) == (1, {"S24.5", "S24.6"}), (status, failed)


def main():
    program = pathlib.Path(sys.argv[1]) / "bankrail"
    names = set(sys.argv[2:])
    cases = [case for case in PROVIDER_CASES if not names or case[0] in names]
    unknown = {name for name, _, _ in PROVIDER_CASES} ^ set(foreign.FAULTS)
    assert not unknown, f"faults without a case, or cases without a fault: {sorted(unknown)}"
    worlds = [World(program) for _ in range(WORKERS)]
    without_faults(worlds[0])

    def work(number):
        return [worlds[number].find(case) for case in cases[number::WORKERS]]

    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        wrong = [what for found in pool.map(work, range(WORKERS)) for what in found if what]
    for what in wrong:
        print(what, file=sys.stderr)
    print(f"provider: {len(cases) - len(wrong)} of {len(cases)} faults found in their own rows")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
