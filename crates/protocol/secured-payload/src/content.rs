//! A256CBC-HS512 (RFC 7518 sections 5.2.2 and 5.2.5).

use aes::Aes256;
use bankrail_jose::ContentKey;
use bankrail_jose::algorithm::{BLOCK_LEN, IV_LEN, TAG_LEN};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha512;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// A ciphertext with its initialisation vector and authentication tag.
pub(crate) struct Ciphertext {
    pub(crate) iv: [u8; IV_LEN],
    pub(crate) text: Zeroizing<Vec<u8>>,
    pub(crate) tag: [u8; TAG_LEN],
}

/// A plain text whose authentication tag was verified before it was decrypted. Only
/// [`Ciphertext::open`] makes one.
pub(crate) struct Authentic(Zeroizing<Vec<u8>>);

/// The reason why a ciphertext was not opened.
pub(crate) enum NotOpened {
    /// The tag is wrong for this key. The ciphertext is returned unchanged.
    WrongTag(Ciphertext),
    /// The tag is right and the padding is wrong. Only someone who has the content key can cause
    /// this.
    WrongPadding,
}

impl Ciphertext {
    /// Encrypts `text` in place. The tag also covers `aad`.
    pub(crate) fn seal(
        key: &ContentKey,
        iv: [u8; IV_LEN],
        aad: &[u8],
        mut text: Zeroizing<Vec<u8>>,
    ) -> Self {
        let (mac_key, enc_key) = key.expose_halves();
        let length = text.len();
        text.resize((length / BLOCK_LEN + 1) * BLOCK_LEN, 0);
        let cipher = cbc::Encryptor::<Aes256>::new_from_slices(enc_key, &iv)
            .expect("the key has 32 bytes, the IV 16");
        cipher
            .encrypt_padded::<Pkcs7>(&mut text, length)
            .expect("there is room for 1 to 16 bytes of padding");
        let tag = tag(mac_key, aad, &iv, &text);
        Self { iv, text, tag }
    }

    /// Checks the tag in constant time, then decrypts in place.
    pub(crate) fn open(mut self, key: &ContentKey, aad: &[u8]) -> Result<Authentic, NotOpened> {
        let (mac_key, enc_key) = key.expose_halves();
        if !bool::from(tag(mac_key, aad, &self.iv, &self.text).ct_eq(&self.tag)) {
            return Err(NotOpened::WrongTag(self));
        }
        let cipher = cbc::Decryptor::<Aes256>::new_from_slices(enc_key, &self.iv);
        let cipher = cipher.expect("the key has 32 bytes, the IV 16");
        let plain = cipher
            .decrypt_padded::<Pkcs7>(&mut self.text)
            .map_err(|_| NotOpened::WrongPadding)?;
        let length = plain.len();
        self.text.truncate(length);
        Ok(Authentic(self.text))
    }
}

impl Authentic {
    /// Returns the plain text.
    pub(crate) fn into_bytes(self) -> Zeroizing<Vec<u8>> {
        self.0
    }
}

