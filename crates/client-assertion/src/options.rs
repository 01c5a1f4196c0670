//! Options for making and checking assertions.

use crate::{AssertionBuilder, AssertionError};
use bankrail_values::excerpt;
use std::time::Duration;

/// What a [`Verifier`](crate::Verifier) accepts. By default: no leeway, `typ` is `jwt` in any case, `exp` is a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifierOptions {
    pub(crate) leeway: Duration,
    pub(crate) typ: TypRule,
    pub(crate) accept_text_exp: bool,
}

impl VerifierOptions {
    /// The most leeway. More would make `exp` meaningless.
    pub const MAX_LEEWAY: Duration = Duration::from_secs(300);

    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets by how much the clocks of both sides may differ, at most [`VerifierOptions::MAX_LEEWAY`].
    ///
    /// - An assertion is accepted for this long after its `exp`.
    /// - Its `exp` may be this much more than 3600 s ahead.
    /// - Its `nbf` and `iat` may be this much in the future. Without leeway, a customer that sends one of them is
    ///   refused if its clock is ahead.
    #[must_use]
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.leeway = leeway.min(Self::MAX_LEEWAY);
        self
    }

    /// Sets which `typ` the header may have.
    #[must_use]
    pub fn typ(mut self, typ: TypRule) -> Self {
        self.typ = typ;
        self
    }

    /// Sets whether `exp` may be a string of digits, as in published samples (Default: "Token endpoint").
    #[must_use]
    pub fn accept_text_exp(mut self, accept: bool) -> Self {
        self.accept_text_exp = accept;
        self
    }
}

/// Which `typ` the header of an assertion may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TypRule {
    /// `jwt` in any case.
    #[default]
    AnyCase,
    /// `jwt` in any case, or no `typ`. Some OAuth clients send none.
    AnyCaseOrAbsent,
    /// `jwt` in lower case, as the specification spells it.
    Exact,
}

impl TypRule {
    pub(crate) fn check(self, typ: Option<&str>) -> Result<(), AssertionError> {
        match (typ, self) {
            (Some("jwt"), _) | (None, Self::AnyCaseOrAbsent) => Ok(()),
            (Some(typ), Self::AnyCase | Self::AnyCaseOrAbsent) if typ.eq_ignore_ascii_case("jwt") => Ok(()),
            (found, _) => Err(AssertionError::Typ { found: found.map(excerpt) }),
        }
    }
}

/// The lifetime of an assertion, and the members that an [`AssertionBuilder`] writes in addition to `sub`, `exp` and
/// `aud`. By default there are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertionOptions {
    pub(crate) lifetime: Duration,
    pub(crate) key_id: Option<String>,
    pub(crate) issuer: bool,
    pub(crate) issued_at: bool,
    pub(crate) jwt_id: JwtId,
}

/// The `jti` of assertions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum JwtId {
    /// No `jti`.
    #[default]
    Absent,
    /// A random UUID for each assertion, so that all assertions differ.
    Random,
    /// This text of 1 to 256 bytes.
    Text(String),
}

impl AssertionOptions {
    /// The defaults: a lifetime of five minutes, the key's own `kid`, no `iss`, `iat` or `jti`.
    #[must_use]
    pub fn new() -> Self {
        Self {
            lifetime: AssertionBuilder::DEFAULT_LIFETIME,
            key_id: None,
            issuer: false,
            issued_at: false,
            jwt_id: JwtId::Absent,
        }
    }

    /// Sets the lifetime: 1 s to [`MAX_LIFETIME`](crate::MAX_LIFETIME), cut to seconds. It is checked when signing.
    ///
    /// Stay below the maximum if the customer's clock may be ahead of the service's: the service refuses an `exp` that
    /// is too far ahead of its own clock.
    #[must_use]
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// Sets the header's `kid`, in place of the key's own.
    #[must_use]
    pub fn key_id(mut self, key_id: impl Into<String>) -> Self {
        self.key_id = Some(key_id.into());
        self
    }

    /// Sets whether there is an `iss`, equal to `sub` (RFC 7523 section 3).
    #[must_use]
    pub fn issuer(mut self, issuer: bool) -> Self {
        self.issuer = issuer;
        self
    }

    /// Sets whether there is an `iat`, the second of signing.
    #[must_use]
    pub fn issued_at(mut self, issued_at: bool) -> Self {
        self.issued_at = issued_at;
        self
    }

    /// Sets the `jti`.
    #[must_use]
    pub fn jwt_id(mut self, jwt_id: JwtId) -> Self {
        self.jwt_id = jwt_id;
        self
    }
}

impl Default for AssertionOptions {
    fn default() -> Self {
        Self::new()
    }
}
