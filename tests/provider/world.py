"""A bank's folder for the program `provider`, and its customer's for `biller`, with what starts, feeds and ends both."""

import base64
import hashlib
import json
import os
import pathlib
import random
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "interop"))
import bank as keys  # noqa: E402
from joserfc import jwt  # noqa: E402
from joserfc.jwk import RSAKey  # noqa: E402

PROGRAMS = pathlib.Path(sys.argv[1])
CUSTOMER, ENDPOINT = "CIBILLER", "ci-biller"
ACCOUNTS = ["999001600100101", "999001600100102"]
RECEIVERS = 9443
BILLER_HEALTH = 9091
# Each is given once, and none is of those that connections get for their own end.
PORTS = iter(random.sample(range(10_000, 32_768), 5_000))


class World:
    """Both programs are of the folder that the first argument names: `provider` and `examples/biller`."""

    def __init__(self, folder, port, limits):
        self.folder = folder
        self.url = f"https://localhost:{port}"
        self.booked = self.sent = 0
        self.running = []
        self.make_files(limits)
        self.trusted = ssl.create_default_context(cafile=folder / "ca.pem")

    @classmethod
    def round(cls, limits):
        """Runs in a folder of its own. After a failure what the programs logged is printed."""
        with tempfile.TemporaryDirectory() as name:
            world = cls(pathlib.Path(name), free_port(), limits)
            try:
                world.run()
            except BaseException:
                print((world.folder / "log").read_text()[-20000:], file=sys.stderr)
                raise
            finally:
                world.end_all()

    def make_files(self, limits):
        # The keys and certificates that a foreign bank makes for the same programs.
        files = self.files = keys.Bank(self.folder, seed=0)
        connection = keys.connection(self.url, CUSTOMER, files.api_key, ACCOUNTS, audience=self.url)
        files.write("connection.toml", (connection + keys.RECEIVERS).encode())
        files.write("signing.pem", (self.folder / "provider-signing.pem").read_bytes())
        files.write("cursor.key", base64.b64encode(os.urandom(32)))
        for name in ("customer-assertion", "customer-decryption"):
            key = keys.serialization.load_pem_private_key((self.folder / f"{name}.pem").read_bytes(), None)
            files.write(f"customers/{name}.pub.pem", keys.public_pem(key))
        endpoint = f'''[[endpoints]]
id = "{ENDPOINT}"
url = "https://localhost:{RECEIVERS}"
encryption_key = {{ file = "customer-decryption.pub.pem" }}
api_key = {{ header = "apikey", value = "receiver-key" }}
'''
        self.make_customer(CUSTOMER, f"{limits}\n{endpoint}", ACCOUNTS)

    def make_customer(self, code, members, accounts):
        """Every customer has the same key for assertions."""
        accounts = "".join(f'[[accounts]]\nid = "{account}"\ncurrency = "AUD"\n' for account in accounts)
        self.files.write(
            f"customers/{code}.toml",
            f'''code = "{code}"
scopes = ["{keys.SCOPE}"]
[[keys]]
file = "customer-assertion.pub.pem"
[[api_keys]]
sha256 = "{hashlib.sha256(self.api_key(code).encode()).hexdigest()}"
{members}
{accounts}
'''.encode(),
        )

    def api_key(self, code):
        return self.files.api_key if code == CUSTOMER else f"{self.files.api_key}{code}"

    def grow(self, options=()):
        """Two entries and two messages, by programs beside the one that serves."""
        rows = ["account,date,kind,amount,currency,reference"]
        today = time.strftime("%Y-%m-%d", time.gmtime())
        for account in ACCOUNTS:
            self.booked += 1
            rows.append(f"{account},{today},fast_payment_in,{self.booked}.00,AUD,R{self.booked}")
        self.provider("book", self.written("rows.csv", "\n".join(rows) + "\n"), options=options)
        for kind, message in messages(self.sent):
            self.sent += 1
            self.provider("send", ENDPOINT, kind, self.written("message.json", json.dumps(message)), options=options)

    def provider(self, *arguments, options=()):
        done = subprocess.run([PROGRAMS / "provider", self.folder, *options, *arguments], capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr.decode()

    def written(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def start(self, program, *arguments, files=None):
        """Starts a program, which may open this many files."""
        limited = ["sh", "-c", f'ulimit -n {files} && exec "$0" "$@"'] if files else []
        with open(self.folder / "log", "a") as log:
            self.running.append(subprocess.Popen([*limited, PROGRAMS / program, *arguments], stdout=log, stderr=log))
        return self.running[-1]

    def wait_until(self, done, what, seconds=60):
        until = time.monotonic() + seconds
        while not done():
            for process in self.running:
                assert process.poll() in (None, -signal.SIGKILL), "a program has ended"
            assert time.monotonic() < until, f"waiting for {what() if callable(what) else what}"
            time.sleep(0.1)

    def count(self, what):
        return self.ask(f"SELECT count(*) FROM {what}")

    def outbox(self, state):
        return self.ask(f"SELECT count(*) FROM bankrail_outbox WHERE state = '{state}'", "provider.sqlite")

    def ask(self, query, name="biller.sqlite"):
        try:
            connection = sqlite3.connect(f"file:{self.folder / name}?mode=ro", uri=True)
            try:
                return connection.execute(query).fetchone()[0]
            finally:
                connection.close()
        except sqlite3.OperationalError:
            return None

    def start_biller(self):
        # An hour later, for the biller's count of its calls.
        if (self.folder / "biller.sqlite").exists():
            with sqlite3.connect(self.folder / "biller.sqlite", timeout=10) as connection:
                connection.execute("DELETE FROM bankrail_counter WHERE true")
            connection.close()
        return self.start("examples/biller", self.folder)

    def token(self, url, customer=CUSTOMER):
        status, body = self.ask_token(url, customer)
        assert status == 200, body
        return json.loads(body)["access_token"]

    def ask_token(self, url, customer=CUSTOMER):
        form = urllib.parse.urlencode(self.token_form(customer)).encode()
        return self.call(f"{url}/v1.0/auth", form, {"apikey": self.api_key(customer)})

    def token_form(self, customer=CUSTOMER):
        key = RSAKey.import_key((self.folder / "customer-assertion.pem").read_bytes())
        claims = {"sub": customer, "aud": self.url, "exp": int(time.time()) + 600, "jti": str(uuid.uuid4())}
        return {
            "grant_type": "client_credentials",
            "client_assertion_type": keys.ASSERTION_TYPE,
            "scope": keys.SCOPE,
            "client_assertion": jwt.encode({"alg": "RS256", "typ": "jwt"}, claims, key),
        }

    def statement(self, url, token, customer=CUSTOMER, account=ACCOUNTS[0]):
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json",
                   "apikey": self.api_key(customer)}
        body = json.dumps({"accountId": account}).encode()
        return self.call(f"{url}/accounts/v2.0/statement", body, headers)[0]

    def call(self, url, body=None, headers={}):
        request = urllib.request.Request(url, body, {"apikey": self.files.api_key} | headers)
        try:
            with urllib.request.urlopen(request, timeout=20, context=self.trusted) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as answer:
            return answer.code, answer.read()
        except OSError as error:
            return None, str(error)

    def end_all(self):
        for process in self.running:
            end(process, signal.SIGKILL)


def messages(number):
    at = "2026-11-22T01:02:03.450Z"
    notification = {
        "creation_date_time": at,
        "trigger": "MAMC",
        "mps_user_id": "MPSUSER1",
        "mandate_identification": uuid.uuid1().hex,
        "action_identification": uuid.uuid1().hex,
        "action_type": "AMND",
        "action_status": "CMPL",
    }
    outcome = {
        "creation_date_time": at,
        "transaction_status": "ACSC",
        "instruction_identification": f"CI{number}",
        "uetr": str(uuid.uuid4()),
    }
    return [("mandate_notification", notification), ("payment_outcome", outcome)]


def health(port, name):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{name}", timeout=2) as answer:
            return answer.status
    except OSError:
        return None


def receives():
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return probe.connect_ex(("127.0.0.1", RECEIVERS)) == 0


def end(process, how):
    if process.poll() is None:
        process.send_signal(how)
    return process.wait(timeout=30)


def free_port():
    for port in PORTS:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port
