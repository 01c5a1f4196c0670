//! Makes a client assertion, requests a token with it and answers: both sides in one process,
//! without a socket.
//!
//! - `assertion` shows all steps with a new key.
//! - `assertion sign DIR` prints an assertion signed with the file `signing.pem` in DIR that
//!   `payload keys DIR` makes.
//! - `assertion verify DIR` reads an assertion from standard input, checks it with
//!   `signing.pub.pem` in DIR, and prints the customer.

use bankrail::client_assertion::token::{
    AccessToken, FORM_CONTENT_TYPE, ScopeSet, TokenRequest, TokenResponse, names,
};
use bankrail::client_assertion::{
    AssertionBuilder, AssertionOptions, Audience, CustomerCode, Verifier, VerifierOptions,
};
use bankrail::jose::{RsaSize, SigningKey, VerifyingKey};
use bankrail::values::{Clock, MainError, SystemClock};
use std::io::Read as _;
use std::path::Path;

const AUDIENCE: &str = "https://auth.example.com/v1.0/auth";
const CUSTOMER: &str = "SANDBOXCUSTOMER";

fn main() -> Result<(), MainError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match *arguments.as_slice() {
        [] => show(),
        ["sign", folder] => sign(Path::new(folder)),
        ["verify", folder] => verify(Path::new(folder)),
        _ => Err("usage: assertion [sign DIR | verify DIR]".into()),
    }
}

fn show() -> Result<(), MainError> {
    let audience = Audience::parse(AUDIENCE)?;
    let customer = CustomerCode::parse(CUSTOMER)?;
    let key = SigningKey::generate(RsaSize::Rsa2048)?;
    let now = SystemClock.now();

    let assertion = AssertionBuilder::new(customer, audience.clone(), AssertionOptions::new())
        .sign(&key, now)?;
    println!("assertion:\n{assertion}\n");
    let form = TokenRequest::new(assertion, names::STATEMENT_READ.parse()?).to_form();

    let request = TokenRequest::from_form(Some(FORM_CONTENT_TYPE), form.as_bytes())?;
    let verifier = Verifier::new(audience, VerifierOptions::new());
    let unverified = verifier.read(request.assertion().expose_secret())?;
    println!(
        "whose keys to look up: {}",
        unverified.subject_for_key_lookup()
    );
    let verified = unverified.verify(&key.verifying_key(), now)?;
    println!("verified, expires at:  {}", verified.expires_at());
    let granted = request
        .scope()
        .granted_from(&ScopeSet::parse(names::STATEMENT_READ)?)?;
    let response = TokenResponse::new(
        AccessToken::generate()?,
        TokenResponse::DEFAULT_LIFETIME,
        &granted,
    );
    println!("answer:                {}", response.to_json());
    Ok(())
}

fn sign(folder: &Path) -> Result<(), MainError> {
    let key = SigningKey::open(folder.join("signing.pem"))?;
    let builder = AssertionBuilder::new(
        CustomerCode::parse(CUSTOMER)?,
        Audience::parse(AUDIENCE)?,
        AssertionOptions::new(),
    );
    println!("{}", builder.sign(&key, SystemClock.now())?);
    Ok(())
}

fn verify(folder: &Path) -> Result<(), MainError> {
    let key = VerifyingKey::open(folder.join("signing.pub.pem"))?;
    let mut assertion = String::new();
    std::io::stdin().read_to_string(&mut assertion)?;
    let verifier = Verifier::new(Audience::parse(AUDIENCE)?, VerifierOptions::new());
    // The key is this customer's only, and no other that an assertion may name.
    let known = |customer: &CustomerCode| (customer.as_str() == CUSTOMER).then(|| key.clone());
    let verified = verifier.verify(assertion.trim_end(), SystemClock.now(), known)?;
    println!("{}", verified.customer());
    Ok(())
}
