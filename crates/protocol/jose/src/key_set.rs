//! Sets of keys, for rotation.

use crate::CurrentKey;
use std::fmt;
use std::sync::Arc;

/// A key that may have a `kid`. Every key handle implements this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no key that may have a `kid`",
    label = "not a key",
    note = "choose `SigningKey`, `VerifyingKey`, `EncryptionKey` or `DecryptionKey`, or implement `RemoteDecrypter`"
)]
pub trait Keyed {
    /// Returns the `kid`, if the key has one.
    fn kid(&self) -> Option<&str>;
}

/// Several keys for one use, selected by `kid`, replaceable while in use.
///
/// - A token's `kid` selects the keys with that `kid`, at most [`KeySet::MAX_TRIED`]: a sender may
///   have replaced a key and kept its `kid`. A token with an unknown `kid` is refused.
/// - A token without `kid` is tried with every key if the set has at most [`KeySet::MAX_TRIED`]
///   keys, and refused otherwise.
/// - In a set whose keys have no `kid`, a token's `kid` is ignored.
///
/// Clones share their keys: [`KeySet::replace`] on one changes all. Reading holds a lock while a
/// pointer is copied.
pub struct KeySet<K>(CurrentKey<Vec<K>>);

impl<K: Keyed + Clone> KeySet<K> {
    /// The maximum number of keys that a token is tried with.
    pub const MAX_TRIED: usize = 4;

    /// The maximum number of keys of a set.
    pub const MAX_KEYS: usize = 64;

    /// Returns a set of these keys, in the order in which they are tried.
    ///
    /// # Errors
    /// [`KeySetError`] if there are no keys or too many, if only some have a `kid`, or if more than
    /// [`KeySet::MAX_TRIED`] have the same one or none.
    pub fn new(keys: impl IntoIterator<Item = K>) -> Result<Self, KeySetError> {
        Ok(Self::of(check(keys)?))
    }

    /// Replaces all keys of this set and its clones at once. A check that has already selected its
    /// keys finishes with them.
    ///
    /// # Errors
    /// As [`KeySet::new`]; the set is then unchanged.
    pub fn replace(&self, keys: impl IntoIterator<Item = K>) -> Result<(), KeySetError> {
        self.0.replace(check(keys)?);
        Ok(())
    }

    /// The keys to try for a token with this `kid`, in order.
    ///
    /// # Errors
    /// [`SelectError`] if no key has this `kid`, or if there is no `kid` and there are too many
    /// keys to try.
    pub fn select(&self, kid: Option<&str>) -> Result<Arc<Vec<K>>, SelectError> {
        let keys = self.keys();
        // All keys have a `kid` or none has (`check`), so the first one shows which.
        let named = keys.first().is_some_and(|key| key.kid().is_some());
        match kid.filter(|_| named) {
            Some(kid) => {
                let named = keys.iter().filter(|key| key.kid() == Some(kid));
                match named.cloned().collect::<Vec<K>>() {
                    none if none.is_empty() => Err(SelectError::UnknownKid { keys: keys.len() }),
                    named => Ok(Arc::new(named)),
                }
            }
            // Each key costs an RSA operation, which a token without a `kid` must not multiply.
            None if keys.len() > Self::MAX_TRIED => {
                Err(SelectError::KidRequired { keys: keys.len() })
            }
            None => Ok(keys),
        }
    }
}

impl<K> KeySet<K> {
    fn of(keys: Vec<K>) -> Self {
        Self(CurrentKey::new(keys))
    }

    /// Returns the current keys.
    #[must_use]
    pub fn keys(&self) -> Arc<Vec<K>> {
        self.0.get()
    }
}

