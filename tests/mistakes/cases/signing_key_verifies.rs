//! A provider looks for the public key of a customer and has the private one.
//! says: `SigningKey::verifying_key`
use bankrail::client_assertion::Verifier;
use bankrail::jose::SigningKey;
use bankrail::values::{Clock, SystemClock};

fn verify(verifier: &Verifier, assertion: &str, key: &SigningKey) {
    let _ = verifier.verify(assertion, SystemClock.now(), |_| Some(key.clone()));
}

fn main() {}
