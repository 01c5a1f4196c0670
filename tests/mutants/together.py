"""
Mutants that are compiled together: each stands in the source beside what it changes, and an environment variable
chooses one. A mutant then costs the time of tests and not that of a compiler, and only tests that reach it are run.

It says nothing of those that cannot be chosen at run time (constants, tables) and of those that only do not compile
where they stand: they are to be tried one by one.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
# What the compiler says of a mutant that is wrong by itself. Other errors (lifetimes of what an expression borrows) may
# come from where it stands.
WRONG = {None} | set(
    "E0004 E0023 E0026 E0027 E0061 E0063 E0069 E0070 E0107 E0117 E0277 E0308 E0369 E0412 E0423 E0424 E0425"
    " E0432 E0433 E0560 E0599 E0600 E0604 E0605 E0606 E0608 E0609 E0610 E0614 E0618".split()
)
MOST_MEMORY = 6 << 30
FAILED = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. FAILED", re.M)

# The name of a mutant, its file (from the root of the tree), the bytes from and to, the text in their place, and
# whether it is the value that a function returns at once.
Change = collections.namedtuple("Change", "name file start end text is_body")
Test = collections.namedtuple("Test", "program folder name seconds")


def outcomes(tree, packages, tests, changes, environment, end=None):
    """Yields names of changes, each with what became of it. The tree is changed, and has to be restored."""
    built = Built(tree, packages, tests, environment)
    numbers = dict(enumerate(changes, 1))
    written, wrong = built.compile(numbers)
    for number in wrong:
        yield numbers[number].name, "not viable"
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        reached = built.reached(pool)
        print(f"{len(written)} of {len(changes)} compiled together, {len(reached)} reached by a test", flush=True)
        for number in written - reached.keys():
            yield numbers[number].name, "missed"
        left = {number: reached[number] for number in sorted(reached.keys() & written)}
        # What the quick tests catch comes first, and the mutants that take the slow ones last.
        seconds = 0.05
        while left:
            tried = lambda of: (of[0], *built.tried(*of, numbers[of[0]].file, seconds, end))
            ended = pool.map(tried, left.items())
            left = {}
            for number, outcome, tests in ended:
                if outcome:
                    yield numbers[number].name, outcome
                elif tests:
                    left[number] = tests
            seconds *= 4


class Built:
    def __init__(self, tree, packages, tests, environment):
        self.tree, self.packages, self.tests = tree, packages, tests
        self.environment = environment | {"RUSTFLAGS": "--cap-lints=allow", "RUST_TEST_THREADS": "1"}
        # How many mutants of a file each test caught.
        self.caught = collections.defaultdict(collections.Counter)

    def compile(self, numbers):
        """The numbers of the mutants that stand in the programs, and of those that are wrong by themselves."""
        writer = HERE / "Cargo.toml"
        target = pathlib.Path(self.environment["CARGO_TARGET_DIR"]) / "writer"
        subprocess.run(["cargo", "build", "-q", "--manifest-path", writer, "--target-dir", target], check=True)
        files = {file: (self.tree / file).read_text() for file in {change.file for change in numbers.values()}}
        for package in self.packages:
            manifest = next(self.tree.glob(f"crates/*/{package}/Cargo.toml"))
            line = f'bankrail-chosen-mutant = {{ path = "{HERE / "chosen"}" }}\n'
            manifest.write_text(manifest.read_text().replace("[dependencies]\n", "[dependencies]\n" + line, 1))
        left, wrong = dict(numbers), set()
        while True:
            for file, text in files.items():
                (self.tree / file).write_text(text)
            request = [
                {"number": number, "file": change.file, "from": change.start, "to": change.end, "text": change.text,
                 "is_body": change.is_body}
                for number, change in left.items()
            ]
            places = json.loads(subprocess.run(
                [target / "debug" / "mutants"], cwd=self.tree, input=json.dumps(request), check=True,
                stdout=subprocess.PIPE, text=True,
            ).stdout)
            errors = self.build()
            if not errors:
                return {place["number"] for place in places}, wrong
            gone = set()
            for file, byte, code, text in errors:
                if code == "E0015":
                    # A constant needs this function.
                    name = re.search(r"(\w+)(::<.*>)?`", text)[1]
                    gone.update(place["number"] for place in places if place["const_fn"] == name)
                    continue
                holds = lambda span: span["start"] <= byte < span["end"]
                of = [place for place in places if place["file"] == file]
                size = lambda what: lambda place: place[what]["end"] - place[what]["start"]
                if mutant := min((place for place in of if holds(place["mutant"])), key=size("mutant"), default=None):
                    gone.add(mutant["number"])
                    if code in WRONG:
                        wrong.add(mutant["number"])
                elif any(holds(place["expression"]) for place in of):
                    least = min((place for place in of if holds(place["expression"])), key=size("expression"))
                    gone.update(place["number"] for place in of if place["expression"] == least["expression"])
            if not gone & left.keys():
                sys.exit(f"what was compiled together fails elsewhere: {errors[:5]}")
            for number in gone:
                left.pop(number, None)
            print(f"{len(gone)} mutants do not compile beside the others", flush=True)

    def build(self):
        """Where it does not compile: file, byte, code. Else the programs are noted."""
        wanted = [word for name in self.tests for word in ("-p", f"bankrail-{name}")]
        command = ["cargo", "test", "--no-run", "--no-fail-fast", *wanted, "--all-features", "--tests"]
        command += ["--message-format=json"]
        lines = subprocess.run(command, cwd=self.tree, env=self.environment, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True).stdout.splitlines()
        self.programs, errors = [], []
        for message in map(json.loads, lines):
            if message["reason"] == "compiler-artifact" and message["executable"] and message["profile"]["test"]:
                self.programs.append((message["executable"], pathlib.Path(message["manifest_path"]).parent))
            if message["reason"] == "compiler-message" and message["message"]["level"] == "error":
                for span in filter(lambda span: span["is_primary"], message["message"]["spans"]):
                    places = [span]
                    while span["expansion"]:
                        span = span["expansion"]["span"]
                        places.append(span)
                    code = (message["message"]["code"] or {}).get("code")
                    text = message["message"]["message"]
                    errors += [(place["file_name"], place["byte_start"], code, text) for place in places]
        if not errors and not self.programs:
            sys.exit(f"what was compiled together gives no tests: {command}")
        return errors

    def reached(self, pool):
        """The tests that reach a mutant, by its number."""
        names = []
        for program, folder in self.programs:
            of = self.names(program, folder)
            status, output = self.run(program, folder, of, 1800) if of else (0, "")
            # It may fail beside other work, and says nothing of mutants then.
            failing = FAILED.findall(output)
            if status != 0 and not failing:
                sys.exit(f"{program} fails without a mutant")
            names += [(program, folder, name) for name in of if not left_out(name, name in failing)]
        by = collections.defaultdict(list)
        for test, numbers in pool.map(self.reaches, names):
            for number in numbers:
                by[number].append(test)
        return by

    def names(self, program, folder):
        listing = subprocess.run([program, "--list", "--format=terse"], cwd=folder, env=self.environment, check=True,
                                 stdout=subprocess.PIPE, text=True).stdout
        return [line.removesuffix(": test") for line in listing.splitlines() if line.endswith(": test")]

    def reaches(self, of):
        program, folder, name = of
        with tempfile.TemporaryDirectory() as scratch:
            file = pathlib.Path(scratch) / "reached"
            begin = time.monotonic()
            status, _ = self.run(program, folder, [name], 600, BANKRAIL_MUTANTS_REACHED=str(file))
            seconds = time.monotonic() - begin
            numbers = {int(line) for line in file.read_text().splitlines()} if file.exists() else set()
            return Test(program, folder, name, seconds), set() if left_out(name, status != 0) else numbers

    def tried(self, number, tests, file, seconds, end):
        """What becomes of this mutant in tests that take so long together, and the other tests if they all pass."""
        if end and time.monotonic() > end:
            return None, []
        # What caught its neighbours is likely to catch it.
        tests = sorted(tests, key=lambda test: test.seconds / (1 + 5 * self.caught[file][test.name]))
        taken, programs = 0.0, collections.defaultdict(list)
        while tests and (not programs or taken + tests[0].seconds < seconds):
            test, *tests = tests
            taken += test.seconds
            programs[test.program, test.folder].append(test.name)
        for (program, folder), names in programs.items():
            status, output = self.run(program, folder, names, 10 + 20 * taken, BANKRAIL_MUTANT=str(number))
            self.caught[file].update(FAILED.findall(output))
            if status != 0:
                return "timed out" if status is None else "caught", []
        return None if tests else "missed", tests

    def run(self, program, folder, names, limit, **more):
        """The exit status, or nothing after the limit, and what was printed."""
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
        environment = self.environment | more | {"CARGO_MANIFEST_DIR": str(folder)}
        command = [program, "--exact", *names]
        process = subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **quiet)
        resource.prlimit(process.pid, resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        try:
            output = process.communicate(timeout=limit)[0].decode(errors="replace")
            return process.returncode, output
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def left_out(test, fails):
    if fails:
        print(f"left out, since it fails without a mutant: {test}", flush=True)
    return fails
