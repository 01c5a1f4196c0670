//! The claims of an assertion, read strictly and not yet verified.

use crate::{AssertionError, CustomerCode};
use bankrail_values::json::{self, JsonLimits, JsonObject, JsonValue};
use bankrail_values::{Timestamp, excerpt};
use std::time::Duration;

/// The bounds on the claims.
pub(crate) const LIMITS: JsonLimits = JsonLimits::new()
    .max_document_bytes(12 * 1024)
    .max_depth(8)
    .max_values(256);

/// The longest lifetime of an assertion: `exp` may be at most 60 minutes ahead (Specification:
/// "Client assertion (JWT) the customer builds" and "Limits", rule 4). The bound applies to making
/// and to verifying assertions.
pub const MAX_LIFETIME: Duration = Duration::from_secs(3600);

/// Returns true for the lifetimes that an assertion may have: 1 s to [`MAX_LIFETIME`]. A lifetime
/// of less than a second would be cut to zero, so that the assertion would be expired from the
/// start.
#[must_use]
#[doc(hidden)]
pub fn is_lifetime(lifetime: Duration) -> bool {
    (Duration::from_secs(1)..=MAX_LIFETIME).contains(&lifetime)
}

/// The claims that this crate reads.
const NAMES: [&str; 7] = ["sub", "aud", "iss", "exp", "nbf", "iat", "jti"];

pub(crate) struct Claims([Claim; NAMES.len()]);

enum Claim {
    Absent,
    Text(Box<str>),
    /// An array of one or more strings.
    Texts(Vec<Box<str>>),
    Number(Instant),
    /// A value of another JSON type.
    Other,
}

impl Claims {
    /// Reads one JSON object without duplicate members, within [`LIMITS`].
    pub(crate) fn read(payload: &[u8]) -> Result<Self, AssertionError> {
        let object = json::read_object(payload, &LIMITS).map_err(AssertionError::Claims)?;
        Ok(Self(NAMES.map(|name| Claim::of(&object, name))))
    }

    /// Returns `sub`, which is not verified.
    pub(crate) fn subject(&self) -> Result<CustomerCode, AssertionError> {
        CustomerCode::parse(self.required_text("sub")?).map_err(AssertionError::Subject)
    }

    /// Returns the strings of `aud`, at least one, and true if they are in an array.
    pub(crate) fn audiences(&self) -> Result<(Vec<&str>, bool), AssertionError> {
        match self.get("aud") {
            Claim::Texts(texts) => Ok((texts.iter().map(|text| &**text).collect(), true)),
            _ => Ok((vec![self.required_text("aud")?], false)),
        }
    }

    pub(crate) fn issuer(&self) -> Result<Option<&str>, AssertionError> {
        self.text("iss")
    }

    pub(crate) fn jwt_id(&self) -> Result<Option<&str>, AssertionError> {
        match self.text("jti")? {
            Some(id) if !(1..=crate::MAX_JWT_ID).contains(&id.len()) => {
                Err(AssertionError::ClaimValue {
                    claim: "jti",
                    found: excerpt(id),
                })
            }
            other => Ok(other),
        }
    }

    /// Returns `exp`. A string of digits is accepted only with `allow_text`.
    pub(crate) fn expires_at(&self, allow_text: bool) -> Result<Instant, AssertionError> {
        if let (true, Claim::Text(text)) = (allow_text, self.get("exp")) {
            return numeric_text(text).ok_or_else(|| AssertionError::ClaimValue {
                claim: "exp",
                found: excerpt(text),
            });
        }
        self.instant("exp")?
            .ok_or(AssertionError::ClaimMissing { claim: "exp" })
    }

    pub(crate) fn instant(&self, claim: &'static str) -> Result<Option<Instant>, AssertionError> {
        match self.get(claim) {
            Claim::Absent => Ok(None),
            Claim::Number(instant) => Ok(Some(*instant)),
            Claim::Text(_) if claim == "exp" => Err(AssertionError::ClaimType {
                claim,
                expected: "a number (VerifierOptions::accept_text_exp accepts a text)",
            }),
            Claim::Text(_) | Claim::Texts(_) | Claim::Other => Err(AssertionError::ClaimType {
                claim,
                expected: "a number",
            }),
        }
    }

    fn required_text(&self, claim: &'static str) -> Result<&str, AssertionError> {
        self.text(claim)?
            .ok_or(AssertionError::ClaimMissing { claim })
    }

    fn text(&self, claim: &'static str) -> Result<Option<&str>, AssertionError> {
        match self.get(claim) {
            Claim::Absent => Ok(None),
            Claim::Text(text) => Ok(Some(text)),
            Claim::Texts(_) | Claim::Number(_) | Claim::Other => Err(AssertionError::ClaimType {
                claim,
                expected: "one string",
            }),
        }
    }

    fn get(&self, claim: &str) -> &Claim {
        NAMES
            .iter()
            .zip(&self.0)
            .find(|(name, _)| **name == claim)
            .map_or(&Claim::Absent, |(_, found)| found)
    }
}

