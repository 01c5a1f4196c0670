//! Several keys at once, for rotation.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// Something with a name: every key handle.
pub trait Keyed {
    /// The name of the key, if it has one.
    fn kid(&self) -> Option<&str>;
}

/// Several keys for one purpose, found by `kid`, replaceable while in use.
///
/// - A token's `kid` selects the key of that name; an unknown one is refused, not tried on all.
/// - A token without `kid` is tried on every key, up to [`KeySet::MAX_TRIED`] of them; a larger set asks for a `kid`.
/// - In a set whose keys have no names, a token's `kid` says nothing and is not looked at.
///
/// Clones share their keys: [`KeySet::replace`] on one is seen by all. Reading holds a lock while a pointer is copied.
pub struct KeySet<K>(Arc<RwLock<Arc<Vec<K>>>>);

impl<K: Keyed + Clone> KeySet<K> {
    /// The most keys that a token without `kid` is tried on.
    pub const MAX_TRIED: usize = 4;

    /// The most keys of one set.
    pub const MAX_KEYS: usize = 64;

    /// A set of these keys, in order of trial.
    ///
    /// # Errors
    /// [`KeySetError`] if there is none, there are too many, two have one name, only some have names, or more than
    /// [`KeySet::MAX_TRIED`] have none.
    pub fn new(keys: impl IntoIterator<Item = K>) -> Result<Self, KeySetError> {
        Ok(Self::of(check(keys)?))
    }

    /// Puts these keys in place of all others, in this set and its clones, at once. Messages that are being checked
    /// finish with the keys that they began with.
    ///
    /// # Errors
    /// As [`KeySet::new`]; the set is then unchanged.
    pub fn replace(&self, keys: impl IntoIterator<Item = K>) -> Result<(), KeySetError> {
        let keys = Arc::new(check(keys)?);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = keys;
        Ok(())
    }

    /// The keys to try on a token with this `kid`.
    ///
    /// # Errors
    /// [`SelectError`] if no key has that name, or there are too many to try.
    pub fn select(&self, kid: Option<&str>) -> Result<Selected<K>, SelectError> {
        let keys = self.keys();
        let named = keys.first().is_some_and(|key| key.kid().is_some());
        match kid.filter(|_| named) {
            Some(kid) => match keys.iter().find(|key| key.kid() == Some(kid)) {
                Some(key) => Ok(Selected(Few::One(key.clone()))),
                None => Err(SelectError::UnknownKid { keys: keys.len() }),
            },
            None if keys.len() > Self::MAX_TRIED => Err(SelectError::KidRequired { keys: keys.len() }),
            None => Ok(Selected(Few::All(keys))),
        }
    }
}

impl<K> KeySet<K> {
    fn of(keys: Vec<K>) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(keys))))
    }

    /// The keys as they are now.
    #[must_use]
    pub fn keys(&self) -> Arc<Vec<K>> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(any(feature = "aws-lc", feature = "josekit"))]
macro_rules! from_jwk_set {
    ($handle:ident, $role:expr) => {
        impl KeySet<crate::$handle> {
            /// The keys of a JWK set that are meant for this, and those among them that cannot be used, with reasons (a
            /// size that is not allowed, say): log them, as one of them may be the key that the other side uses next.
            /// Keys for something else are left out: a set often holds keys for several uses.
            ///
            /// Call [`KeySet::replace`] with the [`KeySet::keys`] of the new set to put it in place of an old one.
            ///
            /// # Errors
            /// [`KeySetError`] if no key is left, or the keys do not make a set.
            pub fn from_jwk_set(
                set: &crate::JwkSet,
                options: &crate::KeyOptions,
            ) -> Result<(Self, Vec<crate::UnusableKey>), KeySetError> {
                let (mut keys, mut unusable) = (Vec::new(), Vec::new());
                for (index, jwk) in set.with_places().filter(|(_, jwk)| jwk.allows($role).is_ok()) {
                    match crate::$handle::from_jwk(jwk, options) {
                        Ok(key) => keys.push(key),
                        Err(error) => unusable.push(crate::UnusableKey { index, error }),
                    }
                }
                if keys.is_empty() && !unusable.is_empty() {
                    let crate::UnusableKey { index, error } = unusable.swap_remove(0);
                    return Err(KeySetError::NoneUsable { index, source: error });
                }
                Ok((Self::new(keys)?, unusable))
            }
        }
    };
}

