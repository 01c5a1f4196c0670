//! JWT client assertions (RFC 7523) and the wire types of the client-credentials token exchange (RFC 6749).
//!
//! What it is: a customer proves who it is by an assertion that it signs itself, and gets an access token for it. This
//! crate makes the assertion ([`AssertionBuilder`]), checks it ([`Verifier`]), says when it counts as used
//! ([`ReplayPolicy`]), and reads and writes what travels: the form, the token, the errors ([`token`]).
//!
//! What it is not: it opens no connection, keeps no customer, has no clock. Keys come from a look-up, `now` is an
//! argument, and what must be remembered goes to [`ReplayStore`] and [`token::TokenStore`].
//!
//! ```
//! # #[cfg(any(feature = "aws-lc", feature = "josekit"))] {
//! use bankrail_client_assertion::token::{AccessToken, FORM_CONTENT_TYPE, ScopeSet, TokenRequest, TokenResponse};
//! use bankrail_client_assertion::{AssertionBuilder, Audience, CustomerCode, Verifier};
//! use bankrail_jose::{RsaSize, SigningKey};
//! use bankrail_values::Timestamp;
//!
//! // The customer's side: an assertion, and the form that carries it.
//! let audience = Audience::parse("https://auth.example.com/v1.0/auth")?;
//! let customer = CustomerCode::parse("CUSTOMERCODE")?;
//! let key = SigningKey::generate(RsaSize::Rsa2048)?;
//! let now: Timestamp = "2026-11-21T04:00:00.000Z".parse()?;
//! let assertion = AssertionBuilder::new(customer.clone(), audience.clone()).sign(&key, now)?;
//! let form = TokenRequest::new(assertion, "READ WRITE".parse()?).to_form();
//!
//! // The service's side: the form, the assertion, the scopes, the token.
//! let request = TokenRequest::from_form(Some(FORM_CONTENT_TYPE), form.as_bytes())?;
//! let verifier = Verifier::new(audience);
//! let assertion = verifier.read(request.assertion().expose_secret())?;
//! assert_eq!(assertion.subject_for_key_lookup(), &customer); // whose keys to look up
//! let verified = assertion.verify(&key.verifying_key(), now)?;
//! verified.check_client_id(&request)?;
//! let granted = request.scope().granted_from(&ScopeSet::parse("READ")?)?;
//! let response = TokenResponse::new(AccessToken::generate()?, 3600, &granted);
//! assert!(response.to_json().contains(r#""scope":"READ""#));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Nouns
//!
//! - [`CustomerCode`], [`Audience`]: checked texts, compared byte for byte.
//! - [`Unverified`]: read, good for looking keys up; [`VerifiedAssertion`]: proved. Two types.
//! - [`AssertionError`]: why not, for the log; its [`code`](AssertionError::code) is what the other side learns.
//! - [`token::TokenRequest`], [`token::TokenResponse`], [`token::TokenErrorBody`], [`token::ScopeSet`],
//!   [`token::AccessToken`].
//!
//! | feature | what it adds |
//! |---|---|
//! | `aws-lc` (default) | RSA operations by AWS-LC; needs a C compiler |
//! | `josekit` | RSA operations by josekit and the system's OpenSSL |
//!
//! # Security notes
//!
//! - The algorithm is fixed by type. Headers that name a key (`jwk`, `jku`, `x5u`, `x5c`), `crit` and `b64` are refused;
//!   so are duplicate members of header and claims, and any spelling of base64url but the canonical one.
//! - The customer that an assertion names decides whose keys are tried and nothing else, until one of them fits.
//! - The specification's assertion has no `jti`: until it expires, whoever has read it can use it, unless
//!   [`ReplayPolicy::WholeAssertion`] is chosen. See there what that asks of honest customers.
//! - RS256 with the token endpoint as audience is what the specification asks for; the FAPI profiles ask for more.
//! - Assertions and tokens are not printed by `Debug`. Tokens are to be stored as [`token::TokenHash`].

#![forbid(unsafe_code)]

mod audience;
mod build;
mod claims;
mod customer;
mod error;
mod options;
mod replay;
pub mod token;
mod verify;

pub use audience::{Audience, AudienceError};
pub use build::{AssertionBuildError, AssertionBuilder};
pub use customer::{CustomerCode, CustomerCodeError};
pub use error::AssertionError;
pub use options::{AssertionOptions, JwtId, TypRule, VerifierOptions};
pub use replay::{ReplayPolicy, ReplayStore};
pub use verify::{ReplayKey, Unverified, VerifiedAssertion, Verifier};

/// The most octets of a `jti`.
pub(crate) const MAX_JWT_ID: usize = 256;
