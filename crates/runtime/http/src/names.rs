//! Header names and paths of the service.

use bankrail_values::RequestKey;
use http::HeaderName;

/// `apikey`: the API key of a customer at the provider (Specification: "Authentication", 1 and 2),
/// and of a provider at a customer's webhook receivers (Default: "Webhooks").
pub const API_KEY: HeaderName = HeaderName::from_static("apikey");

/// `X-RequestKey`: the key of a request (Specification: "What the service does"). See
/// [`RequestKey`].
pub const REQUEST_KEY: HeaderName = RequestKey::HEADER;

/// The path of the token endpoint below the base (Specification: "Obtain access token").
pub const TOKEN_PATH: &str = "/v1.0/auth";

/// The path of the statement endpoint below the base (Specification: "Request statement").
pub const STATEMENT_PATH: &str = "/accounts/v2.0/statement";

/// Returns true for a header that each call or delivery, or the connection under it, has for
/// another purpose. An API key cannot be in such a header.
#[must_use]
#[doc(hidden)]
pub fn is_reserved(name: &HeaderName) -> bool {
    const RESERVED: [&str; 15] = [
        "accept",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
        "priority",
        "te",
        "transfer-encoding",
        "upgrade",
        "x-correlation-id",
        "x-message-id",
        "x-requestkey",
    ];
    RESERVED.contains(&name.as_str())
}
