//! Account identifications that may be partly masked.

/// An account identification of a message, which may be partly masked. Default: masked digits are
/// `X`, as in `013010XXXXX8937`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccountMask<'a>(&'a str);

impl<'a> AccountMask<'a> {
    /// Returns the mask of an account identification.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        Self(text)
    }

    /// Returns the text as it is in the message.
    #[must_use]
    pub fn as_str(&self) -> &'a str {
        self.0
    }

    /// Returns true when a character is masked: `X` or `*`.
    #[must_use]
    pub fn is_masked(&self) -> bool {
        self.0.chars().any(is_mask)
    }

    /// Returns true when there are characters and all are masked.
    #[must_use]
    pub fn is_all_masked(&self) -> bool {
        !self.0.is_empty() && self.0.chars().all(is_mask)
    }

    /// Returns true when `account` can be the masked account: equally long, and equal in each place
    /// that is not masked.
    #[must_use]
    pub fn covers(&self, account: &str) -> bool {
        self.0.chars().count() == account.chars().count()
            && self
                .0
                .chars()
                .zip(account.chars())
                .all(|(mask, c)| is_mask(mask) || mask == c)
    }
}

fn is_mask(c: char) -> bool {
    matches!(c, 'X' | '*')
}
