"""Receivers that share no code with this project: `receiver.py FOLDER [--port N] [--faults NAME,...] [--handled FILE]`.

FOLDER holds the provider's keys as provider.pub.pem and large.pub.pem, the receivers' own as decryption.pem, and the
certificate as server.pem with server-key.pem. `make_files` makes them all, and receiver.toml for the judge. It prints
its port, and serves over HTTPS until it is killed. Messages are opened by joserfc; what SPEC.md says of them is written
here. What it has handled it adds to FILE, as `bankrail conformance receiver --help` describes it.

Without faults it follows SPEC.md, and refuses what a sensible receiver refuses. Each fault breaks one rule: see FAULTS.
"""

import argparse
import base64
import datetime
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import re
import ssl
import sys
import threading
import uuid
import warnings
import zlib

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from joserfc import jwe, jws
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

API_KEY = "receiver-key"
PATHS = {
    "/payto/mandates/outcomes": "outcome",
    "/payto/mandates/notifications": "notification",
    "/payto/mpirs/outcomes": "payment",
    "/payto/queries": "query",
}
LONGEST = 1 << 20
REFUSED = {"status": "400", "title": "Bad Request", "detail": "The delivery was refused."}

FAULTS = {
    # Origin.
    "signature": "does not verify the signature",
    "jwk": "verifies with the key that the message brings along",
    "none": "takes the algorithm none",
    "hmac": "takes HS256 with the public key as the secret",
    "pss": "takes PS256",
    "unsigned": "takes a message that is encrypted and not signed",
    "bare": "takes a message that is signed and not encrypted",
    "oaep256": "takes RSA-OAEP-256",
    "rsa15": "takes RSA1_5",
    "gcm": "takes A256GCM",
    "tag": "does not check the tag",
    "large-key": "knows no signature of a key of 4096 bits",
    "header-members": "refuses headers with members that it does not know",
    # Acknowledgement.
    "status": "acknowledges with the status OK",
    "id": "numbers its acknowledgements",
    "text": "acknowledges in plain text",
    # Duplicates and order.
    "duplicate": "refuses a message that it knows",
    "event": "refuses an event that it knows",
    "payment-key": "takes another outcome of a payment for a duplicate that contradicts",
    "order": "refuses what comes after the settlement",
    "twice": "handles what it knows once more",
    "last-wins": "takes the status that came last for the state",
    "lists-refused": "lists what it refuses as handled",
    # Headers.
    "correlation": "demands X-Correlation-Id",
    "attended": "refuses the priority ATTENDED",
    "request-key": "demands X-RequestKey everywhere",
    # Messages.
    "pending": "refuses actions that are pending",
    "trigger": "does not know the trigger MCRX",
    "narrative": "takes narratives of up to 1024 characters",
    "latin": "takes narratives in Latin-1 alone",
    "masked": "refuses accounts that are masked",
    "variant": "takes ids of mandates with an a at the 17th place alone",
    # Survival.
    "bomb": "inflates whatever comes",
    "body": "reads bodies of any length",
    "deep": "ends when JSON is nested too deep",
    "one-id": "has one id for all acknowledgements",
    "message-key": "knows a message by its X-Message-Id alone",
    "reminder": "takes a reminder for the query itself",
    "kind": "does not look which message it gets",
    "required": "does not look whether members are there",
    "message-id": "does without X-Message-Id",
    "offset": "takes timestamps with an offset",
    "money": "takes amounts with a comma",
    "alias": "takes business numbers of ten digits",
    # Beyond SPEC.md.
    "created": "answers 201",
    "later": "refuses members that it does not know",
    "oracle": "tells which step failed",
    "api-key": "does not look at the API key",
}


class Refused(Exception):
    pass


# --- messages -------------------------------------------------------------------------------------------------------


def text(least=0, most=None, pattern=None):
    def check(value):
        right = isinstance(value, str) and len(value) >= least and (most is None or len(value) <= most)
        return right and (pattern is None or re.fullmatch(pattern, value) is not None)

    return check


def time(value):
    form = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?" + ("(Z|[+-]00:00)" if "offset" in chosen else "Z")
    if not text(pattern=form)(value):
        return False
    try:
        return bool(datetime.datetime.fromisoformat(value[:19]))
    except ValueError:
        return False


def boolean(value):
    return isinstance(value, bool)


def texts(value):
    return isinstance(value, list) and all(text(1, 105)(each) for each in value)


def account(value):
    return text()(value) and not ("masked" in chosen and "X" in value)


