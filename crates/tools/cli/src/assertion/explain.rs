//! `bankrail assertion explain`: every rule by itself, and the verifier's verdict over all.

use super::Explain;
use crate::clock::instant;
use crate::failure::{Failure, Outcome, causes, with_options};
use crate::input;
use crate::keys::file;
use crate::output::{Output, Steps};
use bankrail::client_assertion::{AssertionError, Audience, Verifier, VerifierOptions};
use bankrail::jose::jws::{Compact, VerifyOptions};
use bankrail::values::json::{JsonMember, JsonValue};
use bankrail::values::{Clock as _, SystemClock, Timestamp};

pub(super) fn run(arguments: &Explain, output: &mut Output) -> Result<Outcome, Failure> {
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
        steps.members(parts.next().unwrap_or_default(), |member| time(member, now))?;
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
fn time(claim: &JsonMember<'_>, now: Timestamp) -> String {
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
