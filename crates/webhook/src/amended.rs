//! What an amendment says about a member: nothing, a new value, or that it was cleared.

use crate::json::{Context, Members, text};
use crate::{Amount, CountPerPeriod, PointInTime, TimeOfDay};
use bankrail_values::Date;
use serde_json::value::RawValue;

/// A member of an amendment (Default: only changed members are present; a mark stands for a cleared one).
///
/// | type | mark for cleared |
/// |---|---|
/// | text and codes | `-` |
/// | date | `1000-01-01` |
/// | count | `0` |
/// | point in time | `00` |
/// | time | `00:00:00-00:00` (written) or `-` |
/// | money | `{"currency":"ZZZ"}` without an amount |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "a member is there, cleared or not there")]
pub enum Amended<T> {
    /// Not in the message: unchanged.
    #[default]
    Absent,
    /// The new value.
    Changed(T),
    /// The value was removed.
    Cleared,
}

impl<T> Amended<T> {
    /// The new value, if there is one.
    #[must_use]
    pub fn changed(&self) -> Option<&T> {
        match self {
            Self::Changed(value) => Some(value),
            Self::Absent | Self::Cleared => None,
        }
    }

    /// True when the message says nothing about the member.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Applies the amendment to what was there before.
    pub fn apply_to(self, current: &mut Option<T>) {
        match self {
            Self::Absent => {}
            Self::Changed(value) => *current = Some(value),
            Self::Cleared => *current = None,
        }
    }
}

impl<T> From<T> for Amended<T> {
    fn from(value: T) -> Self {
        Self::Changed(value)
    }
}

/// A type that has a mark for "cleared".
pub(crate) trait Clearable {
    /// The mark, as the JSON that is written.
    const CLEARED: &'static str;

    /// True for the mark, however it is escaped.
    fn is_cleared(value: &RawValue) -> bool {
        is_text(value, Self::CLEARED)
    }
}

/// True when `value` is the text that `mark` quotes.
fn is_text(value: &RawValue, mark: &str) -> bool {
    // No mark has a character that must be escaped.
    value.get() == mark || text(value).is_some_and(|text| text == mark.trim_matches('"'))
}

impl Clearable for String {
    const CLEARED: &'static str = r#""-""#;
}

impl Clearable for Date {
    const CLEARED: &'static str = r#""1000-01-01""#;
}

impl Clearable for CountPerPeriod {
    const CLEARED: &'static str = r#""0""#;
}

impl Clearable for PointInTime {
    const CLEARED: &'static str = r#""00""#;
}

impl Clearable for TimeOfDay {
    const CLEARED: &'static str = r#""00:00:00-00:00""#;

    fn is_cleared(value: &RawValue) -> bool {
        is_text(value, Self::CLEARED) || is_text(value, String::CLEARED)
    }
}

impl Clearable for Amount {
    const CLEARED: &'static str = r#"{"currency":"ZZZ"}"#;

    fn is_cleared(value: &RawValue) -> bool {
        // Only exactly this object: with any other member it is money, or an error.
        let Ok(members) = Members::split(value, &Context::default()) else { return false };
        match members.0.as_slice() {
            [(name, code)] => name == "currency" && is_text(code, r#""ZZZ""#),
            _ => false,
        }
    }
}
