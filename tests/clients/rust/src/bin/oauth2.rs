//! The crate `oauth2`, with an assertion as extra parameters: `oauth2 CUSTOMER-FILE OTHER-KEY`.

use foreign_clients::{CASES, Customer, Failure, WRONG_AUDIENCE};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use oauth2::basic::BasicClient;
use oauth2::http::Request;
use oauth2::{AuthType, ClientId, Scope, TokenResponse, TokenUrl};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

async fn token(customer: &Customer, case: &str) -> Result<String, Failure> {
    let issuer = customer.text("issuer");
    let metadata =
        Request::get(format!("{issuer}/.well-known/oauth-authorization-server")).body(Vec::new())?;
    let metadata: Value = serde_json::from_slice(customer.send(metadata).await?.body())?;
    let url = metadata["token_endpoint"]
        .as_str()
        .ok_or("expected a token endpoint")?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let claims = json!({
        "sub": customer.text("customer_code"),
        "aud": if case == "wrong aud" { WRONG_AUDIENCE } else { url },
        "exp": if case == "stale exp" { now - 60 } else { now + 300 },
    });
    let key = EncodingKey::from_rsa_pem(&customer.key(case)?)?;
    let client = BasicClient::new(ClientId::new(customer.text("customer_code").to_owned()))
        .set_token_uri(TokenUrl::new(url.to_owned())?)
        .set_auth_type(AuthType::RequestBody);
    let mut asked = client
        .exchange_client_credentials()
        .add_extra_param(
            "client_assertion_type",
            "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        )
        .add_extra_param(
            "client_assertion",
            encode(&Header::new(Algorithm::RS256), &claims, &key)?,
        );
    if case != "missing field" {
        asked = asked.add_scope(Scope::new(customer.text("scope").to_owned()));
    }
    let answer = asked.request_async(&|request| customer.send(request)).await;
    Ok(answer
        .map_err(|error| format!("{error:?}"))?
        .access_token()
        .secret()
        .clone())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let customer = Customer::from_arguments()?;
    for case in CASES {
        let token = token(&customer, case).await;
        customer.tell(case, token).await?;
    }
    Ok(())
}
