//! The creation time of a report.

use bankrail_camt::IsoDateTime;
use bankrail_values::ValueError;
use std::fmt;

/// The number of fraction digits in a creation time made for a report (Default: "Statement
/// payload").
const FRACTION_DIGITS: u8 = 3;
const EXPECTED: &str = "a creation time with fraction digits and offset";

/// The time at which a report was created, `CreDtTm`, with fraction digits and an offset
/// (Specification: "Statement payload").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreationTime(IsoDateTime);

impl CreationTime {
    /// Makes a time with three fraction digits and the offset of `at`, as by
    /// [`IsoDateTime::from_time`].
    #[must_use]
    pub fn from_time(at: time::OffsetDateTime) -> Self {
        Self(IsoDateTime::from_time(at, FRACTION_DIGITS))
    }

    /// Reads a time with at least one fraction digit.
    ///
    /// # Errors
    /// [`ValueError`] for any other text.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        IsoDateTime::parse(text)
            .map_err(|_| ValueError::new(EXPECTED, text))?
            .try_into()
    }
}

bankrail_values::impl_parsed_value!(CreationTime, ValueError);

impl fmt::Display for CreationTime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl TryFrom<IsoDateTime> for CreationTime {
    type Error = ValueError;

    fn try_from(at: IsoDateTime) -> Result<Self, ValueError> {
        if at.offset().is_none() || at.fraction_digits() == 0 {
            return Err(ValueError::new(EXPECTED, &at.to_string()));
        }
        Ok(Self(at))
    }
}

impl From<CreationTime> for IsoDateTime {
    fn from(at: CreationTime) -> Self {
        at.0
    }
}
