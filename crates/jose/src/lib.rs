//! RSA keys, RSA back ends, and strict compact RS256 signatures (RFC 7515 to 7518).
//!
//! What it is: the JOSE ground that signed assertions and secured payloads stand on. Keys are read and checked once and
//! become handles for one use each: [`SigningKey`], [`VerifyingKey`], [`EncryptionKey`], [`DecryptionKey`]. [`jws`] signs
//! and verifies; [`header`] and [`base64url`] read what comes from outside, strictly.
//!
//! What it is not: a general JOSE library. One signature algorithm (RS256), one key encryption (RSA-OAEP), the compact
//! form; the algorithm is fixed by type and never taken from a token.
//!
//! ```
//! # #[cfg(any(feature = "aws-lc", feature = "josekit"))] {
//! use bankrail_jose::jws::{self, JwsHeader, VerifyOptions};
//! use bankrail_jose::{KeySet, RsaSize, SigningKey};
//!
//! let old = SigningKey::generate(RsaSize::Rsa2048)?.with_kid("2026-10");
//! let new = SigningKey::generate(RsaSize::Rsa2048)?.with_kid("2026-11");
//! let token = jws::sign(&new, &JwsHeader::new().typ("JWT"), b"{\"amount\":\"12.50\"}")?;
//!
//! // While keys rotate, both are known; the token's `kid` says which one to use.
//! let known = KeySet::new([old.verifying_key(), new.verifying_key()])?;
//! let verified = jws::verify(&token, &known, &VerifyOptions::default())?;
//! assert_eq!(verified.key().kid(), Some("2026-11"));
//!
//! // Later the old one goes. Nothing that uses the set needs to be told.
//! known.replace([new.verifying_key()])?;
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Nouns
//!
//! - [`PublicKey`], [`PrivateKey`], [`Jwk`], [`JwkSet`]: checked numbers, from PEM, DER, JWK or certificate,
//!   not yet bound to a use.
//! - [`SigningKey`], [`VerifyingKey`], [`EncryptionKey`], [`DecryptionKey`]: handles, bound to a use and a back end.
//! - [`KeySet`]: several handles at once, by `kid`, replaceable while in use.
//! - [`jws::Compact`] is well formed, [`jws::Verified`] is proved: two types.
//! - [`remote`]: keys that live in an HSM or a key service.
//!
//! | feature | what it adds |
//! |---|---|
//! | `aws-lc` (default) | RSA operations by AWS-LC; needs a C compiler |
//! | `josekit` | RSA operations by josekit and the system's OpenSSL |
//! | `x509` (default) | keys out of X.509 certificates |
//!
//! With both back ends, `Backend` in [`KeyOptions`] chooses when a key is loaded; AWS-LC is the default. With
//! neither, keys can still be read, checked and written.
//!
//! # Security notes
//!
//! - Private keys are used by AWS-LC or OpenSSL only. The `rsa` crate reads and writes key files and never performs a
//!   private-key operation (RUSTSEC-2023-0071); its arithmetic on private numbers while a key is loaded is not constant
//!   time, so load keys at start, not when a counterparty says so.
//! - `crit`, `b64`, `jwk`, `jku`, `x5u`, `x5c` in a header, duplicate members and non-canonical base64url are refused.
//! - RS256 is what the specification asks for; it is outside the FAPI profiles.
//! - Whether factors are primes is not computed: numbers that do not work together, composite factors among them, are
//!   found by a trial run when a key becomes a handle.
//! - Never use one key to sign and to decrypt (RFC 8725 section 3.1): compare the `thumbprint()` of both when they come
//!   from configuration. [`JwkSet`] leaves out keys that are there for both.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(any(feature = "aws-lc", feature = "josekit")),
    allow(dead_code, unused_macros, rustdoc::broken_intra_doc_links)
)]

mod backend;
pub mod base64url;
mod handle;
pub mod header;
pub mod jws;
mod key;
mod key_set;
pub mod remote;

#[cfg(any(feature = "aws-lc", feature = "josekit"))]
pub use backend::Backend;
pub use handle::{
    BadSignature, ContentKey, DecryptError, DecryptionKey, EncryptError, EncryptionKey, KeyOptions, RandomError,
    SignError, SigningKey, VerifyingKey, random_bytes,
};
#[cfg(feature = "x509")]
pub use key::Certificate;
pub use key::{Jwk, JwkSet, KeyError, KeySizes, PrivateKey, PublicKey, Role, RsaSize, UnusableKey};
pub use key_set::{KeyLookup, KeySet, KeySetError, Keyed, SelectError, Selected};
