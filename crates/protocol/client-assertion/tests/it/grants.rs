//! The issuer's record of a token.

use crate::support::{NOW, at, customer};
use bankrail_client_assertion::token::TokenGrant;
use bankrail_values::Timestamp;

fn grant() -> TokenGrant {
    TokenGrant::new(customer(), "A".parse().unwrap(), at(NOW), at(NOW + 60))
}

#[test]
fn a_token_is_valid_before_it_expires() {
    for (millis, valid) in [(-1, true), (0, false), (1, false)] {
        let now = Timestamp::from_unix_millis((NOW + 60) * 1000 + millis).unwrap();
        assert_eq!(grant().is_valid_at(now), valid, "{millis} ms");
    }
}