#[cfg(any(feature = "aws-lc", feature = "josekit"))]
from_jwk_set!(VerifyingKey, crate::Role::Verify);
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
from_jwk_set!(EncryptionKey, crate::Role::Encrypt);
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
from_jwk_set!(DecryptionKey, crate::Role::Decrypt);

macro_rules! to_jwk_set {
    ($handle:ident) => {
        impl KeySet<crate::$handle> {
            /// The keys as they are now as a JWK set in JSON (RFC 7517 section 5), for publishing.
            #[must_use]
            pub fn to_jwk_set(&self) -> String {
                let keys: Vec<String> = self.keys().iter().map(crate::$handle::to_jwk).collect();
                format!(r#"{{"keys":[{}]}}"#, keys.join(","))
            }
        }
    };
}

to_jwk_set!(VerifyingKey);
to_jwk_set!(EncryptionKey);

/// One key as a set: a token's `kid`, if both have one, must be the key's.
impl<K: Keyed + Clone> From<K> for KeySet<K> {
    fn from(key: K) -> Self {
        Self::of(vec![key])
    }
}

impl<K> Clone for KeySet<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: fmt::Debug> fmt::Debug for KeySet<K> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("KeySet").field(&*self.keys()).finish()
    }
}

/// The keys to try, in order.
#[derive(Clone, Debug)]
pub struct Selected<K>(Few<K>);

#[derive(Clone, Debug)]
enum Few<K> {
    One(K),
    All(Arc<Vec<K>>),
}

impl<K> Selected<K> {
    /// The keys.
    #[must_use]
    pub fn as_slice(&self) -> &[K] {
        match &self.0 {
            Few::One(key) => std::slice::from_ref(key),
            Few::All(keys) => keys,
        }
    }
}

/// Where keys for a token come from: one key, or a [`KeySet`].
pub trait KeyLookup<K> {
    /// The keys to try on a token with this `kid`.
    ///
    /// # Errors
    /// [`SelectError`] if there is none.
    fn select(&self, kid: Option<&str>) -> Result<Selected<K>, SelectError>;
}

impl<K: Keyed + Clone> KeyLookup<K> for K {
    fn select(&self, kid: Option<&str>) -> Result<Selected<K>, SelectError> {
        match (kid, self.kid()) {
            (Some(found), Some(own)) if found != own => Err(SelectError::UnknownKid { keys: 1 }),
            _ => Ok(Selected(Few::One(self.clone()))),
        }
    }
}

impl<K: Keyed + Clone> KeyLookup<K> for KeySet<K> {
    fn select(&self, kid: Option<&str>) -> Result<Selected<K>, SelectError> {
        KeySet::select(self, kid)
    }
}

/// No key for a token. To a counterparty this must look like a bad signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// No key has the token's `kid`.
    #[error("none of {keys} keys has the token's kid")]
    UnknownKid {
        /// How many keys there are.
        keys: usize,
    },
    /// The token has no `kid` and there are too many keys to try.
    #[error("the token has no kid and {keys} keys are too many to try")]
    KidRequired {
        /// How many keys there are.
        keys: usize,
    },
}

/// Keys that do not make a set.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeySetError {
    /// No key.
    #[error("expected at least one key")]
    Empty,
    /// No key of a JWK set that can be used, although some are meant for it.
    #[error("no key of the set can be used, not even the one at {index}")]
    NoneUsable {
        /// The place of the first such key in the set, counted from zero.
        index: usize,
        /// Why it cannot be used.
        source: crate::KeyError,
    },
    /// More than [`KeySet::MAX_KEYS`].
    #[error("expected at most {max} keys")]
    TooMany {
        /// The most allowed.
        max: usize,
    },
    /// Two keys of one name.
    #[error("two keys have the kid {kid:?}")]
    DuplicateKid {
        /// The name.
        kid: String,
    },
    /// Some keys have names and some do not: which a token means would be a guess.
    #[error("either all keys of a set have a kid or none")]
    PartlyNamed,
    /// So many keys without names that none would ever be tried.
    #[error("expected a kid for each of more than {max} keys")]
    TooManyUnnamed {
        /// The most that are tried.
        max: usize,
    },
}

