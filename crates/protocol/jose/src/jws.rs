//! Compact RS256 signatures (RFC 7515 section 7.1).
//!
//! ```
//! # #[cfg(any(feature = "aws-lc", feature = "josekit"))] {
//! use bankrail_jose::jws::{self, JwsHeader, VerifyOptions};
//! use bankrail_jose::{RsaSize, SigningKey};
//!
//! let key = SigningKey::generate(RsaSize::Rsa2048)?;
//! let token = jws::sign(&key, &JwsHeader::new().typ("JWT"), b"{}")?;
//! let verified = jws::verify(&token, &key.verifying_key(), &VerifyOptions::default())?;
//! assert_eq!(verified.payload(), b"{}");
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compact;
mod sign;
mod verify;

pub use compact::{Compact, ParseError};
pub use sign::{JwsHeader, Prepared, prepare, sign, sign_remote};
pub use verify::{Verified, VerifyError, VerifyOptions, verify};
