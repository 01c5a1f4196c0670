//! Account identifications that may be partly masked.

/// An account identification as a message shows it. Default: masked digits are `X`, as in `013010XXXXX8937`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccountMask<'a>(&'a str);

impl<'a> AccountMask<'a> {
    /// Looks at an account identification.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        Self(text)
    }

    /// The text as it stands.
    #[must_use]
    pub fn as_str(&self) -> &'a str {
        self.0
    }

    /// True when some of it is masked: an `X` or `*` between digits' places.
    #[must_use]
    pub fn is_masked(&self) -> bool {
        self.0.chars().any(|c| matches!(c, 'X' | '*'))
    }

    /// True when `account` can be what was masked: equal wherever this is not masked.
    #[must_use]
    pub fn covers(&self, account: &str) -> bool {
        self.0.chars().count() == account.chars().count()
            && self.0.chars().zip(account.chars()).all(|(mask, c)| matches!(mask, 'X' | '*') || mask == c)
    }
}
