//! JSON Web Keys and JWK sets (RFC 7517, RFC 7518 section 6.3).

use super::private_key::Numbers;
use super::{KeyError, KeyMaterial, PrivateKey, PublicKey, Role};
use crate::base64url;
use bankrail_values::excerpt;
use bankrail_values::json::{self, JsonLimits, JsonObject, JsonObjectWriter, JsonValue};
use rsa::BigUint;
use zeroize::{Zeroize as _, Zeroizing};

/// An RSA key as a JSON Web Key: its numbers, its `kid`, and what it may be used for.
///
/// - `kty` must be `RSA`. A document that has the JWK as one of its members, as key services write,
///   is refused with an error that names it.
/// - `use`, `key_ops` and `alg` are honoured: a role that one of them excludes is refused
///   ([`Jwk::allows`]).
/// - Unknown members are ignored, and members that are `null` count as absent, and so does an empty
///   `key_ops`.
#[derive(Debug)]
pub struct Jwk {
    public: PublicKey,
    private: Option<PrivateKey>,
    kid: Option<String>,
    public_use: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
}

const KEY_LIMITS: JsonLimits = JsonLimits::new()
    .max_document_bytes(super::pem::MAX_LEN)
    .max_depth(6)
    .max_values(256);
const SET_LIMITS: JsonLimits = JsonLimits::new()
    .max_document_bytes(KeyMaterial::MAX_BYTES)
    .max_depth(8)
    .max_values(8192);
const MAX_KID: usize = 256;

impl Jwk {
    /// Reads one JWK.
    ///
    /// # Errors
    /// [`KeyError`] unless the text is one RSA key with acceptable numbers. A private key must have
    /// all of `p`, `q`, `dp`, `dq` and `qi` or none of them (RFC 7518 section 6.3.2), and no `oth`.
    /// With none of them, `e` must be 65537 or more.
    pub fn parse(json: &str) -> Result<Self, KeyError> {
        let mut members =
            json::read_object(without_mark(json), &KEY_LIMITS).map_err(KeyError::Json)?;
        let read = Self::from_members(&members);
        members.zeroize();
        read
    }

    fn from_members(members: &JsonObject<'_>) -> Result<Self, KeyError> {
        match text(members, "kty")?.as_deref() {
            Some("RSA") => {}
            Some("EC" | "OKP" | "oct") => return Err(KeyError::NotRsa),
            None if members.members().iter().any(|own| is_jwk(own.value())) => {
                let found = "a JSON document that has the JWK as one of its members, such as \"key\"; \
                             write that member's value alone to the file";
                return Err(KeyError::UnknownForm { found });
            }
            // Key services have their own key types, such as `RSA-HSM`.
            _ => {
                return Err(KeyError::JwkMember {
                    name: "kty",
                    expected: "\"RSA\"",
                });
            }
        }
        // A key with more than two primes must not be used without these members (RFC 7518 section
        // 6.3.2.7).
        if member(members, "oth").is_some() {
            return Err(KeyError::MultiPrime);
        }
        let (n, e) = (number(members, "n")?, number(members, "e")?);
        let number = |name| number(members, name);
        let private = if ["p", "q", "dp", "dq", "qi"]
            .iter()
            .any(|name| member(members, name).is_some())
        {
            let mut numbers = Numbers::default();
            for (slot, name) in numbers
                .iter_mut()
                .zip(["n", "e", "d", "p", "q", "dp", "dq", "qi"])
            {
                *slot = number(name)?;
            }
            Some(PrivateKey::from_numbers(numbers)?)
        } else if member(members, "d").is_some() {
            Some(PrivateKey::from_exponent(
                n.clone(),
                e.clone(),
                number("d")?,
            )?)
        } else {
            None
        };
        let kid = text(members, "kid")?;
        if kid.as_ref().is_some_and(|kid| kid.len() > MAX_KID) {
            return Err(KeyError::JwkMember {
                name: "kid",
                expected: "at most 256 bytes",
            });
        }
        Ok(Self {
            public: PublicKey::from_numbers(n, e)?,
            private,
            kid,
            public_use: text(members, "use")?,
            key_ops: key_ops(members)?,
            alg: text(members, "alg")?,
        })
    }

    /// Returns `kid`, the key ID.
    #[must_use]
    pub fn kid(&self) -> Option<&str> {
        self.kid.as_deref()
    }

    /// Returns the public key.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Returns the private key, if the JWK is one.
    #[must_use]
    pub fn private_key(&self) -> Option<&PrivateKey> {
        self.private.as_ref()
    }

