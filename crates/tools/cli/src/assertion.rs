//! `bankrail assertion`: client assertions.

mod explain;

use crate::failure::{Failure, Outcome, causes};
use crate::keys::file;
use crate::output::Output;
use bankrail::client_assertion::token::{ScopeSet, TokenRequest};
use bankrail::client_assertion::{
    AssertionBuilder, AssertionOptions, Audience, CustomerCode, JwtId,
};
use bankrail::values::{Clock as _, SystemClock, Timestamp, ValueError};
use clap::{Args, Subcommand};
use std::io::Write as _;
use std::time::Duration;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make an assertion, signed with the customer's key
    ///
    /// Prints the assertion, or with --form the whole body of the token request. Anyone who has it
    /// can get a token until it expires.
    #[command(after_help = "Examples:\n  \
        bankrail assertion make --key signing.pem --customer CUSTOMERCODE \\\n    \
        --audience https://auth.example.com/v1.0/auth > assertion.txt\n  \
        bankrail assertion make --key signing.pem --customer CUSTOMERCODE \\\n    \
        --audience https://auth.example.com/v1.0/auth \\\n    \
        --form GBL.INSTO.ACCOUNTS.STATEMENT.READ > body.txt")]
    Make(MakeArguments),
    /// Show which rules an assertion passes and which it breaks
    ///
    /// Without --key the signature is not verified, without --audience the claim aud is not
    /// compared, and there is no verdict. Claims and header are printed, the signature is not.
    #[command(
        after_help = "Exit status: 0 if no rule is broken, 1 if one is, 2 for a file that cannot be read.\n\n\
        Examples:\n  \
        bankrail assertion explain assertion.txt\n  \
        bankrail assertion explain --key signing.pub.pem \\\n    \
        --audience https://auth.example.com/v1.0/auth assertion.txt"
    )]
    Explain(Explain),
}

#[derive(Args, Debug)]
struct MakeArguments {
    /// The customer's private key: PEM, DER or JWK
    #[arg(long, value_name = "FILE")]
    key: String,
    /// The customer code, the claim sub
    #[arg(long, value_name = "CODE", value_parser = |text: &str| CustomerCode::parse(text))]
    customer: CustomerCode,
    /// The address of the token endpoint, the claim aud
    #[arg(long, value_name = "URL", value_parser = |text: &str| Audience::parse(text))]
    audience: Audience,
    /// The name of the key, for the header; by default that of a JWK
    #[arg(long)]
    kid: Option<String>,
    /// The seconds for which the assertion is valid: 1 to 3600
    #[arg(long, default_value_t = 300, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    lifetime: u64,
    /// Add the claim iss
    #[arg(long)]
    issuer: bool,
    /// Add the claim iat
    #[arg(long)]
    issued_at: bool,
    /// Add the claim jti, a random one
    #[arg(long)]
    jwt_id: bool,
    /// Print the body of a token request for these scopes, separated by spaces
    #[arg(long, value_name = "SCOPES", value_parser = |text: &str| ScopeSet::parse(text))]
    form: Option<ScopeSet>,
}

#[derive(Args, Debug)]
struct Explain {
    /// The assertion; - for standard input
    #[arg(default_value = "-")]
    file: String,
    /// The customer's public key or keys: PEM, DER, JWK or JWK set
    #[arg(long, value_name = "FILE")]
    key: Option<String>,
    /// The address of the token endpoint, which the claim aud must name
    #[arg(long, value_name = "URL", value_parser = |text: &str| Audience::parse(text))]
    audience: Option<Audience>,
    /// Judge as of this time instead of now, such as 2021-07-29T01:02:03Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    at: Option<Timestamp>,
    /// Accept what widespread client libraries send: an aud in an array, an exp that is text or up
    /// to 30 s too far ahead, no typ or client-authentication+jwt
    #[arg(long)]
    lenient: bool,
    /// Print one line of JSON for each step
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Outcome, Failure> {
    match &arguments.command {
        Command::Make(arguments) => make(arguments, output).map(|()| Outcome::Fine),
        Command::Explain(arguments) => explain::run(arguments, output),
    }
}

/// A time in UTC with up to three fractional digits.
fn time(text: &str) -> Result<Timestamp, ValueError> {
    Timestamp::parse_with_precision(text).map(|(at, _)| at)
}

fn make(arguments: &MakeArguments, output: &mut Output) -> Result<(), Failure> {
    let key = file::signing(&arguments.key, arguments.kid.as_deref())?;
    let options = AssertionOptions::new()
        .lifetime(Duration::from_secs(arguments.lifetime))
        .issuer(arguments.issuer)
        .issued_at(arguments.issued_at)
        .jwt_id(if arguments.jwt_id {
            JwtId::Random
        } else {
            JwtId::Absent
        });
    let builder = AssertionBuilder::new(
        arguments.customer.clone(),
        arguments.audience.clone(),
        options,
    );
    let assertion = builder.sign(&key, SystemClock.now()).map_err(|error| {
        Failure::refused(
            causes(&error),
            "bankrail assertion make --help lists what is accepted",
        )
    })?;
    match &arguments.form {
        // Without a line end, because curl sends what it reads.
        Some(scopes) => Ok(output.write_all(
            TokenRequest::new(assertion, scopes.clone())
                .to_form()
                .as_bytes(),
        )?),
        None => output.line(assertion),
    }
}
