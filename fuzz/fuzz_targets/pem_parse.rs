//! Any text as a key file or certificate, any octets as DER: no panic, and keys survive writing and reading.

use bankrail_jose::{Certificate, PrivateMaterial, PublicMaterial};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let private = [
        PrivateMaterial::from_pem(&text),
        PrivateMaterial::from_pkcs8_der(data),
        PrivateMaterial::from_pkcs1_der(data),
    ];
    for key in private.into_iter().flatten() {
        let again = PrivateMaterial::from_pem(&key.to_pkcs8_pem()).expect("what was written");
        assert_eq!(again.public(), key.public());
    }
    let public = [
        PublicMaterial::from_pem(&text),
        PublicMaterial::from_spki_der(data),
        PublicMaterial::from_pkcs1_der(data),
        Certificate::from_der(data).map(Certificate::into_material),
    ];
    for key in public.into_iter().flatten() {
        assert_eq!(PublicMaterial::from_pem(&key.to_spki_pem()).expect("what was written"), key);
        assert_eq!(PublicMaterial::from_pkcs1_der(&key.to_pkcs1_der()).expect("what was written"), key);
    }
});
