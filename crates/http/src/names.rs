//! Header names of the service.

use http::HeaderName;

/// `apikey`: the API key of a customer at the provider (Specification: "Authentication", 1 and 2), and of a provider at
/// a customer's webhook receivers (Default: "Webhooks").
pub const API_KEY: HeaderName = HeaderName::from_static("apikey");

/// `X-RequestKey`: the key of a request (Specification: "What the service does"). See
/// [`RequestKey`](crate::RequestKey).
pub const REQUEST_KEY: HeaderName = HeaderName::from_static("x-requestkey");
