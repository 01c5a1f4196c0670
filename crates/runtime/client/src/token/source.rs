//! The source of access tokens: a token is fetched once for all waiting callers, and renewed before
//! it expires.

use super::exchange::Before;
use super::{Exchange, Token};
use crate::call_error::{CallError, CallErrorKind};
use crate::client::AssertionKey;
use bankrail_client_assertion::token::AccessToken;
use bankrail_values::Timestamp;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// A source of access tokens.
///
/// - There is one token call at a time: callers that need a token meanwhile wait for its token.
/// - From [`Token::refresh_at`] on, the next token is fetched in the background while callers use
///   the current one.
/// - The token call runs in a separate task: dropping one caller does not end it for the others.
/// - [`TokenSource::refused`] drops a token that the service refused, but never a newer one.
/// - With [`ClientOptions::token_cache`](crate::ClientOptions::token_cache), the token outlives the
///   process.
/// - Cheap to clone; clones share the token.
///
/// ```no_run
/// # async fn example(client: bankrail_client::Client) -> Result<(), bankrail_client::CallError> {
/// let token = client.tokens().token().await?;
/// println!("request key {:?}, valid until {}", token.request_key, token.expires_at);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct TokenSource(Arc<Inner>);

struct Inner {
    exchange: Exchange,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    current: Option<Arc<Token>>,
    /// The last token that the service refused, which is not taken from the cache again.
    refused: Option<AccessToken>,
    flight: Option<Flight>,
    /// The time of the next early fetch, after one has failed while the current token is still
    /// valid.
    no_early_fetch_before: Option<Timestamp>,
}

type Outcome = Result<Arc<Token>, CallError>;

struct Flight {
    outcome: watch::Receiver<Option<Outcome>>,
    task: AbortHandle,
}

impl TokenSource {
    pub(crate) fn new(exchange: Exchange) -> Self {
        Self(Arc::new(Inner {
            exchange,
            state: Mutex::default(),
        }))
    }

    /// Returns a token that is valid now: the current one, one from the token cache, or a new one.
    ///
    /// Dropping the future is safe: a running token call continues, and its token is used later.
    /// Call this on a tokio runtime.
    ///
    /// # Errors
    /// [`CallError`], the same for all callers that waited for the call. [`CallErrorKind::Closed`]
    /// once the client is closed, even while a token is valid.
    pub async fn token(&self) -> Result<Arc<Token>, CallError> {
        let caller = &self.0.exchange.caller;
        let closed = || caller.failure(CallErrorKind::Closed);
        if caller.closing.is_closed() {
            return Err(closed());
        }
        let mut outcome = {
            // Never held over an `await`: two callers find one flight, and none waits for the lock.
            let mut state = self.lock();
            let now = self.0.exchange.now();
            let current = state.current.clone().filter(|token| token.is_valid_at(now));
            if let Some(token) = current {
                let early = now >= token.refresh_at()
                    && state.no_early_fetch_before.is_none_or(|until| now >= until);
                if early {
                    self.join_flight(&mut state);
                }
                return Ok(token);
            }
            self.join_flight(&mut state)
        };
        let landed = async {
            // Without an outcome the task has panicked, or the runtime is shutting down.
            let outcome = outcome.wait_for(Option::is_some).await.ok();
            outcome
                .and_then(|outcome| outcome.clone())
                .unwrap_or_else(|| Err(caller.failure(CallErrorKind::Abandoned)))
        };
        caller
            .closing
            .unless_closed(landed)
            .await
            .unwrap_or_else(|| Err(closed()))
    }

    /// Requests a new token even if a valid one is cached, and caches it in its place.
    pub(crate) async fn renew(&self) -> Result<Arc<Token>, CallError> {
        let exchange = &self.0.exchange;
        let admitted = exchange.caller.admit(&exchange.caller.pacer).await?;
        let token = Arc::new(exchange.call_and_keep(admitted).await?);
        self.lock().current = Some(token.clone());
        Ok(token)
    }

    /// Uses this token, which was obtained elsewhere, until it expires or the service refuses it.
    /// The token replaces the current one, is assumed to have the requested scopes, and is not put
    /// into the token cache.
    ///
    /// This is for a program that runs often and gets its token from elsewhere, because token calls
    /// are few: 10 an hour (Specification: "Limits").
    pub fn adopt(&self, access_token: AccessToken, expires_at: Timestamp) {
        let exchange = &self.0.exchange;
        let token = Token {
            access_token,
            scopes: exchange.scopes.clone(),
            asked_at: exchange.now(),
            expires_at,
            request_key: None,
            sealed: None,
        };
        self.lock().current = Some(Arc::new(token));
    }

    /// Drops this token, which the service refused, here and in the token cache. If another token
    /// has replaced it meanwhile, that one stays.
    ///
    /// Dropping the future is safe: this client does not use the token again.
    pub async fn refused(&self, token: &Token) {
        {
            let mut state = self.lock();
            // Remembered, because the cache of another process may still hold it.
            state.refused = Some(token.access_token.clone());
            if state
                .current
                .as_ref()
                .is_some_and(|current| current.access_token == token.access_token)
            {
                state.current = None;
            }
        }
        // Outside the lock: a store may take long, and every call needs the state.
        if let Some(cache) = &self.0.exchange.cache {
            cache.remove(token).await;
        }
    }

    pub(crate) fn exchange(&self) -> &Exchange {
        &self.0.exchange
    }

    pub(crate) fn replace_key(&self, key: AssertionKey) {
        self.0.exchange.key.replace(key);
    }

    /// Returns the running token call, or starts a new one.
    fn join_flight(&self, state: &mut State) -> watch::Receiver<Option<Outcome>> {
        if let Some(flight) = &state.flight
            // A flight that panicked never lands, so another one takes its place.
            && !flight.task.is_finished()
        {
            return flight.outcome.clone();
        }
        let (sender, outcome) = watch::channel(None);
        let source = self.clone();
        let current = state
            .current
            .clone()
            .filter(|token| token.is_valid_at(self.0.exchange.now()));
        let before = Before {
            current,
            refused: state.refused.clone(),
        };
        // The task continues when its first caller is dropped, because others wait for it.
        let task = tokio::spawn(async move {
            let result = source.0.exchange.fetch(&before).await.map(Arc::new);
            // Before the callers are woken, so that they find the token in the state.
            source.landed(&result);
            // Fails if no caller waits any more. The token is kept nevertheless.
            let _ = sender.send(Some(result));
        });
        state.flight = Some(Flight {
            outcome: outcome.clone(),
            task: task.abort_handle(),
        });
        outcome
    }

    fn landed(&self, result: &Outcome) {
        /// The pause between early fetches that fail, while the current token is still valid.
        const PAUSE: Duration = Duration::from_secs(10);
        let mut state = self.lock();
        // Under the same lock as the token: a caller in between would start another flight.
        state.flight = None;
        match result {
            Ok(token) => {
                state.current = Some(token.clone());
                state.no_early_fetch_before = None;
            }
            Err(error) => {
                // A token endpoint that fails early is not asked by each call, while the token at
                // hand is valid.
                let pause = self.0.exchange.now().saturating_add(PAUSE);
                state.no_early_fetch_before =
                    Some(error.retry_at.map_or(pause, |at| at.max(pause)));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change of the state is a single assignment, so a panic elsewhere leaves it
        // consistent.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for TokenSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        out.debug_struct("TokenSource")
            .field("current", &state.current)
            .field("fetching", &state.flight.is_some())
            .finish_non_exhaustive()
    }
}
