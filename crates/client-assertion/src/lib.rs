//! JWT client assertions (RFC 7523) and the wire types of the client-credentials token exchange (RFC 6749)