    /// Checks that `use`, `key_ops` and `alg`, where present, allow the role, and that the key has
    /// the private numbers that the role needs.
    ///
    /// # Errors
    /// [`KeyError::NotAllowed`] with the first member that forbids the role.
    pub fn allows(&self, role: Role) -> Result<(), KeyError> {
        let refused = |name| Err(KeyError::NotAllowed { name, role });
        if self
            .public_use
            .as_ref()
            .is_some_and(|found| found != role.jwk_use())
        {
            return refused("use");
        }
        if self
            .alg
            .as_ref()
            .is_some_and(|found| found != role.jwk_alg())
        {
            return refused("alg");
        }
        if self
            .key_ops
            .as_ref()
            .is_some_and(|ops| !ops.iter().any(|op| role.jwk_ops().contains(&op.as_str())))
        {
            return refused("key_ops");
        }
        if matches!(role, Role::Sign | Role::Decrypt) && self.private.is_none() {
            return refused("d");
        }
        Ok(())
    }

    /// Returns true if both keys have the same modulus, and one key is for signatures only and the
    /// other for encryption only.
    fn conflicts_with(&self, other: &Self) -> bool {
        let uses = |key: &Self| [Role::Verify, Role::Encrypt].map(|role| key.allows_use(role));
        matches!(
            (uses(self), uses(other)),
            ([true, false], [false, true]) | ([false, true], [true, false])
        ) && self.public.modulus() == other.public.modulus()
    }

    /// Returns true if the key may be used for this role or its private counterpart.
    fn allows_use(&self, public: Role) -> bool {
        let private = if public == Role::Verify {
            Role::Sign
        } else {
            Role::Decrypt
        };
        let bound = |role| self.allows(role).is_ok();
        bound(public) || bound(private)
    }
}

/// Makes a JWK of the key without a `kid`, for any use.
impl From<PublicKey> for Jwk {
    fn from(public: PublicKey) -> Self {
        Self {
            public,
            private: None,
            kid: None,
            public_use: None,
            key_ops: None,
            alg: None,
        }
    }
}

/// Makes a JWK of the key without a `kid`, for any use.
impl From<PrivateKey> for Jwk {
    fn from(private: PrivateKey) -> Self {
        let public = private.public_key();
        Self {
            private: Some(private),
            ..Self::from(public)
        }
    }
}

/// A JWK set: the usable keys, and for each other key the reason why it is unusable.
#[derive(Debug)]
pub struct JwkSet {
    keys: Vec<Jwk>,
    /// The index in the JWK set of each key of `keys`.
    places: Vec<usize>,
    unusable: Vec<UnusableKey>,
}

/// An unusable key of a JWK set, which was left out.
///
/// The key is of another type, out of bounds or malformed (RFC 7517 section 5 asks to ignore such
/// keys). Or it has the same modulus as another key of the set with a different use, or too many
/// keys of the set have its `kid`.
#[derive(Debug)]
#[non_exhaustive]
pub struct UnusableKey {
    /// The index in the set, counted from zero.
    pub index: usize,
    /// The `kid`, cut and escaped, if it has one that is a string.
    pub kid: Option<String>,
    /// The reason why it was left out.
    pub error: KeyError,
}

impl JwkSet {
    /// The maximum number of keys of a set.
    pub const MAX_KEYS: usize = 64;

    /// Reads a JWK set of at most 256 KiB.
    ///
    /// # Errors
    /// [`KeyError`] if the text is not a JSON object with an array `keys`, or has more than
    /// [`JwkSet::MAX_KEYS`]. An unusable key is not an error: see [`JwkSet::unusable`].
    pub fn parse(json: &str) -> Result<Self, KeyError> {
        let mut members =
            json::read_object(without_mark(json), &SET_LIMITS).map_err(KeyError::Json)?;
        let read = Self::from_members(&members);
        members.zeroize();
        read
    }

    fn from_members(members: &JsonObject<'_>) -> Result<Self, KeyError> {
        let Some(JsonValue::Array(list)) = members.get("keys") else {
            return Err(KeyError::JwkMember {
                name: "keys",
                expected: "an array",
            });
        };
        if list.len() > Self::MAX_KEYS {
            return Err(KeyError::TooManyKeys {
                found: list.len(),
                max: Self::MAX_KEYS,
            });
        }
        let (mut read_keys, mut unusable): (Vec<(usize, Jwk)>, Vec<UnusableKey>) =
            (Vec::new(), Vec::new());
        for (index, key) in list.iter().enumerate() {
            let refused = |kid: Option<String>, error| UnusableKey {
                index,
                kid: kid.as_deref().map(excerpt),
                error,
            };
            match key {
                JsonValue::Object(members) => match Jwk::from_members(members) {
                    Ok(key) => read_keys.push((index, key)),
                    Err(error) => {
                        unusable.push(refused(text(members, "kid").ok().flatten(), error))
                    }
                },
                _ => {
                    let error = KeyError::JwkMember {
                        name: "keys",
                        expected: "an array of objects",
                    };
                    unusable.push(refused(None, error));
                }
            }
        }
        let conflicts: Vec<Option<usize>> = read_keys
            .iter()
            .map(|(_, key)| {
                read_keys
                    .iter()
                    .find(|(_, other)| key.conflicts_with(other))
                    .map(|(index, _)| *index)
            })
            .collect();
        let mut set = Self {
            keys: Vec::new(),
            places: Vec::new(),
            unusable,
        };
        for ((index, key), conflict) in read_keys.into_iter().zip(conflicts) {
            if let Some(other) = conflict {
                let kid = key.kid().map(excerpt);
                set.unusable.push(UnusableKey {
                    index,
                    kid,
                    error: KeyError::TwoUses { other },
                });
            } else {
                set.keys.push(key);
                set.places.push(index);
            }
        }
        set.unusable.sort_by_key(|key| key.index);
        Ok(set)
    }

