"""A bank's token and statement endpoints over HTTPS.

usage: server.py FOLDER PORT [--fault NAME]... [--clock-offset SECONDS]
"""

import argparse
import asyncio
import json
import math
import re
import signal
import ssl
import sys
import time
import urllib.parse
import uuid
from datetime import date
from pathlib import Path

from aiohttp import web
from cryptography.hazmat.primitives.serialization import load_pem_public_key

import assertion
import make_folder
from statement import Cursors, Report, utc

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
KNOWN_SCOPES = [
    "GBL.INSTO.ACCOUNTS.STATEMENT.READ", "AU.INSTO.PAYTO.MANDATE.WRITE", "AU.INSTO.PAYTO.MANDATE.READ",
    "AU.INSTO.PAYTO.MPIR.WRITE",
]
STATEMENT_SCOPE = KNOWN_SCOPES[0]
MOST_ENTRIES = 1000


class Refusal(Exception):
    """An answer other than success: for tokens code is an OAuth error, for statements an EC code."""

    def __init__(self, status, code, text, headers=None):
        super().__init__(text)
        self.status, self.code, self.text, self.headers = status, code, text, headers or {}


class Limits:
    """Sliding windows: the count of this window, and that of the one before weighted by what is left of this one.

    Each request counts, refused ones too.
    """

    UNITS = {"per_hour": 3600, "per_minute": 60, "per_second": 1}

    def __init__(self, sizes, clock, faults):
        self.sizes, self.clock, self.faults = sizes, clock, faults
        self.counters = {}  # (call type, who, seconds) -> [window, count, count of the window before]

    @staticmethod
    def _move(counter, window):
        if counter is None:
            return [window, 0, 0]
        if window <= counter[0]:
            return list(counter)
        return [window, 0, counter[1] if window == counter[0] + 1 else 0]

    async def count(self, kind, who):
        """Counts a call, and raises a Refusal if it is one too many."""
        wait = 0
        for unit, limit in self.sizes[kind].items():
            if limit is None:
                continue
            if unit == "per_second" and "token-limit-no-seconds" in self.faults:
                continue
            seconds = self.UNITS[unit]
            if kind == "token" and unit == "per_hour" and "token-limit-hour-plus-one" in self.faults:
                limit += 1
            if kind == "statement" and "statement-limit-plus-one" in self.faults:
                limit += 1
            key = (kind, who, seconds)
            before = self.counters.get(key)
            if "limit-race" in self.faults:
                await asyncio.sleep(0.05)
            now = self.clock()
            counter = self._move(before, int(now // seconds))
            counter[1] += 1
            self.counters[key] = counter
            left = max(0.0, seconds * (counter[0] + 1) - now)
            if counter[1] * seconds + counter[2] * left > limit * seconds:
                wait = max(wait, self._wait(counter, left, seconds, limit))
        if wait:
            status = 503 if "limit-status-503" in self.faults else 429
            raise Refusal(status, "limit", "Too many requests", {"Retry-After": str(wait)})

    @staticmethod
    def _wait(counter, left, seconds, limit):
        """Whole seconds until one more call would be allowed."""
        _, current, previous = counter
        room = limit - current - 1
        if room >= 0 and previous > 0:
            return max(1, math.ceil(left - room * seconds / previous))
        # Not in this window: in the next one, this one's count is the weighted one.
        if limit < 1:
            return seconds
        return max(1, math.ceil(left + max(0.0, seconds - (limit - 1) * seconds / current)))


class Bank:
    def __init__(self, folder, port, faults, clock):
        self.folder, self.faults, self.clock = Path(folder), faults, clock
        self.auth_url = f"https://localhost:{port}/v1.0/auth"
        self.customers = json.loads((self.folder / "customers.json").read_text(encoding="utf-8"))
        self.by_api_key = {c["api_key"]: c for c in self.customers}
        self.by_code = {c["code"]: c for c in self.customers}
        self.public_keys = {
            c["code"]: load_pem_public_key((self.folder / c["public_key"]).read_bytes()) for c in self.customers}
        settings = json.loads((self.folder / "limits.json").read_text())
        self.limits = Limits({k: settings[k] for k in ("token", "statement")}, clock, faults)
        self.page_size = min(int(settings.get("page_size", MOST_ENTRIES)), MOST_ENTRIES)
        self.token_seconds = int(settings.get("token_seconds", 3600))
        self.cursors = Cursors((self.folder / "cursor.key").read_bytes())
        self.started = utc(clock())
        self.tokens = {}
        self.last_key = None

    def new_request_key(self):
        if "request-key-repeats" in self.faults and self.last_key:
            key, self.last_key = self.last_key, None
            return key
        self.last_key = str(uuid.uuid4())
        return self.last_key

    @staticmethod
    def one_header(request, name):
        values = request.headers.getall(name, [])
        return values[0] if len(values) == 1 else None

    @staticmethod
    def media_type(request):
        return request.headers.get("Content-Type", "").split(";")[0].strip().lower()

    # tokens

    async def token(self, request):
        form_text = await self.read_text(request, "invalid_request")
        customer = self.token_customer(request, form_text)
        if customer is None:
            raise Refusal(401, "invalid_client", "The API key is missing or unknown")
        await self.limits.count("token", customer["code"])
        if self.media_type(request) != "application/x-www-form-urlencoded":
            raise Refusal(400, "invalid_request", "The content type must be application/x-www-form-urlencoded")
        form = self.form_fields(form_text)
        if "token-fields-in-query" in self.faults:
            form = {**dict(request.query), **form}

        self.check_grant(form)
        scopes = self.granted_scopes(form, customer)
        signed = form.get("client_assertion")
        if not signed:
            status = 401 if "token-missing-assertion-401" in self.faults else 400
            raise Refusal(status, "invalid_request", "client_assertion is missing")
        try:
            assertion.check(signed, customer, self.public_keys, self.auth_url, self.clock(), self.faults)
            if form.get("client_id", customer["code"]) != customer["code"]:
                raise assertion.AssertionRefused("client_id")
        except assertion.AssertionRefused:
            status = 400 if "token-invalid-assertion-400" in self.faults else 401
            raise Refusal(status, "invalid_client", "The client assertion is not valid") from None
        return self.issue_token(customer, scopes, form["scope"] if "scope" in form else "")

    def token_customer(self, request, form_text):
        api_key = self.one_header(request, "apikey")
        if "token-api-key-unchecked" in self.faults and api_key:
            fields = dict(urllib.parse.parse_qsl(form_text))
            subject = assertion.peek_subject(fields.get("client_assertion", ""))
            if isinstance(subject, str) and subject in self.by_code:
                return self.by_code[subject]
        return self.by_api_key.get(api_key)

    def form_fields(self, text):
        try:
            pairs = urllib.parse.parse_qsl(text, keep_blank_values=True, max_num_fields=50, errors="strict")
        except ValueError:
            raise Refusal(400, "invalid_request", "The form cannot be read") from None
        form = {}
        for name, value in pairs:
            if name in form:
                raise Refusal(400, "invalid_request", "A field occurs twice")
            form[name] = value
        return form

    def check_grant(self, form):
        grant = form.get("grant_type")
        if not grant and "grant-type-default" not in self.faults:
            raise Refusal(400, "invalid_request", "grant_type is missing")
        if grant and grant != "client_credentials" and "grant-type-unchecked" not in self.faults:
            raise Refusal(400, "unsupported_grant_type", "grant_type must be client_credentials")
        if "assertion-type-unchecked" not in self.faults and form.get("client_assertion_type") != ASSERTION_TYPE:
            raise Refusal(400, "invalid_request", "client_assertion_type is missing or unknown")

    def granted_scopes(self, form, customer):
        text = form.get("scope")
        if not text:
            if "scope-optional" in self.faults:
                return list(customer["scopes"])
            raise Refusal(400, "invalid_request", "scope is missing")
        requested = text.split(" ")
        if "" in requested:
            raise Refusal(400, "invalid_scope", "scope names are separated by one space")
        if "scope-first-only" in self.faults:
            requested = requested[:1]
        allowed = KNOWN_SCOPES if "scope-unregistered-granted" in self.faults else customer["scopes"]
        granted = [s for s in dict.fromkeys(requested) if s in allowed]
        if not granted:
            raise Refusal(400, "invalid_scope", "None of the scopes can be granted")
        return granted

    def issue_token(self, customer, scopes, requested):
        now = self.clock()
        self.tokens = {t: v for t, v in self.tokens.items() if v["ends"] + 120 > now}
        if "token-new-ends-old" in self.faults:
            self.tokens = {t: v for t, v in self.tokens.items() if v["customer"] is not customer}
        token = str(uuid.uuid4())
        if "token-without-hyphens" in self.faults:
            token = token.replace("-", "")
        self.tokens[token] = {"customer": customer, "scopes": scopes, "ends": now + self.token_seconds}
        body = {
            "access_token": token,
            "token_type": "bearer" if "token-type-lower-case" in self.faults else "Bearer",
            "expires_in": self.token_seconds,
        }
        if "token-expires-in-text" in self.faults:
            body["expires_in"] = str(self.token_seconds)
        if "token-expires-in-minutes" in self.faults:
            body["expires_in"] = self.token_seconds // 60
        if set(scopes) != set(requested.split(" ")):
            body["scope"] = " ".join(scopes)
        return body

    def valid_token(self, request):
        header = self.one_header(request, "Authorization") or ""
        words = header.split(" ")
        if "statement-scheme-ignored" in self.faults:
            token = words[-1]
        elif len(words) == 2 and words[0].lower() == "bearer":
            token = words[1]
        else:
            return None
        found = self.tokens.get(token)
        if found is None:
            return None
        now = self.clock()
        ends = found["ends"]
        if "token-ends-early" in self.faults:
            ends -= self.token_seconds - self.token_seconds / 60
        if "token-ends-late" in self.faults:
            ends += 60
        if now >= ends:
            return None
        if "token-renewed-by-use" in self.faults:
            found["ends"] = now + self.token_seconds
        return found

    # statements

    async def statement(self, request, request_key):
        token, customer = await self.statement_customer(request)
        if STATEMENT_SCOPE not in token["scopes"] and "statement-scope-unchecked" not in self.faults:
            raise Refusal(403, "EC40301", "The token's scope does not allow statements")
        if self.media_type(request) != "application/json" and "statement-content-type-unchecked" not in self.faults:
            raise Refusal(415, "EC41501", "The content type must be application/json")
        text = await self.read_text(request, "EC42001")
        wanted = self.statement_request(text)
        account = self.find_account(wanted["account"], customer)

        place = {"start": 0, "day": utc(self.clock()).date().isoformat(), "order": wanted["order"]}
        if wanted["cursor"] is not None:
            place = self.cursors.read(wanted["cursor"])
            if place is None or place["account"] != account["id"] or place["customer"] != customer["code"]:
                raise Refusal(400, "EC42001", "The cursor is not valid for this account")
        return self.page(account, customer, wanted, place, request_key)

    async def statement_customer(self, request):
        api_key = self.one_header(request, "apikey")
        key_customer = self.by_api_key.get(api_key)
        token = self.valid_token(request)
        if "statement-api-key-optional" in self.faults and "apikey" not in request.headers and token:
            key_customer = token["customer"]
        if key_customer is None:
            raise Refusal(401, "EC40101", "The API key is missing or unknown")
        await self.limits.count("statement", await self.counted_as(request, key_customer))
        if token is None:
            raise Refusal(
                401, "EC40101", "The access token is missing, unknown or expired",
                {"WWW-Authenticate": 'Bearer error="invalid_token"'})
        if token["customer"] is not key_customer and "statement-api-key-of-another" not in self.faults:
            raise Refusal(
                401, "EC40101", "The access token belongs to another API key",
                {"WWW-Authenticate": 'Bearer error="invalid_token"'})
        return token, token["customer"]

    async def counted_as(self, request, customer):
        """Whose count a statement call is added to."""
        if "statement-limit-shared" in self.faults:
            return "all"
        if "statement-limit-per-account" in self.faults:
            try:
                return customer["code"], str(json.loads(await request.text())["accountId"])
            except Exception:
                pass
        return customer["code"]

    def statement_request(self, text):
        def refuse(why):
            raise Refusal(400, "EC42001", why)

        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            refuse("The body is not JSON")
        if not isinstance(body, dict):
            refuse("The body is not an object")
        body = {name: value for name, value in body.items() if value is not None}

        account = body.get("accountId")
        if "account-number-type" in self.faults and isinstance(account, int) and not isinstance(account, bool):
            account = str(account)
        if not isinstance(account, str):
            refuse("accountId must be a string")
        if "account-zeros-400" in self.faults and account == "0" * 15:
            refuse("accountId is not well formed")

        narrative = body.get("includeNarrative", True)
        if not isinstance(narrative, bool) and narrative not in ("true", "false"):
            refuse("includeNarrative must be true or false")
        if "narrative-only-text-true" in self.faults:
            narrative = narrative == "true"
        elif "narrative-always" in self.faults:
            narrative = True
        else:
            narrative = narrative in (True, "true")

        entries = body.get("maxEntries", MOST_ENTRIES)
        if isinstance(entries, str) and re.fullmatch(r"[0-9]{1,4}", entries):
            entries = int(entries)
        if isinstance(entries, bool) or not isinstance(entries, int) or not 1 <= entries <= MOST_ENTRIES:
            refuse("maxEntries must be a number from 1 to 1000")

        order = body.get("sortOrder", "forward")
        if order not in ("forward", "backward"):
            refuse("sortOrder must be forward or backward")
        if body.get("extract", "intraday") != "intraday":
            refuse("extract must be intraday")
        cursor = body.get("cursor")
        if cursor is not None and not isinstance(cursor, str):
            refuse("cursor must be a string")
        return {"account": account, "narrative": narrative, "entries": entries, "order": order, "cursor": cursor}

    def find_account(self, number, customer):
        owners = self.customers if "account-of-another-customer" in self.faults else [customer]
        for owner in owners:
            for account in owner["accounts"]:
                if account["id"] == number:
                    return account
                if "account-leading-zeros" in self.faults and number and account["id"].lstrip("0") == number.lstrip("0"):
                    return account
        title = f"Account Id: '{number}' not found"
        if "error-title-unquoted" in self.faults:
            title = f"Account Id: {number} not found"
        code = "EC20003" if "error-code-other" in self.faults else "EC20001"
        raise Refusal(404, code, title)

    def page(self, account, customer, wanted, place, request_key):
        entries = account["entries"]
        if place["order"] == "backward":
            entries = entries[::-1]
        start = place["start"]
        if start > 0 and "page-overlap" in self.faults:
            start -= 1
        if start > 0 and "page-gap" in self.faults:
            start += 1
        size = min(wanted["entries"], self.page_size)
        end = min(start + size, len(entries))
        shown = entries[start:end]
        more = end < len(entries)
        if "more-at-exact-end" in self.faults:
            more = len(shown) == size
        narrative = wanted["narrative"]
        if "page-narrative-lost" in self.faults and place["start"] > 0:
            narrative = False

        report = Report(
            account, date.fromisoformat(place["day"]), utc(self.clock()), self.started, request_key, narrative, self.faults)
        number = wanted["account"]
        if "account-echo-formatted" in self.faults:
            number = f"{number[:6]}-{number[6:]}"
        body = {
            "accountId": number,
            "extract": "Intraday" if "extract-capital" in self.faults else "intraday",
            "payload": report.write(shown, entries),
            "requestKey": request_key.upper() if "request-key-upper-case" in self.faults else request_key,
            "moreTransactionsAvailable": more,
        }
        if account["virtual"]:
            body["sortOrder"] = "ascending" if "sort-order-wrong-word" in self.faults else place["order"]
        if more and not ("cursor-lost" in self.faults and place["start"] > 0):
            body["cursor"] = self.cursors.make(
                account=account["id"], customer=customer["code"], start=end, day=place["day"], order=place["order"])
        if not more and "cursor-null-at-end" in self.faults:
            body["cursor"] = None
        if "more-as-text" in self.faults:
            body["moreTransactionsAvailable"] = "true" if more else "false"
        if not more and "more-absent-at-end" in self.faults:
            del body["moreTransactionsAvailable"]
        return body

    # HTTP

    @staticmethod
    async def read_text(request, code):
        try:
            return (await request.read()).decode("utf-8")
        except UnicodeDecodeError:
            raise Refusal(400, code, "The body is not UTF-8") from None

    @web.middleware
    async def errors(self, request, handler):
        """Calls the handler with a request key of its own, and turns refusals into answers."""
        request["key"] = self.new_request_key()
        try:
            return await handler(request)
        except Refusal as refusal:
            return self.refused(request, refusal)
        except web.HTTPException as error:
            headers = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else {}
            code = "invalid_request" if request.path == "/v1.0/auth" else f"EC{error.status}01"
            return self.refused(request, Refusal(error.status, code, error.reason, headers))
        except Exception as error:
            print(f"internal error: {error!r}", file=sys.stderr)
            code = "server_error" if request.path == "/v1.0/auth" else "EC20005"
            return self.refused(request, Refusal(500, code, f"Internal error, request {request['key']}"))

    def refused(self, request, refusal):
        headers = {"X-RequestKey": request["key"], **refusal.headers}
        if request.path == "/v1.0/auth":
            code = "temporarily_unavailable" if refusal.code == "limit" else refusal.code
            if "token-error-no-request-key" in self.faults:
                del headers["X-RequestKey"]
            headers.update({"Cache-Control": "no-store", "Pragma": "no-cache"})
            return web.json_response({"error": code, "error_description": refusal.text}, status=refusal.status, headers=headers)
        code = "EC42901" if refusal.code == "limit" else refusal.code
        if "error-code-bare-number" in self.faults:
            code = code.removeprefix("EC")
        body = {"requestKey": request["key"], "error": {"statusCode": code, "title": refusal.text}}
        if "error-no-request-key" in self.faults:
            del body["requestKey"]
        return web.json_response(body, status=refusal.status, headers=headers)

    async def handle_token(self, request):
        body = await self.token(request)
        headers = {"X-RequestKey": request["key"], "Cache-Control": "no-store", "Pragma": "no-cache"}
        if "token-no-request-key" in self.faults:
            del headers["X-RequestKey"]
        return web.json_response(body, headers=headers)

    async def handle_statement(self, request):
        body = await self.statement(request, request["key"])
        return web.json_response(body, headers={"X-RequestKey": request["key"]})

    def application(self):
        application = web.Application(middlewares=[self.errors], client_max_size=64 * 1024)
        application.router.add_post("/v1.0/auth", self.handle_token)
        application.router.add_post("/accounts/v2.0/statement", self.handle_statement)
        return application


def known_faults():
    lines = (Path(__file__).parent / "faults.tsv").read_text(encoding="utf-8").splitlines()
    return {line.split("\t")[0] for line in lines}


async def serve(arguments):
    offset = arguments.clock_offset
    bank = Bank(arguments.folder, arguments.port, set(arguments.fault), lambda: time.time() + offset)
    make_folder.write_connections(arguments.folder, bank.customers, arguments.port)

    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.minimum_version = ssl.TLSVersion.TLSv1_2
    tls.load_cert_chain(bank.folder / "server.pem", bank.folder / "server-key.pem")

    runner = web.AppRunner(bank.application(), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", arguments.port, ssl_context=tls, shutdown_timeout=2).start()
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    print(f"ready {arguments.port}", flush=True)
    await stop.wait()
    await runner.cleanup()


def main():
    parser = argparse.ArgumentParser(prog="run")
    parser.add_argument("folder")
    parser.add_argument("port", type=int)
    parser.add_argument("--fault", action="append", default=[])
    parser.add_argument("--clock-offset", type=float, default=0)
    arguments = parser.parse_args()
    unknown = set(arguments.fault) - known_faults()
    if unknown:
        parser.error(f"unknown fault: {', '.join(sorted(unknown))}")
    asyncio.run(serve(arguments))


if __name__ == "__main__":
    main()
