"""A foreign partner for the secured payload: `payload.py LIBRARY seal|open DIR` reads standard input and writes standard output.

DIR holds signing.pem, signing.pub.pem, encryption.pem and encryption.pub.pem, as the `payload` example writes them.
"""

import pathlib
import sys

JWS_HEADER = {"alg": "RS256", "typ": "JWT"}
JWE_HEADER = {"alg": "RSA-OAEP", "enc": "A256CBC-HS512", "cty": "JWT"}


def jwcrypto_seal(keys, message):
    from jwcrypto import jwe, jwk, jws
    from jwcrypto.common import json_encode

    signed = jws.JWS(message)
    signed.add_signature(jwk.JWK.from_pem(keys("signing.pem")), protected=json_encode(JWS_HEADER))
    sealed = jwe.JWE(signed.serialize(compact=True).encode(), protected=json_encode(JWE_HEADER))
    sealed.add_recipient(jwk.JWK.from_pem(keys("encryption.pub.pem")))
    return sealed.serialize(compact=True).encode()


def jwcrypto_open(keys, token):
    from jwcrypto import jwe, jwk, jws

    opened = jwe.JWE()
    opened.deserialize(token.decode(), jwk.JWK.from_pem(keys("encryption.pem")))
    signed = jws.JWS()
    signed.deserialize(opened.payload.decode(), jwk.JWK.from_pem(keys("signing.pub.pem")))
    return signed.payload


def joserfc_seal(keys, message):
    from joserfc import jwe, jws
    from joserfc.jwk import RSAKey

    signed = jws.serialize_compact(JWS_HEADER, message, RSAKey.import_key(keys("signing.pem")))
    registry = jwe.JWERegistry(algorithms=["RSA-OAEP", "A256CBC-HS512"])
    key = RSAKey.import_key(keys("encryption.pub.pem"))
    return jwe.encrypt_compact(JWE_HEADER, signed, key, registry=registry).encode()


def joserfc_open(keys, token):
    from joserfc import jwe, jws
    from joserfc.jwk import RSAKey

    registry = jwe.JWERegistry(algorithms=["RSA-OAEP", "A256CBC-HS512"])
    opened = jwe.decrypt_compact(token, RSAKey.import_key(keys("encryption.pem")), registry=registry)
    return jws.deserialize_compact(opened.plaintext, RSAKey.import_key(keys("signing.pub.pem"))).payload


library, action, folder = sys.argv[1:]
work = {
    ("jwcrypto", "seal"): jwcrypto_seal,
    ("jwcrypto", "open"): jwcrypto_open,
    ("joserfc", "seal"): joserfc_seal,
    ("joserfc", "open"): joserfc_open,
}[library, action]
given = sys.stdin.buffer.read()
given = given.strip() if action == "open" else given
sys.stdout.buffer.write(work(lambda name: (pathlib.Path(folder) / name).read_bytes(), given))
