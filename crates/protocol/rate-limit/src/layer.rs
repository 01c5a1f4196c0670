//! Rate limits over HTTP, as a [`tower_layer::Layer`] (Specification: "Limits" and "Errors").
//!
//! ```
//! use bankrail_rate_limit::layer::{LimitKey, LimitLayer, LimitLayerOptions, RequestLimit};
//! use bankrail_rate_limit::{CallType, Limiter};
//! use std::sync::Arc;
//!
//! // A layer further out proved who calls, and left the customer's code in the extensions.
//! let key = |request: &http::request::Parts| match request.extensions.get::<String>() {
//!     Some(customer) => RequestLimit::Of(LimitKey::new(customer, CallType::PaymentEnquiry)),
//!     None => RequestLimit::Refused(http::StatusCode::UNAUTHORIZED),
//! };
//! let options = LimitLayerOptions::new().problem_json().rate_limit_headers(true);
//! let layer = LimitLayer::new(Arc::new(Limiter::default()), key, options);
//! # let _ = layer;
//! ```

mod headers;
mod refusal;
mod service;

/// The crate of the bytes of a [`RefusalBody`].
pub use bytes;
/// The crate of the requests and answers that the layer reads and makes.
pub use http;

pub use self::headers::write_rate_limit;
pub use self::refusal::{LimitRefusal, RefusalBody};
pub use self::service::{LimitKey, LimitLayer, LimitLayerOptions, LimitService, RequestLimit};
