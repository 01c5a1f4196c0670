//! Options for making and checking assertions.

use crate::{AssertionBuilder, AssertionError, Audience};
use bankrail_values::{excerpt, options};
use std::time::Duration;

options! {
    /// Options of a [`Verifier`](crate::Verifier).
    ///
    /// By default: `nbf` and `iat` up to 30 s in the future, `exp` a number at most
    /// [`MAX_LIFETIME`](crate::MAX_LIFETIME) ahead, `aud` one string, `typ` `jwt` in any case.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct VerifierOptions {
        /// Accepts assertions for these audiences in addition to the verifier's. Client libraries
        /// write the token endpoint's address or the issuer's name as `aud` by default (Default:
        /// "Token endpoint").
        pub(crate) audiences: Vec<Audience> = Vec::new(),
        /// Sets the time that `nbf` and `iat` may be ahead, at most
        /// [`VerifierOptions::MAX_LEEWAY`]. Default: 30 s. The leeway does not extend the life of
        /// an assertion: `exp` has none.
        pub(crate) leeway(Duration => |leeway| leeway.min(Self::MAX_LEEWAY)): Duration = Self::DEFAULT_LEEWAY,
        /// Sets the time beyond [`MAX_LIFETIME`](crate::MAX_LIFETIME) that `exp` may be ahead, at
        /// most [`VerifierOptions::MAX_LEEWAY`]. Default: nothing, because the specification has
        /// "no more than 60 minutes in the future". Without a tolerance, a customer whose clock is
        /// ahead and whose library writes a lifetime of an hour gets no token.
        pub(crate) clock_tolerance(Duration => |most| most.min(Self::MAX_LEEWAY)): Duration = Duration::ZERO,
        /// Sets the values of `typ` that the header may have.
        pub(crate) typ: TypRule = TypRule::default(),
        /// Accepts an `exp` that is a string of digits if true, as in published samples (Default:
        /// "Token endpoint"). Default: false.
        pub(crate) accept_text_exp: bool = false,
        /// Accepts an `aud` that is an array if true, provided that each element is one of the
        /// verifier's audiences. Widespread libraries write the token endpoint's address in an
        /// array, some together with the issuer's name. An array with any other element is always
        /// refused, because another service would accept the assertion as well. Default: false.
        pub(crate) accept_audience_array: bool = false,
    }
}

impl VerifierOptions {
    /// The default leeway for `nbf` and `iat`, and the clock tolerance of
    /// [`VerifierOptions::lenient_clients`]: 30 s (Default: "Token endpoint").
    pub const DEFAULT_LEEWAY: Duration = Duration::from_secs(30);
    /// The maximum leeway and clock tolerance.
    pub const MAX_LEEWAY: Duration = Duration::from_secs(300);

    /// Adds an audience to those of [`VerifierOptions::audiences`].
    #[must_use]
    pub fn also_audience(mut self, audience: Audience) -> Self {
        self.audiences.push(audience);
        self
    }

    /// Accepts what widespread client libraries send beyond the specification. This sets:
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

/// The values of `typ` that the header of an assertion may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TypRule {
    /// `jwt` in any case.
    #[default]
    AnyCase,
    /// `jwt` in any case, `client-authentication+jwt` (draft-ietf-oauth-rfc7523bis), or no `typ`:
    /// OAuth clients send each of them.
    Lenient,
    /// `jwt` in lower case, as the specification spells it.
    Exact,
}

impl TypRule {
    pub(crate) fn check(self, typ: Option<&str>) -> Result<(), AssertionError> {
        match (typ, self) {
            (Some("jwt"), _) | (None, Self::Lenient) => Ok(()),
            (Some(typ), Self::AnyCase | Self::Lenient) if typ.eq_ignore_ascii_case("jwt") => Ok(()),
            (Some(typ), Self::Lenient) if typ.eq_ignore_ascii_case("client-authentication+jwt") => {
                Ok(())
            }
            (found, _) => Err(AssertionError::Typ {
                found: found.map(excerpt),
            }),
        }
    }
}

options! {
    /// The lifetime of an assertion, and the members that an [`AssertionBuilder`] writes in
    /// addition to `sub`, `exp` and `aud`. By default it adds none.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AssertionOptions {
        /// Sets the lifetime: 1 s to [`MAX_LIFETIME`](crate::MAX_LIFETIME), cut to seconds. It is
        /// checked when signing. Default: five minutes.
        ///
        /// Stay below the maximum if the customer's clock may be ahead of the service's: the
        /// service refuses an `exp` that is too far ahead of its clock.
        pub(crate) lifetime: Duration = AssertionBuilder::DEFAULT_LIFETIME,
        /// Sets the header's `kid`, in place of the key's own.
        pub(crate) key_id(impl Into<String> => |key_id| Some(key_id.into())): Option<String> = None,
        /// Writes an `iss`, equal to `sub` (RFC 7523 section 3), if true. Default: false.
        pub(crate) issuer: bool = false,
        /// Writes an `iat`, the second of signing, if true. Default: false.
        pub(crate) issued_at: bool = false,
        /// Sets the `jti`. Default: none.
        pub(crate) jwt_id: JwtId = JwtId::Absent,
    }
}

/// The `jti` of assertions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum JwtId {
    /// No `jti` is written.
    #[default]
    Absent,
    /// A random UUID for each assertion, so that all assertions differ.
    Random,
    /// One text of 1 to 256 bytes.
    Text(String),
}
