//! Account identifiers.

use bankrail_values::ValueError;

/// The identifier of an account registered for statements.
///
/// - It has 1 to 34 characters of `[A-Za-z0-9.]`, the bound of the message's `Othr/Id` (Default:
///   "Statement exchange").
/// - For Australian and New Zealand accounts it is the branch code followed by the account number.
/// - Identifiers are compared byte for byte.
///
/// A server answers any other text with `EC20001`, account not found. Requests therefore keep the
/// text as received: [`StatementRequest::account_id`](crate::StatementRequest::account_id).
///
/// ```
/// use bankrail_statement::AccountId;
/// assert_eq!(AccountId::parse("012003123456789")?.as_str(), "012003123456789");
/// assert!(AccountId::parse("012-003").is_err());
/// # Ok::<(), bankrail_values::ValueError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(Box<str>);

impl AccountId {
    /// The maximum number of characters of an identifier.
    pub const MAX_LENGTH: usize = 34;

    /// Checks an identifier.
    ///
    /// # Errors
    /// [`ValueError`] if the text is empty, longer than [`AccountId::MAX_LENGTH`] or has other
    /// characters.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'.';
        if text.is_empty() || text.len() > Self::MAX_LENGTH || !text.bytes().all(allowed) {
            return Err(ValueError::new(
                "an account identifier of 1 to 34 letters, digits and points",
                text,
            ));
        }
        Ok(Self(text.into()))
    }

    /// Returns true for the numbers reserved for negative tests, which must not be used: a branch
    /// code of six digits, then one of the digits 1 to 9 nine times (Specification: "Request
    /// statement", test data). Fifteen zeros are not reserved.
    #[must_use]
    pub fn is_reserved_for_negative_testing(&self) -> bool {
        let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
        match self.0.as_bytes().split_at_checked(6) {
            Some((branch, number @ [first @ b'1'..=b'9', ..])) => {
                digits(branch) && number.len() == 9 && number.iter().all(|digit| digit == first)
            }
            _ => false,
        }
    }
}

impl std::borrow::Borrow<str> for AccountId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

bankrail_values::impl_text_value!(AccountId, ValueError, Debug, as_str);
