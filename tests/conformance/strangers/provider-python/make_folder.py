"""Makes the folder of a provider: certificates, customers, accounts with entries, limits.

usage: make_folder.py FOLDER [PORT]
"""

import json
import random
import secrets
import sys
import uuid
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

STATEMENT_READ = "GBL.INSTO.ACCOUNTS.STATEMENT.READ"
MANDATE_READ = "AU.INSTO.PAYTO.MANDATE.READ"
MANDATE_WRITE = "AU.INSTO.PAYTO.MANDATE.WRITE"

PAYERS = [
    "Nguyễn Thị Ánh Tuyết", "Trần Đức Hiếu", "Wattle & Daub Pty Ltd", "Zoë O'Connor", "Lê Quỳnh Như",
    "Harbour Kayak Hire", "Müller <Imports>", "M. Papadopoulos", "Phạm Gia Bảo", "Blue Gum Dental",
]
TEXTS = [
    "Invoice 2291 – thanks! 🎉", "Tiền nhà tháng này, cảm ơn chị ạ", "Bond refund 12/4 \"Rose St\"", "🐨🌏 trip money",
    "Học phí kỳ 2 của Ánh", "Rent & bills", "Σύνολο 3", "Đặt cọc phòng khách sạn 👨‍👩‍👧‍👦", "coffee ☕ 𝒙 2",
]
LONG_TEXT = (
    "Part payment for works at 7 Ferry Road, see quote 18 and the letter of the 3rd: kitchen, hallway and the stairs. "
    "Cảm ơn rất nhiều 🛠️🏠🙏 — the rest follows with the last invoice, once the painter has been here again. "
    "Please call first. 🎨🖌️ Hẹn gặp lại!"
)


def private_pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def public_pem(key):
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def write_secret(path, data):
    path.write_bytes(data)
    path.chmod(0o600)


