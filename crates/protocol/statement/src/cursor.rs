//! The cursor with which the next page of a statement is requested.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt;

/// An opaque text of 1 to 4096 bytes that names the next page.
///
/// - A server makes it from bytes, as standard base64 with padding ([`Cursor::from_bytes`];
///   Default: "Statement exchange").
/// - A client sends it back unchanged, with any text ([`Cursor::parse`]).
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Cursor(Box<str>);

impl Cursor {
    /// The maximum number of bytes of a cursor's text.
    pub const MAX_LENGTH: usize = 4096;

    /// Reads a received cursor and keeps its text unchanged.
    ///
    /// # Errors
    /// [`CursorError::Length`] if the text is empty or longer than [`Cursor::MAX_LENGTH`] bytes.
    pub fn parse(text: &str) -> Result<Self, CursorError> {
        if text.is_empty() || text.len() > Self::MAX_LENGTH {
            return Err(CursorError::Length { found: text.len() });
        }
        Ok(Self(text.into()))
    }

    /// Makes a cursor that stands for these bytes.
    ///
    /// # Errors
    /// [`CursorError::Length`] if there are no bytes, or if their base64 text is longer than
    /// [`Cursor::MAX_LENGTH`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CursorError> {
        Self::parse(&STANDARD.encode(bytes))
    }

    /// Returns the bytes that the cursor stands for.
    ///
    /// # Errors
    /// [`CursorError::NotBase64`] if the text is not canonical standard base64 with padding.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CursorError> {
        STANDARD
            .decode(self.0.as_bytes())
            .map_err(|_| CursorError::NotBase64)
    }

    /// Returns the text, in its form in the JSON body.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Cursor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Cursor({})", bankrail_values::excerpt(&self.0))
    }
}

bankrail_values::impl_text_value!(Cursor, CursorError);

/// The error of a text that is not a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CursorError {
    /// The text is empty or too long.
    #[error(
        "expected a cursor of 1 to {} bytes, found {found}",
        Cursor::MAX_LENGTH
    )]
    Length {
        /// The number of bytes found.
        found: usize,
    },
    /// The text is not base64 with padding, and so not from [`Cursor::from_bytes`].
    #[error("expected a cursor in base64 with padding")]
    NotBase64,
}
