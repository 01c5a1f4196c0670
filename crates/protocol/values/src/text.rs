//! Text whose length is bounded in code points.

use std::borrow::Borrow;

/// A text of `MIN` to `MAX` code points (Unicode scalar values). Any characters are allowed.
///
/// ```
/// use bankrail_values::BoundedText;
/// type Narrative = BoundedText<1, 4>;
/// assert_eq!(Narrative::parse("👍👍👍👍")?.as_str(), "👍👍👍👍");
/// assert!(Narrative::parse("five!").is_err());
/// assert!(Narrative::parse("").is_err());
/// # Ok::<(), bankrail_values::TextError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoundedText<const MIN: usize, const MAX: usize>(Box<str>);

impl<const MIN: usize, const MAX: usize> BoundedText<MIN, MAX> {
    /// Checks the length.
    ///
    /// # Errors
    /// [`TextError`] if the text has fewer than `MIN` or more than `MAX` code points.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        // A code point has one to four bytes, so most texts need not be counted.
        let bytes = text.len();
        let length = if bytes <= MAX && bytes >= MIN.saturating_mul(4) {
            bytes
        } else {
            text.chars().count()
        };
        if length < MIN || length > MAX {
            return Err(TextError {
                min: MIN,
                max: MAX,
                length,
            });
        }
        Ok(Self(text.into()))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text, owned.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0.into()
    }
}

/// The error for a text that is shorter or longer than its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {min} to {max} characters, found {length}")]
#[non_exhaustive]
pub struct TextError {
    /// The minimum number of code points allowed.
    pub min: usize,
    /// The maximum number of code points allowed.
    pub max: usize,
    /// The number of code points found.
    pub length: usize,
}

/// The error for a text that does not have the expected form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {found}")]
#[non_exhaustive]
pub struct ValueError {
    /// The form that was expected.
    pub expected: &'static str,
    /// The text, cut and escaped.
    pub found: String,
}

impl ValueError {
    /// Returns the error for a text.
    #[must_use]
    pub fn new(expected: &'static str, text: &str) -> Self {
        Self {
            expected,
            found: excerpt(text),
        }
    }
}

/// Returns a text for use in an error text: quoted, with control characters escaped, and cut after
/// 40 characters.
#[must_use]
pub fn excerpt(text: &str) -> String {
    const KEPT: usize = 40;
    match text.char_indices().nth(KEPT) {
        Some((end, _)) => format!("{:?}…", text.get(..end).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

impl<const MIN: usize, const MAX: usize> Borrow<str> for BoundedText<MIN, MAX> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

crate::impl_text_value!(@impl [const MIN: usize, const MAX: usize] BoundedText<MIN, MAX>, TextError);
crate::impl_text_value!(@debug [const MIN: usize, const MAX: usize] BoundedText<MIN, MAX>);