def narrative(value):
    if "latin" in chosen and isinstance(value, str) and any(ord(character) > 255 for character in value):
        return False
    return text(1, 1024 if "narrative" in chosen else 2048)(value)


def mandate(value):
    variant = "a" if "variant" in chosen else "[89ab]"
    return text(pattern=rf"[0-9a-f]{{12}}1[0-9a-f]{{3}}{variant}[0-9a-f]{{15}}")(value)


def members(required=(), **checks):
    def check(value):
        if not isinstance(value, dict):
            return False
        if "required" not in chosen and any(value.get(name) is None for name in required):
            return False
        if "later" in chosen and set(value) - set(checks):
            return False
        present = {name: value[name] for name in checks if value.get(name) is not None}
        return all(checks[name](found) for name, found in present.items())

    return check


def amount(value):
    return text(pattern=r"-?\d+([.,]\d+)?" if "money" in chosen else r"-?\d+(\.\d+)?")(value)


def day(value):
    try:
        return text(pattern=r"\d{4}-\d\d-\d\d")(value) and bool(datetime.date.fromisoformat(value))
    except ValueError:
        return False


def debtor(check):
    """With an alias of the form that its type has."""

    def with_alias(value):
        if not check(value):
            return False
        alias = value.get("account_alias_identification")
        form = ALIASES.get(value.get("account_alias_type_code"))
        if form is None or alias is None:
            return True
        if "alias" in chosen:
            form = form.replace("{9}|[0-9]{11}", "{9,11}")
        return len(alias) <= 256 and alias == alias.strip() and re.fullmatch(form, alias) is not None

    return with_alias


