"""Checks the signed assertion with which a customer asks for a token."""

import base64
import json
import math
import re

import jwt

THREE_PARTS = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
LONGEST = 3600
LEEWAY = 30  # for iat and nbf only


class AssertionRefused(Exception):
    pass


def _no_duplicates(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise AssertionRefused("a member occurs twice")
    return members


def _part(text):
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_no_duplicates)
    except (ValueError, RecursionError) as error:
        raise AssertionRefused("not JSON") from error
    if not isinstance(value, dict):
        raise AssertionRefused("not an object")
    return value


def _is_number(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return isinstance(value, int) or math.isfinite(value)


def peek_subject(token):
    """The sub of an assertion that nobody has verified yet, or None."""
    try:
        return _part(token.split(".")[1]).get("sub")
    except Exception:
        return None


def check(token, customer, keys, auth_url, now, faults):
    """Raises AssertionRefused unless the assertion is the customer's own and valid now.

    keys are the public keys of all customers by their codes.
    """
    if not THREE_PARTS.fullmatch(token):
        if "token-malformed-assertion-500" in faults:
            raise RuntimeError("the assertion has not three parts")
        raise AssertionRefused("not a JWT")
    try:
        header, claims = (_part(p) for p in token.split(".")[:2])
    except ValueError as error:
        raise AssertionRefused("not Base64url") from error

    _check_header(header, faults)
    _check_signature(token, customer, keys, faults)
    _check_claims(claims, customer, auth_url, int(now), faults)


def _check_header(header, faults):
    algorithms = ["RS256", "RS384", "RS512"] if "assertion-alg-family" in faults else ["RS256"]
    if header.get("alg") not in algorithms:
        raise AssertionRefused("alg")
    if "typ" not in header:
        if "assertion-typ-optional" not in faults:
            raise AssertionRefused("typ is missing")
    elif header["typ"] != "jwt":
        if "assertion-typ-not-compared" not in faults or not isinstance(header["typ"], str):
            raise AssertionRefused("typ")
    if "crit" in header or "b64" in header:
        raise AssertionRefused("crit")


def _check_signature(token, customer, keys, faults):
    if "assertion-signature-unverified" in faults:
        return
    candidates = [keys[customer["code"]]]
    if "assertion-sub-other-customer" in faults:
        candidates = list(keys.values())
    algorithms = ["RS256", "RS384", "RS512"] if "assertion-alg-family" in faults else ["RS256"]
    for key in candidates:
        try:
            jwt.PyJWS().decode(token, key, algorithms=algorithms)
            return
        except jwt.InvalidTokenError:
            continue
    raise AssertionRefused("signature")


def _check_claims(claims, customer, auth_url, now, faults):
    subject = claims.get("sub")
    if not isinstance(subject, str):
        raise AssertionRefused("sub")
    same = subject == customer["code"]
    if "assertion-sub-any-case" in faults:
        same = subject.upper() == customer["code"]
    if not same:
        raise AssertionRefused("sub")
    if "iss" in claims and claims["iss"] != subject:
        raise AssertionRefused("iss")

    if "aud" in claims or "assertion-aud-optional" not in faults:
        audience = claims.get("aud")
        allowed = [auth_url]
        if "assertion-aud-issuer" in faults:
            allowed.append(auth_url.removesuffix("/v1.0/auth"))
        if "assertion-aud-trailing-slash" in faults and isinstance(audience, str):
            audience = audience.rstrip("/")
        if audience not in allowed:
            raise AssertionRefused("aud")

    for name in ("iat", "nbf"):
        if name in claims:
            if not _is_number(claims[name]) or claims[name] > now + LEEWAY:
                raise AssertionRefused(name)

    _check_expiry(claims, now, faults)


def _check_expiry(claims, now, faults):
    if "exp" not in claims and "assertion-exp-optional" in faults:
        return
    expiry = claims.get("exp")
    if not _is_number(expiry):
        raise AssertionRefused("exp")
    if "assertion-exp-milliseconds" in faults and expiry > 100_000_000_000:
        expiry = expiry / 1000
    leeway = 60 if "assertion-expired-minute" in faults else 0
    if expiry <= now - leeway:
        raise AssertionRefused("expired")
    longest = LONGEST
    if "assertion-cap-61-minutes" in faults:
        longest = 61 * 60
    if "assertion-cap-59-minutes" in faults:
        longest = 59 * 60
    start = now
    if "assertion-cap-from-iat" in faults and "iat" in claims:
        start = claims["iat"]
    if expiry > start + longest:
        raise AssertionRefused("exp is too far ahead")
