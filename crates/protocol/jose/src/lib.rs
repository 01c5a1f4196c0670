#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(any(feature = "aws-lc", feature = "josekit")),
    allow(dead_code, unused_imports, rustdoc::broken_intra_doc_links)
)]
#![cfg_attr(
    not(test),
    warn(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        clippy::iter_over_hash_type
    )
)]

#[doc(hidden)]
pub mod algorithm;
mod backend;
pub mod base64url;
mod current_key;
mod handle;
pub mod header;
pub mod jws;
mod key;
mod key_set;
pub mod remote;

#[cfg(any(feature = "aws-lc", feature = "josekit"))]
pub use backend::Backend;
pub use current_key::CurrentKey;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
pub use handle::KeyHandle;
pub use handle::{
    ContentKey, DecryptError, Decryption, DecryptionKey, EncryptError, Encryption, EncryptionKey,
    KeyOptions, PrivateKeyFor, PrivateUse, PublicKeyFor, PublicUse, SignError, SignatureError,
    Signing, SigningKey, Verifying, VerifyingKey,
};
#[cfg(feature = "x509")]
pub use key::Certificate;
pub use key::{
    Jwk, JwkSet, KeyError, KeyFileError, KeyMaterial, KeySizes, PrivateKey, PublicKey, Role,
    RsaSize, UnusableKey,
};
/// Bytes or text that are wiped when they are dropped.
pub use zeroize::Zeroizing;

pub use key_set::{KeyLookup, KeySet, KeySetError, Keyed, SelectError};
