"""A bank that shares no code with this project: `bank.py FOLDER [--port N] [--quirks all|none|NAME,...] [--seed N]`.

It makes in FOLDER what `sandbox serve` makes there, so that the same programs run against it, and serves tokens and
statements over HTTPS until Ctrl-C. Assertions are verified by joserfc, reports are written here.

Quirks are what published samples and live services do beside the specification. A client must live with each:

header-spellings  names of headers, content types and the token type in other spellings
members           members that nobody knows, optional ones that are null, texts with every escape that JSON has
numbers           amounts with four decimals, times with seven fractional digits, differently in each call
summaries         a summary that disagrees with the entries
elements          elements of the schema beyond the specification's list, a narrative cut into pieces
accounts          the accounts that list newest first, have an empty page, repeat a cursor or give none
failures          errors of the service and of a gateway in front of it, under their own status or 200, and HTML
"""

import argparse
import base64
import collections
import datetime
import http.server
import ipaddress
import json
import os
import pathlib
import random
import ssl
import sys
import threading
import time
import urllib.parse
import uuid
from decimal import Decimal
from xml.sax.saxutils import escape

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

CUSTOMER = "INTEROPCUSTOMER"
# A configured value, not the address of the endpoint.
AUDIENCE = "https://auth.bank.example/v1.0/auth"
SCOPE = "GBL.INSTO.ACCOUNTS.STATEMENT.READ"
NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:camt.052.001.06"
ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
QUIRKS = ("header-spellings", "members", "numbers", "summaries", "elements", "accounts", "failures")
UNKNOWN_ACCOUNT = "000000000000000"
BANK_KID = "interop-1"
JSON_TYPES = ("application/json", "application/json;charset=UTF-8", "Application/JSON; charset=utf-8")

WORDS = ("rent", "unit 4", "<thanks & regards>", "meter 77", "👍👨‍👩‍👧", "Công ty", "“quoted”", "新年快樂", "a/b")

# Failures of calls, in this order, one for each call: what it is, and the HTTP status.
TOKEN_FAILURES = ["gateway 500", "rfc6749 503", "429"]
STATEMENT_FAILURES = {
    "999001500100101": ["EC20003 200", "429"],
    "999001500100102": ["html 503", "EC20005 500"],
    "999001500100103": ["EC000_001 200"],
    "999042500100104": ["EC000_002 200"],
    "999001500100105": ["html 200"],
    "999001500100106": ["oauth 401"],
}


class Account:
    """`oddity` is one of None, `newest first`, `empty page`, `repeating cursor`, `no cursor`."""

    def __init__(self, page, oddity=None, virtual=False):
        self.page, self.oddity, self.virtual, self.entries = page, oddity, virtual, []