fn tag(mac_key: &[u8], aad: &[u8], iv: &[u8; IV_LEN], text: &[u8]) -> [u8; TAG_LEN] {
    let mut mac = Hmac::<Sha512>::new_from_slice(mac_key).expect("HMAC takes keys of any length");
    mac.update(aad);
    mac.update(iv);
    mac.update(text);
    // The length of the associated data is in bits (RFC 7518 section 5.2.2.1); no input here comes
    // near 2^61 bytes.
    mac.update(
        &u64::try_from(aad.len())
            .unwrap_or(u64::MAX)
            .saturating_mul(8)
            .to_be_bytes(),
    );
    let whole = mac.finalize().into_bytes();
    let (half, _) = whole.split_at(TAG_LEN);
    half.try_into().expect("the tag is half of the MAC")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_encrypted_comes_back_and_any_change_is_found(
            halves in [any::<[u8; 32]>(), any::<[u8; 32]>()],
            iv in any::<[u8; 16]>(),
            aad in prop::collection::vec(any::<u8>(), 0..40),
            plain in prop::collection::vec(any::<u8>(), 0..80),
            at in any::<prop::sample::Index>(),
        ) {
            let key = ContentKey::from(<[u8; 64]>::try_from(halves.concat()).unwrap());
            let sealed = || Ciphertext::seal(&key, iv, &aad, Zeroizing::new(plain.clone()));
            prop_assert_eq!(opened(sealed(), &key, &aad), Some(plain.clone()));
            prop_assert_eq!(opened(sealed(), &key, &[&aad[..], b"x"].concat()), None);
            let mut changed = sealed();
            let length = changed.text.len();
            changed.text[at.index(length)] ^= 1;
            prop_assert_eq!(opened(changed, &key, &aad), None);
            let mut changed = sealed();
            changed.tag[at.index(TAG_LEN)] ^= 1;
            prop_assert_eq!(opened(changed, &key, &aad), None);
        }
    }

    fn opened(sealed: Ciphertext, key: &ContentKey, aad: &[u8]) -> Option<Vec<u8>> {
        sealed
            .open(key, aad)
            .ok()
            .map(|text| text.into_bytes().to_vec())
    }

    #[test]
    fn another_key_leaves_the_ciphertext_and_wrong_padding_behind_a_right_tag_is_refused() {
        let (key, other) = (ContentKey::from([1; 64]), ContentKey::from([2; 64]));
        let sealed = Ciphertext::seal(&key, [3; IV_LEN], b"aad", Zeroizing::new(b"plain".to_vec()));
        let Err(NotOpened::WrongTag(same)) = sealed.open(&other, b"aad") else {
            panic!()
        };
        assert_eq!(opened(same, &key, b"aad").as_deref(), Some(&b"plain"[..]));
        let (mac_key, _) = key.expose_halves();
        let text = Zeroizing::new(vec![0; 32]);
        let tag = tag(mac_key, b"aad", &[3; IV_LEN], &text);
        let found = Ciphertext {
            iv: [3; IV_LEN],
            text,
            tag,
        }
        .open(&key, b"aad");
        assert!(matches!(found, Err(NotOpened::WrongPadding)));
    }

    fn hex(value: &serde_json::Value) -> Vec<u8> {
        let text = value.as_str().unwrap();
        (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
            .collect()
    }

    fn key_and_iv(key: &serde_json::Value, iv: &serde_json::Value) -> (ContentKey, [u8; IV_LEN]) {
        let key: [u8; 64] = hex(key).try_into().unwrap();
        (ContentKey::from(key), hex(iv).try_into().unwrap())
    }

    /// The vectors of RFC 7518 B.3, and others that joserfc has computed too.
    #[test]
    fn published_vectors_byte_for_byte() {
        let file: serde_json::Value =
            serde_json::from_str(include_str!("../tests/vectors/secured_payload.json")).unwrap();
        for case in file["content"].as_array().unwrap() {
            let (key, iv) = key_and_iv(&case["K"], &case["IV"]);
            let (plain, aad) = (hex(&case["P"]), hex(&case["A"]));
            let sealed = Ciphertext::seal(&key, iv, &aad, Zeroizing::new(plain.clone()));
            assert_eq!(
                (sealed.text.to_vec(), sealed.tag.to_vec()),
                (hex(&case["E"]), hex(&case["T"])),
                "{case}"
            );
            assert_eq!(opened(sealed, &key, &aad), Some(plain), "{case}");
        }
    }

    #[test]
    fn wycheproof() {
        let Some(shared) = std::env::var_os("BANKRAIL_SHARED") else {
            eprintln!("BANKRAIL_SHARED not set: skipped");
            return;
        };
        let path = std::path::Path::new(&shared).join("vectors/wycheproof/a256cbc_hs512_test.json");
        let file: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut run = 0;
        for case in file["testGroups"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|group| group["tests"].as_array().unwrap())
        {
            let (key, iv) = key_and_iv(&case["key"], &case["iv"]);
            let (aad, text) = (hex(&case["aad"]), Zeroizing::new(hex(&case["ct"])));
            let tag: [u8; TAG_LEN] = hex(&case["tag"]).try_into().unwrap();
            let plain = opened(
                Ciphertext {
                    iv,
                    text: text.clone(),
                    tag,
                },
                &key,
                &aad,
            );
            assert_eq!(plain.is_some(), case["result"] == "valid", "{case}");
            if let Some(plain) = plain {
                assert_eq!(plain, hex(&case["msg"]), "{case}");
                let sealed = Ciphertext::seal(&key, iv, &aad, Zeroizing::new(plain));
                assert_eq!((sealed.tag, sealed.text), (tag, text), "{case}");
            }
            run += 1;
        }
        assert_eq!(run, 94);
    }
}
