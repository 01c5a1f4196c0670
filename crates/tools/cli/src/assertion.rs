//! `bankrail assertion`: client assertions.

use crate::clock::instant;
use crate::failure::{Failure, Outcome, causes, with_options};
use crate::input;
use crate::keys::file;
use crate::output::{Output, Steps};
use bankrail::client_assertion::token::{ScopeSet, TokenRequest};
use bankrail::client_assertion::{
    AssertionBuilder, AssertionError, AssertionOptions, Audience, CustomerCode, JwtId, Verifier,
    VerifierOptions,
};
use bankrail::jose::jws::{Compact, VerifyOptions};
use bankrail::values::json::{JsonMember, JsonValue};
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
    #[arg(long, value_name = "CODE")]
    customer: CustomerCode,
    /// The address of the token endpoint, the claim aud
    #[arg(long, value_name = "URL")]
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
    #[arg(long, value_name = "SCOPES")]
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
    #[arg(long, value_name = "URL")]
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
        Command::Explain(arguments) => explain(arguments, output),
    }
}

/// Parses a time in UTC with up to three fractional digits.
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
        // Prints no line end, because curl would send it.
        Some(scopes) => Ok(output.write_all(
            TokenRequest::new(assertion, scopes.clone())
                .to_form()
                .as_bytes(),
        )?),
        None => output.line(assertion),
    }
}

/// Judges every rule by itself, and then the assertion as a provider does.
fn explain(arguments: &Explain, output: &mut Output) -> Result<Outcome, Failure> {
    let text = input::read_text(&arguments.file, Verifier::MAX_BYTES + 1024)?;
    let assertion = text.trim();
    let now = arguments.at.unwrap_or_else(|| SystemClock.now());
    let keys = arguments.key.as_deref().map(file::verifying).transpose()?;
    let options = VerifierOptions::new();
    let options = if arguments.lenient {
        options.lenient_clients()
    } else {
        options
    };
    // Without --audience, every assertion has an audience other than this one, which then breaks no
    // rule.
    let nobody = Audience::parse("urn:bankrail:none").expect("a URN is an audience");
    let verifier = Verifier::new(arguments.audience.clone().unwrap_or(nobody), options);

    let mut parts = assertion.split('.');
    let json = arguments.json;
    let mut steps = Steps { output, json };
    for title in ["header", "claims"] {
        steps.title(title)?;
        steps.members(parts.next().unwrap_or_default(), |member| {
            claim_time(member, now)
        })?;
    }
    steps.title(&format!("rules, at {}", instant(now)))?;
    let mut broken = false;
    for judged in verifier.explain(assertion, now) {
        match judged.outcome {
            Ok(()) => steps.step("pass", judged.rule, "")?,
            Err(AssertionError::Audience { .. }) if arguments.audience.is_none() => {
                steps.step("open", judged.rule, "not compared: no --audience")?;
            }
            Err(error) => {
                broken = true;
                steps.step("FAIL", judged.rule, &why(&error))?;
            }
        }
    }
    // The bounds of the verifier.
    let compact = Compact::parse(
        assertion,
        &VerifyOptions::new()
            .max_token_bytes(Verifier::MAX_BYTES)
            .max_header_bytes(2 * 1024),
    );
    let (mark, note) = match (compact, &keys) {
        (Ok(compact), Some(keys)) => match compact.verify(keys) {
            Ok(verified) => {
                let key = verified.key();
                (
                    "pass",
                    format!(
                        "by the key {}",
                        key.kid().map_or_else(|| key.thumbprint(), str::to_owned)
                    ),
                )
            }
            Err(error) => ("FAIL", causes(&error)),
        },
        (Ok(_), None) => ("open", "not verified: no --key".to_owned()),
        (Err(_), _) => ("open", "not verified: the form is wrong".to_owned()),
    };
    broken |= mark == "FAIL";
    steps.step(mark, "the signature is valid", &note)?;

    let (Some(keys), Some(_)) = (keys, &arguments.audience) else {
        steps.step("open", "no verdict", "pass --key and --audience for one")?;
        return Ok(Outcome::of_findings(broken));
    };
    match verifier.verify(assertion, now, |_| Some(keys)) {
        Ok(verified) => {
            steps.step("pass", "accepted", verified.customer().as_str())?;
            Ok(Outcome::of_findings(broken))
        }
        Err(error) => {
            steps.step("FAIL", "refused", &why(&error))?;
            Ok(Outcome::Findings)
        }
    }
}

/// Returns the reason of a refusal. An option that it names is one of this command.
fn why(error: &AssertionError) -> String {
    with_options(&causes(error), "--lenient")
}

/// Returns the time of a claim in words.
fn claim_time(claim: &JsonMember<'_>, now: Timestamp) -> String {
    let time = match (claim.name(), claim.value()) {
        ("exp" | "nbf" | "iat", JsonValue::Number(number)) => number.as_i64().map(|seconds| {
            let at = Timestamp::saturating_from_unix_millis(seconds.saturating_mul(1000));
            format!("  ({}, {})", instant(at), distance(at, now))
        }),
        _ => None,
    };
    time.unwrap_or_default()
}

/// `in 300 s`, `300 s ago`.
fn distance(at: Timestamp, now: Timestamp) -> String {
    if at >= now {
        format!("in {} s", at.saturating_since(now).as_secs())
    } else {
        format!("{} s ago", now.saturating_since(at).as_secs())
    }
}
