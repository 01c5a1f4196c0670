#!/usr/bin/env python3
"""Receives webhooks, and prints each message once. Needs Python 3 and jwcrypto (pip install jwcrypto).

What came is kept in memory: a real receiver commits it, and what the message changes, before it answers. It also
refuses messages that are malformed, which this one takes: `bankrail conformance receiver --help`.
"""

import hmac
import http.server
import json
import os
import socket
import ssl
import sys
import threading
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
MAX_BYTES = 1 << 20
acknowledged = {}
lock = threading.Lock()


class Refusal(Exception):
    def __init__(self, status, title, detail=None):
        super().__init__(detail or title)
        self.status, self.title = status, title


def opened(body):
    sealed = jwe.JWE(algs=["RSA-OAEP", "A256CBC-HS512"])
    sealed.deserialize(json.loads(body)["secured_payload"], DECRYPTION)
    signed = jws.JWS()
    signed.allowed_algs = ["RS256"]
    signed.deserialize(sealed.payload.decode(), BANK)
    message = json.loads(signed.payload)
    if not isinstance(message, dict):
        raise ValueError("the signed content is no JSON object")
    return message


def say(line):
    # One write, because print() writes a line and its end apart, and another thread may write in between.
    print(line + "\n", end="", flush=True)


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        status = 200
        try:
            content = self.receive()
        except Refusal as error:
            # The reason is for our log alone: it helps whoever forges messages.
            status, content = error.status, {"status": error.status, "title": error.title}
            say(f"refused: {json.dumps(str(error))}")
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def receive(self):
        body = self.body()
        if self.path not in KEYS:
            raise Refusal(404, "not here", f"nothing is at {self.path}")
        if not hmac.compare_digest(self.headers.get("apikey", "").encode(), b"@RECEIVER_API_KEY@"):
            raise Refusal(401, "another API key")
        try:
            message = opened(body)
        except Exception as error:
            raise Refusal(400, "not a message of the bank", repr(error))
        identity, other = ([message.get(name) for name in names] for names in KEYS[self.path])
        key = json.dumps([self.path, identity if any(identity) else self.headers["X-Message-Id"], other])
        with lock:
            if key not in acknowledged:
                acknowledged[key] = str(uuid.uuid4())
                say(json.dumps(message))
        return {"id": acknowledged[key], "status": "RCVD"}

    def body(self):
        stated = self.headers.get("Content-Length", "")
        if not (stated.isascii() and stated.isdigit()):
            raise Refusal(411, "no length", "expected a Content-Length in digits")
        length, left, pieces = int(stated), int(stated), []
        # A body that is too long is read to its end and not kept, because a peer that still sends sees no answer.
        while left > 0:
            piece = self.rfile.read(min(left, 1 << 16))
            if not piece:
                raise ConnectionError("the peer hung up in the middle of a body")
            left -= len(piece)
            if length <= MAX_BYTES:
                pieces.append(piece)
        if length > MAX_BYTES:
            raise Refusal(413, "too long", f"a body of {length} bytes")
        return b"".join(pieces)


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256
    # Connections beyond these wait for their turn, and each is closed after some seconds.
    turns = threading.BoundedSemaphore(128)

    def process_request(self, request, client_address):
        self.turns.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        end = threading.Timer(30, request.shutdown, [socket.SHUT_RDWR])
        end.daemon = True
        try:
            request.settimeout(5)
            end.start()
            super().process_request_thread(request, client_address)
        finally:
            end.cancel()
            self.turns.release()

    def handle_error(self, request, client_address):
        say(f"refused: {json.dumps(repr(sys.exc_info()[1]))}")


try:
    server = Server(("@RECEIVER_HOST@", @RECEIVER_PORT@), Receiver)
except OSError as error:
    sys.exit(f"cannot receive at @RECEIVER_HOST@:@RECEIVER_PORT@: {error}")
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("receiver.pem", "receiver-key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
say("receiving")
try:
    server.serve_forever()
except KeyboardInterrupt:
    pass
