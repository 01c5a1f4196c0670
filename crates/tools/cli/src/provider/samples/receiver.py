#!/usr/bin/env python3
"""Receives webhooks, and prints each message once. Needs Python 3 and jwcrypto (pip install jwcrypto).

What came is kept in memory: a real receiver commits it, and what the message changes, before it answers. It also
refuses messages that are malformed, which this one takes: `bankrail conformance receiver --help`.
"""

import hmac
import http.server
import json
import os
import ssl
import uuid

from jwcrypto import jwe, jwk, jws

os.chdir(os.path.dirname(os.path.abspath(__file__)))
DECRYPTION = jwk.JWK.from_pem(open("decryption.pem", "rb").read())
BANK = jwk.JWKSet.from_json(open("provider.jwks.json").read())
# By the path that a message comes to: what identifies it, and what makes another message of the same one.
KEYS = {
    "/payto/mandates/outcomes": (["request_id"], ["action_status"]),
    "/payto/mandates/notifications": (["action_identification"], []),
    "/payto/mpirs/outcomes": (["instruction_identification", "uetr"], ["transaction_status"]),
    "/payto/queries": (["case_id"], ["reminder_count", "re_open_case_indication"]),
}
acknowledged = {}


def opened(body):
    sealed = jwe.JWE(algs=["RSA-OAEP", "A256CBC-HS512"])
    sealed.deserialize(json.loads(body)["secured_payload"], DECRYPTION)
    signed = jws.JWS()
    signed.allowed_algs = ["RS256"]
    signed.deserialize(sealed.payload.decode(), BANK)
    return json.loads(signed.payload)


def say(line):
    # One write, because print() writes a line and its end apart, and another thread may write in between.
    print(line + "\n", end="", flush=True)


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if self.path not in KEYS or length > 1 << 20:
            return self.answer(404, {"status": 404, "title": "not here"})
        body = self.rfile.read(length)
        if not hmac.compare_digest(self.headers.get("apikey", "").encode(), b"@RECEIVER_API_KEY@"):
            return self.answer(401, {"status": 401, "title": "another API key"})
        try:
            message = opened(body)
        except Exception as error:
            say(f"refused: {error!r}")
            return self.answer(400, {"status": 400, "title": "not a message of the bank"})
        identity, other = ([message.get(name) for name in names] for names in KEYS[self.path])
        key = json.dumps([self.path, identity if any(identity) else self.headers["X-Message-Id"], other])
        if key not in acknowledged:
            acknowledged[key] = str(uuid.uuid4())
            say(json.dumps(message))
        self.answer(200, {"id": acknowledged[key], "status": "RCVD"})

    def answer(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("@RECEIVER_HOST@", @RECEIVER_PORT@), Receiver)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("receiver.pem", "receiver-key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
say("receiving")
server.serve_forever()
