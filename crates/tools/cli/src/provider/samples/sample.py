#!/usr/bin/env python3
"""Gets an access token, and prints the statement of an account. Needs Python 3 and openssl, no package.

Usage: python3 sample.py [ACCOUNT]
"""

import base64
import json
import os
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

os.chdir(os.path.dirname(os.path.abspath(__file__)))
TLS = ssl.create_default_context(cafile="ca.pem")
API_KEY = "@API_KEY@"


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def assertion():
    header = {"alg": "RS256", "typ": "jwt"}
    claims = {"sub": "@CUSTOMER@", "aud": "@AUDIENCE@", "exp": int(time.time()) + 300}
    text = ".".join(base64url(json.dumps(part).encode()) for part in (header, claims))
    sign = ["openssl", "dgst", "-sha256", "-sign", "signing.pem", "-binary"]
    return text + "." + base64url(subprocess.run(sign, input=text.encode(), capture_output=True, check=True).stdout)


def post(url, body, headers):
    request = urllib.request.Request(url, body.encode(), {"apikey": API_KEY, **headers})
    try:
        with urllib.request.urlopen(request, context=TLS) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        sys.exit(f"{error.code}: {error.read().decode()}")


form = {
    "grant_type": "client_credentials",
    "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    "scope": "@SCOPE@",
    "client_assertion": assertion(),
}
token = post("@TOKEN_URL@", urllib.parse.urlencode(form), {})["access_token"]

account = sys.argv[1] if len(sys.argv) > 1 else "@ACCOUNT@"
statement = post(
    "@STATEMENT_URL@",
    json.dumps({"accountId": account, "includeNarrative": True}),
    {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
)
print(json.dumps(statement, indent=2))