def make_certificates(folder):
    start = datetime.now(timezone.utc) - timedelta(days=1)
    ca_key = ec.generate_private_key(ec.SECP256R1())
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test bank authority")])
    usage = dict(digital_signature=False, content_commitment=False, key_encipherment=False, data_encipherment=False,
                 key_agreement=False, key_cert_sign=False, crl_sign=False, encipher_only=False, decipher_only=False)
    ca = (
        x509.CertificateBuilder().subject_name(ca_name).issuer_name(ca_name).public_key(ca_key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(start).not_valid_after(start + timedelta(days=3650))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(**{**usage, "key_cert_sign": True, "crl_sign": True}), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(ca_key.public_key()), critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    key = ec.generate_private_key(ec.SECP256R1())
    names = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1")), x509.IPAddress(ip_address("::1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])).issuer_name(ca_name)
        .public_key(key.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(start).not_valid_after(start + timedelta(days=820))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(**{**usage, "digital_signature": True}), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    ca_pem = ca.public_bytes(serialization.Encoding.PEM)
    (folder / "ca.pem").write_bytes(ca_pem)
    (folder / "server.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    write_secret(folder / "server-key.pem", private_pem(key))
    return ca_pem


class Booker:
    """Makes up entries, least recent first."""

    def __init__(self, currency, seed):
        self.digits = 0 if currency == "VND" else 2
        self.random = random.Random(seed)
        self.number = self.random.randrange(10_000_000, 80_000_000)
        self.entries = []

    def amount(self, low, high):
        value = Decimal(self.random.randrange(low * 100, high * 100)) / 100
        if self.digits == 0:
            return str(int(value) * 500)
        return f"{value:.2f}"

    def add(self, side, amount, codes, references=True, **more):
        entry = {"side": side, "amount": amount, "codes": codes}
        if references:
            self.number += self.random.randrange(1, 90)
            entry["servicer_reference"] = f"AS{self.number}"
            entry["end_to_end"] = f"E2E-{self.random.randrange(100000, 999999)}"
        entry.update(more)
        self.entries.append(entry)
        return entry

    def fast(self, side, text, owner, amount=None):
        other = self.random.choice(PAYERS)
        debtor, creditor = (other, owner) if side == "CRDT" else (owner, other)
        return self.add(
            side, amount or self.amount(5, 900), ["PMNT", "RCDT" if side == "CRDT" else "ICDT", "DMCT"], fast=True,
            debtor=debtor, creditor=creditor, text=text, proprietary=["NPP", uuid.UUID(int=self.random.getrandbits(128)).hex])

    def virtual(self, owner, number):
        entry = self.fast("CRDT", self.random.choice(TEXTS), owner)
        entry["virtual_account"] = {"number": number, "branch": "014002"}
        return entry

    def plain(self, side, references=True, amount=None):
        codes = ["PMNT", "RCDT", "DMCT"] if side == "CRDT" else ["PMNT", "RDDT", "PMDD"]
        return self.add(side, amount or self.amount(10, 4000), codes, references)

    def reversal(self, of):
        side = "DBIT" if of["side"] == "CRDT" else "CRDT"
        return self.add(side, of["amount"], ["PMNT", of["codes"][1], "RRTN"], reversal=True)


def busy(currency, owner, seed, count, virtual):
    book = Booker(currency, seed)
    step = 0
    while len(book.entries) < count:
        left = count - len(book.entries)
        kind = step % 10
        step += 1
        if kind in (0, 3, 5):
            book.fast("CRDT", book.random.choice(TEXTS), owner)
        elif kind == 1:
            book.fast("DBIT", book.random.choice(TEXTS), owner)
        elif kind == 2 and virtual:
            book.virtual(owner, f"80{book.random.randrange(1000000, 9999999)}")
        elif kind == 4:
            book.plain("DBIT")
        elif kind == 6:
            book.fast("CRDT", LONG_TEXT if step % 20 < 10 else None, owner)
        elif kind == 7 and left >= 2:
            # two entries without references that look the same, and are both real
            same = book.amount(20, 60)
            book.plain("CRDT", references=False, amount=same)
            book.plain("CRDT", references=False, amount=same)
        elif kind == 8 and left >= 2:
            book.reversal(book.plain("CRDT"))
        else:
            book.plain("CRDT")
    return book.entries


def account(number, currency, opening, entries, virtual=False):
    balance = Decimal(opening)
    for entry in entries:
        balance += Decimal(entry["amount"]) * (1 if entry["side"] == "CRDT" else -1)
    assert balance >= 0
    return {"id": number, "currency": currency, "virtual": virtual, "balance": str(balance), "entries": entries}


def first_accounts():
    owner = "Ferry Road Holdings"
    accounts = [
        account("012003123456701", "AUD", "1250000.50", busy("AUD", owner, 11, 60, True), virtual=True),
        account("012003123456702", "AUD", "88000.00", busy("AUD", owner, 12, 5, False)),
        account("012003123456703", "USD", "0.00", []),
        account("999001400300301", "VND", "912000000", busy("VND", owner, 13, 9, False)),
        account("012003123456705", "AUD", "43210.00", busy("AUD", owner, 14, 7, True), virtual=True),
    ]
    for index, currency in enumerate(["SBD", "HKD", "SGD", "INR", "PGK"]):
        number = f"0120031234567{10 + index}"
        accounts.append(account(number, currency, "75000.00", busy(currency, owner, 20 + index, 3 + index, False)))
    return accounts


def second_accounts():
    owner = "Lantern Bay Services"
    return [
        account("013441987654301", "AUD", "640000.00", busy("AUD", owner, 31, 60, True), virtual=True),
        account("013441987654302", "AUD", "0.00", []),
        account("999002400300302", "VND", "300000000", busy("VND", owner, 32, 4, False)),
    ]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: setup FOLDER [PORT]")
    folder = Path(sys.argv[1])
    port = int(sys.argv[2]) if len(sys.argv) == 3 else 9443
    folder.mkdir(parents=True, exist_ok=True)
    ca_pem = make_certificates(folder)
    write_secret(folder / "cursor.key", secrets.token_bytes(32))

    customers = []
    for name, code, scopes, accounts in [
        ("first", "FERRYROAD", [STATEMENT_READ, MANDATE_READ], first_accounts()),
        ("second", "LANTERNBAY", [STATEMENT_READ, MANDATE_READ, MANDATE_WRITE], second_accounts()),
    ]:
        own = folder / name
        own.mkdir(exist_ok=True)
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        write_secret(own / "signing.pem", private_pem(key))
        (own / "signing.pub.pem").write_bytes(public_pem(key))
        (own / "ca.pem").write_bytes(ca_pem)
        customers.append({
            "name": name, "code": code, "api_key": secrets.token_urlsafe(24), "public_key": f"{name}/signing.pub.pem",
            "scopes": scopes, "accounts": accounts,
        })
    write_secret(folder / "customers.json", json.dumps(customers, indent=1, ensure_ascii=False).encode())

    limits = {
        "token": {"per_hour": 10, "per_second": 2}, "statement": {"per_hour": 25},
        "page_size": 20, "token_seconds": 3600,
    }
    (folder / "limits.json").write_text(json.dumps(limits, indent=2) + "\n")
    write_connections(folder, customers, port)


def write_connections(folder, customers, port):
    """What a customer gets from its account manager."""
    for customer in customers:
        own = Path(folder) / customer["name"]
        accounts = [a["id"] for a in customer["accounts"]]
        lines = [
            f"base_url = \"https://localhost:{port}\"",
            f'token_url = "https://localhost:{port}/v1.0/auth"',
            f'audience = "https://localhost:{port}/v1.0/auth"',
            f'customer = "{customer["code"]}"',
            "signing_key = \"signing.pem\"",
            f'api_key = "{customer["api_key"]}"',
            'api_key_header = "apikey"',
            f"scopes = {json.dumps([STATEMENT_READ])}",
            f"accounts = {json.dumps(accounts)}",
            'roots = "ca.pem"',
        ]
        write_secret(own / "connection.toml", ("\n".join(lines) + "\n").encode())
        # The same as arguments, one on each line, for use from this folder.
        arguments = [
            f"https://localhost:{port}", "--customer", customer["code"], "--key", "signing.pem",
            "--api-key", customer["api_key"], "--audience", f"https://localhost:{port}/v1.0/auth",
            "--scope", STATEMENT_READ, "--roots", "ca.pem",
        ]
        for number in accounts:
            arguments += ["--account", number]
        write_secret(own / "arguments.txt", ("\n".join(arguments) + "\n").encode())


if __name__ == "__main__":
    main()
