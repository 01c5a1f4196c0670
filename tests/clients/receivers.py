"""The receivers that `bankrail provider` writes, run exactly as they are written, with good messages and hostile peers.
"""

import json
import socket
import ssl
import subprocess
import time
import tomllib

from jwcrypto import jwe, jwk, jws

PATH = "/payto/mandates/outcomes"
MAX_BYTES = 1 << 20


class Receiver:
    """One that runs. `bankrail` is the program that steers the provider."""

    def __init__(self, provider, bankrail, command):
        self.provider, self.bankrail, self.command = provider, bankrail, command
        self.output = provider.folder / "received"
        self.home = provider.customer_file.parent
        connection = tomllib.loads((self.home / "connection.toml").read_text())["receivers"]
        host, port = connection["listen"].rsplit(":", 1)
        self.address, self.api_key = (host, int(port)), connection["api_key"]
        self.tls = ssl.create_default_context(cafile=provider.ca)

    def __enter__(self):
        self.file = open(self.output, "w")
        self.process = subprocess.Popen(self.command, text=True, stdout=self.file, stderr=subprocess.DEVNULL)
        wait_for(lambda: self.output.read_text() == "receiving\n", self.command)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=15)
        self.file.close()
        self.steer("reset")

    def steer(self, *arguments):
        command = [self.bankrail, "provider", "control", "--data", self.provider.folder / "data", *arguments]
        steered = subprocess.run(command, text=True, capture_output=True, timeout=60)
        assert steered.returncode == 0, steered
        return json.loads(steered.stdout)

    def lines(self):
        return self.output.read_text().splitlines()[1:]

    def refusals(self):
        return [line for line in self.lines() if line.startswith("refused: ")]

    def connect(self):
        return self.tls.wrap_socket(socket.create_connection(self.address, 20), server_hostname=self.address[0])

    def head(self, length, path=PATH, api_key=None):
        key = self.api_key if api_key is None else api_key
        return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\napikey: {key}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n").encode()

    def post(self, body, **differently):
        """The status of the answer."""
        with self.connect() as peer:
            peer.sendall(self.head(len(body), **differently))
            peer.sendall(body)
            return int(peer.recv(64).split()[1])

    def sealed(self, content):
        """A body as the bank makes it, with this content."""
        signing = jwk.JWK.from_pem((self.provider.folder / "data" / "signing.pem").read_bytes())
        encryption = jwk.JWK.from_pem((self.home / "encryption.pub.pem").read_bytes())
        signed = jws.JWS(content)
        signed.add_signature(signing, None, json.dumps({"alg": "RS256", "kid": signing.thumbprint()}))
        header = json.dumps({"alg": "RSA-OAEP", "enc": "A256CBC-HS512"})
        encrypted = jwe.JWE(signed.serialize(compact=True).encode(), protected=header, recipient=encryption)
        return json.dumps({"secured_payload": encrypted.serialize(compact=True)}).encode()


def receive(receiver):
    """A story of which one message is delivered twice and one with a strange signature before the right one."""
    for fault in "doubled", "bad-signature":
        receiver.steer("add-fault", "--fault", fault, "--count", "1")
    sent = len(receiver.steer("send", "--endpoint", "democustomer", "--story", "mandate")["numbers"])
    wait_for(lambda: len(receiver.lines()) == sent + 1, (receiver.command, sent, receiver.lines))
    assert len(receiver.refusals()) == 1 and sent > 3, receiver.lines()


def survive(receiver):
    """Each of these is refused with its reason, and what is right is received afterwards."""
    def hang_up():
        with receiver.connect() as peer:
            peer.sendall(receiver.head(1000) + b"{")

    def hang_up_at_once():
        socket.create_connection(receiver.address, 20).close()

    def talk_without_tls():
        with socket.create_connection(receiver.address, 20) as peer:
            peer.sendall(receiver.head(0))
            peer.recv(64)

    def answered(status, body, **differently):
        found = receiver.post(body, **differently)
        assert found == status, (receiver.command, body[:40], found)

    good = receiver.sealed('{"request_id":"hostile"}')
    refused = [
        ("hung up", hang_up),
        ("", talk_without_tls),
        *(("no JSON object", lambda content=content: answered(400, receiver.sealed(content)))
          for content in ["null", "[]", "7"]),
        ("", lambda: answered(400, receiver.sealed("{"))),
        *(("", lambda body=body: answered(400, body))
          for body in [b"", b"null", b"[]", b"{", b'{"secured_payload":7}', b"\xff", good[:-9]]),
        ("10485760 bytes", lambda: answered(413, b"x" * (10 << 20))),
        ("another API key", lambda: answered(401, good, api_key="other")),
        ("/elsewhere", lambda: answered(404, good, path="/elsewhere")),
    ]
    hang_up_at_once()
    for reason, act in refused:
        before = len(receiver.refusals())
        act()
        reasons = lambda: receiver.refusals()[before:]
        wait_for(lambda: any(reason in line for line in reasons()), (receiver.command, reason, reasons))
    flood(receiver)
    # The same one twice is printed once.
    for _ in range(2):
        answered(200, good)
        assert len([line for line in receiver.lines() if "hostile" in line]) == 1, receiver.lines()
    assert receiver.process.poll() is None


def flood(receiver):
    """More peers that connect and say nothing than a receiver serves at once. Others are answered nevertheless, at the
    latest when those have been thrown out."""
    peers = []
    try:
        for _ in range(300):
            peers.append(socket.create_connection(receiver.address, 20))
        wait_for(lambda: answers(receiver), (receiver.command, receiver.lines))
    finally:
        for peer in peers:
            peer.close()
    wait_for(lambda: answers(receiver), (receiver.command, receiver.lines))


def answers(receiver):
    try:
        return receiver.post(b"{}") == 400
    except (OSError, IndexError):
        # Turned away for now.
        return False


def wait_for(done, what):
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end, [of() if callable(of) else of for of in what]
        time.sleep(0.1)
