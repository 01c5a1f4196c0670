//! Options for making and checking assertions.

use crate::{AssertionBuilder, AssertionError, Audience};
use bankrail_values::excerpt;
use std::time::Duration;

/// What a [`Verifier`](crate::Verifier) accepts.
///
/// By default: `nbf` and `iat` up to 30 s in the future, `exp` a number at most 3600 s ahead, `aud` one string, `typ`
/// `jwt` in any case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifierOptions {
    pub(crate) audiences: Vec<Audience>,
    pub(crate) leeway: Duration,
    pub(crate) clock_tolerance: Duration,
    pub(crate) typ: TypRule,
    pub(crate) accept_text_exp: bool,
    pub(crate) accept_audience_array: bool,
}

impl Default for VerifierOptions {
    fn default() -> Self {
        Self {
            audiences: Vec::new(),
            leeway: Self::DEFAULT_LEEWAY,
            clock_tolerance: Duration::ZERO,
            typ: TypRule::default(),
            accept_text_exp: false,
            accept_audience_array: false,
        }
    }
}

impl VerifierOptions {
    /// The default leeway for `nbf` and `iat`, and the clock tolerance of [`VerifierOptions::lenient_clients`]: 30 s
    /// (Default: "Token endpoint").
    pub const DEFAULT_LEEWAY: Duration = Duration::from_secs(30);
    /// The most leeway and the most clock tolerance.
    pub const MAX_LEEWAY: Duration = Duration::from_secs(300);

    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Accepts assertions for this audience too. Client libraries write the token endpoint's address or the issuer's
    /// name as `aud` by default (Default: "Token endpoint").
    #[must_use]
    pub fn also_audience(mut self, audience: Audience) -> Self {
        self.audiences.push(audience);
        self
    }

    /// Sets how far in the future `nbf` and `iat` may be, at most [`VerifierOptions::MAX_LEEWAY`]. Default: 30 s. It
    /// does not lengthen the life of an assertion: `exp` has no leeway.
    #[must_use]
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.leeway = leeway.min(Self::MAX_LEEWAY);
        self
    }

    /// Sets how much more than 3600 s ahead `exp` may be, at most [`VerifierOptions::MAX_LEEWAY`]. Default: nothing,
    /// because the specification says "no more than 60 minutes in the future". Without it, a customer whose clock is
    /// ahead and whose library writes a lifetime of an hour gets no token.
    #[must_use]
    pub fn clock_tolerance(mut self, tolerance: Duration) -> Self {
        self.clock_tolerance = tolerance.min(Self::MAX_LEEWAY);
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

    /// Sets whether `aud` may be an array of one string, which a widespread library writes. An array of several is
    /// always refused: such an assertion is good at more than one service.
    #[must_use]
    pub fn accept_audience_array(mut self, accept: bool) -> Self {
        self.accept_audience_array = accept;
        self
    }

    /// Accepts what widespread client libraries send beyond the specification. It sets:
    /// - [`clock_tolerance`](VerifierOptions::clock_tolerance) to 30 s;
    /// - [`typ`](VerifierOptions::typ) to [`TypRule::Lenient`];
    /// - [`accept_text_exp`](VerifierOptions::accept_text_exp) and
    ///   [`accept_audience_array`](VerifierOptions::accept_audience_array) to true.
    ///
    /// None of these makes an assertion live longer than its `exp`, or lets anybody else sign it.
    #[must_use]
    pub fn lenient_clients(self) -> Self {
        self.clock_tolerance(Self::DEFAULT_LEEWAY)
            .typ(TypRule::Lenient)
            .accept_text_exp(true)
            .accept_audience_array(true)
    }
}

/// Which `typ` the header of an assertion may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TypRule {
    /// `jwt` in any case.
    #[default]
    AnyCase,
    /// `jwt` in any case, `client-authentication+jwt` (draft-ietf-oauth-rfc7523bis), or no `typ`: OAuth clients send
    /// each of them.
    Lenient,
    /// `jwt` in lower case, as the specification spells it.
    Exact,
}

impl TypRule {
    pub(crate) fn check(self, typ: Option<&str>) -> Result<(), AssertionError> {
        match (typ, self) {
            (Some("jwt"), _) | (None, Self::Lenient) => Ok(()),
            (Some(typ), Self::AnyCase | Self::Lenient) if typ.eq_ignore_ascii_case("jwt") => Ok(()),
            (Some(typ), Self::Lenient) if typ.eq_ignore_ascii_case("client-authentication+jwt") => Ok(()),
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
