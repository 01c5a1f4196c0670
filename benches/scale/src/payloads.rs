//! Sealing and opening against the length of the message.

use crate::Curve;
use bankrail_jose::{DecryptionKey, RsaSize, SigningKey};
use bankrail_secured_payload::{OpenOptions, Opener, SealOptions, Sealer};
use std::time::Instant;

pub(crate) fn measure(curve: &Curve<'_>) {
    let signing = SigningKey::generate(RsaSize::Rsa2048).unwrap();
    let decryption = DecryptionKey::generate(RsaSize::Rsa2048).unwrap();
    let sealer = Sealer::new(
        signing.clone(),
        decryption.encryption_key(),
        SealOptions::new().max_payload_bytes(2 << 20),
    );
    let opener = Opener::new(
        decryption,
        signing.verifying_key(),
        OpenOptions::new().max_message_bytes(8 << 20),
    )
    .unwrap();
    for size in curve.sizes().filter(|size| *size >= 1000) {
        let json = format!(
            r#"{{"narrative":"{}"}}"#,
            "abcdefghij".repeat(usize::try_from(size).unwrap() / 10)
        );
        let times = u32::try_from(2_000_000 / size).unwrap().clamp(10, 300);
        let compact = sealer.seal(json.as_bytes()).unwrap();
        let each = |begun: Instant| crate::micros(begun.elapsed()) / f64::from(times);
        let begun = Instant::now();
        (0..times).for_each(|_| drop(sealer.seal(json.as_bytes()).unwrap()));
        curve.point("seal", size, "µs", each(begun));
        let begun = Instant::now();
        (0..times).for_each(|_| drop(opener.open(&compact).unwrap()));
        curve.point("open", size, "µs", each(begun));
    }
}
