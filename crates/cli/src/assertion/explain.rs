//! `bankrail assertion explain`: every rule by itself, and the verifier's verdict over all.

use super::Explain;
use crate::clock::instant;
use crate::failure::{Failure, Outcome, causes};
use crate::input;
use crate::keys::file;
use crate::output::{Output, Style};
use crate::text::shown;
use bankrail::client_assertion::{CustomerCode, MAX_LIFETIME, Verifier, VerifierOptions};
use bankrail::jose::base64url;
use bankrail::jose::jws::{Compact, VerifyOptions};
use bankrail::values::json::{self, JsonLimits, JsonObject, JsonValue};
use bankrail::values::{Clock as _, SystemClock, Timestamp, excerpt};
use std::time::Duration;

/// A rule, and whether it is kept; the error says why not.
struct Rule {
    name: &'static str,
    found: Result<Kept, String>,
}

/// What there is to say of a rule that is not broken.
enum Kept {
    /// Nothing.
    Yes,
    /// By what it is kept.
    By(String),
    /// Why it was not looked at.
    Open(&'static str),
}

pub(super) fn run(arguments: &Explain, output: &mut Output) -> Result<Outcome, Failure> {
    let text = input::read_text(&arguments.file, Verifier::MAX_BYTES + 1024)?;
    let assertion = text.trim();
    let now = arguments.at.unwrap_or_else(|| SystemClock.now());
    let keys = arguments.key.as_deref().map(file::verifying).transpose()?;
    let parts: Vec<&str> = assertion.split('.').collect();
    let decoded = |index: usize| parts.get(index).and_then(|part| base64url::decode(part).ok());
    let (header, claims) = (decoded(0), decoded(1));

    output.line(output.paint(Style::Bold, "header"))?;
    members(header.as_deref(), now, output)?;
    output.line(output.paint(Style::Bold, "claims"))?;
    members(claims.as_deref(), now, output)?;
    output.line(output.paint(Style::Bold, &format!("rules, at {}", instant(now))))?;

    // The bounds of the verifier.
    let limits = VerifyOptions::new().max_token(Verifier::MAX_BYTES).max_header(2 * 1024);
    let compact = Compact::parse(assertion, &limits);
    let mut rules = vec![Rule {
        name: "three parts in base64url, header of RS256",
        found: compact.as_ref().map(|_| Kept::Yes).map_err(|error| causes(error)),
    }];
    let object = header.as_deref().and_then(|header| json::read_object(header, &LIMITS).ok());
    rules.push(Rule { name: "typ is jwt, in any case", found: typ(object.as_ref(), arguments.lenient) });
    match claims.as_deref().map(|claims| json::read_object(claims, &LIMITS)) {
        Some(Ok(claims)) => claim_rules(&claims, arguments, now, &mut rules),
        Some(Err(error)) => rules.push(Rule { name: "the claims are one JSON object", found: Err(error.to_string()) }),
        None => rules.push(Rule { name: "the claims are one JSON object", found: Err("not base64url".to_owned()) }),
    }
    let signature = match (compact, &keys) {
        (Ok(compact), Some(keys)) => match compact.verify(keys) {
            Ok(verified) => Ok(Kept::By(format!(
                "by the key {}",
                verified.key().kid().map_or_else(|| verified.key().thumbprint(), str::to_owned)
            ))),
            Err(error) => Err(causes(&error)),
        },
        (Ok(_), None) => Ok(Kept::Open("not verified: no --key")),
        (Err(_), _) => Ok(Kept::Open("not verified: the form is wrong")),
    };
    rules.push(Rule { name: "the signature is valid", found: signature });

    let mut broken = false;
    for rule in &rules {
        let (mark, style, note) = match &rule.found {
            Ok(Kept::Yes) => ("pass", Style::Green, None),
            Ok(Kept::By(what)) => ("pass", Style::Green, Some(what.as_str())),
            Ok(Kept::Open(why)) => ("open", Style::Dim, Some(*why)),
            Err(why) => ("FAIL", Style::Red, Some(why.as_str())),
        };
        broken |= rule.found.is_err();
        let note = note.map_or_else(String::new, |note| format!(": {}", shown(note)));
        output.line(format_args!("  {}  {}{note}", output.paint(style, mark), rule.name))?;
    }
    verdict(assertion, arguments, keys, now, broken, output)
}

const LIMITS: JsonLimits = JsonLimits::new().max_bytes(12 * 1024).max_depth(8).max_values(256);

/// What the verifier says about the whole.
fn verdict(
    assertion: &str,
    arguments: &Explain,
    keys: Option<bankrail::jose::KeySet<bankrail::jose::VerifyingKey>>,
    now: Timestamp,
    broken: bool,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let (Some(keys), Some(audience)) = (keys, &arguments.audience) else {
        output.line("no verdict: pass --key and --audience for one")?;
        return Ok(Outcome::of_findings(broken));
    };
    let options = VerifierOptions::new();
    let options = if arguments.lenient { options.lenient_clients() } else { options };
    let verifier = Verifier::new(audience.clone(), options);
    match verifier.verify(assertion, now, |_| Some(keys)) {
        Ok(verified) => {
            let verdict = format!("accepted, for {}", verified.customer());
            output.line(output.paint(Style::Green, &verdict))?;
            Ok(Outcome::of_findings(broken))
        }
        Err(error) => {
            output.line(output.paint(Style::Red, &format!("refused: {}", shown(&causes(&error)))))?;
            Ok(Outcome::Findings)
        }
    }
}

/// Prints the members of an object.
fn members(object: Option<&[u8]>, now: Timestamp, output: &mut Output) -> Result<(), Failure> {
    let Some(object) = object else { return output.line("  not base64url") };
    let members = match json::read_object(object, &LIMITS) {
        Ok(members) => members,
        Err(error) => return output.line(format_args!("  not one JSON object: {}", shown(&error.to_string()))),
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

fn typ(header: Option<&JsonObject<'_>>, lenient: bool) -> Result<Kept, String> {
    match header.and_then(|header| header.get("typ")) {
        Some(JsonValue::String(typ)) if typ.eq_ignore_ascii_case("jwt") => Ok(Kept::Yes),
        Some(JsonValue::String(typ)) if lenient && typ.eq_ignore_ascii_case("client-authentication+jwt") => {
            Ok(Kept::Yes)
        }
        Some(JsonValue::String(typ)) => Err(format!("found {}", excerpt(typ))),
        Some(_) => Err("found no text".to_owned()),
        None if lenient => Ok(Kept::Yes),
        None => Err("found none".to_owned()),
    }
}

fn claim_rules(claims: &JsonObject<'_>, arguments: &Explain, now: Timestamp, rules: &mut Vec<Rule>) {
    let mut rule = |name, found| rules.push(Rule { name, found });
    rule("the claims are one JSON object", Ok(Kept::Yes));
    let subject = text(claims, "sub").and_then(|found| found.ok_or_else(|| "found none".to_owned()));
    let code = subject.clone().and_then(|found| match CustomerCode::parse(&found) {
        Ok(_) => Ok(Kept::Yes),
        Err(error) => Err(error.to_string()),
    });
    rule("sub is a customer code", code);
    rule("aud is the token endpoint", audience(claims, arguments));
    let expires = seconds(claims, "exp", arguments.lenient);
    match expires {
        Err(why) => rule("exp is a number of seconds", Err(why)),
        Ok(None) => rule("exp is a number of seconds", Err("found none".to_owned())),
        Ok(Some(millis)) => {
            rule("exp is a number of seconds", Ok(Kept::Yes));
            let left = millis - millis_of(now);
            let ahead = if left > 0.0 { Ok(Kept::Yes) } else { Err(format!("expired {} s ago", -left / 1000.0)) };
            rule("exp is in the future", ahead);
            let tolerance = if arguments.lenient { VerifierOptions::DEFAULT_LEEWAY } else { Duration::ZERO };
            let most = (MAX_LIFETIME + tolerance).as_secs_f64() * 1000.0;
            let near = if left <= most { Ok(Kept::Yes) } else { Err(format!("{} s ahead", left / 1000.0)) };
            rule("exp is at most 60 minutes ahead", near);
        }
    }
    let issuer = match (text(claims, "iss"), &subject) {
        (Err(why), _) => Err(why),
        (Ok(Some(issuer)), Ok(subject)) if issuer != *subject => Err(format!("found {}", excerpt(&issuer))),
        (Ok(_), _) => Ok(Kept::Yes),
    };
    rule("iss, if present, is the value of sub", issuer);
    let latest = millis_of(now.saturating_add(VerifierOptions::DEFAULT_LEEWAY));
    for (claim, name) in [
        ("nbf", "nbf, if present, is at most 30 s in the future"),
        ("iat", "iat, if present, is at most 30 s in the future"),
    ] {
        let found = match seconds(claims, claim, false) {
            Err(why) => Err(why),
            Ok(Some(millis)) if millis > latest => Err(format!("{} s ahead", (millis - millis_of(now)) / 1000.0)),
            Ok(_) => Ok(Kept::Yes),
        };
        rule(name, found);
    }
    let id = match text(claims, "jti") {
        Err(why) => Err(why),
        Ok(Some(id)) if id.is_empty() || id.len() > MOST_JWT_ID => Err(format!("found {} bytes", id.len())),
        Ok(_) => Ok(Kept::Yes),
    };
    rule("jti, if present, has 1 to 256 bytes", id);
}

/// The bytes of a `jti` that the verifier takes.
const MOST_JWT_ID: usize = 256;

fn audience(claims: &JsonObject<'_>, arguments: &Explain) -> Result<Kept, String> {
    let found = match claims.get("aud") {
        Some(JsonValue::String(text)) => text.clone().into_owned(),
        Some(JsonValue::Array(items)) => match items.as_slice() {
            [JsonValue::String(text)] if arguments.lenient => text.clone().into_owned(),
            _ => return Err("expected one string, found an array".to_owned()),
        },
        Some(_) => return Err("expected one string, found another type".to_owned()),
        None => return Err("found none".to_owned()),
    };
    match &arguments.audience {
        None => Ok(Kept::Open("not compared: no --audience")),
        Some(expected) if expected.as_str() == found => Ok(Kept::Yes),
        Some(expected) => Err(format!("expected {}, found {}", expected.as_str(), excerpt(&found))),
    }
}

fn text(claims: &JsonObject<'_>, name: &str) -> Result<Option<String>, String> {
    match claims.get(name) {
        None => Ok(None),
        Some(JsonValue::String(text)) => Ok(Some(text.clone().into_owned())),
        Some(_) => Err("expected one string, found another type".to_owned()),
    }
}

/// The milliseconds of a claim that is a time.
fn seconds(claims: &JsonObject<'_>, name: &str, lenient: bool) -> Result<Option<f64>, String> {
    match claims.get(name) {
        None => Ok(None),
        Some(JsonValue::Number(number)) => match number.to_f64() {
            Some(seconds) => Ok(Some(seconds * 1000.0)),
            None => Err("found a number out of range".to_owned()),
        },
        Some(JsonValue::String(text)) if lenient => {
            let text: &str = text;
            let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
            let digits =
                |part: &str, most| (1..=most).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
            match text.parse::<f64>() {
                Ok(seconds) if digits(whole, 15) && digits(fraction, 9) => Ok(Some(seconds * 1000.0)),
                _ => Err(format!("found {}", excerpt(text))),
            }
        }
        Some(_) => Err("expected a number, found another type".to_owned()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 are exact in 53 bits")]
fn millis_of(at: Timestamp) -> f64 {
    at.unix_millis() as f64
}
