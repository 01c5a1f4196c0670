//! Access tokens: one exchange, and a source that keeps one ready.

mod error;
mod exchange;
mod source;

pub use error::TokenError;
pub(crate) use exchange::Exchange;
pub use source::TokenSource;

use bankrail_client_assertion::token::{AccessToken, ScopeSet};
use bankrail_values::{HyphenatedUuid, Timestamp};
use std::time::Duration;

/// An access token and what is known of it. `Debug` does not show it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Token {
    /// The token.
    pub access_token: AccessToken,
    /// What it is limited to: what was asked for, unless the service said otherwise.
    pub scopes: ScopeSet,
    /// When it was asked for: not after its life began.
    pub asked_at: Timestamp,
    /// From when it is not to be used. Counted from [`Token::asked_at`], so it is not after the end of its life.
    pub expires_at: Timestamp,
    /// The key of the token call.
    pub request_key: Option<HyphenatedUuid>,
}

impl Token {
    /// True while its life lasts.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }

    /// From when another one is fetched: before the end by a tenth of its life, at most 60 seconds
    /// (Default: "Token endpoint").
    #[must_use]
    pub fn refresh_at(&self) -> Timestamp {
        let life = self.expires_at.saturating_since(self.asked_at);
        self.expires_at.saturating_sub((life / 10).min(Duration::from_secs(60)))
    }
}
