//! The client credentials of the crate `rmcp` (SEP-1046): `rmcp CUSTOMER-FILE OTHER-KEY`.
//!
//! The crate sets `exp` by its own clock, so the case of a stale one is left out.

use foreign_clients::{CASES, Customer, Failure, WRONG_AUDIENCE};
use oauth2::TokenResponse;
use rmcp::transport::auth::{
    AuthorizationManager, ClientCredentialsConfig, JwtSigningAlgorithm, OAuthHttpClient,
    OAuthHttpClientFuture, OAuthHttpRequest,
};
use std::sync::Arc;

struct Http(Arc<Customer>);

impl OAuthHttpClient for Http {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move { Ok(self.0.send(request.request).await?) })
    }
}

async fn token(customer: &Arc<Customer>, case: &str) -> Result<String, Failure> {
    let http = Arc::new(Http(Arc::clone(customer)));
    let base = customer.text("base_url");
    let mut manager = AuthorizationManager::new_with_oauth_http_client(base, http).await?;
    let found = manager.resolve_metadata().await?;
    manager.set_metadata(found.metadata);
    let scopes = if case == "missing field" {
        Vec::new()
    } else {
        vec![customer.text("scope").to_owned()]
    };
    let config = ClientCredentialsConfig::PrivateKeyJwt {
        client_id: customer.text("customer_code").to_owned(),
        signing_key: customer.key(case)?,
        signing_algorithm: JwtSigningAlgorithm::RS256,
        token_endpoint_audience: (case == "wrong aud").then(|| WRONG_AUDIENCE.to_owned()),
        scopes,
        resource: Some(base.to_owned()),
    };
    manager.validate_client_credentials_metadata(&config)?;
    manager.configure_client_credentials(&config)?;
    Ok(manager
        .exchange_client_credentials(&config)
        .await?
        .access_token()
        .secret()
        .clone())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let customer = Arc::new(Customer::from_arguments()?);
    for case in CASES.into_iter().filter(|case| *case != "stale exp") {
        let token = token(&customer, case).await;
        customer.tell(case, token).await?;
    }
    Ok(())
}
