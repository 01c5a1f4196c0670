//! RSA keys that were read and checked, but are not yet bound to a use.

mod error;
mod file;
mod jwk;
mod material;
mod pem;
mod private_key;
mod public_key;
mod roca;
mod role;
#[cfg(feature = "x509")]
mod x509;

pub use error::KeyError;
pub use file::KeyFileError;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
pub(crate) use file::open;
pub use jwk::{Jwk, JwkSet, UnusableKey};
pub(crate) use jwk::{private_jwk, public_jwk};
pub use material::KeyMaterial;
pub use private_key::PrivateKey;
pub use public_key::PublicKey;
pub use role::{KeySizes, Role, RsaSize};
#[cfg(feature = "x509")]
pub use x509::Certificate;
