//! `bankrail assertion explain`: every rule by itself, and the verifier's verdict over all.

use super::Explain;
use crate::clock::instant;
use crate::failure::{Failure, Outcome, causes};
use crate::input;
use crate::keys::file;
use crate::output::{Output, Style};
use crate::text::shown;
use bankrail::client_assertion::{AssertionError, Audience, Verifier, VerifierOptions};
use bankrail::jose::base64url;
use bankrail::jose::jws::{Compact, VerifyOptions};
use bankrail::values::json::{self, JsonLimits, JsonValue};
use bankrail::values::{Clock as _, SystemClock, Timestamp};

const LIMITS: JsonLimits = JsonLimits::new()
    .max_bytes(12 * 1024)
    .max_depth(8)
    .max_values(256);

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
    // Without --audience, every assertion has another audience than this one, which then breaks no
    // rule.
    let nobody = Audience::parse("urn:bankrail:none").expect("a URN is an audience");
    let verifier = Verifier::new(arguments.audience.clone().unwrap_or(nobody), options);

    let mut parts = assertion
        .split('.')
        .map(|part| base64url::decode(part).ok());
    for title in ["header", "claims"] {
        output.line(output.paint(Style::Bold, title))?;
        members(parts.next().flatten().as_deref(), now, output)?;
    }
    output.line(output.paint(Style::Bold, &format!("rules, at {}", instant(now))))?;
    let mut broken = false;
    for judged in verifier.explain(assertion, now) {
        match judged.outcome {
            Ok(()) => print("pass", judged.rule, "", output)?,
            Err(AssertionError::Audience { .. }) if arguments.audience.is_none() => {
                print("open", judged.rule, "not compared: no --audience", output)?;
            }
            Err(error) => {
                broken = true;
                print("FAIL", judged.rule, &causes(&error), output)?;
            }
        }
    }
    // The bounds of the verifier.
    let compact = Compact::parse(
        assertion,
        &VerifyOptions::new()
            .max_token(Verifier::MAX_BYTES)
            .max_header(2 * 1024),
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
    print(mark, "the signature is valid", &note, output)?;

    let (Some(keys), Some(_)) = (keys, &arguments.audience) else {
        output.line("no verdict: pass --key and --audience for one")?;
        return Ok(Outcome::of_findings(broken));
    };
    match verifier.verify(assertion, now, |_| Some(keys)) {
        Ok(verified) => {
            output.line(output.paint(
                Style::Green,
                &format!("accepted, for {}", verified.customer()),
            ))?;
            Ok(Outcome::of_findings(broken))
        }
        Err(error) => {
            output
                .line(output.paint(Style::Red, &format!("refused: {}", shown(&causes(&error)))))?;
            Ok(Outcome::Findings)
        }
    }
}

/// Prints whether a rule is kept, and a note.
fn print(mark: &str, rule: &str, note: &str, output: &mut Output) -> Result<(), Failure> {
    let style = match mark {
        "pass" => Style::Green,
        "FAIL" => Style::Red,
        _ => Style::Dim,
    };
    let colon = if note.is_empty() { "" } else { ": " };
    output.line(format_args!(
        "  {}  {rule}{colon}{}",
        output.paint(style, mark),
        shown(note)
    ))
}

/// Prints the members of an object.
fn members(object: Option<&[u8]>, now: Timestamp, output: &mut Output) -> Result<(), Failure> {
    let Some(object) = object else {
        return output.line("  not base64url");
    };
    let members = match json::read_object(object, &LIMITS) {
        Ok(members) => members,
        Err(error) => {
            return output.line(format_args!(
                "  not one JSON object: {}",
                shown(&error.to_string())
            ));
        }
    };
    for member in members.members() {
        let time = match (member.name(), member.value()) {
            ("exp" | "nbf" | "iat", JsonValue::Number(number)) => number.as_i64().map(|seconds| {
                let at = Timestamp::saturating_from_unix_millis(seconds.saturating_mul(1000));
                format!("  ({}, {})", instant(at), distance(at, now))
            }),
            _ => None,
        };
        let line = format!("  {}: {}", member.name(), member.json());
        output.line(format_args!("{}{}", shown(&line), time.unwrap_or_default()))?;
    }
    Ok(())
}

/// `in 300 s`, `300 s ago`.
fn distance(at: Timestamp, now: Timestamp) -> String {
    if at >= now {
        format!("in {} s", at.saturating_since(now).as_secs())
    } else {
        format!("{} s ago", now.saturating_since(at).as_secs())
    }
}
