//! Takes text as a compact signature. Reading never panics, and what is accepted has one spelling.

use bankrail_jose::base64url;
use bankrail_jose::jws::{Compact, VerifyOptions};

fuzz_target!(|text: &str| {
    if let Ok(token) = Compact::parse(text, &VerifyOptions::default()) {
        assert_eq!(token.header().member_text("alg"), Some("RS256"));
        let payload = base64url::encode(token.unverified_payload());
        let signature = base64url::encode(token.signature());
        let (header, rest) = text.split_once('.').expect("three parts");
        assert_eq!(rest, format!("{payload}.{signature}"));
        assert_eq!(
            base64url::decode(header)
                .map(|json| base64url::encode(&json))
                .as_deref(),
            Ok(header)
        );
    }
});
