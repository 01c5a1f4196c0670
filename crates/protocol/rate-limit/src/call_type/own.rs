//! Call types that the specification does not have.

use crate::{CallType, Policy};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The call types of this process by their place: the name of each, and its default policy.
static OWN: [OnceLock<(&str, Policy)>; OwnCallType::MOST] =
    [const { OnceLock::new() }; OwnCallType::MOST];

/// Held while a call type is added.
static ADDING: Mutex<()> = Mutex::new(());

/// A kind of call that the specification does not have. [`CallType::own`] makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnCallType(Place);

/// A number below eight that leaves room in a byte for the specification's call types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Place {
    First,
    Second,
    Third,
    Fourth,
    Fifth,
    Sixth,
    Seventh,
    Eighth,
}

const PLACES: [Place; OwnCallType::MOST] = [
    Place::First,
    Place::Second,
    Place::Third,
    Place::Fourth,
    Place::Fifth,
    Place::Sixth,
    Place::Seventh,
    Place::Eighth,
];

impl CallType {
    /// A call type of another service, so that it poses as none of the specification's: with a name
    /// for keys, metrics and logs, and the policy of customers without one of their own. The same
    /// name and policy give the same call type.
    ///
    /// ```
    /// use bankrail_rate_limit::{Algorithm, CallType, Counting, Policy, Window, default_limits};
    /// let policy = Policy::new(Algorithm::Sliding, Counting::Attempts, &[Window::per_hour(100)?])?;
    /// let search = CallType::own("search", policy)?;
    /// assert_eq!((search.as_str(), default_limits(search)), ("search", policy));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`OwnCallTypeError`] for a name that is not 1 to 40 of `a` to `z`, `0` to `9` and `-`, for
    /// one that is taken, by the specification or with another policy, and for a ninth call type.
    pub fn own(name: &'static str, policy: Policy) -> Result<Self, OwnCallTypeError> {
        let is_allowed =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if !(1..=40).contains(&name.len()) || !name.bytes().all(is_allowed) {
            return Err(OwnCallTypeError::Name {
                found: bankrail_values::excerpt(name),
            });
        }
        let taken = Err(OwnCallTypeError::Taken { name });
        if Self::ALL.iter().any(|known| known.as_str() == name) {
            return taken;
        }
        let _adding = ADDING.lock().unwrap_or_else(PoisonError::into_inner);
        for (slot, place) in OWN.iter().zip(PLACES) {
            let (known, its_policy) = slot.get_or_init(|| (name, policy));
            if *known == name {
                return if *its_policy == policy {
                    Ok(Self::Own(OwnCallType(place)))
                } else {
                    taken
                };
            }
        }
        Err(OwnCallTypeError::TooMany { name })
    }
}

impl OwnCallType {
    /// The most call types of one's own in a process.
    pub const MOST: usize = 8;

    pub(crate) const fn place(self) -> usize {
        self.0 as usize
    }

    pub(super) fn name(self) -> &'static str {
        self.get().0
    }

    /// The policy of customers without one of their own.
    pub(crate) fn policy(self) -> &'static Policy {
        &self.get().1
    }

    fn get(self) -> &'static (&'static str, Policy) {
        OWN.get(self.place())
            .and_then(OnceLock::get)
            .expect("it is made with its place")
    }
}

/// A call type that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OwnCallTypeError {
    /// The name is not 1 to 40 lower-case letters, digits and hyphens.
    #[error("expected the name of a call type as 1 to 40 of a to z, 0 to 9 and -, found {found}")]
    Name {
        /// The text, cut and escaped.
        found: String,
    },
    /// The specification has this name, or it was given another policy.
    #[error("expected a name of its own for a call type, but {name} has another policy")]
    Taken {
        /// The name.
        name: &'static str,
    },
    /// There are [`OwnCallType::MOST`] others.
    #[error(
        "expected at most {} call types of one's own, found one more: {name}",
        OwnCallType::MOST
    )]
    TooMany {
        /// The name.
        name: &'static str,
    },
}
