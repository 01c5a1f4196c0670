//! Interoperability with josekit's own JWS and JWE functions.

use crate::shared::backends;
use bankrail_secured_payload::{OpenErrorKind, SealOptions, Sealer};
use josekit::jwe::{JweHeader, RSA_OAEP};
use josekit::jws::{JwsHeader, RS256};

const MESSAGE: &[u8] = "{\"narrative\":\"naïve ☕ 😀\"}".as_bytes();

#[test]
fn josekit_opens_what_is_sealed_here() {
    for keys in backends() {
        for deflate in [false, true] {
            let options = if deflate {
                SealOptions::new().deflate(true)
            } else {
                SealOptions::new()
            };
            let sealer = Sealer::new(keys.signing.clone(), keys.encryption(), options);
            let compact = sealer.seal(MESSAGE).unwrap();
            let decrypter = RSA_OAEP
                .decrypter_from_pem(keys.decryption.to_pkcs8_pem().as_bytes())
                .unwrap();
            let (inner, header) = josekit::jwe::deserialize_compact(&compact, &decrypter).unwrap();
            assert_eq!(header.content_type(), Some("JWT"));
            let verifier = RS256
                .verifier_from_pem(keys.verifying().to_spki_pem())
                .unwrap();
            let (payload, header) = josekit::jws::deserialize_compact(&inner, &verifier).unwrap();
            assert_eq!(
                (payload.as_slice(), header.token_type()),
                (MESSAGE, Some("JWT"))
            );
        }
    }
}

#[test]
fn what_josekit_seals_is_opened_here() {
    for keys in backends() {
        for zip in [false, true] {
            let signer = RS256
                .signer_from_pem(keys.signing.to_pkcs8_pem().as_bytes())
                .unwrap();
            let inner =
                josekit::jws::serialize_compact(MESSAGE, &JwsHeader::new(), &signer).unwrap();
            let mut header = JweHeader::new();
            header.set_content_encryption("A256CBC-HS512");
            if zip {
                header.set_compression("DEF");
            }
            let encrypter = RSA_OAEP
                .encrypter_from_pem(keys.encryption().to_spki_pem())
                .unwrap();
            let compact =
                josekit::jwe::serialize_compact(inner.as_bytes(), &header, &encrypter).unwrap();
            assert_eq!(keys.customer().open(&compact).unwrap().json(), MESSAGE);
            let strict = keys.opener().open(&compact);
            assert_eq!(
                strict.err().map(|error| error.kind()),
                zip.then_some(OpenErrorKind::UnsupportedHeader)
            );
        }
    }
}
