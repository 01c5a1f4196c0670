//! Any text as a JSON Web Key: no panic, and what is read is written and read again as the same key.

use bankrail_jose::{Jwk, PublicMaterial};

fuzz_target!(|text: &str| {
    if let Ok(key) = Jwk::parse(text) {
        let spki = key.public().to_spki_der();
        assert_eq!(&PublicMaterial::from_spki_der(&spki).expect("what was written"), key.public());
        if let Some(private) = key.private() {
            assert_eq!(&private.public(), key.public());
        }
    }
});