impl Claim {
    fn of(object: &JsonObject<'_>, name: &str) -> Self {
        match object.get(name) {
            None => Self::Absent,
            Some(JsonValue::String(text)) => Self::Text(text.as_ref().into()),
            Some(JsonValue::Array(elements)) if !elements.is_empty() => {
                let texts = elements.iter().map(|text| text.as_str().map(Into::into));
                texts
                    .collect::<Option<_>>()
                    .map_or(Self::Other, Self::Texts)
            }
            Some(JsonValue::Number(number)) => match (number.as_i64(), number.to_f64()) {
                (Some(seconds), _) => Self::Number(Instant::of_seconds(seconds)),
                (None, Some(seconds)) => Self::Number(Instant::of_fraction(seconds)),
                (None, None) => Self::Other,
            },
            Some(_) => Self::Other,
        }
    }
}

/// A NumericDate (RFC 7519 section 2): its millisecond, with a mark if it is after the start of
/// that millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instant {
    millis: i64,
    inside: bool,
}

impl Instant {
    fn of_seconds(seconds: i64) -> Self {
        Self {
            millis: seconds.saturating_mul(1000),
            inside: false,
        }
    }

    /// Rounds to microseconds, which a double can represent for dates of this century.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "`as` saturates, at a date centuries away"
    )]
    fn of_fraction(seconds: f64) -> Self {
        let micros = (seconds * 1e6).round() as i64;
        Self {
            millis: micros.div_euclid(1000),
            inside: micros.rem_euclid(1000) != 0,
        }
    }

    /// Returns the latest millisecond that is not after the instant.
    pub(crate) fn floor(self) -> Timestamp {
        Timestamp::saturating_from_unix_millis(self.millis)
    }

    /// Returns the earliest millisecond that is not before the instant.
    pub(crate) fn ceil(self) -> Timestamp {
        Timestamp::saturating_from_unix_millis(self.millis.saturating_add(i64::from(self.inside)))
    }
}

/// Reads a string of up to 15 digits with an optional fraction of up to 9.
fn numeric_text(text: &str) -> Option<Instant> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str, most| {
        (1..=most).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
    };
    if !digits(whole, 15) || !digits(fraction, 9) {
        return None;
    }
    let (first, rest) = fraction.split_at(fraction.len().min(3));
    let millis = first
        .bytes()
        .chain(std::iter::repeat(b'0'))
        .take(3)
        .fold(0, |sum, b| sum * 10 + i64::from(b - b'0'));
    let millis = whole
        .parse::<i64>()
        .ok()?
        .saturating_mul(1000)
        .saturating_add(millis);
    Some(Instant {
        millis,
        inside: rest.bytes().any(|b| b != b'0'),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exp(json: &str, allow_text: bool) -> Option<(i64, i64)> {
        let json = format!(r#"{{"exp":{json}}}"#);
        let claims = Claims::read(json.as_bytes()).ok()?;
        let instant = claims.expires_at(allow_text).ok()?;
        Some((instant.floor().unix_millis(), instant.ceil().unix_millis()))
    }

    #[test]
    fn numeric_dates() {
        for (json, found) in [
            ("1795229400", (1_795_229_400_000, 1_795_229_400_000)),
            ("1795229400.5", (1_795_229_400_500, 1_795_229_400_500)),
            ("1795229400.1", (1_795_229_400_100, 1_795_229_400_100)),
            ("1795229400.0001", (1_795_229_400_000, 1_795_229_400_001)),
            ("1.7952294e9", (1_795_229_400_000, 1_795_229_400_000)),
            ("-1", (-1000, -1000)),
            ("-0.0001", (-1, 0)),
        ] {
            assert_eq!(exp(json, false), Some(found), "{json}");
        }
        let last = Timestamp::MAX.unix_millis();
        for huge in ["18446744073709551615", "1e300", "9223372036854775807"] {
            assert_eq!(exp(huge, false), Some((last, last)), "{huge}");
        }
        for bad in ["\"1795229400\"", "null", "true", "[1]", "{}", "1e400", "01"] {
            assert_eq!(exp(bad, false), None, "{bad}");
        }
    }

    #[test]
    fn numeric_texts_where_allowed() {
        assert_eq!(
            exp("\"1795229400\"", true),
            Some((1_795_229_400_000, 1_795_229_400_000))
        );
        assert_eq!(exp("\"7.25\"", true), Some((7250, 7250)));
        assert_eq!(exp("\"7.2501\"", true), Some((7250, 7251)));
        assert_eq!(exp("7", true), Some((7000, 7000)));
        assert_eq!(
            exp("\"123456789012.123456789\"", true),
            Some((123_456_789_012_123, 123_456_789_012_124))
        );
        assert!(exp("\"123456789012345\"", true).is_some());
        for bad in [
            "",
            " 7",
            "+7",
            "-7",
            "7.",
            ".5",
            "0x7",
            "7e1",
            "٧",
            "1234567890123456",
            "1.1234567890",
        ] {
            assert_eq!(exp(&format!("\"{bad}\""), true), None, "{bad}");
        }
    }
}
