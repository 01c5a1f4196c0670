//! The error of reading a key.

use super::Role;
use bankrail_values::json::JsonError;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Key material that is refused. The error is a fault of configuration, not of a message, and never
/// contains key material.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The key or the JWK set is longer than any accepted one.
    #[error("expected at most {max} bytes of key material, found {found}")]
    TooLong {
        /// The length found, in bytes.
        found: usize,
        /// The maximum, in bytes.
        max: usize,
    },
    /// The text is not one well-formed PEM block.
    #[error("expected one PEM block, found {reason}")]
    NotPem {
        /// A description of what was found in place of the block.
        reason: &'static str,
    },
    /// The bytes have none of the forms that are read.
    #[error("expected a key as PEM, DER, JWK or JWK set, found {found}")]
    UnknownForm {
        /// The form found, and how to convert it to one that is read.
        found: &'static str,
    },
    /// The private key is encrypted with a pass phrase. Decrypt it first, for example with
    /// `openssl pkey`.
    #[error("expected a private key without a pass phrase, found an encrypted one")]
    Encrypted,
    /// The PEM block has another label than those accepted.
    #[error("expected a PEM block of {expected}, found {found}")]
    UnexpectedLabel {
        /// The labels accepted here.
        expected: &'static str,
        /// The label found, cut and escaped.
        found: String,
    },
    /// The bytes are not the expected structure in DER.
    #[error("expected {expected} in DER")]
    NotDer {
        /// The structure expected.
        expected: &'static str,
        /// The cause.
        source: Source,
    },
    /// The key is of another algorithm, or is an RSA key whose algorithm identifier binds it to
    /// RSASSA-PSS or RSAES-OAEP.
    #[error("expected an RSA key (rsaEncryption), found another algorithm")]
    NotRsa,
    /// The length of the modulus is not allowed for this use.
    #[error("expected a modulus of {expected} bits for {role}, found {bits}")]
    Size {
        /// The length found, in bits.
        bits: usize,
        /// The use requested.
        role: Role,
        /// The lengths allowed, in bits.
        expected: &'static str,
    },
    /// The modulus is even.
    #[error("expected an odd modulus")]
    EvenModulus,
    /// The public exponent is even, less than 3 or longer than 33 bits.
    #[error("expected an odd public exponent from 3 to 2^33 - 1")]
    Exponent,
    /// The modulus has the form that a faulty chip generates and that can be factored (ROCA,
    /// CVE-2017-15361).
    #[error("the modulus can be factored (ROCA, CVE-2017-15361)")]
    Factorable,
    /// The key has more than two primes (RFC 8017 section 3.2).
    #[error("expected two primes, found a multi-prime key")]
    MultiPrime,
    /// The private numbers do not match each other or the public numbers.
    #[error("the private key's numbers do not match each other")]
    Inconsistent,
    /// The text is neither a JSON Web Key nor a JWK set.
    #[error("expected a JSON Web Key: {0}")]
    Json(JsonError),
    /// A JWK member is absent, of another type, or not canonical base64url.
    #[error("expected {expected} as JWK member {name:?}")]
    JwkMember {
        /// The name of the member.
        name: &'static str,
        /// The form expected.
        expected: &'static str,
    },
    /// The JWK's `use`, `key_ops` or `alg` does not allow the use, or the JWK lacks the private
    /// numbers for it.
    #[error("JWK member {name:?} does not allow {role}")]
    NotAllowed {
        /// The member that forbids it; `d` if the private numbers are absent.
        name: &'static str,
        /// The use requested.
        role: Role,
    },
    /// The key is a public one, and a private one is expected.
    #[error("expected a private key, found a public one")]
    NotPrivate,
    /// The keys of a JWK set do not make a [`KeySet`](crate::KeySet) for the use.
    #[error(transparent)]
    Set(#[from] crate::KeySetError),
    /// Two keys of a JWK set have the same modulus and different uses. An operation of one use can
    /// then serve an attack on the other (RFC 8725 section 3.1).
    #[error("key {other} of the set has the same modulus and another use")]
    TwoUses {
        /// The index of the other key in the set, counted from zero.
        other: usize,
    },
    /// A key of a JWK set has no `kid` and other keys of the set have one.
    #[error("expected a kid, as other keys of the set have one")]
    NoKid,
    /// The JWK set already has as many earlier keys with this `kid` as are tried for a token
    /// ([`KeySet::MAX_TRIED`](crate::KeySet::MAX_TRIED)).
    #[error("too many keys of the set have the same kid, key {other} among them")]
    SameKid {
        /// The index of the last key with this `kid` that is tried, counted from zero.
        other: usize,
    },
    /// The JWK set has more keys than allowed.
    #[error("expected at most {max} keys, found {found}")]
    TooManyKeys {
        /// The number of keys found.
        found: usize,
        /// The maximum number of keys.
        max: usize,
    },
    /// The back end refused the key, could not generate one, or failed in the trial run of its
    /// operation.
    #[error("the RSA back end refused the key")]
    Backend,
    /// The operating system gave no random bytes.
    #[error("no random bytes from the system")]
    Random,
}