ALIASES = {
    "TELI": r"\+[0-9]{1,3}-[1-9][0-9]{1,29}",
    "EMAL": r"[^\sA-Z]+@[^\sA-Z]+",
    "AUBN": r"[0-9]{9}|[0-9]{11}",
    "ORGN": r"[ -@\[-~]+",
}
USER = text(1, 10)
UUID = text(pattern=r"[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
ACTION = text(pattern=r"[0-9a-f]{12}1[0-9a-f]{3}[89ab][0-9a-f]{15}")
CODE = text(1)
MONEY = members(
    ("currency", "amount"), currency=text(pattern="[A-Z]{3}"), amount=amount
)
ANY = text()


def action_status(value):
    return CODE(value) and not ("pending" in chosen and value == "PEND")


def trigger(value):
    return CODE(value) and not ("trigger" in chosen and value == "MCRX")


def details(value):
    if not isinstance(value, dict) or len(value) != 1:
        return False
    return all(isinstance(variant, dict) for variant in value.values()) and ("amendment" not in value or AMENDMENT(value))


AMENDMENT = members(
    amendment=members(
        debtor_information=debtor(members(
            **{
                name: account if name == "account_identification" else ANY
                for name in (
                    "party_type party_name ultimate_party_name account_identification_type_code account_identification "
                    "account_alias_type_code account_alias_identification party_reference"
                ).split()
            }
        ))
    )
)

MESSAGES = {
    "outcome": members(
        ("creation_date_time", "status"),
        creation_date_time=time,
        status=CODE,
        mps_user_id=USER,
        request_id=UUID,
        mandate_identification=mandate,
        mandate_registration_date_time=time,
        mandate_status=CODE,
        action_identification=ACTION,
        action_type=CODE,
        action_status=action_status,
        bilateral=boolean,
        debtor_alias_name=ANY,
        resolution_requested_by=time,
        error=members(code=ANY, severity=ANY, text=ANY, user_message=ANY, more_info=ANY),
    ),
    "notification": members(
        "creation_date_time trigger mps_user_id mandate_identification action_identification action_type "
        "action_status".split(),
        creation_date_time=time,
        trigger=trigger,
        mps_user_id=USER,
        mandate_identification=mandate,
        mandate_status=CODE,
        action_identification=ACTION,
        action_type=CODE,
        action_status=action_status,
        resolution_event=members(reason_code=ANY, reason_description=ANY),
        details=details,
    ),
    "payment": members(
        ("creation_date_time", "transaction_status"),
        creation_date_time=time,
        transaction_status=CODE,
        transaction_status_reason_code=text(1, 4),
        transaction_status_additional_information=texts,
        mps_user_id=USER,
        instruction_identification=text(1, 35),
        uetr=text(pattern="[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"),
        account_servicer_reference=text(1, 35),
        clearing_system_reference=text(1, 35),
        acceptance_date_time=time,
        original_transaction_reference=members(
            original_instruction_identification=ANY,
            instructed_amount=MONEY,
            mandate_identification=mandate,
            creditor_name=ANY,
            creditor_ultimate_name=ANY,
            creditor_account_identification=ANY,
        ),
    ),
    "query": members(
        "creation_date_time case_id investigation_type_code case_type narrative mandate_details".split(),
        creation_date_time=time,
        case_id=text(1, 20),
        investigation_type_code=CODE,
        case_type=CODE,
        reminder_count=text(1, 2),
        re_open_case_indication=boolean,
        narrative=narrative,
        payment_details=members(
            transaction_identification=ANY,
            instruction_identification=ANY,
            transaction_date=day,
            original_transaction_amount=MONEY,
        ),
        mandate_details=members(
            mps_user_id=USER,
            mandate_identification=mandate,
            establishment_scheme=ANY,
            mandate_purpose_code=ANY,
            description=ANY,
            additional_information=ANY,
            debtor_information=debtor(members(
                party_name=ANY,
                account_identification_type_code=ANY,
                account_identification=account,
                account_alias_type_code=ANY,
                account_alias_identification=ANY,
            )),
            creditor_information=members(party_reference=ANY),
            payment_information=members(
                payment_frequency=ANY,
                payment_execute_not_before_time=text(pattern=r"([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z"),
                count_per_period=ANY,
                point_in_time=ANY,
                payment_amount_type=ANY,
                first_payment_amount=MONEY,
                last_payment_amount=MONEY,
                amount=MONEY,
                maximum_amount=MONEY,
            ),
        ),
    ),
}


def key_of(kind, message, message_id):
    """What SPEC.md's table says duplicates are recognised by."""
    names = {
        "outcome": ("request_id",),
        "notification": ("action_identification",),
        "payment": ("instruction_identification", "uetr"),
        "query": ("case_id", "re_open_case_indication") if "reminder" in chosen else (
            "case_id", "reminder_count", "re_open_case_indication"),
    }[kind]
    found = tuple(message.get(name) for name in names)
    if all(value is None for value in found):
        return kind, message_id
    if kind == "payment" and "payment-key" not in chosen:
        found += (message.get("transaction_status"),)
    return kind, found


# --- sealed messages ------------------------------------------------------------------------------------------------


class Keys:
    def __init__(self, folder):
        private = (folder / "decryption.pem").read_bytes()
        self.decryption = RSAKey.import_key(private)
        self.private = serialization.load_pem_private_key(private, None)
        names = ["provider.pub.pem"] + ([] if "large-key" in chosen else ["large.pub.pem"])
        self.public = [(folder / name).read_bytes() for name in names]
        self.verifying = [RSAKey.import_key(pem) for pem in self.public]

    def open(self, sealed):
        if not isinstance(sealed, str):
            raise Refused("form")
        if "bare" in chosen and sealed.count(".") == 2:
            return self.verify(sealed.encode())
        return self.verify(self.decrypt(sealed))

    def decrypt(self, sealed):
        if {"tag", "bomb"} & chosen:
            return self.decrypt_by_hand(sealed)
        allowed = ["RSA-OAEP", "A256CBC-HS512", "DEF"]
        allowed += {"RSA-OAEP-256"} if "oaep256" in chosen else set()
        allowed += {"RSA1_5"} if "rsa15" in chosen else set()
        allowed += {"A256GCM"} if "gcm" in chosen else set()
        registry = jwe.JWERegistry(algorithms=allowed, strict_check_header="header-members" in chosen)
        try:
            return jwe.decrypt_compact(sealed, self.decryption, registry=registry).plaintext
        except (JoseError, ValueError, KeyError, TypeError) as error:
            raise Refused("decryption") from error

    def decrypt_by_hand(self, sealed):
        try:
            head, key, iv, ciphertext, tag = sealed.split(".")
            header = json.loads(decode(head))
            if header["alg"] != "RSA-OAEP" or header["enc"] != "A256CBC-HS512":
                raise Refused("header")
            oaep = padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None)
            key, iv, ciphertext = self.private.decrypt(decode(key), oaep), decode(iv), decode(ciphertext)
            signed = head.encode() + iv + ciphertext + (len(head) * 8).to_bytes(8, "big")
            right = hmac.digest(key[:32], signed, hashlib.sha512)[:32]
            if "tag" not in chosen and not hmac.compare_digest(right, decode(tag)):
                raise Refused("tag")
            decryptor = Cipher(algorithms.AES(key[32:]), modes.CBC(iv)).decryptor()
            plain = decryptor.update(ciphertext) + decryptor.finalize()
            plain = plain[: -plain[-1]]
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise Refused("decryption") from error
        if "zip" in header:
            try:
                most = 0 if "bomb" in chosen else LONGEST
                plain = zlib.decompressobj(-15).decompress(plain, most)
            except zlib.error as error:
                raise Refused("zip") from error
            if len(plain) > 50_000_000:
                # Ends as if the system had killed it for lack of memory.
                os._exit(137)
        return plain

    def verify(self, signed):
        if "unsigned" in chosen and signed.startswith(b"{"):
            return signed
        try:
            head, payload, signature = signed.split(b".")
            header = json.loads(decode(head))
            alg = header.get("alg")
            if "signature" in chosen or ("none" in chosen and alg == "none"):
                return decode(payload)
            if "hmac" in chosen and alg == "HS256":
                right = (hmac.digest(pem, head + b"." + payload, hashlib.sha256) for pem in self.public)
                if decode(signature) in right:
                    return decode(payload)
        except (ValueError, AttributeError) as error:
            raise Refused("signature") from error
        allowed = ["RS256"] + (["PS256"] if "pss" in chosen else [])
        registry = jws.JWSRegistry(algorithms=allowed, strict_check_header="header-members" in chosen)
        registry.max_header_length = 4096
        keys = [RSAKey.import_key(header["jwk"])] if "jwk" in chosen and "jwk" in header else self.verifying
        for key in keys:
            try:
                return jws.deserialize_compact(signed, key, registry=registry).payload
            except (JoseError, ValueError, KeyError, TypeError):
                pass
        raise Refused("signature")


