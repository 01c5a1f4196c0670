"""A foreign partner: `partner.py LIBRARY sign|verify|seal|open DIR` reads standard input and writes standard output.

`sign` and `verify` are for assertions, `seal` and `open` for secured payloads.

DIR holds signing.pem, signing.pub.pem, decryption.pem and encryption.pub.pem, as the `payload` example writes them.
"""

import pathlib
import sys

ASSERTION_HEADER = {"alg": "RS256", "typ": "jwt"}
JWS_HEADER = {"alg": "RS256", "typ": "JWT"}
JWE_HEADER = {"alg": "RSA-OAEP", "enc": "A256CBC-HS512", "cty": "JWT"}


def jwcrypto_sign(keys, message, header=ASSERTION_HEADER):
    from jwcrypto import jwk, jws
    from jwcrypto.common import json_encode

    signed = jws.JWS(message)
    signed.add_signature(jwk.JWK.from_pem(keys("signing.pem")), protected=json_encode(header))
    return signed.serialize(compact=True).encode()


def jwcrypto_verify(keys, token):
    from jwcrypto import jwk, jws

    signed = jws.JWS()
    signed.deserialize(token.decode(), jwk.JWK.from_pem(keys("signing.pub.pem")))
    return signed.payload


def jwcrypto_seal(keys, message, header=JWS_HEADER):
    from jwcrypto import jwe, jwk
    from jwcrypto.common import json_encode

    sealed = jwe.JWE(jwcrypto_sign(keys, message, header), protected=json_encode(JWE_HEADER))
    sealed.add_recipient(jwk.JWK.from_pem(keys("encryption.pub.pem")))
    return sealed.serialize(compact=True).encode()


def jwcrypto_open(keys, token):
    from jwcrypto import jwe, jwk

    opened = jwe.JWE()
    opened.deserialize(token.decode(), jwk.JWK.from_pem(keys("decryption.pem")))
    return jwcrypto_verify(keys, opened.payload)


def joserfc_sign(keys, message, header=ASSERTION_HEADER):
    from joserfc import jws
    from joserfc.jwk import RSAKey

    return jws.serialize_compact(header, message, RSAKey.import_key(keys("signing.pem"))).encode()


def joserfc_verify(keys, token):
    from joserfc import jws
    from joserfc.jwk import RSAKey

    return jws.deserialize_compact(token, RSAKey.import_key(keys("signing.pub.pem"))).payload


def joserfc_seal(keys, message, header=JWS_HEADER):
    from joserfc import jwe
    from joserfc.jwk import RSAKey

    registry = jwe.JWERegistry(algorithms=["RSA-OAEP", "A256CBC-HS512"])
    key = RSAKey.import_key(keys("encryption.pub.pem"))
    return jwe.encrypt_compact(JWE_HEADER, joserfc_sign(keys, message, header), key, registry=registry).encode()


def joserfc_open(keys, token):
    from joserfc import jwe
    from joserfc.jwk import RSAKey

    registry = jwe.JWERegistry(algorithms=["RSA-OAEP", "A256CBC-HS512"])
    opened = jwe.decrypt_compact(token, RSAKey.import_key(keys("decryption.pem")), registry=registry)
    return joserfc_verify(keys, opened.plaintext)


WORK = {
    ("jwcrypto", "sign"): jwcrypto_sign,
    ("jwcrypto", "verify"): jwcrypto_verify,
    ("jwcrypto", "seal"): jwcrypto_seal,
    ("jwcrypto", "open"): jwcrypto_open,
    ("joserfc", "sign"): joserfc_sign,
    ("joserfc", "verify"): joserfc_verify,
    ("joserfc", "seal"): joserfc_seal,
    ("joserfc", "open"): joserfc_open,
}


def main():
    library, action, folder = sys.argv[1:]
    given = sys.stdin.buffer.read()
    given = given.strip() if action in ("open", "verify") else given
    sys.stdout.buffer.write(WORK[library, action](lambda name: (pathlib.Path(folder) / name).read_bytes(), given))


if __name__ == "__main__":
    main()