class Bank:
    def __init__(self, folder, quirks=QUIRKS, seed=None):
        self.folder, self.quirks, self.random = pathlib.Path(folder), set(quirks), random.Random(seed)
        self.lock = threading.RLock()
        self.tokens, self.used, self.server = set(), set(), None
        # What was asked, and what a client must not do.
        self.statement_calls, self.token_calls, self.complaints = [], 0, []
        self.failures = {account: list(names) for account, names in STATEMENT_FAILURES.items()}
        self.token_failures = list(TOKEN_FAILURES)
        # How many amounts there are. Each is that of one entry, or of it and its twin.
        self.amounts = 0
        odd = "accounts" in self.quirks
        self.accounts = {
            "999001500100101": Account(3),
            "999001500100102": Account(8),
            "999001500100103": Account(1000, "newest first" if odd else None),
            "999042500100104": Account(1000, "empty page" if odd else None, virtual=True),
            "999001500100105": Account(1000, "repeating cursor" if odd else None),
            "999001500100106": Account(1000, "no cursor" if odd else None),
        }
        for id, references, plain, twins in [
            ("999001500100101", 5, 2, 0),
            ("999001500100102", 0, 4, 3),
            ("999001500100103", 2, 2, 1),
            ("999042500100104", 3, 1, 1),
            ("999001500100105", 1, 0, 1),
            ("999001500100106", 0, 0, 1),
        ]:
            self.book(id, references, plain, twins, yesterday=1)
        self.make_files()

    def odd(self, quirk):
        return quirk in self.quirks and self.random.random() < 0.7

    # --- the ledger ---------------------------------------------------------------------------------------------

    def book(self, id, references=0, plain=0, twins=0, yesterday=0):
        """Books entries with a reference, without one, and twins. `yesterday` is how many are booked on that day."""
        with self.lock:
            made = []
            for kind in ["reference"] * references + ["plain"] * plain + ["twin"] * twins:
                self.amounts += 1
                entry = {
                    "amount": Decimal(self.amounts * 7) + Decimal(self.amounts % 100) / 100,
                    "credit": self.amounts % 3 != 0,
                    "reference": f"IB{self.amounts:08}" if kind == "reference" else None,
                    "narrative": self.narrative(),
                    "fast": kind == "reference",
                    "day": datetime.date.today(),
                }
                made += [entry, dict(entry)] if kind == "twin" else [entry]
            for entry in made[:yesterday]:
                entry["day"] -= datetime.timedelta(days=1)
            # Twins may be divided by the end of a page.
            rest = made[yesterday:]
            self.random.shuffle(rest)
            self.accounts[id].entries += made[:yesterday] + rest

    def narrative(self):
        return " ".join(self.random.choice(WORDS) for _ in range(self.random.randint(2, 40)))[:280].strip()

    def listed(self):
        """How often each amount is listed."""
        with self.lock:
            accounts = self.accounts.values()
            return collections.Counter(entry["amount"] for account in accounts for entry in account.entries)

    # --- tokens -------------------------------------------------------------------------------------------------

    def token(self, headers, body):
        with self.lock:
            self.token_calls += 1
            form = urllib.parse.parse_qs(body.decode(), keep_blank_values=True, strict_parsing=True)
            kind = headers.get("Content-Type", "").split(";")[0].strip().lower()
            one = {name: values[0] for name, values in form.items() if len(values) == 1}
            expected = {"grant_type": "client_credentials", "client_assertion_type": ASSERTION_TYPE}
            known = kind == "application/x-www-form-urlencoded" and headers.get("apikey") == self.api_key
            if not known or len(one) != len(form):
                return self.complain("token request", 400, {"error": "invalid_request"})
            if any(one.get(name) != value for name, value in expected.items()):
                return self.complain("grant", 400, {"error": "unsupported_grant_type"})
            if SCOPE not in one.get("scope", "").split(" "):
                return self.complain("scope", 400, {"error": "invalid_scope"})
            try:
                self.verify(one.get("client_assertion", ""))
            except (JoseError, ValueError, KeyError) as error:
                return self.complain(f"assertion: {error!r}", 401, {"error": "invalid_client"})
            if "failures" in self.quirks and self.token_failures:
                return self.fail(self.token_failures.pop(0))
            token = str(uuid.uuid4())
            self.tokens.add(token)
            answer = {"expires_in": 3600, "token_type": "Bearer", "access_token": token}
            if self.odd("header-spellings"):
                answer["token_type"] = self.random.choice(["bearer", "BEARER"])
            if self.odd("members"):
                answer |= {"scope": self.random.choice([None, "", SCOPE]), "issued_at": "0", "x": {"y": []}}
            return 200, answer, {"Cache-Control": "no-store", "Pragma": "no-cache"}

    def verify(self, assertion):
        token = jwt.decode(assertion, self.customer_key, algorithms=["RS256"])
        now, claims = int(time.time()), token.claims
        if token.header.get("typ") != "jwt":
            raise ValueError("typ")
        expected = {"sub": CUSTOMER, "aud": AUDIENCE}
        rules = {name: {"essential": True, "value": value} for name, value in expected.items()}
        rules |= {"exp": {"essential": True}, "iss": {"value": CUSTOMER}}
        jwt.JWTClaimsRegistry(now=now, leeway=30, **rules).validate(claims)
        if not now < claims["exp"] <= now + 3600:
            raise ValueError("exp")
        # Without a jti, two assertions of one second are the same.
        if "jti" in claims:
            if claims["jti"] in self.used:
                raise ValueError("jti")
            self.used.add(claims["jti"])

    # --- statements ---------------------------------------------------------------------------------------------

    def statement(self, headers, body):
        with self.lock:
            request = json.loads(body)
            id = request.get("accountId")
            self.statement_calls.append(id)
            scheme, _, token = headers.get("Authorization", "").partition(" ")
            if headers.get("apikey") != self.api_key or scheme.lower() != "bearer":
                return self.complain("headers", 401, self.error("EC000_002", "Unauthorized"))
            if headers.get("Content-Type", "").split(";")[0] != "application/json":
                return self.complain("content type", 415, self.error("EC000_006", "Unsupported Media Type"))
            if token not in self.tokens:
                return 401, self.error("EC000_002", "Unauthorized"), {}
            problem = self.problem(request)
            if problem:
                return self.complain(problem, 400, self.error("EC42001", problem))
            if "failures" in self.quirks and self.failures.get(id):
                return self.fail(self.failures[id].pop(0), token, id)
            account = self.accounts.get(id)
            if account is None:
                status = self.random.choice([200, 404]) if "failures" in self.quirks else 404
                return status, self.error("EC20001", f"Account Id: '{id}' not found"), {}
            return self.page(id, account, request)

    def problem(self, request):
        """Booleans and numbers are accepted as text too."""
        known = {"accountId", "includeNarrative", "cursor", "sortOrder", "maxEntries", "extract"}
        if set(request) - known or not isinstance(request.get("accountId"), str):
            return "members"
        if request.get("includeNarrative", True) not in (True, False, "true", "false"):
            return "includeNarrative"
        if not 1 <= int(request.get("maxEntries", 1000)) <= 1000:
            return "maxEntries"
        if request.get("extract", "intraday") != "intraday" or request.get("sortOrder", "forward") != "forward":
            return "a request that no test makes"
        if "cursor" in request and self.offset(request) is None:
            return "cursor"
        return None

    def offset(self, request):
        """A cursor is the account and the number of entries before the page, in base64 with a random text."""
        try:
            account, offset, _ = json.loads(base64.b64decode(request["cursor"], validate=True))
        except ValueError:
            return None
        return offset if account == request["accountId"] else None

    def page(self, id, account, request):
        entries = account.entries
        if account.oddity == "newest first":
            entries = entries[::-1]
        begin = self.offset(request) if "cursor" in request else 0
        most = min(account.page, int(request.get("maxEntries", 1000)))
        if account.oddity == "empty page" and "cursor" not in request:
            most = 0
        shown = entries[begin : begin + most]
        end = begin + len(shown)
        more = end < len(entries)
        key = str(uuid.uuid4())
        answer = {"accountId": id, "extract": "intraday"}
        if account.virtual:
            answer["sortOrder"] = "forward"
        narrative = str(request.get("includeNarrative", True)).lower() == "true"
        answer["payload"] = self.report(id, account, shown, key, narrative)
        answer["requestKey"] = key
        if account.oddity == "repeating cursor":
            more, end = True, 0
        if account.oddity == "no cursor":
            more = True
            answer["cursor"] = None
        elif more:
            # The same place has the same cursor.
            text = json.dumps([id, end, f"{id}-{end}-{'ÿ?' * 5}"])
            answer["cursor"] = base64.b64encode(text.encode()).decode()
        elif self.odd("members"):
            answer["cursor"] = None
        answer["moreTransactionsAvailable"] = more
        if self.odd("members"):
            answer |= {"sortOrder": answer.get("sortOrder"), "error": None, "ÿ": [{"n": 1.50e2}, []]}
        return 200, answer, {}

    # --- errors -------------------------------------------------------------------------------------------------

    def complain(self, what, status, answer):
        self.complaints.append(what)
        return status, answer, {}

    def error(self, code, title):
        answer = {"requestKey": str(uuid.uuid4()), "error": {"statusCode": code, "title": title}}
        if self.odd("members"):
            answer |= {"timestamp": None}
            answer["error"]["details"] = [None, {}]
        return answer

    def fail(self, name, token=None, id=""):
        kind, _, status = name.rpartition(" ")
        status = int(status)
        if kind == "html":
            page = "<!DOCTYPE html><html><body>Scheduled maintenance</body></html>"
            return status, page, {"Content-Type": "text/html", **({"Retry-After": "1"} if status == 503 else {})}
        if kind == "rfc6749":
            return status, {"error": "temporarily_unavailable", "error_description": "later"}, {"Retry-After": "1"}
        if kind in ("oauth", "EC000_002"):
            self.tokens.discard(token)
        if kind == "oauth":
            return status, {"error": "invalid_token"}, {"WWW-Authenticate": 'Bearer error="invalid_token"'}
        if status == 429:
            return status, "", {"Retry-After": "1"}
        titles = {"EC20003": f"Error retrieving account statement for account id: '{id}'", "EC000_002": "Unauthorized"}
        code = "EC000_001" if kind == "gateway" else kind
        return status, self.error(code, titles.get(kind, "Internal Server Error")), {}

    # --- reports ------------------------------------------------------------------------------------------------

    def report(self, id, account, entries, key, narrative):
        now = datetime.datetime.now(datetime.timezone(datetime.timedelta(hours=10)))
        digits = f"{now.microsecond:06}7" if self.odd("numbers") else f"{now.microsecond // 1000:03}"
        made = f"{now:%Y-%m-%dT%H:%M:%S}.{digits}+10:00"
        sums = {True: Decimal(0), False: Decimal(0)}
        counts = {True: 0, False: 0}
        for entry in entries:
            sums[entry["credit"]] += entry["amount"]
            counts[entry["credit"]] += 1
        if self.odd("summaries"):
            counts[True] += 1
            sums[False] += Decimal("0.01")
        net = sums[True] - sums[False]
        name = "<Nm>Interop &amp; Söhne</Nm>" if self.odd("elements") else ""
        return (
            f'<?xml version="1.0" encoding="utf-8"?><Document xmlns="{NAMESPACE}"><BkToCstmrAcctRpt>'
            f"<GrpHdr><MsgId>{key.replace('-', '')}</MsgId><CreDtTm>{made}</CreDtTm></GrpHdr>"
            f"<Rpt><Id>{uuid.uuid4().hex}</Id><CreDtTm>{made}</CreDtTm><RptgSrc><Prtry>CMM</Prtry></RptgSrc>"
            f"<Acct><Id><Othr><Id>{id}</Id></Othr></Id><Ccy>AUD</Ccy>{name}</Acct>"
            "<Bal><Tp><CdOrPrtry><Cd>ITAV</Cd></CdOrPrtry><SubTp><Prtry>Current</Prtry></SubTp></Tp>"
            f'<Amt Ccy="AUD">{self.amount(Decimal("10000.00"))}</Amt><CdtDbtInd>CRDT</CdtDbtInd>'
            f"<Dt><Dt>{now:%Y-%m-%d}</Dt></Dt></Bal><TxsSummry>"
            f"<TtlNtries><NbOfNtries>{sum(counts.values())}</NbOfNtries><Sum>{sum(sums.values())}</Sum>"
            f"<TtlNetNtry><Amt>{abs(net)}</Amt>{direction(net >= 0)}</TtlNetNtry></TtlNtries>"
            f"<TtlCdtNtries><NbOfNtries>{counts[True]}</NbOfNtries><Sum>{sums[True]}</Sum></TtlCdtNtries>"
            f"<TtlDbtNtries><NbOfNtries>{counts[False]}</NbOfNtries><Sum>{sums[False]}</Sum></TtlDbtNtries></TxsSummry>"
            + "".join(self.entry(number, account, entry, narrative) for number, entry in enumerate(entries, 1))
            + "</Rpt></BkToCstmrAcctRpt></Document>"
        )

    def entry(self, number, account, entry, narrative):
        more = self.odd("elements")
        amount = f'<Amt Ccy="AUD">{self.amount(entry["amount"])}</Amt>{direction(entry["credit"])}'
        date = f"<Dt>{entry['day']}</Dt>"
        available = f"<Avlbty><Dt><ActlDt>{entry['day']}</ActlDt></Dt>{amount}</Avlbty>"
        reference = refs = parties = text = ""
        if entry["reference"]:
            # Of the entry, of its transaction, or both: always the same ones, because they are its identity.
            reference = f"<AcctSvcrRef>{entry['reference']}</AcctSvcrRef>" if entry["credit"] else ""
            refs = (
                f"<Refs><AcctSvcrRef>{entry['reference']}</AcctSvcrRef><EndToEndId>Tx{number}</EndToEndId>"
                "<Prtry><Tp>ServiceLevel</Tp><Ref>sct.01</Ref></Prtry></Refs>"
            )
        if entry["fast"] and narrative:
            contact = "<CtctDtls><Nm>A. Person</Nm><EmailAdr>a@example.com</EmailAdr></CtctDtls>" if more else ""
            own = "<Othr><Id>700100901</Id><Issr>999042</Issr></Othr>"
            own = f"<CdtrAcct><Id>{own}</Id></CdtrAcct>" if account.virtual else ""
            parties = (
                "<RltdPties><Dbtr><Nm>Jarrah &amp; Sons</Nm></Dbtr>"
                "<DbtrAcct><Id><Othr><Id>999001888777666</Id></Othr></Id></DbtrAcct>"
                f"<Cdtr><Nm>Interop</Nm>{contact}</Cdtr>{own}</RltdPties>"
            )
        if narrative or not entry["fast"]:
            size = 140 if more else 280
            pieces = [entry["narrative"][at : at + size] for at in range(0, len(entry["narrative"]), size)]
            text = "<RmtInf>" + "".join(f"<Ustrd>{escape(piece)}</Ustrd>" for piece in pieces) + "</RmtInf>"
        return (
            f"<Ntry>{f'<NtryRef>{number}</NtryRef>' if more else ''}{amount}<Sts>BOOK</Sts>"
            f"<BookgDt>{date}</BookgDt><ValDt>{date}</ValDt>"
            f"{reference}{available if more else ''}"
            "<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>DMCT</SubFmlyCd></Fmly></Domn></BkTxCd>"
            f"<NtryDtls><TxDtls>{refs}{amount}{parties}{text}</TxDtls></NtryDtls></Ntry>"
        )

    def amount(self, value):
        return f"{value:.4f}" if self.odd("numbers") else f"{value:.2f}"

    # --- files and HTTPS ----------------------------------------------------------------------------------------

    def make_files(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        names = ("customer-assertion", "customer-decryption", "provider-signing")
        keys = {name: rsa.generate_private_key(65537, 2048) for name in names}
        for name, key in keys.items():
            self.write(f"{name}.pem", private_pem(key))
        self.customer_key = RSAKey.import_key(public_pem(keys["customer-assertion"]))
        self.write(f"bank-keys/{BANK_KID}.pem", public_pem(keys["provider-signing"]))
        authority, own = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        self.write("ca.pem", certificate("Interop CA", authority, "Interop CA", authority))
        self.write("server.pem", certificate("localhost", own, "Interop CA", authority))
        self.write("server-key.pem", private_pem(own))
        self.api_key = str(uuid.uuid4())
        self.write("api-key", self.api_key.encode())
        self.write("token-cache.key", base64.b64encode(os.urandom(32)))

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(content)

    def start(self, port=0):
        bank = self

        class Handler(http.server.BaseHTTPRequestHandler):
            # A connection that says nothing does not hold its thread for ever.
            timeout = 30

            def do_POST(self):
                bank.answer(self)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *arguments):
                # A client that was killed.
                if not isinstance(sys.exc_info()[1], OSError):
                    super().handle_error(*arguments)

        self.server = Server(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "server.pem", self.folder / "server-key.pem")
        # The handshake is made by the thread of the connection.
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        base_url = f"https://localhost:{self.server.server_address[1]}"
        customer = {
            "customer_code": CUSTOMER,
            "api_key": self.api_key,
            "assertion_key": "customer-assertion.pem",
            "audience": AUDIENCE,
            "ca": "ca.pem",
            "bank_keys": "bank-keys",
            "base_url": base_url,
            "token_url": f"{base_url}/v1.0/auth",
            "statement_url": f"{base_url}/accounts/v2.0/statement",
            "scope": SCOPE,
            "accounts": list(self.accounts),
        }
        self.write("customer.json", json.dumps(customer, indent=2).encode())
        return base_url

    def answer(self, call):
        work = {"/v1.0/auth": self.token, "/accounts/v2.0/statement": self.statement}.get(call.path)
        body = call.rfile.read(int(call.headers.get("Content-Length", 0)))
        if work is None:
            status, answer, headers = self.complain(f"path {call.path}", 404, self.error("EC000_004", "Not Found"))
        else:
            try:
                status, answer, headers = work(call.headers, body)
            except (ValueError, KeyError, TypeError) as error:
                status, answer, headers = self.complain(repr(error), 400, self.error("EC000_003", "Bad Request"))
        # Errors have it in both places too.
        key = answer.get("requestKey") if isinstance(answer, dict) else None
        headers = {"X-RequestKey": key or str(uuid.uuid4()), "Content-Type": JSON_TYPES[0]} | headers
        if not isinstance(answer, str):
            text = json.dumps(answer, ensure_ascii=self.odd("members"))
            answer = text.replace("/", "\\/") if self.odd("members") else text
            if self.odd("header-spellings"):
                headers["Content-Type"] = self.random.choice(JSON_TYPES)
        content = answer.encode()
        call.send_response(status)
        for name, value in headers.items():
            spell = self.random.choice([str.lower, str.upper]) if self.odd("header-spellings") else str
            call.send_header(spell(name), value)
        call.send_header("Content-Length", str(len(content)))
        call.end_headers()
        call.wfile.write(content)


def direction(credit):
    return f"<CdtDbtInd>{'CRDT' if credit else 'DBIT'}</CdtDbtInd>"


def private_pem(key):
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def public_pem(key):
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(serialization.Encoding.PEM, form)


def certificate(name, key, issuer, issuer_key):
    def common(text):
        return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

    now, day = datetime.datetime.now(datetime.timezone.utc), datetime.timedelta(days=1)
    builder = x509.CertificateBuilder(common(issuer), common(name), key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - day).not_valid_after(now + 30 * day)
    builder = builder.add_extension(x509.BasicConstraints(ca=name == issuer, path_length=None), critical=True)
    if name != issuer:
        names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(issuer_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder")
    arguments.add_argument("--port", type=int, default=0)
    arguments.add_argument("--quirks", default="all")
    arguments.add_argument("--seed", type=int)
    given = arguments.parse_args()
    quirks = {"all": QUIRKS, "none": ()}.get(given.quirks, given.quirks.split(","))
    if set(quirks) - set(QUIRKS):
        arguments.error(f"expected quirks among {', '.join(QUIRKS)}")
    bank = Bank(given.folder, quirks, given.seed)
    print(f"{bank.start(given.port)}  quirks: {' '.join(sorted(quirks)) or 'none'}", flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
