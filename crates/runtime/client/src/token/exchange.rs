//! The token call.

use super::{SealedTokenCache, Token};
use crate::answer_form::AnswerForm;
use crate::call_error::{CallError, CallErrorKind, about_clock};
use crate::client::AssertionKey;
use crate::exchange_error::cause;
use crate::transport::{Admitted, Caller, Reply};
use bankrail_client_assertion::token::{
    AccessToken, FORM_CONTENT_TYPE, ScopeSet, TokenErrorBody, TokenRequest, TokenResponse,
    TokenResponseError,
};
use bankrail_client_assertion::{AssertionBuildError, AssertionBuilder, Audience};
use bankrail_http::CpuPool;
use bankrail_jose::remote::RemoteError;
use bankrail_jose::{CurrentKey, SignError};
use bankrail_statement::ErrorCode;
use bankrail_values::{SecretString, Timestamp, excerpt};
use http::StatusCode;
use std::sync::Arc;
use std::time::Duration;

/// The advice about scopes that a token lacks.
pub(crate) const SCOPES: &str = "ask the service to grant them to the customer";

/// The shortest lifetime that is not logged: with a shorter one, the calls of an hour do not
/// suffice.
const SHORT_LIFETIME: Duration = Duration::from_secs(360);

/// The parts of a token call.
pub(crate) struct Exchange {
    pub(crate) caller: Caller,
    pub(crate) assertion: AssertionBuilder,
    pub(crate) key: CurrentKey<AssertionKey>,
    pub(crate) scopes: ScopeSet,
    pub(crate) cache: Option<SealedTokenCache>,
}

/// The earlier tokens, which a new one must differ from.
#[derive(Default)]
pub(crate) struct Before {
    /// The token that is currently used.
    pub(crate) current: Option<Arc<Token>>,
    /// The last token that the service refused.
    pub(crate) refused: Option<AccessToken>,
}

impl Exchange {
    pub(crate) fn now(&self) -> Timestamp {
        self.caller.now()
    }

    /// Returns a token to follow `before`, from the cache or else by a call.
    pub(crate) async fn fetch(&self, before: &Before) -> Result<Token, CallError> {
        if let Some(token) = self.find(before).await {
            return Ok(token);
        }
        // Another client that shares the cache may have made the call meanwhile.
        let admitted = self.caller.admit(&self.caller.pacer).await?;
        if admitted.waited
            && let Some(token) = self.find(before).await
        {
            return Ok(token);
        }
        self.call_and_keep(admitted).await
    }

    /// Fetches a token by a call, and puts it into the cache.
    pub(crate) async fn call_and_keep(&self, admitted: Admitted) -> Result<Token, CallError> {
        let mut token = self.call(admitted, &self.assertion).await?;
        if let Some(cache) = &self.cache {
            cache.keep(&mut token, self.now()).await;
        }
        Ok(token)
    }

    /// Returns the token in the cache, if it can follow `before`.
    async fn find(&self, before: &Before) -> Option<Token> {
        let token = self.cache.as_ref()?.find(self.now()).await?;
        if before.refused.as_ref() == Some(&token.access_token)
            // The token at hand is what the caller wants to replace.
            || before
                .current
                .as_ref()
                .is_some_and(|current| token.expires_at <= current.expires_at)
        {
            return None;
        }
        tracing::debug!(
            request_key = token.request_key.map(tracing::field::display),
            expires_at = %token.expires_at,
            "token found in the cache"
        );
        Some(token)
    }

    /// Fetches a token for an assertion with another audience, which is not used further.
    pub(crate) async fn try_audience(&self, audience: Audience) -> Result<Token, CallError> {
        self.call(
            self.caller.admit(&self.caller.pacer).await?,
            &self.assertion.clone().with_audience(audience),
        )
        .await
    }

    async fn call(
        &self,
        admitted: Admitted,
        assertion: &AssertionBuilder,
    ) -> Result<Token, CallError> {
        let asked_at = self.now();
        // Signed after waiting for the limit, so that its lifetime starts now. No two calls share
        // an assertion.
        let assertion = self.sign(assertion, asked_at).await?;
        let form = TokenRequest::new(assertion, self.scopes.clone()).to_form();
        let reply = self
            .caller
            .post(admitted, FORM_CONTENT_TYPE, None, form.into_bytes())
            .await;
        let clock_ahead = reply.as_ref().ok().and_then(|reply| reply.clock_ahead);
        let outcome = reply.and_then(|reply| self.read(&reply, asked_at));
        match &outcome {
            Ok(token) => {
                self.caller.succeeded();
                tracing::debug!(
                    request_key = token.request_key.map(tracing::field::display),
                    expires_at = %token.expires_at,
                    "token obtained"
                );
                let lifetime = token.expires_at.saturating_since(token.asked_at);
                if lifetime < SHORT_LIFETIME {
                    tracing::warn!(
                        lifetime_s = lifetime.as_secs(),
                        "the lifetime of the token is short, and token calls are few"
                    );
                }
                if let Some(advice) = clock_ahead.and_then(about_clock) {
                    tracing::warn!(%advice, "the clocks differ");
                }
                let missing = self.missing_scopes(token);
                if !missing.is_empty() {
                    tracing::warn!(missing = %missing.join(" "), advice = SCOPES, "the token lacks scopes");
                }
            }
            Err(error) => self.caller.failed("no token", error),
        }
        outcome
    }