fn check<K: Keyed + Clone>(keys: impl IntoIterator<Item = K>) -> Result<Vec<K>, KeySetError> {
    let max = KeySet::<K>::MAX_KEYS;
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
    let duplicate = names.iter().zip(names.iter().skip(1)).find(|(kid, next)| kid == next);
    match duplicate {
        Some((kid, _)) => Err(KeySetError::DuplicateKid { kid: (*kid).to_owned() }),
        None => Ok(keys),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Key(Option<&'static str>, u8);

    impl Keyed for Key {
        fn kid(&self) -> Option<&str> {
            self.0
        }
    }

    fn found(set: &impl KeyLookup<Key>, kid: Option<&str>) -> Result<Vec<u8>, SelectError> {
        set.select(kid).map(|keys| keys.as_slice().iter().map(|key| key.1).collect())
    }

    #[test]
    fn a_name_selects_and_an_unknown_name_is_refused() {
        let set = KeySet::new([Key(Some("a"), 1), Key(Some("b"), 2)]).unwrap();
        assert_eq!(found(&set, Some("b")), Ok(vec![2]));
        assert_eq!(found(&set, Some("c")), Err(SelectError::UnknownKid { keys: 2 }));
        assert_eq!(found(&set, None), Ok(vec![1, 2]));
    }

    #[test]
    fn trying_all_is_bounded() {
        let names = ["a", "b", "c", "d", "e"];
        let set = KeySet::new(names.map(|name| Key(Some(name), 0))).unwrap();
        assert_eq!(found(&set, None), Err(SelectError::KidRequired { keys: 5 }));
        assert!(found(&set, Some("e")).is_ok());
    }

    #[test]
    fn keys_without_names_are_tried_whatever_the_token_says() {
        let set = KeySet::new([Key(None, 1), Key(None, 2)]).unwrap();
        assert_eq!(found(&set, Some("x")), Ok(vec![1, 2]));
        assert_eq!(found(&Key(None, 3), Some("x")), Ok(vec![3]));
        assert_eq!(found(&Key(Some("k"), 3), None), Ok(vec![3]));
        assert!(found(&Key(Some("k"), 3), Some("x")).is_err());
    }

    #[test]
    fn sets_that_would_be_a_guess_are_refused() {
        let make = |keys: Vec<Key>| KeySet::new(keys).unwrap_err();
        assert!(matches!(make(vec![]), KeySetError::Empty));
        let twice = make(vec![Key(Some("a"), 1), Key(Some("a"), 2)]);
        assert!(matches!(twice, KeySetError::DuplicateKid { kid } if kid == "a"));
        assert!(matches!(make(vec![Key(Some("a"), 1), Key(None, 2)]), KeySetError::PartlyNamed));
        assert!(matches!(make(vec![Key(None, 1); 65]), KeySetError::TooMany { max: 64 }));
        assert!(KeySet::new(vec![Key(None, 1); 4]).is_ok());
        assert!(matches!(make(vec![Key(None, 1); 5]), KeySetError::TooManyUnnamed { max: 4 }));
    }

    #[test]
    fn clones_share_a_replacement_and_a_refused_one_changes_nothing() {
        let set = KeySet::from(Key(Some("old"), 1));
        let clone = set.clone();
        let before = set.select(Some("old")).unwrap();
        assert!(set.replace([]).is_err());
        set.replace([Key(Some("new"), 2)]).unwrap();
        assert_eq!(found(&clone, Some("new")), Ok(vec![2]));
        assert!(found(&clone, Some("old")).is_err());
        assert_eq!(before.as_slice(), [Key(Some("old"), 1)]);
    }
}
