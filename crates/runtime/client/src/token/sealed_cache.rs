//! The client's tokens in a store, sealed before they leave the client.

use super::Token;
use crate::sealing::{self, SealingSecret, VERSION};
use bankrail_client_assertion::CustomerCode;
use bankrail_client_assertion::token::{
    AccessToken, CachedToken, ScopeSet, TokenCache, TokenCacheKey,
};
use bankrail_values::{StoreError, Timestamp};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The place of one client's token in a cache.
#[derive(Debug)]
pub(crate) struct SealedTokenCache {
    cache: Arc<dyn TokenCache>,
    secret: SealingSecret,
    key: TokenCacheKey,
    requested: ScopeSet,
}

impl SealedTokenCache {
    pub(crate) fn new(
        cache: Arc<dyn TokenCache>,
        secret: SealingSecret,
        token_url: &str,
        customer: &CustomerCode,
        requested: &ScopeSet,
    ) -> Self {
        let key = TokenCacheKey::of(token_url, customer, requested);
        Self {
            cache,
            secret,
            key,
            requested: requested.clone(),
        }
    }

    /// Returns the token in the cache if it is valid at `now`. A token that cannot be opened counts
    /// as absent.
    pub(crate) async fn find(&self, now: Timestamp) -> Option<Token> {
        let found = self
            .cache
            .get(&self.key, now)
            .await
            .inspect_err(log_failure)
            .ok()??;
        if !found.is_valid_at(now) {
            return None;
        }
        let token = self.open(found);
        if token.is_none() {
            tracing::warn!("a token of the token cache could not be opened and will be replaced");
        }
        token.filter(|token| token.is_valid_at(now))
    }

    /// Puts a token into the cache. A failure is logged, and the token is then in memory only.
    pub(crate) async fn keep(&self, token: &mut Token, now: Timestamp) {
        let Some(sealed) = self.seal(token) else {
            tracing::warn!("a token could not be sealed and is kept in memory only");
            return;
        };
        if self
            .cache
            .put(&self.key, &sealed, now)
            .await
            .inspect_err(log_failure)
            .is_ok()
        {
            token.sealed = Some(sealed);
        }
    }

    /// Removes a token from the cache, unless another one has replaced it.
    pub(crate) async fn remove(&self, token: &Token) {
        if let Some(sealed) = &token.sealed {
            let _ = self
                .cache
                .remove(&self.key, sealed)
                .await
                .inspect_err(log_failure);
        }
    }

    /// Seals a token. Returns `None` if it would be too long for a cache, or if the system gives no
    /// random bytes.
    fn seal(&self, token: &Token) -> Option<CachedToken> {
        let sealed = sealing::seal(
            &self.secret,
            &self.associated(token.expires_at),
            self.written(token)?,
        )?;
        // `open` refuses a longer one, so nobody could use it.
        (sealed.len() <= CachedToken::MAX_SEALED_BYTES)
            .then(|| CachedToken::new(sealed, token.expires_at))
    }

    fn open(&self, cached: CachedToken) -> Option<Token> {
        // The store is not trusted, so a longer text is not even copied.
        if cached.sealed.len() > CachedToken::MAX_SEALED_BYTES {
            return None;
        }
        let text = sealing::open(
            &self.secret,
            &self.associated(cached.expires_at),
            &cached.sealed,
        )?;
        self.read(&text, cached)
    }

    /// Returns the bytes that a sealed token is bound to: its version, its place and its expiry.
    fn associated(&self, expires_at: Timestamp) -> Vec<u8> {
        let expiry = expires_at.unix_millis().to_be_bytes();
        [
            b"bankrail token".as_slice(),
            &[VERSION],
            self.key.as_bytes(),
            &expiry,
        ]
        .concat()
    }

    /// Returns the form to be sealed: the time of the request, the request key with its length, the
    /// token with its length, and the scopes, unless they are those requested.
    fn written(&self, token: &Token) -> Option<Zeroizing<Vec<u8>>> {
        let request_key = token
            .request_key
            .map(|key| key.to_string())
            .unwrap_or_default();
        let scopes = if token.scopes == self.requested {
            String::new()
        } else {
            token.scopes.to_string()
        };
        let access_token = token.access_token.expose_secret();
        // Room for all, and for the tag, so that no copy of the token is left behind.
        let mut text = Zeroizing::new(Vec::with_capacity(
            64 + request_key.len() + access_token.len() + scopes.len(),
        ));
        text.extend_from_slice(&token.asked_at.unix_millis().to_be_bytes());
        for part in [request_key.as_str(), access_token] {
            text.push(u8::try_from(part.len()).ok()?);
            text.extend_from_slice(part.as_bytes());
        }
        text.extend_from_slice(scopes.as_bytes());
        Some(text)
    }

    fn read(&self, text: &[u8], cached: CachedToken) -> Option<Token> {
        let (asked_at, rest) = text.split_first_chunk()?;
        let (request_key, rest) = short_text(rest)?;
        let (access_token, scopes) = short_text(rest)?;
        Some(Token {
            access_token: AccessToken::parse(access_token).ok()?,
            scopes: match str::from_utf8(scopes).ok()? {
                "" => self.requested.clone(),
                scopes => ScopeSet::parse(scopes).ok()?,
            },
            asked_at: Timestamp::from_unix_millis(i64::from_be_bytes(*asked_at))?,
            expires_at: cached.expires_at,
            request_key: if request_key.is_empty() {
                None
            } else {
                Some(request_key.parse().ok()?)
            },
            sealed: Some(cached),
        })
    }
}

/// Splits off a text after its length in one byte, and returns the rest too.
fn short_text(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (length, rest) = bytes.split_first()?;
    let (text, rest) = rest.split_at_checked(usize::from(*length))?;
    Some((str::from_utf8(text).ok()?, rest))
}

/// The kind of the error only: its text can quote rows of the store.
fn log_failure(error: &StoreError) {
    tracing::warn!(error = %error.kind(), "the token cache failed");
}

#[cfg(test)]
mod tests;