#[cfg(any(feature = "aws-lc", feature = "josekit"))]
impl<K: crate::KeyHandle> KeySet<K> {
    /// Makes a key set of those keys of a JWK set that are meant for this use.
    ///
    /// - Keys for other uses are left out: a JWK set often holds keys for several uses.
    /// - Keys for this use that are refused, for example for their size, are returned with the
    ///   reason. Log them: one of them may be the key that the other side uses next.
    /// - If only some of the keys have a `kid`, those without are refused. The first
    ///   [`KeySet::MAX_TRIED`] keys with the same `kid` are taken, and the others are refused.
    ///
    /// To update an existing set, call [`KeySet::replace`] with the [`KeySet::keys`] of the new
    /// one.
    ///
    /// # Errors
    /// [`KeySetError`] if no key is left, with the reason for the first one, or if more than
    /// [`KeySet::MAX_TRIED`] keys without `kid` are left.
    pub fn from_jwk_set(
        set: &crate::JwkSet,
        options: &crate::KeyOptions,
    ) -> Result<(Self, Vec<crate::UnusableKey>), KeySetError> {
        let (keys, mut unusable) = set.for_use(options);
        let keys = unambiguous(keys, &mut unusable);
        if keys.is_empty() {
            let first = unusable
                .iter()
                .chain(set.unusable())
                .min_by_key(|key| key.index)
                .ok_or(KeySetError::Empty)?;
            return Err(KeySetError::NoneUsable {
                index: first.index,
                reason: first.error.to_string(),
            });
        }
        Ok((Self::new(keys)?, unusable))
    }
}

#[cfg(any(feature = "aws-lc", feature = "josekit"))]
impl crate::JwkSet {
    /// Returns the keys that are meant for this use, each with its index, even if several have the
    /// same `kid`; and the keys that are refused, in addition to
    /// [`JwkSet::unusable`](crate::JwkSet::unusable). A key for another use is left out, or refused
    /// if the set has nothing else.
    pub fn for_use<K: crate::KeyHandle>(
        &self,
        options: &crate::KeyOptions,
    ) -> (Vec<(usize, K)>, Vec<crate::UnusableKey>) {
        let (mut keys, mut refused, mut other_use) = (Vec::new(), Vec::new(), None);
        for (index, jwk) in self.with_places() {
            let unusable = |error| crate::UnusableKey {
                index,
                kid: jwk.kid().map(bankrail_values::excerpt),
                error,
            };
            match jwk.allows(K::ROLE).map(|()| K::from_jwk(jwk, options)) {
                Ok(Ok(key)) => keys.push((index, key)),
                Ok(Err(error)) => refused.push(unusable(error)),
                Err(error) => drop(other_use.get_or_insert(unusable(error))),
            }
        }
        // A JWK set usually also has keys for other uses. They are reported only if nothing else
        // explains why no key for this use was found.
        if keys.is_empty() && refused.is_empty() && self.unusable().is_empty() {
            refused.extend(other_use);
        }
        (keys, refused)
    }
}

/// Leaves out the keys of a JWK set that a token could not select by `kid`: keys without `kid`
/// beside keys with one, and keys whose `kid` too many earlier ones have.
fn unambiguous<K: Keyed + Clone>(
    keys: Vec<(usize, K)>,
    unusable: &mut Vec<crate::UnusableKey>,
) -> Vec<K> {
    let named = keys.iter().any(|(_, key)| key.kid().is_some());
    let mut taken: Vec<(usize, K)> = Vec::with_capacity(keys.len());
    for (index, key) in keys {
        let mut earlier = taken.iter().filter(|(_, one)| one.kid() == key.kid());
        let error = match earlier.nth(KeySet::<K>::MAX_TRIED - 1) {
            _ if named && key.kid().is_none() => crate::KeyError::NoKid,
            Some((other, _)) if named => crate::KeyError::SameKid { other: *other },
            _ => {
                taken.push((index, key));
                continue;
            }
        };
        let kid = key.kid().map(bankrail_values::excerpt);
        unusable.push(crate::UnusableKey { index, kid, error });
    }
    unusable.sort_by_key(|key| key.index);
    taken.into_iter().map(|(_, key)| key).collect()
}

impl<U: crate::PublicUse> KeySet<crate::PublicKeyFor<U>> {
    /// Writes the current keys as a JWK set in JSON (RFC 7517 section 5), for publishing.
    #[must_use]
    pub fn to_jwk_set(&self) -> String {
        let keys: Vec<String> = self.keys().iter().map(|key| key.to_jwk()).collect();
        format!(r#"{{"keys":[{}]}}"#, keys.join(","))
    }
}

/// A set of one key. If the key and a token both have a `kid`, they must be equal.
impl<K: Keyed + Clone> From<K> for KeySet<K> {
    fn from(key: K) -> Self {
        Self::of(vec![key])
    }
}

impl<K> Clone for KeySet<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K: fmt::Debug> fmt::Debug for KeySet<K> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("KeySet").field(&*self.keys()).finish()
    }
}

