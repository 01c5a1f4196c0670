//! Members of an amendment: absent, changed or cleared.

use crate::codes::{AccountIdentificationType, AliasType, AmountType, PartyType, PaymentFrequency};
use crate::{CountPerPeriod, MessageAmount, PointInTime, TimeOfDay};
use bankrail_values::Date;
use bankrail_values::json::JsonValue;

/// A member of an amendment. Default: only changed members are present, and a mark stands for a
/// cleared value.
///
/// | type | mark for cleared |
/// |---|---|
/// | text and codes | `-` |
/// | date | `1000-01-01` |
/// | count | `0` |
/// | point in time | `00` |
/// | time | `00:00:00-00:00`, or `-` ([`Amended::ClearedByDash`]) |
/// | money | `{"currency":"ZZZ"}` without an amount |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(
    clippy::exhaustive_enums,
    reason = "a member is there, cleared or not there"
)]
pub enum Amended<T> {
    /// The member is not in the message: its value is unchanged.
    #[default]
    Absent,
    /// The member was changed to this value.
    Changed(T),
    /// The value was removed, and the message has this crate's mark for it.
    Cleared,
    /// The value of a time was removed, and the message marks this by `-`, which this crate does
    /// not write for a time.
    ClearedByDash,
}

impl<T> Amended<T> {
    /// Returns the new value, if there is one.
    #[must_use]
    pub fn changed(&self) -> Option<&T> {
        match self {
            Self::Changed(value) => Some(value),
            Self::Absent | Self::Cleared | Self::ClearedByDash => None,
        }
    }

    /// Returns true when the member is not in the message.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Returns true when the value was removed, by either mark.
    #[must_use]
    pub fn is_cleared(&self) -> bool {
        matches!(self, Self::Cleared | Self::ClearedByDash)
    }

    /// Applies the amendment to the current value.
    pub fn apply_to(self, current: &mut Option<T>) {
        match self {
            Self::Absent => {}
            Self::Changed(value) => *current = Some(value),
            Self::Cleared | Self::ClearedByDash => *current = None,
        }
    }
}

impl<T> From<T> for Amended<T> {
    fn from(value: T) -> Self {
        Self::Changed(value)
    }
}

/// A type that has a mark for "cleared".
pub(crate) trait Clearable: Sized {
    /// The mark that is written, as JSON.
    const CLEARED: &'static str = DASH;
    /// All marks that are accepted in reading, as JSON.
    const MARKS: &'static [&'static str] = &[Self::CLEARED];

    /// Reads a mark, which may have escapes. Returns `None` for any other value.
    fn cleared(value: &JsonValue<'_>) -> Option<Amended<Self>> {
        is_text(value, Self::CLEARED).then_some(Amended::Cleared)
    }
}

/// Returns true when `value` is the text in the quotation marks of `mark`.
fn is_text(value: &JsonValue<'_>, mark: &str) -> bool {
    // No mark has a character that must be escaped.
    value.as_str() == Some(mark.trim_matches('"'))
}

/// The mark of texts and codes.
const DASH: &str = r#""-""#;

impl Clearable for String {}
impl Clearable for AccountIdentificationType {}
impl Clearable for AliasType {}
impl Clearable for AmountType {}
impl Clearable for PartyType {}
impl Clearable for PaymentFrequency {}

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
    const MARKS: &'static [&'static str] = &[Self::CLEARED, DASH];

    fn cleared(value: &JsonValue<'_>) -> Option<Amended<Self>> {
        match value {
            value if is_text(value, Self::CLEARED) => Some(Amended::Cleared),
            value if is_text(value, DASH) => Some(Amended::ClearedByDash),
            _ => None,
        }
    }
}

impl Clearable for MessageAmount {
    const CLEARED: &'static str = r#"{"currency":"ZZZ"}"#;

    fn cleared(value: &JsonValue<'_>) -> Option<Amended<Self>> {
        // Only exactly this object is the mark. An object with any other member is read as money.
        let JsonValue::Object(money) = value else {
            return None;
        };
        match money.members() {
            [code] if code.name() == "currency" && is_text(code.value(), r#""ZZZ""#) => {
                Some(Amended::Cleared)
            }
            _ => None,
        }
    }
}