    pub(crate) fn into_unusable(self) -> Vec<UnusableKey> {
        self.unusable
    }

    /// Returns each usable key with its index in the JWK set.
    pub(crate) fn with_places(&self) -> impl Iterator<Item = (usize, &Jwk)> {
        self.places.iter().copied().zip(&self.keys)
    }

    /// Returns the usable keys.
    #[must_use]
    pub fn keys(&self) -> &[Jwk] {
        &self.keys
    }

    /// Returns the keys that were left out, with the reason for each.
    #[must_use]
    pub fn unusable(&self) -> &[UnusableKey] {
        &self.unusable
    }
}

/// Returns the bytes of a text without a byte order mark.
fn without_mark(json: &str) -> &[u8] {
    json.strip_prefix('\u{feff}').unwrap_or(json).as_bytes()
}

/// Returns the public key as a JWK for a role: `kty`, `n`, `e`, `use`, `alg` and `kid`.
pub(crate) fn public_jwk(public: &PublicKey, role: Role, kid: Option<&str>) -> String {
    JsonObjectWriter::new()
        .string("alg", role.jwk_alg())
        .string("e", &base64url::encode(&public.exponent()))
        .optional_string("kid", kid)
        .string("kty", "RSA")
        .string("n", &base64url::encode(&public.modulus()))
        .string("use", role.jwk_use())
        .finish()
}

/// Returns the private key as a JWK for a role.
pub(crate) fn private_jwk(key: &PrivateKey, role: Role, kid: Option<&str>) -> Zeroizing<String> {
    let mut json = Zeroizing::new(public_jwk(&key.public_key(), role, kid));
    let closing = json.pop();
    debug_assert_eq!(closing, Some('}'));
    // Room for the numbers of the largest key, so that growing leaves no copy of them behind.
    json.reserve(8192);
    for (name, bytes) in key.private_numbers() {
        let value = Zeroizing::new(base64url::encode(&bytes));
        json.extend([",\"", name, "\":\"", &value, "\""]);
    }
    json.push('}');
    json
}

/// Returns true for an object with a key type.
fn is_jwk(value: &JsonValue<'_>) -> bool {
    matches!(value, JsonValue::Object(members) if member(members, "kty").is_some())
}

/// Returns a member. `null` counts as absent, because some writers write it for each member that
/// they do not have.
fn member<'a>(members: &'a JsonObject<'_>, name: &str) -> Option<&'a JsonValue<'a>> {
    members
        .get(name)
        .filter(|value| !matches!(value, JsonValue::Null))
}

fn text(members: &JsonObject<'_>, name: &'static str) -> Result<Option<String>, KeyError> {
    match member(members, name) {
        None => Ok(None),
        Some(JsonValue::String(text)) => Ok(Some(text.clone().into_owned())),
        Some(_) => Err(KeyError::JwkMember {
            name,
            expected: "a string",
        }),
    }
}

/// Decodes a Base64urlUInt (RFC 7518 section 2). Leading zero bytes are accepted: some writers
/// prepend a zero byte for the sign, or pad the number to a fixed length.
fn number(members: &JsonObject<'_>, name: &'static str) -> Result<BigUint, KeyError> {
    let refused = KeyError::JwkMember {
        name,
        expected: "a number in canonical base64url",
    };
    let Some(JsonValue::String(text)) = member(members, name) else {
        return Err(refused);
    };
    // Checked before decoding: the numbers of the largest accepted key have 1366 characters.
    if text.len() > 2048 {
        return Err(refused);
    }
    let Ok(bytes) = base64url::decode(text).map(Zeroizing::new) else {
        return Err(refused);
    };
    if bytes.is_empty() {
        return Err(refused);
    }
    Ok(BigUint::from_bytes_be(&bytes))
}

fn key_ops(members: &JsonObject<'_>) -> Result<Option<Vec<String>>, KeyError> {
    let refused = || KeyError::JwkMember {
        name: "key_ops",
        expected: "an array of different strings",
    };
    let list = match member(members, "key_ops") {
        None => return Ok(None),
        Some(JsonValue::Array(list)) => list,
        Some(_) => return Err(refused()),
    };
    let mut ops: Vec<String> = Vec::new();
    for op in list {
        match op {
            JsonValue::String(op) if !ops.iter().any(|known| known == op) => {
                ops.push(op.clone().into_owned())
            }
            _ => return Err(refused()),
        }
    }
    // .NET writes an empty list for a key without `key_ops`.
    Ok(Some(ops).filter(|ops| !ops.is_empty()))
}