/// A source of keys for a token: one key or a [`KeySet`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no source of a `{K}`",
    label = "not a `{K}` and no `KeySet` of them",
    note = "pass a `{K}` or a `KeySet` of them",
    note = "`PublicKeyFor<Verifying>` is a `VerifyingKey`, `PrivateKeyFor<Decryption>` a `DecryptionKey`",
    note = "`SigningKey::verifying_key` and `DecryptionKey::encryption_key` give the public halves"
)]
pub trait KeyLookup<K> {
    /// The keys to try for a token with this `kid`, in order.
    ///
    /// # Errors
    /// [`SelectError`] if there is none.
    fn select(&self, kid: Option<&str>) -> Result<Arc<Vec<K>>, SelectError>;
}

#[diagnostic::do_not_recommend]
impl<K: Keyed + Clone> KeyLookup<K> for K {
    fn select(&self, kid: Option<&str>) -> Result<Arc<Vec<K>>, SelectError> {
        match (kid, self.kid()) {
            (Some(found), Some(own)) if found != own => Err(SelectError::UnknownKid { keys: 1 }),
            _ => Ok(Arc::new(vec![self.clone()])),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<K: Keyed + Clone> KeyLookup<K> for KeySet<K> {
    fn select(&self, kid: Option<&str>) -> Result<Arc<Vec<K>>, SelectError> {
        KeySet::select(self, kid)
    }
}

/// No key was found for a token. The answer to a counterparty must be the same as for a bad
/// signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// No key has the token's `kid`.
    #[error("none of {keys} keys has the token's kid")]
    UnknownKid {
        /// The number of keys.
        keys: usize,
    },
    /// The token has no `kid` and there are too many keys to try.
    #[error("expected a kid in the token, as {keys} keys are too many to try")]
    KidRequired {
        /// The number of keys.
        keys: usize,
    },
}

/// The reason why keys do not make a [`KeySet`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeySetError {
    /// There are no keys.
    #[error("expected at least one key, found none")]
    Empty,
    /// The JWK set has keys, but none of them is usable for this use.
    #[error("expected a usable key in the JWK set, found none, key {index}: {reason}")]
    NoneUsable {
        /// The index of the first key refused, counted from zero. A key for another use counts only
        /// if there are no others.
        index: usize,
        /// The reason why the key was refused.
        reason: String,
    },
    /// There are more than [`KeySet::MAX_KEYS`] keys.
    #[error("expected at most {max} keys, found more")]
    TooMany {
        /// The maximum number of keys.
        max: usize,
    },
    /// There are more keys with one `kid` than are tried for a token.
    #[error("expected at most {max} keys with the kid {kid:?}, found more")]
    TooManySameKid {
        /// The `kid`.
        kid: String,
        /// The maximum number of keys that are tried.
        max: usize,
    },
    /// Some keys have a `kid` and some do not, so that a token's `kid` would be ambiguous.
    #[error("expected a kid on all keys of the set or on none, found it on some")]
    PartlyNamed,
    /// There are more keys without `kid` than are tried for a token.
    #[error("expected at most {max} keys without kid, found more")]
    TooManyUnnamed {
        /// The maximum number of keys that are tried.
        max: usize,
    },
}

fn check<K: Keyed + Clone>(keys: impl IntoIterator<Item = K>) -> Result<Vec<K>, KeySetError> {
    let max = KeySet::<K>::MAX_KEYS;
    // Takes one key more than the maximum, so that too many keys are noticed and an endless
    // iterator ends.
    let keys: Vec<K> = keys.into_iter().take(max + 1).collect();
    if keys.is_empty() {
        return Err(KeySetError::Empty);
    }
    if keys.len() > max {
        return Err(KeySetError::TooMany { max });
    }
    let mut names: Vec<&str> = keys.iter().filter_map(Keyed::kid).collect();
    if !names.is_empty() && names.len() < keys.len() {
        return Err(KeySetError::PartlyNamed);
    }
    let tried = KeySet::<K>::MAX_TRIED;
    if names.is_empty() && keys.len() > tried {
        return Err(KeySetError::TooManyUnnamed { max: tried });
    }
    names.sort_unstable();
    let too_many = names
        .iter()
        .zip(names.iter().skip(tried))
        .find(|(kid, later)| kid == later);
    match too_many {
        Some((kid, _)) => Err(KeySetError::TooManySameKid {
            kid: (*kid).to_owned(),
            max: tried,
        }),
        None => Ok(keys),
    }
}
