"""A foreign customer: Authlib gets a token from `bankrail provider` and asks for every statement with it.

`customer.py FILE`: FILE is the connection.toml that `bankrail provider` writes for a demo customer.
"""

import pathlib
import sys
import tomllib
import uuid
import xml.etree.ElementTree as ElementTree

from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT

path = pathlib.Path(sys.argv[1])
customer = tomllib.loads(path.read_text())
statement_url = f"{customer['base_url']}/accounts/v2.0/statement"
session = OAuth2Session(
    customer["customer"],
    (path.parent / customer["signing_key"]).read_text(),
    token_endpoint_auth_method=PrivateKeyJWT(customer["audience"]),
    scope=" ".join(customer["scopes"]),
)
session.trust_env = False  # an authority of the environment would replace the one below
session.verify = str(path.parent / customer["roots"])
session.headers[customer["api_key_header"]] = customer["api_key"]

token = session.fetch_token(customer["token_url"], grant_type="client_credentials")
assert token["token_type"] == "Bearer" and token["expires_in"] == 3600, token
assert str(uuid.UUID(token["access_token"])) == token["access_token"]

seen = 0
for account in customer["accounts"]:
    answer = session.post(statement_url, json={"accountId": account, "includeNarrative": True})
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["accountId"] == account and body["extract"] == "intraday"
    assert str(uuid.UUID(body["requestKey"])) == body["requestKey"] == answer.headers["X-RequestKey"]
    report = ElementTree.fromstring(body["payload"])
    assert report.tag == "{urn:iso:std:iso:20022:tech:xsd:camt.052.001.06}Document", report.tag
    assert ("cursor" in body) == body["moreTransactionsAvailable"]
    seen += 1
assert seen == 10, seen

answer = session.post(statement_url, json={"accountId": "0" * 15})
assert answer.json()["error"]["statusCode"] == "EC20001", answer.text
print(f"a token and {seen} statements")
