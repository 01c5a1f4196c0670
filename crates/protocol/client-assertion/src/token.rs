//! The token exchange: the customer's request for an access token and the answers to it (RFC 6749
//! sections 4.4 and 5, RFC 7523 section 2.2).
//!
//! ```
//! use bankrail_client_assertion::token::{ScopeSet, TokenRequest, FORM_CONTENT_TYPE};
//!
//! let asked = TokenRequest::new("header.payload.signature", "READ WRITE".parse()?);
//! let got = TokenRequest::from_form(Some(FORM_CONTENT_TYPE), asked.to_form().as_bytes())?;
//! assert_eq!(got.scope(), &"WRITE READ".parse::<ScopeSet>()?);
//!
//! let permitted: ScopeSet = "READ".parse()?;
//! let granted = got.scope().granted_from(&permitted)?;
//! assert_eq!(granted.scope_to_return().map(ToString::to_string).as_deref(), Some("READ"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access_token;
#[cfg(feature = "serde")]
mod by_serde;
mod cache;
mod error_body;
mod form;
mod grant;
mod response;
mod scope;

pub use access_token::{AccessToken, AccessTokenError, TokenHash};
pub use cache::{CachedToken, TokenCache, TokenCacheKey};
pub use error_body::{ErrorBodyError, TokenErrorBody, TokenErrorCode};
pub use form::{FORM_CONTENT_TYPE, TokenRequest, TokenRequestError};
pub use grant::{TokenGrant, TokenStore};
pub use response::{TokenResponse, TokenResponseError};
pub use scope::{
    GrantedScopes, NoScopeGrantedError, Scope, ScopeAccess, ScopeError, ScopeSet, names,
};
