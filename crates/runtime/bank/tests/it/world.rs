//! The endpoints of a provider over a directory and a ledger, with every other part in memory.

use axum::Router;
use axum::body::Body;
use bankrail_client_assertion::token::{
    AccessToken, TokenGrant, TokenRequest, TokenStore as _, names,
};
use bankrail_client_assertion::{
    AssertionBuilder, AssertionOptions, Audience, JwtId, Verifier, VerifierOptions,
};
use bankrail_jose::{RsaSize, SigningKey};
use bankrail_service::{Directory, Ledger, Provider, ProviderOptions};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::{Clock, ManualClock};
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tower::ServiceExt as _;

const AUDIENCE: &str = "https://auth.example/v1.0/auth";

/// Returns the two customers' keys, made once.
pub(crate) fn keys() -> &'static [SigningKey; 2] {
    static KEYS: OnceLock<[SigningKey; 2]> = OnceLock::new();
    KEYS.get_or_init(|| [(); 2].map(|()| SigningKey::generate(RsaSize::Rsa2048).unwrap()))
}

pub(crate) struct World {
    router: Router,
    pub(crate) provider: Provider,
    tokens: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
}

/// An answer with its whole body.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) json: serde_json::Value,
}

impl World {
    pub(crate) fn new(
        directory: Arc<dyn Directory>,
        ledger: Arc<dyn Ledger>,
        clock: Arc<ManualClock>,
        options: ProviderOptions,
    ) -> Self {
        let tokens = Arc::new(MemoryStore::new());
        let verifier = Verifier::new(Audience::parse(AUDIENCE).unwrap(), VerifierOptions::new());
        let options = options.clock(Arc::clone(&clock) as Arc<dyn Clock>);
        let provider = Provider::new(directory, ledger, tokens.clone(), verifier, options).unwrap();
        Self {
            router: provider.router(),
            provider,
            tokens,
            clock,
        }
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let (parts, body) = self
            .router
            .clone()
            .oneshot(request)
            .await
            .unwrap()
            .into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            status: parts.status,
            json: serde_json::from_slice(&body).unwrap_or_default(),
        }
    }

    /// Requests a token of ACME with a new assertion.
    pub(crate) async fn ask_for_token(&self, api_key: &str) -> Answer {
        let (audience, options) = (
            Audience::parse(AUDIENCE).unwrap(),
            AssertionOptions::new().jwt_id(JwtId::Random),
        );
        let builder = AssertionBuilder::new("ACME".parse().unwrap(), audience, options);
        let assertion = builder.sign(&keys()[0], self.clock.now()).unwrap();
        let form = TokenRequest::new(assertion, names::STATEMENT_READ.parse().unwrap()).to_form();
        let request = Request::post("/v1.0/auth").header("apikey", api_key);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        self.send(request.body(form.into()).unwrap()).await
    }

    /// Inserts a token of ACME directly into the store, and returns it.
    pub(crate) async fn token(&self) -> String {
        let (token, now) = (AccessToken::generate().unwrap(), self.clock.now());
        let expires = now.saturating_add(Duration::from_secs(3600));
        let grant = TokenGrant::new(
            "ACME".parse().unwrap(),
            names::STATEMENT_READ.parse().unwrap(),
            now,
            expires,
        );
        self.tokens.insert(token.hash(), grant).await.unwrap();
        token.expose_secret().to_owned()
    }

    pub(crate) async fn statement(&self, api_key: &str, token: &str, body: &str) -> Answer {
        let request = Request::post("/accounts/v2.0/statement")
            .header("apikey", api_key)
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json");
        self.send(request.body(body.to_owned().into()).unwrap())
            .await
    }
}
