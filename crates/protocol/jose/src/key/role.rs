//! The uses of a key and the lengths allowed for them.

use super::KeyError;
use crate::algorithm;
use std::fmt;

/// The use of a key handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Makes RS256 signatures, with a private key.
    Sign,
    /// Checks RS256 signatures, with a public key.
    Verify,
    /// Encrypts content keys by RSA-OAEP, with a public key.
    Encrypt,
    /// Decrypts content keys by RSA-OAEP, with a private key.
    Decrypt,
}

impl Role {
    /// Returns `use` of a JWK (RFC 7517 section 4.2).
    pub(crate) fn jwk_use(self) -> &'static str {
        self.row().0
    }

    /// Returns `alg` of a JWK (RFC 7518 sections 3.1 and 4.1).
    pub(crate) fn jwk_alg(self) -> &'static str {
        self.row().1
    }

    /// Returns the values of `key_ops` that allow this role (RFC 7517 section 4.3).
    pub(crate) fn jwk_ops(self) -> &'static [&'static str] {
        self.row().2
    }

    /// Returns `use`, `alg`, `key_ops` and the description of the role for error texts.
    fn row(
        self,
    ) -> (
        &'static str,
        &'static str,
        &'static [&'static str],
        &'static str,
    ) {
        match self {
            Self::Sign => ("sig", algorithm::SIGNATURE, &["sign"], "signing"),
            Self::Verify => ("sig", algorithm::SIGNATURE, &["verify"], "verifying"),
            Self::Encrypt => (
                "enc",
                algorithm::KEY_ENCRYPTION,
                &["wrapKey", "encrypt"],
                "encryption",
            ),
            Self::Decrypt => (
                "enc",
                algorithm::KEY_ENCRYPTION,
                &["unwrapKey", "decrypt"],
                "decryption",
            ),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.row().3)
    }
}

/// The modulus lengths that a key may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeySizes {
    /// To sign and verify, any length from 2048 to 8192 bits that is a whole number of bytes
    /// (Default); to encrypt and decrypt, 2048 bits (Specification: "Secured payload envelope").
    ///
    /// The specification limits signing keys to 2048 or 4096 bits for the secured payload, not for
    /// client assertions: see [`KeySizes::SecuredPayload`].
    #[default]
    Encryption2048,
    /// The keys of messages (Specification: "Secured payload envelope"): to sign and verify, 2048
    /// or 4096 bits; to encrypt and decrypt, 2048 bits.
    SecuredPayload,
    /// For every use any length from 2048 to 8192 bits that is a whole number of bytes.
    AnyFrom2048,
}

impl KeySizes {
    /// Checks that the modulus length is allowed for a use.
    ///
    /// # Errors
    /// [`KeyError::Size`] with the lengths that are allowed.
    pub fn check(self, bits: usize, role: Role) -> Result<(), KeyError> {
        let (fits, expected) = match (self, role) {
            (Self::Encryption2048 | Self::SecuredPayload, Role::Encrypt | Role::Decrypt) => {
                (bits == algorithm::ENCRYPTION_KEY_BITS, "2048")
            }
            (Self::SecuredPayload, Role::Sign | Role::Verify) => (
                algorithm::MESSAGE_SIGNING_KEY_BITS.contains(&bits),
                "2048 or 4096",
            ),
            (Self::Encryption2048 | Self::AnyFrom2048, _) => (
                (2048..=8192).contains(&bits) && bits.is_multiple_of(8),
                "2048 to 8192",
            ),
        };
        if fits {
            Ok(())
        } else {
            Err(KeyError::Size {
                bits,
                role,
                expected,
            })
        }
    }
}

/// The modulus length of a generated key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RsaSize {
    /// 2048 bits.
    Rsa2048,
    /// 3072 bits. Of the specification's uses, only client assertions allow it, for signing keys.
    Rsa3072,
    /// 4096 bits. The specification allows it for signing keys only.
    Rsa4096,
}

impl RsaSize {
    /// Returns the length of the modulus in bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Rsa2048 => 2048,
            Self::Rsa3072 => 3072,
            Self::Rsa4096 => 4096,
        }
    }
}
