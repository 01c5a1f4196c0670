//! `POST /v1.0/auth`: exchanges an assertion for an access token (Specification: "Obtain access
//! token").

use super::answer::json;
use super::audit::AuditEvent;
use super::failure::StatementFailure;
use super::operation::{Call, Operation};
use super::refusal::Refusal;
use super::{ProviderOptions, ProviderState};
use axum::response::Response;
use bankrail_client_assertion::token::{
    AccessToken, TokenGrant, TokenHash, TokenRequest, TokenResponse,
};
use bankrail_client_assertion::{AssertionError, ReplayKey, VerifiedAssertion};
use bankrail_http::{__private::BodyError, content};
use bankrail_rate_limit::CallType;
use bankrail_values::Timestamp;
use bytes::Bytes;
use http::StatusCode;

/// The token endpoint.
pub(crate) struct Token;

impl Operation for Token {
    const NAME: &'static str = "token";
    const LIMIT: CallType = CallType::Token;
    /// The request, its verified assertion, and the time at which the assertion was judged.
    type Input = (TokenRequest, VerifiedAssertion, Timestamp);

    fn max_body_bytes(options: &ProviderOptions) -> usize {
        options.max_token_body_bytes
    }

    /// Reads the form and verifies that its assertion belongs to the API key's customer.
    async fn authenticate(
        call: &Call<'_>,
        form: Result<Bytes, BodyError>,
    ) -> Result<Self::Input, Refusal> {
        let form = form.map_err(Refusal::Body)?;
        if content::coding(call.headers).is_some() {
            return Err(Refusal::Encoding(StatementFailure::Validation));
        }
        let request = TokenRequest::from_form(content::content_type(call.headers), &form)
            .map_err(Refusal::Form)?;
        let unverified = call
            .provider
            .verifier
            .read(request.assertion().expose_secret())?;
        // Before the signature is verified, so that another customer's assertion is not used up.
        if *unverified.subject_for_key_lookup() != call.customer.code {
            return Err(Refusal::OtherCustomer);
        }
        let judged_at = call
            .provider
            .options
            .assertion_clock
            .as_ref()
            .map_or(call.now, |clock| clock.now());
        let verified = unverified.verify(&call.customer.keys, judged_at)?;
        verified.check_client_id(&request)?;
        Ok((request, verified, judged_at))
    }

    /// Uses up the assertion, stores the grant under the token's hash, records it, then answers
    /// with the token.
    async fn perform(
        call: &Call<'_>,
        (request, verified, judged_at): Self::Input,
    ) -> Result<Response, Refusal> {
        // Before the assertion is used up, so that the customer may request another scope with it.
        let granted = request
            .scope()
            .granted_from(&call.customer.scopes)
            .map_err(Refusal::NoScope)?;
        // Before the assertion is used up, so that a failure of the random generator costs the
        // customer nothing.
        let token = AccessToken::generate().map_err(Refusal::Randomness)?;
        let lifetime = call.provider.options.token_lifetime;
        let expires_at = call.now.saturating_add(lifetime);
        let scopes = granted.scopes();
        let grant = TokenGrant::new(
            call.customer.code.clone(),
            scopes.clone(),
            call.now,
            expires_at,
        );
        store(call.provider, &verified, judged_at, token.hash(), grant).await?;
        let key_id = || verified.key_id().map(str::to_owned);
        // After the grant is stored: a record of a token that nobody can use would be wrong.
        call.audit(|_| AuditEvent::TokenGranted {
            scopes: scopes.clone(),
            key_id: key_id(),
            expires_at,
        })
        .await?;
        Ok(json(
            StatusCode::OK,
            TokenResponse::new(token, lifetime.as_secs(), &granted).to_json(),
        ))
    }
}

/// Uses up the assertion and stores the grant.
async fn store(
    provider: &ProviderState,
    verified: &VerifiedAssertion,
    judged_at: Timestamp,
    hash: TokenHash,
    grant: TokenGrant,
) -> Result<(), Refusal> {
    // The store goes by the provider's clock, which may be ahead of the one that judged the
    // assertion.
    let ahead = grant.issued_at.saturating_since(judged_at);
    let claim = verified.replay_key(provider.options.replay_policy)?;
    let claim =
        claim.map(|claim| ReplayKey::new(claim.key, claim.expires_at.saturating_add(ahead)));
    match provider
        .tokens
        .grant_once(claim, hash, grant)
        .await
        .map_err(Refusal::Store)?
    {
        true => Ok(()),
        false => Err(AssertionError::Replayed.into()),
    }
}
