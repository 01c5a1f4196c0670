"""What schemathesis cannot make up: a customer's API key, signed assertions, tokens, accounts and cursors.

`CUSTOMER_FILE` names what a demo customer of `bankrail provider` needs, as tests/clients/provider.py writes it,
`COUNTS_FILE` the file for the number of answers by status. Values that break the document stay as they are, so that
they are refused.
"""

import atexit
import collections
import json
import os
import pathlib
import re
import time
import uuid

import requests
import schemathesis
from joserfc import jwt
from joserfc.jwk import RSAKey

path = pathlib.Path(os.environ["CUSTOMER_FILE"])
CUSTOMER = json.loads(path.read_text())
CODE = CUSTOMER["customer_code"]
KEY = RSAKey.import_key((path.parent / CUSTOMER["assertion_key"]).read_bytes())
COUNTS = collections.Counter()
# Cursors that were answered, with their accounts.
CURSORS = collections.deque(maxlen=50)
ASSERTION = re.compile(r"[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+\.[0-9A-Za-z_-]+")
SCOPE = re.compile(r"[!#-\[\]-~]{1,128}( [!#-\[\]-~]{1,128}){0,63}")
CLIENT = re.compile(r"[!-`{-~]{1,64}")
ACCOUNT = re.compile(r"[0-9A-Za-z.]{1,34}")


def assertion():
    claims = {"sub": CODE, "aud": CUSTOMER["issuer"], "exp": int(time.time()) + 300, "jti": str(uuid.uuid4())}
    return jwt.encode({"alg": "RS256", "typ": "jwt"}, claims, KEY)


@schemathesis.auth(refresh_interval=1200)
class Customer:
    """The customer's API key and access token."""

    def get(self, case, context):
        form = {
            "grant_type": "client_credentials",
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            "scope": CUSTOMER["scope"],
            "client_assertion": assertion(),
        }
        headers = {"apikey": CUSTOMER["api_key"]}
        answer = requests.post(CUSTOMER["token_url"], form, headers=headers, verify=path.parent / CUSTOMER["ca"])
        answer.raise_for_status()
        return answer.json()["access_token"]

    def set(self, case, token, context):
        case.headers["apikey"] = CUSTOMER["api_key"]
        if case.path.endswith("/statement"):
            case.headers["Authorization"] = f"Bearer {token}"


@schemathesis.hook
def before_call(context, case, kwargs):
    if isinstance(case.body, dict):
        if case.path.endswith("/auth"):
            own_token_request(case.body)
        elif case.path.endswith("/statement"):
            own_statement_request(case.body)


def own_token_request(form):
    """What the document allows and this customer does not have becomes what it has."""
    for name, pattern, own in (
        ("client_assertion", ASSERTION, assertion),
        ("scope", SCOPE, lambda: CUSTOMER["scope"]),
        ("client_id", CLIENT, lambda: CODE),
    ):
        value = form.get(name)
        if isinstance(value, str) and len(value) <= 16384 and pattern.fullmatch(value):
            form[name] = own()


def own_statement_request(body):
    account, cursor = body.get("accountId"), body.get("cursor")
    if isinstance(account, str):
        # One in 16 is an account that nobody has, or no account.
        number = sum(account.encode()) % 16
        if number:
            body["accountId"] = CUSTOMER["accounts"][number % 10]
        elif ACCOUNT.fullmatch(account):
            body["accountId"] = "000000000000000"
    if isinstance(cursor, str) and 1 <= len(cursor.encode()) <= 4096:
        del body["cursor"]
        if CURSORS and "accountId" in body and body["accountId"] != "000000000000000":
            # A cursor is good for the request that it was answered to.
            body["accountId"], body["cursor"] = CURSORS[len(cursor) % len(CURSORS)]
            for name in ("sortOrder", "includeNarrative"):
                if body.get(name) in (True, False, "true", "false", "forward", "backward"):
                    del body[name]


@schemathesis.hook
def after_call(context, case, response):
    COUNTS[response.status_code] += 1
    if response.status_code == 200 and case.path.endswith("/statement"):
        answer = json.loads(response.content)
        if "cursor" in answer:
            CURSORS.append((answer["accountId"], answer["cursor"]))


@atexit.register
def write():
    pathlib.Path(os.environ["COUNTS_FILE"]).write_text(json.dumps(COUNTS))
