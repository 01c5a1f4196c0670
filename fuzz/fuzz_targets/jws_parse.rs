//! Takes text as a compact signature, or changes of a header and a payload. Reading never panics,
//! what is accepted has one spelling and a header within the rules, and keys are tried by name.

use crate::invented::{changed_json, choices, logged};
use bankrail_jose::jws::{self, Compact, JwsHeader, VerifyError, VerifyOptions};
use bankrail_jose::{Backend, KeyOptions, KeySet, RsaSize, SigningKey, VerifyingKey, base64url};
use serde_json::Value;
use std::sync::LazyLock;

const HEADERS: [&str; 3] = [
    r#"{"alg":"RS256"}"#,
    r#"{"alg":"RS256","typ":"JWT","cty":"JWT","kid":"a","x":[{"y":1}]}"#,
    r#"{"alg":"RS256","crit":["b64"],"b64":false,"jwk":{},"jku":"a","x5u":"a","x5c":[],"zip":"DEF","enc":"a"}"#,
];

const VALUES: &[&str] = &[r#""RS256""#, r#""rs256""#, r#""none""#, r#""b""#, r#"["exp"]"#];

/// A key without security, and a set that has it under two names.
static KEYS: LazyLock<(SigningKey, KeySet<VerifyingKey>)> = LazyLock::new(|| {
    let options = KeyOptions::new().backend(Backend::Insecure);
    let key = SigningKey::generate_with(RsaSize::Rsa2048, &options).expect("a key");
    let public = key.verifying_key();
    let keys = [public.clone().with_kid("a"), public.with_kid("b")];
    (key, KeySet::new(keys).expect("two keys"))
});

fn token(data: &[u8]) -> Option<String> {
    let Some(mut choices) = choices(data) else {
        return String::from_utf8(data.to_vec()).ok();
    };
    let header = changed_json(&mut choices, &HEADERS, VALUES);
    let odd = choices.int_in_range(0..=7).unwrap_or(7);
    let rest = choices.take_rest();
    let signature = vec![0; if odd == 6 { 3 } else { 256 }];
    let parts = [header.as_bytes(), rest, &signature].map(base64url::encode);
    let mut token = parts.join(".");
    match odd {
        0 => token.push('.'),
        1 => token.push_str(".AAAA"),
        2 => token.push('='),
        3 => token.push_str("AB"),
        4 => drop(token.pop()),
        5 => token.insert(0, ' '),
        _ => {}
    }
    Some(token)
}

fn judge_header(header: &Value, token: &Compact<'_>) {
    for name in ["crit", "b64", "jwk", "jku", "x5u", "x5c", "enc", "zip"] {
        assert!(header.get(name).is_none(), "{header}");
    }
    assert_eq!(header["alg"], "RS256");
    let read = token.header();
    for (name, found) in [("kid", read.kid()), ("typ", read.typ()), ("cty", read.cty())] {
        assert_eq!(found, header[name].as_str());
        assert!(header.get(name).is_none_or(Value::is_string));
    }
    for (name, value) in header.as_object().expect("an object") {
        let written = read.member_json(name).expect("a member");
        let written: Option<Value> = serde_json::from_str(written).ok();
        assert_eq!(written.as_ref(), Some(value));
    }
}

fuzz_target!(|data: &[u8]| {
    let Some(text) = token(data) else { return };
    let (key, keys) = &*KEYS;
    let token = match Compact::parse(&text, &VerifyOptions::default()) {
        Ok(token) => token,
        Err(error) => {
            logged(&error);
            let verified = jws::verify(&text, keys, &VerifyOptions::default());
            assert!(matches!(verified, Err(VerifyError::Malformed(_))));
            return;
        }
    };
    assert_eq!(token.header().member_text("alg"), Some("RS256"));
    let payload = base64url::encode(token.unverified_payload());
    let signature = base64url::encode(token.signature());
    let (header, rest) = text.split_once('.').expect("three parts");
    assert_eq!(rest, format!("{payload}.{signature}"));
    let json = base64url::decode(header).expect("it was read");
    assert_eq!(base64url::encode(&json), header);
    if let Ok(header) = serde_json::from_slice::<Value>(&json) {
        judge_header(&header, &token);
    }
    let exact = VerifyOptions::new().max_token_bytes(text.len()).max_header_bytes(json.len());
    assert!(Compact::parse(&text, &exact).is_ok());
    for less in [exact.max_token_bytes(text.len() - 1), exact.max_header_bytes(json.len() - 1)] {
        logged(&Compact::parse(&text, &less).expect_err("a bound is met"));
    }
    // A copy of its header under the same rules.
    let mut again = JwsHeader::new();
    if let Some(typ) = token.header().typ() {
        again = again.typ(typ);
    }
    if let Some(cty) = token.header().cty() {
        again = again.cty(cty);
    }
    for name in ["x", "b64", "alg", "x"] {
        match again.clone().member(name, token.header().typ().unwrap_or_default()) {
            Ok(header) => again = header,
            Err(error) => logged(&error),
        }
    }
    let kid = token.header().kid().map(str::to_owned);
    let again = if let Some(kid) = &kid { again.kid(kid) } else { again };
    let signed = jws::sign(key, &again, token.unverified_payload()).expect("no bound is met");
    let reread = Compact::parse(&signed, &VerifyOptions::new().max_token_bytes(usize::MAX).max_header_bytes(usize::MAX));
    let reread = reread.expect("what was written");
    assert_eq!(reread.unverified_payload(), token.unverified_payload());
    assert_eq!((reread.header().kid(), reread.header().typ()), (kid.as_deref(), token.header().typ()));
    let prepared = jws::prepare(&again, None, token.unverified_payload());
    assert_eq!(prepared.finish(&[0; 256], &key.verifying_key()).expect("no security"), signed);

    let payload = token.unverified_payload().to_vec();
    let whole = token.signature().len() == 256;
    match token.verify(keys) {
        Ok(verified) => {
            assert!(whole && (kid.is_none() || verified.key().kid() == kid.as_deref()));
            assert_eq!((verified.header().kid(), verified.payload()), (kid.as_deref(), &*payload));
            assert_eq!(*verified.into_payload(), payload);
        }
        Err(error) => {
            logged(&error);
            assert!(!whole || kid.is_some_and(|kid| kid != "a" && kid != "b"));
        }
    }
});
