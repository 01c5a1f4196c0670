use super::*;

/// The two libraries write the same form, so the back end may be changed without losing a token.
#[cfg(all(feature = "aws-lc", feature = "josekit"))]
#[test]
fn each_library_opens_what_the_other_sealed() {
    let (key, nonce, text) = ([7; 32], [9; NONCE_BYTES], b"a token".to_vec());
    let by_aws_lc = aws_lc::seal(&key, nonce, b"aad", Zeroizing::new(text.clone())).unwrap();
    assert_eq!(
        openssl::seal(&key, nonce, b"aad", Zeroizing::new(text.clone())).unwrap(),
        by_aws_lc
    );
    assert_eq!(
        openssl::open(&key, nonce, b"aad", &by_aws_lc)
            .unwrap()
            .to_vec(),
        text
    );
    assert!(openssl::open(&key, nonce, b"other", &by_aws_lc).is_none());
    assert_eq!(
        aws_lc::open(&key, nonce, b"aad", &by_aws_lc)
            .unwrap()
            .to_vec(),
        text
    );
}

/// Test case 14 of the specification of GCM (McGrew and Viega, appendix B).
#[test]
fn the_cipher_is_aes_256_gcm() {
    let sealed =
        cipher::seal(&[0; 32], [0; NONCE_BYTES], b"", Zeroizing::new(vec![0; 16])).unwrap();
    let hex: String = sealed.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        hex,
        "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"
    );
}

#[test]
fn a_secret_is_32_bytes_in_base64() {
    let secret =
        SealingSecret::from_base64(" AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n").unwrap();
    assert_eq!(secret.0[31], 31);
    for bad in [
        "",
        "AAEC",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
        "not base64",
        &"A".repeat(64),
    ] {
        assert!(SealingSecret::from_base64(bad).is_err(), "{bad:?}");
    }
}
