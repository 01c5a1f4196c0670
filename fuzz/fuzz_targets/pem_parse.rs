//! Takes bytes as a key file, a certificate or DER. Reading never panics, and keys are written and
//! read again equal.

use bankrail_jose::{Certificate, PrivateKey, PublicKey};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let private = [
        PrivateKey::from_pem(&text),
        PrivateKey::from_pkcs8_der(data),
        PrivateKey::from_pkcs1_der(data),
    ];
    for key in private.into_iter().flatten() {
        let again = PrivateKey::from_pem(&key.to_pkcs8_pem()).expect("what was written");
        assert_eq!(again.public_key(), key.public_key());
    }
    let public = [
        PublicKey::from_pem(&text),
        PublicKey::from_spki_der(data),
        PublicKey::from_pkcs1_der(data),
        Certificate::from_der(data).map(Certificate::into_public_key),
    ];
    for key in public.into_iter().flatten() {
        assert_eq!(
            PublicKey::from_pem(&key.to_spki_pem()).expect("what was written"),
            key
        );
        assert_eq!(
            PublicKey::from_pkcs1_der(&key.to_pkcs1_der()).expect("what was written"),
            key
        );
    }
});
