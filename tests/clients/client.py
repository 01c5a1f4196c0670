"""Foreign OAuth clients in Python: `client.py LIBRARY CUSTOMER-FILE OTHER-KEY`.

Prints one JSON line for each case: what the library was told to do wrong, the status of the token endpoint's answer,
and the status of the statement's.
"""

import asyncio
import json
import pathlib
import ssl
import sys
import time

LIBRARY, FILE, OTHER = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
CUSTOMER = json.loads(FILE.read_text())
CODE, ISSUER, SCOPE = (CUSTOMER[name] for name in ("customer_code", "issuer", "scope"))
CA = str(FILE.parent / CUSTOMER["ca"])
API_KEY = {"apikey": CUSTOMER["api_key"]}
ACCOUNT = {"accountId": CUSTOMER["accounts"][0]}
CASES = ("good", "wrong key", "stale exp", "wrong aud", "missing field")
WRONG_AUDIENCE = "https://elsewhere.example"


def pem(case):
    path = OTHER if case == "wrong key" else FILE.parent / CUSTOMER["assertion_key"]
    return pathlib.Path(path).read_text()


def authlib(case):
    from authlib.integrations.requests_client import OAuth2Session
    from authlib.oauth2.rfc7523 import PrivateKeyJWT

    claims = {"stale exp": {"exp": int(time.time()) - 60}, "wrong aud": {"aud": WRONG_AUDIENCE}}.get(case)
    session = OAuth2Session(CODE, pem(case), token_endpoint_auth_method=PrivateKeyJWT(claims=claims))
    session.trust_env, session.verify = False, CA
    session.headers.update(API_KEY)
    metadata = session.get(f"{ISSUER}/.well-known/openid-configuration", withhold_token=True).json()
    assert metadata["issuer"] == ISSUER
    statuses = []
    note = lambda answer: statuses.append(answer.status_code) or answer
    session.register_compliance_hook("access_token_response", note)
    scope = {} if case == "missing field" else {"scope": SCOPE}
    try:
        session.fetch_token(metadata["token_endpoint"], grant_type="client_credentials", **scope)
    except Exception as error:
        return statuses[0], None, str(error)
    answer = session.post(CUSTOMER["statement_url"], json=ACCOUNT)
    return statuses[0], answer.status_code, None


def requests_oauth2client(case):
    import requests
    from jwskate import Jwk
    from requests_oauth2client import OAuth2Client, OAuth2Error, PrivateKeyJwt

    session = requests.Session()
    session.trust_env, session.verify = False, CA
    session.headers.update(API_KEY)
    statuses = []
    # The library calls this for the answers to discovery too: the last one counts.
    session.hooks["response"].append(lambda answer, **_: statuses.append(answer.status_code))
    key = Jwk.from_pem(pem(case)).with_kid_thumbprint()
    lifetime = -60 if case == "stale exp" else 60
    audience = WRONG_AUDIENCE if case == "wrong aud" else None
    auth = PrivateKeyJwt(CODE, key, alg="RS256", lifetime=lifetime, aud=audience)
    client = OAuth2Client.from_discovery_endpoint(issuer=ISSUER, auth=auth, session=session, testing=True)
    scope = {} if case == "missing field" else {"scope": SCOPE}
    try:
        token = client.client_credentials(**scope)
    except OAuth2Error as error:
        return statuses[-1], None, repr(error)
    granted = statuses[-1]
    answer = session.post(CUSTOMER["statement_url"], json=ACCOUNT, auth=token)
    return granted, answer.status_code, None


def mcp(case):
    return asyncio.run(mcp_flow(case))


async def mcp_flow(case):
    import httpx2
    from mcp.client.auth.extensions.client_credentials import PrivateKeyJWTOAuthProvider, SignedJWTParameters

    class Storage:
        token = None

        async def get_tokens(self):
            return self.token

        async def set_tokens(self, token):
            self.token = token

        async def get_client_info(self):
            return None

        async def set_client_info(self, _):
            pass

    statuses = []

    class Transport(httpx2.AsyncHTTPTransport):
        async def handle_async_request(self, request):
            request.headers.update(API_KEY)
            answer = await super().handle_async_request(request)
            if str(request.url) == CUSTOMER["token_url"]:
                statuses.append(answer.status_code)
            return answer

    context = ssl.create_default_context(cafile=CA)
    # The library asks for the scopes of the metadata, so the missing field is one of the assertion.
    claims = {"wrong aud": {"aud": WRONG_AUDIENCE}, "missing field": {"exp": None}}.get(case)
    signed = SignedJWTParameters(
        issuer=CODE,
        subject=CODE,
        signing_key=pem(case),
        lifetime_seconds=-60 if case == "stale exp" else 300,
        additional_claims=claims,
    )
    provider = PrivateKeyJWTOAuthProvider(
        server_url=CUSTOMER["statement_url"],
        storage=Storage(),
        client_id=CODE,
        assertion_provider=signed.create_assertion_provider(),
        scope=SCOPE,
        issuer=ISSUER,
    )
    async with httpx2.AsyncClient(auth=provider, transport=Transport(verify=context)) as client:
        try:
            answer = await client.post(CUSTOMER["statement_url"], json=ACCOUNT)
        except Exception as error:
            return statuses[0] if statuses else None, None, repr(error)
        return statuses[0] if statuses else None, answer.status_code, None


for case in CASES:
    token, statement, error = globals()[LIBRARY](case)
    print(json.dumps({"case": case, "token": token, "statement": statement, "error": error}), flush=True)
