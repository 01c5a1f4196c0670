//! Step 4: the 26th statement call within the hour.

use crate::tour::{Sandbox, expect};
use bankrail::http::names::STATEMENT_PATH;
use bankrail::statement::{StatementReply, StatementRequest};
use bankrail_emulator::TestAccount;
use std::error::Error;
use std::time::Duration;

const LIMIT: u32 = 25;

pub(crate) async fn run(sandbox: &Sandbox, calls_so_far: u32) -> Result<(), Box<dyn Error>> {
    let account = TestAccount::ALL.first().ok_or("expected an account")?;
    let request = StatementRequest::new(&account.id());
    expect(calls_so_far < LIMIT, "calls to be left")?;
    for _ in calls_so_far..LIMIT {
        sandbox.client.statements().page(&request).await?;
    }
    println!("{LIMIT} statement calls in this hour were answered");

    let token = sandbox.client.tokens().token().await?;
    let answer = sandbox
        .http
        .post(format!("{}{STATEMENT_PATH}", sandbox.base_url))
        .header("apikey", sandbox.api_key)
        .header(
            "authorization",
            token.access_token.to_authorization().expose_secret(),
        )
        .header("content-type", "application/json")
        .body(request.to_json())
        .send()
        .await?;
    let status = answer.status().as_u16();
    expect(status == 429, "status 429 for the next call")?;
    let retry_after = answer
        .headers()
        .get("Retry-After")
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    let retry_after = retry_after.ok_or("expected the header Retry-After")?;
    let seconds: u64 = retry_after.parse()?;
    expect(
        (1..=7200).contains(&seconds),
        "Retry-After in seconds, within two hours",
    )?;
    let body = answer.bytes().await?;
    let StatementReply::Error(error) = StatementReply::parse(status, &body)? else {
        return Err("expected an error body".into());
    };
    println!("call {}        429, Retry-After: {retry_after}", LIMIT + 1);
    println!("answered       {}", std::str::from_utf8(&body)?);
    expect(error.request_key.is_some(), "a request key in the body")?;

    // After that time a call is answered again. The token has expired by then, and the client
    // fetches a new one.
    sandbox.clock.advance(Duration::from_secs(seconds));
    let page = sandbox.client.statements().page(&request).await?;
    println!(
        "{seconds} s later    answered again, request key {}",
        page.request_key()
    );
    Ok(())
}
