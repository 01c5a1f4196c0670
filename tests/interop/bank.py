"""A bank that shares no code with this project:
`bank.py FOLDER [--port N] [--quirks all|none|NAME,...] [--faults NAME,...] [--seed N]`.

It makes in FOLDER what `bankrail provider` makes for a demo customer, so that the same programs run against it, and
serves tokens and statements over HTTPS until Ctrl-C. Assertions are verified by joserfc, reports are written here.

Quirks are what published samples and live services do beside the specification. A client must live with each:

header-spellings  names of headers, content types and the token type in other spellings
members           members that nobody knows, optional ones that are null, texts with every escape that JSON has
numbers           amounts with four decimals, times with seven fractional digits, differently in each call
summaries         a summary that disagrees with the entries
elements          elements of the schema beyond the specification's list, a narrative cut into short pieces
accounts          the accounts that list newest first, have an empty page, repeat a cursor or give none
failures          errors of the service and of a gateway in front of it, under their own status or 200, and HTML

Faults break a clause of the specification each. There are none unless they are asked for; FAULTS says what each does.
"""

import argparse
import base64
import collections
import datetime
import hmac
import http.server
import ipaddress
import json
import pathlib
import random
import re
import secrets
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
# A second customer, and its account.
OTHER_CUSTOMER = "OTHERCUSTOMER"
OTHER_ACCOUNT = "999001500100201"
BANK_KID = "interop-1"
# Where and how the customer receives webhooks, for its `connection.toml`.
RECEIVERS = """
[receivers]
listen = "127.0.0.1:9443"
certificate = "server.pem"
certificate_key = "server-key.pem"
api_key = "receiver-key"
decryption_key = "customer-decryption.pem"
provider_keys = "bank-keys"
"""
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


FAULTS = {
    # Tokens.
    "any-key": "any RSA key may sign an assertion",
    "alg-none": "an assertion need not be signed",
    "alg-hs256": "the public key is taken for a shared secret",
    "alg-ps256": "PS256 is accepted beside RS256",
    "short-signature": "a signature that is shorter than the key is not verified",
    "padding": "the parts of an assertion may be padded",
    "any-typ": "typ is not looked at",
    "expired": "exp may have passed",
    "exp-cap": "exp may be any time ahead",
    "exp-optional": "exp may be missing",
    "any-audience": "aud may be anything",
    "any-subject": "sub may be anybody",
    "subject-case": "sub may be in lower case",
    "missing-401": "a missing client_assertion is answered 401",
    "any-grant": "grant_type is not looked at",
    "any-assertion-type": "client_assertion_type is not looked at",
    "scope-optional": "scope may be missing",
    "token-content-type": "the form may have any content type",
    "token-without-api-key": "the API key may be missing at the token endpoint",
    "any-api-key": "the API key may be anything at the token endpoint",
    "created": "a token is answered 201",
    "expires-text": "expires_in is text",
    "token-type": "token_type is another",
    "long-token": "access_token is no GUID",
    "no-token-member": "token_type is missing",
    "errors-without-key": "errors of the token endpoint have no X-RequestKey",
    "same-request-key": "all answers of the token endpoint have one request key",
    "token-outlives": "tokens are accepted after their end",
    # Statements.
    "any-token": "a token need not have been issued",
    "no-token": "the header Authorization may be missing",
    "statement-without-api-key": "the API key may be missing at the statement endpoint",
    "any-statement-api-key": "the API key may be anything at the statement endpoint",
    "other-accounts": "the account may be another customer's",
    "account-optional": "accountId may be missing",
    "crash": "an accountId that is no text is a failure of the service",
    "any-body": "the body may be anything",
    "statement-content-type": "the body may have any content type",
    "get": "the method may be GET",
    "unknown-empty": "an unknown account has an empty statement",
    "error-code": "an unknown account has another code",
    "error-code-form": "error codes are digits alone",
    "error-title": "an unknown account has another title",
    "error-without-key": "error responses have no requestKey",
    "error-flat": "error responses have no object error",
    "account-echo": "accountId is another",
    "no-extract": "extract is missing",
    "sort-order-number": "sortOrder is a number",
    "payload-object": "payload is no text",
    "request-key-upper": "requestKey is in upper case",
    "request-key-plain": "requestKey has no hyphens",
    "cursor-always": "the last page has a cursor",
    "more-text": "moreTransactionsAvailable is text",
    "duplicate-member": "a member is there twice",
    "more-early": "the page before the last one says that nothing follows, if one entry does",
    "lost": "each page after the first misses its first entry",
    "twice": "each page begins with the last entry of the page before",
    "narrative-always": "includeNarrative is not looked at",
    "narrative-without-text": "fast payments have parties and no text",
    # Reports.
    "namespace": "the namespace is of another version",
    "root": "the message is another",
    "message-id": "MsgId has 31 characters",
    "no-offset": "CreDtTm has no offset",
    "no-fraction": "CreDtTm has whole seconds",
    "report-id": "Rpt/Id has hyphens",
    "no-source": "RptgSrc is missing",
    "report-account": "Acct/Id is another",
    "no-sub-type": "SubTp is missing",
    "balance-currency": "the balance has another currency",
    "balance-time": "the balance has a time",
    "count": "NbOfNtries is one too many",
    "sum": "Sum is a cent too much",
    "net": "TtlNetNtry has the wrong direction",
    "credits": "TtlCdtNtries is of all entries",
    "debits": "TtlDbtNtries has the sum of nothing",
    "empty-sums": "a report without entries has no sums",
    "no-status": "Sts is missing",
    "no-currency": "amounts of entries have no currency",
    "booking-time": "BookgDt has a time",
    "no-codes": "BkTxCd has a code of its own",
    "reference-type": "Prtry has no Tp",
    "no-transaction-amount": "TxDtls has no amount",
    "detail-indicator": "TxDtls has the indicator of the other direction",
    "no-issuer": "a virtual account has no issuer",
}


