//! Access tokens: the token call, and a source that keeps a token ready.

mod exchange;
mod sealed_cache;
mod source;

pub(crate) use exchange::{Exchange, SCOPES};
pub(crate) use sealed_cache::SealedTokenCache;
pub use source::TokenSource;

use bankrail_client_assertion::VerifierOptions;
use bankrail_client_assertion::token::{AccessToken, CachedToken, ScopeSet};
use bankrail_values::{HyphenatedUuid, Timestamp};
use std::time::Duration;

/// An access token with its scopes and lifetime. `Debug` does not show the token.
#[derive(Debug)]
#[non_exhaustive]
pub struct Token {
    /// The token.
    pub access_token: AccessToken,
    /// The scopes of the token: those of the service's answer, or the requested ones if the answer
    /// has none.
    pub scopes: ScopeSet,
    /// The time of the request, which is not later than the start of the token's lifetime.
    pub asked_at: Timestamp,
    /// The time from which on the token is no longer used. The lifetime is counted from
    /// [`Token::asked_at`], so this is not later than the token's real end.
    pub expires_at: Timestamp,
    /// The request key of the token call.
    pub request_key: Option<HyphenatedUuid>,
    /// The sealed form of the token, in the token cache.
    sealed: Option<CachedToken>,
}

impl Token {
    /// Returns true before [`Token::expires_at`], except a token of a clock that was more than
    /// [`VerifierOptions::MAX_LEEWAY`] ahead: the service counts its life by another clock.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        now < self.expires_at && self.asked_at.saturating_since(now) <= VerifierOptions::MAX_LEEWAY
    }

    /// Returns the time at which the next token is fetched: before the end by a tenth of the
    /// lifetime, at most 60 seconds (Default: "Token endpoint").
    #[must_use]
    pub fn refresh_at(&self) -> Timestamp {
        let life = self.expires_at.saturating_since(self.asked_at);
        self.expires_at
            .saturating_sub((life / 10).min(Duration::from_secs(60)))
    }
}
