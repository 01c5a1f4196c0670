//! Why key material is refused.

use super::Role;
use bankrail_values::json::JsonError;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Key material that cannot be used. A matter of configuration, not of a message; never holds key material.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// More bytes than any key takes.
    #[error("expected at most {max} bytes of key material, found {found}")]
    TooLong {
        /// The bytes found.
        found: usize,
        /// The most allowed.
        max: usize,
    },
    /// Not one well-formed PEM block.
    #[error("expected one PEM block: {reason}")]
    NotPem {
        /// What was wrong.
        reason: &'static str,
    },
    /// The private key is encrypted with a pass phrase. Decrypt it first, for example with `openssl pkey`.
    #[error("the private key is encrypted with a pass phrase, which is not supported")]
    Encrypted,
    /// A PEM block of another kind.
    #[error("expected a PEM block of {expected}, found {found}")]
    UnexpectedLabel {
        /// The kinds accepted here.
        expected: &'static str,
        /// The beginning of the label found.
        found: String,
    },
    /// Not the DER that its place asks for.
    #[error("expected {expected} in DER")]
    NotDer {
        /// What was to be read.
        expected: &'static str,
        /// What was wrong.
        source: Source,
    },
    /// A key of another algorithm, or an RSA key bound to RSASSA-PSS or RSAES-OAEP by its identifier.
    #[error("expected an RSA key (rsaEncryption), found another algorithm")]
    NotRsa,
    /// The modulus has a length that is not allowed for this use.
    #[error("expected a modulus of {expected} bits for {role}, found {bits}")]
    Size {
        /// The length found.
        bits: usize,
        /// The use asked for.
        role: Role,
        /// The lengths allowed.
        expected: &'static str,
    },
    /// An even modulus.
    #[error("expected an odd modulus")]
    EvenModulus,
    /// The public exponent is even, less than 3 or longer than 33 bits.
    #[error("expected an odd public exponent from 3 to 2^33 - 1")]
    Exponent,
    /// The modulus bears the mark of keys that a faulty chip made and that can be factored (ROCA, CVE-2017-15361).
    #[error("the modulus is of a kind that can be factored (ROCA)")]
    Factorable,
    /// More than two primes (RFC 8017 section 3.2).
    #[error("expected two primes, found a multi-prime key")]
    MultiPrime,
    /// The private numbers do not belong to each other or to the public ones.
    #[error("the private key's numbers do not fit each other")]
    Inconsistent,
    /// Not a JSON Web Key or set of them.
    #[error("expected a JSON Web Key: {0}")]
    Json(JsonError),
    /// A member of a JWK that is absent, of another type, or not canonical base64url.
    #[error("expected {expected} as JWK member {name:?}")]
    JwkMember {
        /// The member.
        name: &'static str,
        /// What was to be read.
        expected: &'static str,
    },
    /// A JWK whose `use`, `key_ops` or `alg` is for something else.
    #[error("the JWK's member {name:?} does not allow {role}")]
    NotAllowed {
        /// The member that says so.
        name: &'static str,
        /// The use asked for.
        role: Role,
    },
    /// Two keys of a JWK set have one modulus and different uses: what one of them is asked to do can be turned against
    /// the other (RFC 8725 section 3.1).
    #[error("the key at {other} of the set is the same for another use")]
    TwoUses {
        /// The other key's place in the set, counted from zero.
        other: usize,
    },
    /// A JWK set with more keys than allowed.
    #[error("expected at most {max} keys, found {found}")]
    TooManyKeys {
        /// The keys found.
        found: usize,
        /// The most allowed.
        max: usize,
    },
    /// The back end did not take the key, could not make one, or failed its trial run.
    #[error("the RSA back end refused the key")]
    Backend,
    /// The system gave no random bytes.
    #[error("no random bytes from the system")]
    Random,
}