class Account:
    """`oddity` is one of None, `newest first`, `empty page`, `repeating cursor`, `no cursor`."""

    def __init__(self, page, oddity=None, virtual=False):
        self.page, self.oddity, self.virtual, self.entries = page, oddity, virtual, []


class Bank:
    def __init__(self, folder, quirks=QUIRKS, seed=None, faults=()):
        self.folder, self.quirks, self.random = pathlib.Path(folder), set(quirks), random.Random(seed)
        self.faults = set(faults)
        self.lock = threading.RLock()
        # Until when each token is valid.
        self.tokens, self.used, self.server = {}, set(), None
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
        # What is another customer's is not among the accounts.
        self.others = {OTHER_ACCOUNT: Account(1000)}
        if not self.quirks:
            self.accounts["999001500100107"] = Account(1000)
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
        """How often each amount is listed, negative for a debit."""
        with self.lock:
            accounts = self.accounts.values()
            return collections.Counter(
                entry["amount"] if entry["credit"] else -entry["amount"]
                for account in accounts for entry in account.entries
            )

    # --- tokens -------------------------------------------------------------------------------------------------

    def token(self, headers, body):
        with self.lock:
            self.token_calls += 1
            form = urllib.parse.parse_qs(body.decode(), keep_blank_values=True, strict_parsing=True)
            kind = headers.get("Content-Type", "").split(";")[0].strip().lower()
            one = {name: values[0] for name, values in form.items() if len(values) == 1}
            expected = {"grant_type": "client_credentials", "client_assertion_type": ASSERTION_TYPE}
            form_type = kind == "application/x-www-form-urlencoded" or "token-content-type" in self.faults
            known = form_type and self.knows(headers, "token-without-api-key", "any-api-key")
            if not known or len(one) != len(form):
                return self.complain("token request", 400, {"error": "invalid_request"})
            if "missing-401" in self.faults and "client_assertion" not in one:
                return self.complain("no assertion", 401, {"error": "invalid_client"})
            if "scope-optional" in self.faults:
                one.setdefault("scope", SCOPE)
            missing = {"scope", "client_assertion", *expected} - set(one)
            if missing:
                return self.complain(f"without {missing}", 400, {"error": "invalid_request"})
            if "any-grant" in self.faults:
                del expected["grant_type"]
            if "any-assertion-type" in self.faults:
                del expected["client_assertion_type"]
            if any(one.get(name) != value for name, value in expected.items()):
                return self.complain("grant", 400, {"error": "unsupported_grant_type"})
            if SCOPE not in one["scope"].split(" "):
                return self.complain("scope", 400, {"error": "invalid_scope"})
            try:
                self.verify(one["client_assertion"])
            except (JoseError, ValueError, KeyError) as error:
                return self.complain(f"assertion: {error!r}", 401, {"error": "invalid_client"})
            if "failures" in self.quirks and self.token_failures:
                return self.fail(self.token_failures.pop(0))
            token = secrets.token_hex(40) if "long-token" in self.faults else str(uuid.uuid4())
            lifetime = 2 if "token-outlives" in self.faults else 3600
            self.tokens[token] = time.time() + (3600 if "token-outlives" in self.faults else lifetime)
            answer = {"expires_in": lifetime, "token_type": "Bearer", "access_token": token}
            if "expires-text" in self.faults:
                answer["expires_in"] = "3600"
            if "token-type" in self.faults:
                answer["token_type"] = "Token"
            if "no-token-member" in self.faults:
                del answer["token_type"]
            if self.odd("header-spellings"):
                answer["token_type"] = self.random.choice(["bearer", "BEARER"])
            if self.odd("members"):
                answer |= {"scope": self.random.choice([None, "", SCOPE]), "issued_at": "0", "x": {"y": []}}
            status = 201 if "created" in self.faults else 200
            return status, answer, {"Cache-Control": "no-store", "Pragma": "no-cache"}

    def knows(self, headers, may_be_missing, may_be_anything):
        """Whether the API key is the customer's."""
        key = headers.get("apikey")
        if key is None:
            return may_be_missing in self.faults
        return key == self.api_key or may_be_anything in self.faults

    def verify(self, assertion):
        header, claims = self.signed(assertion)
        now = int(time.time())
        if header.get("typ") != "jwt" and "any-typ" not in self.faults:
            raise ValueError("typ")
        expected = {"sub": CUSTOMER, "aud": AUDIENCE}
        if "subject-case" in self.faults:
            claims["sub"] = claims["sub"].upper()
        if "any-subject" in self.faults:
            del expected["sub"]
        if "any-audience" in self.faults:
            expected["aud"] = claims["aud"]
        rules = {name: {"essential": True, "value": value} for name, value in expected.items()}
        rules |= {"exp": {"essential": "exp-optional" not in self.faults}, "iss": {"value": CUSTOMER}}
        then = 0 if "expired" in self.faults else now
        jwt.JWTClaimsRegistry(now=then, leeway=30, **rules).validate(claims)
        latest = 2**40 if "exp-cap" in self.faults else now + 3600
        if "exp" in claims and not then < claims["exp"] <= latest:
            raise ValueError("exp")
        # Without a jti, two assertions of one second are the same.
        if "jti" in claims:
            if claims["jti"] in self.used:
                raise ValueError("jti")
            self.used.add(claims["jti"])

    def signed(self, assertion):
        """The header and the claims of an assertion that the customer has signed."""
        algorithms = ["RS256"]
        if "padding" in self.faults and "=" in assertion:
            return tuple(json.loads(from_base64url(part.rstrip("="))) for part in assertion.split(".")[:2])
        if "short-signature" in self.faults and len(assertion.rpartition(".")[2]) < 300:
            return tuple(json.loads(from_base64url(part)) for part in assertion.split(".")[:2])
        if self.faults & {"any-key", "alg-none", "alg-hs256", "alg-ps256"}:
            text, _, signature = assertion.rpartition(".")
            header, claims = (json.loads(from_base64url(part)) for part in text.split("."))
            unchecked = {"any-key": "RS256", "alg-none": "none"}
            if any(fault in self.faults and header["alg"] == name for fault, name in unchecked.items()):
                return header, claims
            if "alg-hs256" in self.faults and header["alg"] == "HS256":
                expected = hmac.digest(self.customer_pem, text.encode(), "sha256")
                if from_base64url(signature) == expected:
                    return header, claims
            if "alg-ps256" in self.faults:
                algorithms.append("PS256")
        token = jwt.decode(assertion, self.customer_key, algorithms=algorithms)
        return token.header, token.claims

    # --- statements ---------------------------------------------------------------------------------------------

    def statement(self, headers, body):
        with self.lock:
            first = next(iter(self.accounts))
            if "any-body" in self.faults and not body.startswith(b"{"):
                body = json.dumps({"accountId": first}).encode()
            request = json.loads(body)
            if "account-optional" in self.faults:
                request.setdefault("accountId", first)
            id = request.get("accountId")
            self.statement_calls.append(id if isinstance(id, str) else None)
            authorization = headers.get("Authorization", "")
            if "no-token" in self.faults and not authorization:
                authorization = f"Bearer {next(iter(self.tokens))}"
            scheme, _, token = authorization.partition(" ")
            known = self.knows(headers, "statement-without-api-key", "any-statement-api-key")
            if not known or scheme.lower() != "bearer":
                return self.complain("headers", 401, self.error("EC000_002", "Unauthorized"))
            json_type = headers.get("Content-Type", "").split(";")[0] == "application/json"
            if not json_type and "statement-content-type" not in self.faults:
                return self.complain("content type", 415, self.error("EC000_006", "Unsupported Media Type"))
            if self.tokens.get(token, 0) <= time.time() and "any-token" not in self.faults:
                return 401, self.error("EC000_002", "Unauthorized"), {}
            if "crash" in self.faults and isinstance(id, list):
                return self.complain("crash", 500, self.error("EC20005", "Internal Server Error"))
            problem = self.problem(request)
            if problem:
                return self.complain(problem, 400, self.error("EC42001", problem))
            if "failures" in self.quirks and self.failures.get(id):
                return self.fail(self.failures[id].pop(0), token, id)
            account = self.accounts.get(id)
            if account is None and "other-accounts" in self.faults:
                account = self.others.get(id)
            if account is None and "unknown-empty" in self.faults and id not in self.others:
                account = Account(1000)
            if account is None:
                status = self.random.choice([200, 404]) if "failures" in self.quirks else 404
                return status, self.not_found(id), {}
            return self.page(id, account, request)

    def not_found(self, id):
        code = "EC20002" if "error-code" in self.faults else "EC20001"
        answer = self.error(code, "Not found" if "error-title" in self.faults else f"Account Id: '{id}' not found")
        if "error-code-form" in self.faults:
            answer["error"]["statusCode"] = "20001"
        if "error-without-key" in self.faults:
            del answer["requestKey"]
        if "error-flat" in self.faults:
            answer |= {"error": "not found", **answer["error"]}
        return answer

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
        if len(entries) - end == 1 and "more-early" in self.faults:
            more = False
        if begin and "lost" in self.faults:
            shown = shown[1:]
        if begin and "twice" in self.faults:
            shown = entries[begin - 1 : begin + most]
        key = str(uuid.uuid4())
        answer = {"accountId": id, "extract": "intraday"}
        if account.virtual:
            answer["sortOrder"] = 1 if "sort-order-number" in self.faults else "forward"
        narrative = str(request.get("includeNarrative", True)).lower() == "true" or "narrative-always" in self.faults
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
        self.spoil(answer)
        if self.odd("members"):
            answer |= {"sortOrder": answer.get("sortOrder"), "error": None, "ÿ": [{"n": 1.50e2}, []]}
        return 200, answer, {}

    def spoil(self, answer):
        """The faults of a statement's members."""
        if "account-echo" in self.faults:
            answer["accountId"] = "999001500100999"
        if "no-extract" in self.faults:
            del answer["extract"]
        if "payload-object" in self.faults:
            answer["payload"] = {"xml": answer["payload"]}
        if "request-key-upper" in self.faults:
            answer["requestKey"] = answer["requestKey"].upper()
        if "request-key-plain" in self.faults:
            answer["requestKey"] = answer["requestKey"].replace("-", "")
        if "cursor-always" in self.faults:
            answer.setdefault("cursor", "AAAA")
        if "more-text" in self.faults:
            answer["moreTransactionsAvailable"] = str(answer["moreTransactionsAvailable"]).lower()

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
            self.tokens.pop(token, None)
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
        fraction = "" if "no-fraction" in self.faults else f".{digits}"
        made = f"{now:%Y-%m-%dT%H:%M:%S}{fraction}{'' if 'no-offset' in self.faults else '+10:00'}"
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
        report = (
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
        return self.spoil_report(report, bool(entries))

    def spoil_report(self, xml, has_entries):
        """The faults of a report: what is replaced, how often, and by what."""

        def change(fault, pattern, by, often=0, when=True):
            nonlocal xml
            if fault in self.faults and when:
                xml, found = re.subn(pattern, by, xml, count=often)
                assert found, fault

        change("namespace", r"052\.001\.06", "052.001.08")
        change("root", "BkToCstmrAcctRpt>", "BkToCstmrStmt>")
        change("message-id", "[0-9a-f]</MsgId>", "</MsgId>")
        change("report-id", "<Rpt><Id>[0-9a-f]{32}", f"<Rpt><Id>{uuid.uuid4().hex[:30]}-1")
        change("no-source", "<RptgSrc>.*?</RptgSrc>", "")
        change("report-account", "(<Acct><Id><Othr><Id>)[0-9]+", r"\g<1>999001500100999")
        change("no-sub-type", "<SubTp>.*?</SubTp>", "")
        change("balance-currency", '(</Tp><Amt Ccy=)"AUD"', r'\1"USD"')
        change("balance-time", "<Dt><Dt>([0-9-]+)</Dt></Dt></Bal>", r"<Dt><DtTm>\1T00:00:00Z</DtTm></Dt></Bal>")
        change("count", "(<TtlNtries><NbOfNtries>)", r"\g<1>1", when=has_entries)
        change("sum", "(<TtlNtries><NbOfNtries>[0-9]+</NbOfNtries><Sum>)", r"\g<1>9", when=has_entries)
        turned = {"CRDT": "DBIT", "DBIT": "CRDT"}
        change("net", "(<TtlNetNtry>.*?<CdtDbtInd>)([A-Z]+)", lambda at: at[1] + turned[at[2]], 1, has_entries)
        change("credits", "(<TtlCdtNtries><NbOfNtries>)", r"\g<1>7", when=has_entries)
        change("debits", "(<TtlDbtNtries><NbOfNtries>[0-9]+</NbOfNtries><Sum>)[0-9.]+", r"\g<1>0.07", when=has_entries)
        change("empty-sums", "<Sum>.*?</Sum>", "", when=not has_entries)
        change("no-status", "<Sts>BOOK</Sts>", "", when=has_entries)
        change("no-currency", '(<Ntry><Amt) Ccy="AUD"', r"\1", when=has_entries)
        change("booking-time", "<BookgDt><Dt>(.*?)</Dt>", r"<BookgDt><DtTm>\1T00:00:00Z</DtTm>", when=has_entries)
        change("no-codes", "<Domn>.*?</Domn>", "<Prtry><Cd>999</Cd></Prtry>", when=has_entries)
        change("reference-type", "<Tp>ServiceLevel</Tp>", "", when="ServiceLevel" in xml)
        change("detail-indicator", "(<TxDtls>.*?<CdtDbtInd>)([A-Z]+)", lambda at: at[1] + turned[at[2]], 1, has_entries)
        change("no-transaction-amount", "(<TxDtls>(?:<Refs>.*?</Refs>)?)<Amt .*?</Amt>", r"\1", when=has_entries)
        change("no-issuer", "<Issr>.*?</Issr>", "", when="<Issr>" in xml)
        change("narrative-without-text", "(</RltdPties>)<RmtInf>.*?</RmtInf>", r"\1", when="</RltdPties>" in xml)
        return xml

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
            # The schema allows 140 characters each.
            size = 70 if more else 140
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
        self.customer_pem = public_pem(keys["customer-assertion"])
        self.customer_key = RSAKey.import_key(self.customer_pem)
        self.write(f"bank-keys/{BANK_KID}.pem", public_pem(keys["provider-signing"]))
        authority, own = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        self.write("ca.pem", certificate("Interop CA", authority, "Interop CA", authority))
        self.write("server.pem", certificate("localhost", own, "Interop CA", authority))
        self.write("server-key.pem", private_pem(own))
        self.api_key, self.other_api_key = str(uuid.uuid4()), str(uuid.uuid4())

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

            def do_GET(self):
                if "get" in bank.faults:
                    bank.answer(self)
                else:
                    self.send_error(405)

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
        own = connection(base_url, CUSTOMER, self.api_key, list(self.accounts)) + RECEIVERS
        self.write("connection.toml", own.encode())
        other = connection(base_url, OTHER_CUSTOMER, self.other_api_key, list(self.others), folder="../")
        self.write("other/connection.toml", other.encode())
        return base_url

    def answer(self, call):
        work = {"/v1.0/auth": self.token, "/accounts/v2.0/statement": self.statement}.get(call.path)
        body = call.rfile.read(int(call.headers.get("Content-Length", 0)))
        if "get" in self.faults and call.command == "GET" and call.path.endswith("/statement"):
            body = json.dumps({"accountId": next(iter(self.accounts))}).encode()
        if work is None:
            status, answer, headers = self.complain(f"path {call.path}", 404, self.error("EC000_004", "Not Found"))
        else:
            try:
                status, answer, headers = work(call.headers, body)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                status, answer, headers = self.complain(repr(error), 400, self.error("EC000_003", "Bad Request"))
        # Errors have it in both places too.
        key = answer.get("requestKey") if isinstance(answer, dict) else None
        headers = {"X-RequestKey": key or str(uuid.uuid4()), "Content-Type": JSON_TYPES[0]} | headers
        if work == self.token and "same-request-key" in self.faults:
            headers["X-RequestKey"] = "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003"
        if work == self.token and "errors-without-key" in self.faults and status >= 400:
            del headers["X-RequestKey"]
        if not isinstance(answer, str):
            text = json.dumps(answer, ensure_ascii=self.odd("members"))
            answer = text.replace("/", "\\/") if self.odd("members") else text
            if self.odd("header-spellings"):
                headers["Content-Type"] = self.random.choice(JSON_TYPES)
        if "duplicate-member" in self.faults and '"payload"' in answer:
            answer = answer.replace('{"', '{"extract": "priorday", "', 1)
        content = answer.encode()
        call.send_response(status)
        for name, value in headers.items():
            spell = self.random.choice([str.lower, str.upper]) if self.odd("header-spellings") else str
            call.send_header(spell(name), value)
        call.send_header("Content-Length", str(len(content)))
        call.end_headers()
        call.wfile.write(content)


def connection(base_url, customer, api_key, accounts, audience=AUDIENCE, folder=""):
    """What a customer needs, in the form that the programs read."""
    values = {"base_url": base_url, "audience": audience, "customer": customer, "api_key": api_key, "scopes": [SCOPE]}
    values |= {"signing_key": f"{folder}customer-assertion.pem", "roots": f"{folder}ca.pem", "accounts": accounts}
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())


def from_base64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


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
    arguments.add_argument("--faults", default="")
    arguments.add_argument("--seed", type=int)
    given = arguments.parse_args()
    quirks = {"all": QUIRKS, "none": ()}.get(given.quirks, given.quirks.split(","))
    if set(quirks) - set(QUIRKS):
        arguments.error(f"expected quirks among {', '.join(QUIRKS)}")
    faults = [name for name in given.faults.split(",") if name]
    if set(faults) - set(FAULTS):
        arguments.error(f"expected faults among {', '.join(FAULTS)}")
    bank = Bank(given.folder, quirks, given.seed, faults)
    names = " ".join(sorted([*quirks, *faults])) or "none"
    print(f"{bank.start(given.port)}  quirks and faults: {names}", flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
