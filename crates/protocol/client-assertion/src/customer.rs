//! The customer code, the value of an assertion's `sub`.

use bankrail_values::ValueError;

/// The provider's code for a customer (Specification: "Client assertion (JWT) the customer builds").
///
/// - 1 to 64 characters of visible ASCII (`!` to `~`). These bounds are this crate's; the
///   specification only requires upper case.
/// - No lower-case letters. A code with a lower-case letter is refused, never converted.
/// - Compared byte for byte.
///
/// ```
/// use bankrail_client_assertion::CustomerCode;
/// assert_eq!(CustomerCode::parse("CUSTOMER-7")?.as_str(), "CUSTOMER-7");
/// assert!(CustomerCode::parse("Customer-7").is_err());
/// # Ok::<(), bankrail_values::ValueError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CustomerCode(Box<str>);

impl CustomerCode {
    /// The maximum number of characters of a code.
    pub const MAX_LENGTH: usize = 64;

    /// Checks a code.
    ///
    /// # Errors
    /// [`ValueError`] for an empty or longer text and for characters other than visible upper-case
    /// ASCII.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let allowed = |b: u8| b.is_ascii_graphic() && !b.is_ascii_lowercase();
        if text.is_empty() || text.len() > Self::MAX_LENGTH || !text.bytes().all(allowed) {
            return Err(ValueError::new(
                "a customer code of 1 to 64 visible characters without lower-case letters",
                text,
            ));
        }
        Ok(Self(text.into()))
    }
}

impl std::borrow::Borrow<str> for CustomerCode {
    fn borrow(&self) -> &str {
        &self.0
    }
}

bankrail_values::impl_text_value!(CustomerCode, ValueError, Debug, as_str);
