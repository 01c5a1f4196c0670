//! RSA keys, RSA back ends and strict compact RS256 signatures (RFC 7515 to 7518)
