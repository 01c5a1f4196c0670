//! JSON messages signed with JWS RS256, then encrypted with JWE RSA-OAEP and A256CBC-HS512
