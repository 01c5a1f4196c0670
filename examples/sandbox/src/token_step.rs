//! Step 1: an assertion, and the access token for it.

use crate::bank::CUSTOMER;
use crate::tour::{Sandbox, expect};
use bankrail::client_assertion::token::{FORM_CONTENT_TYPE, TokenRequest, TokenResponse, names};
use bankrail::client_assertion::{AssertionBuilder, AssertionOptions, CustomerCode};
use bankrail::jose::jws::{Compact, VerifyOptions};
use bankrail::values::{Clock as _, HyphenatedUuid};
use std::error::Error;

pub(crate) async fn run(sandbox: &Sandbox) -> Result<(), Box<dyn Error>> {
    let customer = CustomerCode::parse(CUSTOMER)?;
    let assertion = AssertionBuilder::new(
        customer.clone(),
        sandbox.audience.clone(),
        AssertionOptions::new(),
    )
    .sign(&sandbox.keys.assertion, sandbox.clock.now())?;
    println!("customer code  {customer}");
    let compact = Compact::parse(&assertion, &VerifyOptions::default())?;
    println!(
        "claims         {}",
        std::str::from_utf8(compact.unverified_payload())?
    );
    let url = format!("{}/v1.0/auth", sandbox.base_url);
    println!("asked          POST {url} for {}", names::STATEMENT_READ);

    let form = TokenRequest::new(assertion, names::STATEMENT_READ.parse()?).to_form();
    let answer = sandbox
        .http
        .post(url)
        .header("content-type", FORM_CONTENT_TYPE)
        .header("apikey", sandbox.api_key)
        .body(form)
        .send()
        .await?;
    expect(answer.status().as_u16() == 200, "status 200")?;
    let header = |name: &str| {
        answer
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned)
    };
    let key = header("X-RequestKey").ok_or("expected the header X-RequestKey")?;
    HyphenatedUuid::parse(&key)?;
    expect(
        header("Cache-Control").as_deref() == Some("no-store"),
        "Cache-Control: no-store",
    )?;
    let body = answer.bytes().await?;
    let token = TokenResponse::from_json(&body)?;
    expect(token.expires_in == 3600, "a token for 3600 seconds")?;
    let shown = token
        .access_token
        .expose_secret()
        .get(..8)
        .unwrap_or_default();
    let whole = token.access_token.expose_secret();
    println!(
        "answered       {}",
        std::str::from_utf8(&body)?.replace(whole, &format!("{shown}-…"))
    );
    println!("X-RequestKey   {key}");
    Ok(())
}