    /// Returns the requested scopes that the token does not have.
    pub(crate) fn missing_scopes(&self, token: &Token) -> Vec<&str> {
        self.scopes
            .iter()
            .map(|scope| scope.as_str())
            .filter(|scope| !token.scopes.contains(scope))
            .collect()
    }

    async fn sign(
        &self,
        assertion: &AssertionBuilder,
        now: Timestamp,
    ) -> Result<SecretString, CallError> {
        let signed: Result<String, AssertionBuildError> = match &*self.key.get() {
            // The private-key operation takes most of a millisecond, so it runs on a thread for
            // blocking work.
            AssertionKey::Here(key) => {
                let (assertion, key) = (assertion.clone(), key.clone());
                let pool = CpuPool::default();
                let signed = pool.run(move || assertion.sign(&key, now)).await;
                signed.ok_or_else(|| self.caller.failure(CallErrorKind::Abandoned))?
            }
            AssertionKey::Elsewhere(signer) => {
                let signed =
                    // A key service that hangs would hold up all callers that wait for the token.
                    tokio::time::timeout(self.caller.timeout, assertion.sign_remote(signer, now))
                        .await;
                signed.unwrap_or_else(|_| {
                    let late = RemoteError::retryable("no answer within the time-out");
                    Err(AssertionBuildError::Sign(SignError::Remote(late)))
                })
            }
        };
        signed.map(SecretString::from).map_err(|error| {
            self.caller.failure(match error {
                AssertionBuildError::Sign(SignError::Remote(error)) => CallErrorKind::Signer {
                    retryable: error.is_retryable(),
                    source: cause(error),
                },
                error => CallErrorKind::Assertion(cause(error)),
            })
        })
    }

    fn read(&self, reply: &Reply, asked_at: Timestamp) -> Result<Token, CallError> {
        let Reply {
            status,
            request_key,
            form,
            clock_ahead,
            ..
        } = *reply;
        let unexpected = || CallErrorKind::Unexpected {
            form,
            target: reply.target.clone(),
        };
        let unreadable = match status {
            StatusCode::OK => match TokenResponse::from_json(&reply.body) {
                Ok(response) => {
                    return Ok(Token {
                        // Counted from the request, so that the token does not outlive the
                        // service's own count.
                        expires_at: asked_at.saturating_add(response.lifetime()),
                        scopes: response.scope.unwrap_or_else(|| self.scopes.clone()),
                        access_token: response.access_token,
                        asked_at,
                        request_key,
                        sealed: None,
                    });
                }
                Err(source) => Some(source),
            },
            _ => None,
        };
        // Under any status, as on the statement endpoint.
        let error = TokenErrorBody::from_json(&reply.body).ok();
        // The refusal of a gateway is a page, which is not JSON.
        let is_refusal = matches!(status, StatusCode::BAD_REQUEST | StatusCode::UNAUTHORIZED)
            || (status == StatusCode::FORBIDDEN && form == AnswerForm::Json);
        let is_error = error.is_some() || is_refusal;
        let description = error
            .as_ref()
            .and_then(|error| error.error_description.as_deref())
            .map(excerpt);
        let code = error.map(|error| Box::<str>::from(error.error.as_str()));
        let gateway = code.as_deref().and_then(ErrorCode::gateway_status_of);
        let pacer = &self.caller.pacer;
        let (reason, retry_at) = if status == StatusCode::TOO_MANY_REQUESTS {
            let retry_at = self.caller.hold_refused(pacer, reply);
            (CallErrorKind::TooManyCalls, Some(retry_at))
        } else if status.is_server_error() || gateway == Some(500) {
            (CallErrorKind::Unavailable, self.caller.hold(pacer, reply))
        } else if is_error {
            let refused = CallErrorKind::Refused {
                description,
                clock_ahead,
            };
            (refused, None)
        } else {
            let reason = match unreadable {
                // A page of some proxy.
                Some(TokenResponseError::Json(_)) if form != AnswerForm::Json => unexpected(),
                Some(source) => CallErrorKind::Response(source),
                None => unexpected(),
            };
            (reason, None)
        };
        Err(CallError {
            status: Some(status.as_u16()),
            code,
            request_key,
            retry_at,
            ..self.caller.failure(reason)
        })
    }
}
