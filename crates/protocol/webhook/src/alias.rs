//! Payment aliases (PayID) and the checksums of Australian business and company numbers.
//!
//! [`Alias::parse`] checks the specification's rule, which decides whether an alias is valid.
//! [`Alias::parse_strict`] also checks the public pattern, which is stricter in places. Checksums
//! are checked separately, by [`is_abn`] and [`is_acn`].

mod checksum;
mod pattern;

pub use checksum::{is_abn, is_acn};

use crate::codes::AliasType;
use bankrail_values::excerpt;
use std::fmt;

/// An alias that has the form of its type (Specification: "Payment alias (PayID) formats").
///
/// - `TELI`: `+`, 1 to 3 digits, `-`, a digit 1-9, 1 to 29 digits.
/// - `EMAL`: lower case, at most 256 characters, an `@` with characters on both sides, no white
///   space. Strict: a dot-atom, `@` and a domain with a dot.
/// - `AUBN`: 9 or 11 digits.
/// - `ORGN`: at most 256 printable ASCII characters, lower case, no white space at the ends.
///   Strict: at least 2 characters.
///
/// Digits are ASCII digits. The strict rules are those of the public pattern (Default). Whether an
/// `ORGN` alias names both an organisation and a description or location can only be estimated:
/// [`Alias::may_describe`].
///
/// ```
/// use bankrail_webhook::{AliasType, alias::{Alias, is_abn}};
/// assert!(Alias::parse(&AliasType::Telephone, "+61-412345678").is_ok());
/// assert!(Alias::parse(&AliasType::Telephone, "+61-0412345678").is_err());
/// let number = Alias::parse(&AliasType::BusinessNumber, "51824753556")?;
/// assert!(is_abn(number.as_str()));
/// # Ok::<(), bankrail_webhook::alias::AliasError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Alias {
    alias_type: AliasType,
    text: Box<str>,
}

impl Alias {
    /// Checks the specification's rule.
    ///
    /// # Errors
    /// [`AliasError::Format`] if the text breaks the rule; [`AliasError::UnknownType`] for a type
    /// without a rule.
    pub fn parse(alias_type: &AliasType, text: &str) -> Result<Self, AliasError> {
        Self::check(alias_type, text, false)
    }

    /// Checks the specification's rule and the public pattern (Default).
    ///
    /// # Errors
    /// As [`Alias::parse`].
    pub fn parse_strict(alias_type: &AliasType, text: &str) -> Result<Self, AliasError> {
        Self::check(alias_type, text, true)
    }

    fn check(alias_type: &AliasType, text: &str, strict: bool) -> Result<Self, AliasError> {
        let (holds, expected) = match alias_type {
            AliasType::Telephone => (
                pattern::telephone(text),
                "+, 1 to 3 digits, -, a digit that is not 0, and 1 to 29 digits",
            ),
            AliasType::Email if strict => (
                pattern::email(text) && pattern::email_strict(text),
                "a lower-case dot-atom, @ and a domain with a dot, at most 256 characters",
            ),
            AliasType::Email => (
                pattern::email(text),
                "lower case without white space, characters on both sides of an @, at most 256",
            ),
            AliasType::BusinessNumber => (pattern::business_number(text), "9 or 11 digits"),
            AliasType::Organisation => (
                pattern::organisation(text) && (!strict || text.len() >= 2),
                "at most 256 printable ASCII characters, lower case, no white space at the ends",
            ),
            AliasType::Unknown(code) => {
                return Err(AliasError::UnknownType {
                    found: excerpt(code.as_str()),
                });
            }
        };
        if !holds {
            let alias_type = alias_type.clone();
            return Err(AliasError::Format {
                alias_type,
                expected,
                found: excerpt(text),
            });
        }
        Ok(Self {
            alias_type: alias_type.clone(),
            text: text.into(),
        })
    }

    /// Returns false for an `ORGN` alias of a single word, which cannot name both the organisation
    /// and a description or location (Specification: "Payment alias (PayID) formats"). Words
    /// consist of letters and digits (Default). The result is advice:
    /// [`Rule::OrganisationWords`](crate::Rule::OrganisationWords).
    #[must_use]
    pub fn may_describe(&self) -> bool {
        self.alias_type != AliasType::Organisation || pattern::has_two_words(&self.text)
    }

    /// Returns the type.
    #[must_use]
    pub fn alias_type(&self) -> &AliasType {
        &self.alias_type
    }

    /// Returns the alias.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Alias {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl fmt::Debug for Alias {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {:?}", self.alias_type, self.text)
    }
}

/// A text that is not an alias of its type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AliasError {
    /// The text breaks the type's rule.
    #[error("expected {expected}, found {found}")]
    Format {
        /// The type.
        alias_type: AliasType,
        /// The expected form, in words.
        expected: &'static str,
        /// The value found, cut and escaped.
        found: String,
    },
    /// The type has no rule in this version.
    #[error("expected a known alias type, found {found}")]
    UnknownType {
        /// The type's code, cut and escaped.
        found: String,
    },
}
