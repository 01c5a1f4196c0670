//! Takes text as a JSON Web Key. Reading never panics, and what is read is written and read again
//! as the same key.

use bankrail_jose::{Jwk, PublicKey};

fuzz_target!(|text: &str| {
    if let Ok(key) = Jwk::parse(text) {
        let spki = key.public_key().to_spki_der();
        assert_eq!(
            &PublicKey::from_spki_der(&spki).expect("what was written"),
            key.public_key()
        );
        if let Some(private) = key.private_key() {
            assert_eq!(&private.public_key(), key.public_key());
        }
    }
});