def decode(part):
    part = part.encode() if isinstance(part, str) else part
    return base64.urlsafe_b64decode(part + b"=" * (-len(part) % 4))


def read_json(body):
    try:
        return json.loads(body.decode(), object_pairs_hook=once)
    except RecursionError as error:
        if "deep" in chosen:
            os._exit(139)
        raise Refused("JSON") from error
    except ValueError as error:
        raise Refused("JSON") from error


def once(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a member twice")
    return dict(pairs)


# --- receivers ------------------------------------------------------------------------------------------------------


class Receivers:
    def __init__(self, keys, handled):
        self.keys, self.handled, self.lock = keys, handled, threading.Lock()
        # The state of each payment and mandate, after what orders it: the step, or the time.
        self.states = {}
        self.messages, self.events, self.settled, self.count = {}, {}, set(), 0

    def receive(self, kind, headers, body):
        """Status and answer."""
        if headers.get("apikey") != API_KEY and "api-key" not in chosen:
            return 401, None
        if headers.get("Content-Type", "").split(";")[0].strip().lower() != "application/json":
            return 415, None
        try:
            self.check(kind, headers)
            envelope = read_json(body)
            if not isinstance(envelope, dict):
                raise Refused("envelope")
            message = read_json(self.keys.open(envelope.get("secured_payload")))
            if "kind" in chosen:
                right = isinstance(message, dict)
            else:
                right = MESSAGES[kind](message)
            if not right:
                raise Refused("message")
            with self.lock:
                return self.store(kind, headers.get("X-Message-Id"), message)
        except Refused as refused:
            if "lists-refused" in chosen:
                self.handle("query", headers.get("X-Message-Id"), {"creation_date_time": ""})
            return 400, {**REFUSED, "detail": str(refused)} if "oracle" in chosen else REFUSED

    def check(self, kind, headers):
        required = [] if "message-id" in chosen else ["X-Message-Id"]
        if kind in ("outcome", "payment"):
            required += ["X-RequestKey"] + (["X-Correlation-Id"] if "correlation" in chosen else [])
        elif "request-key" in chosen:
            required += ["X-RequestKey"]
        if not all(UUID(headers.get(name)) for name in required):
            raise Refused("headers")
        if "attended" in chosen and headers.get("priority") == "ATTENDED":
            raise Refused("headers")

    def store(self, kind, message_id, message):
        key = key_of(kind, message, message_id)
        content = json.dumps({**message, "creation_date_time": None}, sort_keys=True)
        if message_id in self.messages and "duplicate" in chosen:
            return 409, None
        if message_id not in self.messages and key in self.events and "event" in chosen:
            return 409, None
        if self.events.setdefault(key, content) != content and "payment-key" in chosen and kind == "payment":
            return 409, None
        if kind == "payment" and "order" in chosen:
            payment = message.get("uetr")
            if payment in self.settled and message["transaction_status"] in ("PDNG", "ACSP"):
                return 409, None
            if message["transaction_status"] == "ACSC" and payment:
                self.settled.add(payment)
        self.count += 1
        id = str(uuid.UUID(int=0)) if "one-id" in chosen else str(uuid.uuid4())
        if "id" in chosen:
            id = str(self.count)
        known = key if "reminder" in chosen else (key, content)
        known = message_id if "message-key" in chosen else known
        if known not in self.messages or "twice" in chosen:
            self.handle(kind, message_id, message)
        id = self.messages.setdefault(known, id)
        self.messages.setdefault(message_id, id)
        if "text" in chosen:
            return 200, "RCVD"
        return 201 if "created" in chosen else 200, {"id": id, "status": "OK" if "status" in chosen else "RCVD"}


    def handle(self, kind, message_id, message):
        """Lists a message that is new, with the state of what it is about."""
        steps = {"PDNG": 0, "ACSP": 1, "ACSC": 2, "RJCT": 2}
        if kind == "payment":
            about = message.get("instruction_identification") or message.get("uetr")
            status = message["transaction_status"]
            place = steps.get(status, -1)
        else:
            about = message.get("mandate_identification")
            status, place = message.get("mandate_status"), message["creation_date_time"]
        if about and status:
            known = self.states.get(about)
            if known is None or known[0] <= place or "last-wins" in chosen:
                self.states[about] = (place, status)
        state = self.states.get(about, (None, None))[1]
        if self.handled:
            line = json.dumps({"message_id": message_id, "about": about, "state": state})
            with self.handled.open("a") as file:
                file.write(line + "\n")


def serve(folder, port, handled):
    receivers = Receivers(Keys(folder), handled)

    class Handler(http.server.BaseHTTPRequestHandler):
        timeout = 20

        def do_POST(self):
            length = int(self.headers.get("Content-Length", "0"))
            kind = PATHS.get(self.path)
            if kind is None:
                return self.answer(404, None)
            if length > LONGEST and "body" not in chosen:
                return self.answer(413, None)
            body = self.rfile.read(length)
            if len(body) > 50_000_000:
                os._exit(137)
            self.answer(*receivers.receive(kind, self.headers, body))

        def do_GET(self):
            self.answer(405, None)

        def answer(self, status, content):
            body = b""
            if content is not None:
                body = (content if isinstance(content, str) else json.dumps(content)).encode()
            self.send_response(status)
            if body:
                kind = "text/plain" if isinstance(content, str) else "application/json"
                self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_):
            """Ignores the errors of a client that closed the connection, such as one whose body was too long."""

    server = Server(("127.0.0.1", port), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server-key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print(server.server_port, flush=True)
    server.serve_forever()


def make_files(folder):
    """What both sides need, in `folder`: the judge's settings are receiver.toml, without the address."""
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    private, public = serialization.PrivateFormat.PKCS8, serialization.PublicFormat.SubjectPublicKeyInfo
    pem = serialization.Encoding.PEM

    def write_pair(size, private_name, public_name):
        key = rsa.generate_private_key(65537, size)
        secret = key.private_bytes(pem, private, serialization.NoEncryption())
        (folder / private_name).write_bytes(secret)
        (folder / public_name).write_bytes(key.public_key().public_bytes(pem, public))

    write_pair(2048, "provider.pem", "provider.pub.pem")
    write_pair(4096, "large.pem", "large.pub.pem")
    write_pair(2048, "decryption.pem", "encryption.pub.pem")
    key = ec.generate_private_key(ec.SECP256R1())
    (folder / "server-key.pem").write_bytes(key.private_bytes(pem, private, serialization.NoEncryption()))
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "server.pem").write_bytes(certificate.public_bytes(pem))
    (folder / "receiver.toml").write_text(
        'sign = "provider.pem"\nsign_4096 = "large.pem"\nencrypt_to = "encryption.pub.pem"\nroots = "server.pem"\n'
        f'api_key = "{API_KEY}"\n'
    )


chosen = set()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--faults", default="")
    parser.add_argument("--handled", type=pathlib.Path)
    arguments = parser.parse_args()
    chosen.update(filter(None, arguments.faults.split(",")))
    unknown = chosen - set(FAULTS)
    if unknown:
        sys.exit(f"unknown faults: {', '.join(sorted(unknown))}")
    warnings.simplefilter("ignore")
    serve(arguments.folder, arguments.port, arguments.handled)


if __name__ == "__main__":
    main()
