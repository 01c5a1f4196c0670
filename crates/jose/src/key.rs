//! Key material: read, checked once, and not yet bound to a use.

mod error;
mod jwk;
mod material;
mod pem;
mod roca;
mod role;
#[cfg(feature = "x509")]
mod x509;

pub use error::KeyError;
pub use jwk::{Jwk, JwkSet, UnusableKey};
pub(crate) use jwk::{private_jwk, public_jwk};
pub use material::{PrivateMaterial, PublicMaterial};
pub use role::{KeySizes, Role, RsaSize};
#[cfg(feature = "x509")]
pub use x509::Certificate;
