//! Takes text, which is sealed as JSON, compressed or not. It opens as the same text; cut or
//! changed anywhere, it is refused.

use arbitrary::Arbitrary;
use bankrail_jose::{Backend, DecryptionKey, KeyOptions, RsaSize, SigningKey};
use bankrail_secured_payload::{OpenOptions, Opener, SealOptions, Sealer};
use std::sync::LazyLock;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    text: &'a str,
    deflate: bool,
    at: usize,
    replacement: u8,
}

static SEALERS: LazyLock<([Sealer; 2], Opener)> = LazyLock::new(|| {
    let options = KeyOptions::new().backend(Backend::Insecure);
    let signing = SigningKey::generate_with(RsaSize::Rsa2048, &options).expect("a key");
    let decryption = DecryptionKey::generate_with(RsaSize::Rsa2048, &options).expect("a key");
    let sealers = [SealOptions::new(), SealOptions::new().deflate(true)]
        .map(|options| Sealer::new(signing.clone(), decryption.encryption_key(), options));
    let opener = Opener::new(decryption, signing.verifying_key(), OpenOptions::new())
        .expect("a key of 2048 bits");
    (sealers, opener)
});

fuzz_target!(|input: Input<'_>| {
    let (sealers, opener) = &*SEALERS;
    let json = serde_json::to_string(input.text).expect("a text");
    let Ok(message) = sealers[usize::from(input.deflate)].seal(json.as_bytes()) else {
        return;
    };
    assert_eq!(
        opener.open(&message).expect("what was sealed").json(),
        json.as_bytes()
    );

    let at = input.at % message.len();
    assert!(opener.open(&message[..at]).is_err());
    let mut changed = message.clone().into_bytes();
    changed[at] = input.replacement;
    // A change is not noticed in bytes of the encrypted key that the insecure provider ignores.
    let in_key = (message.find('.'), message.match_indices('.').nth(1));
    let (Some(from), Some((to, _))) = in_key else {
        unreachable!()
    };
    if let Ok(changed) = String::from_utf8(changed)
        && changed != message
        && !(from..to).contains(&at)
    {
        assert!(opener.open(&changed).is_err());
    }
});
