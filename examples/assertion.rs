//! Makes a client assertion, asks for a token with it and answers, both sides in one process and no socket between them.

use bankrail::client_assertion::token::{AccessToken, FORM_CONTENT_TYPE, ScopeSet, TokenRequest, TokenResponse, names};
use bankrail::client_assertion::{AssertionBuilder, Audience, CustomerCode, Verifier};
use bankrail::jose::{RsaSize, SigningKey};
use bankrail::values::{Clock, SystemClock};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let audience = Audience::parse("https://auth.example.com/v1.0/auth")?;
    let customer = CustomerCode::parse("SANDBOXCUSTOMER")?;
    let key = SigningKey::generate(RsaSize::Rsa2048)?;
    let now = SystemClock.now();

    let assertion = AssertionBuilder::new(customer, audience.clone()).sign(&key, now)?;
    println!("assertion:\n{assertion}\n");
    let form = TokenRequest::new(assertion, names::STATEMENT_READ.parse()?).to_form();

    let request = TokenRequest::from_form(Some(FORM_CONTENT_TYPE), form.as_bytes())?;
    let verifier = Verifier::new(audience);
    let unverified = verifier.read(request.assertion().expose_secret())?;
    println!("whose keys to look up: {}", unverified.subject_for_key_lookup());
    let verified = unverified.verify(&key.verifying_key(), now)?;
    println!("verified, expires at:  {}", verified.expires_at());
    let granted = request.scope().granted_from(&ScopeSet::parse(names::STATEMENT_READ)?)?;
    let response = TokenResponse::new(AccessToken::generate()?, TokenResponse::DEFAULT_LIFETIME, &granted);
    println!("answer:                {}", response.to_json());
    Ok(())
}
