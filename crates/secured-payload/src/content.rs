//! A256CBC-HS512 (RFC 7518 sections 5.2.2 and 5.2.5).

use aes::Aes256;
use bankrail_jose::ContentKey;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha512;
use subtle::ConstantTimeEq as _;

pub(crate) const IV_LEN: usize = 16;
pub(crate) const TAG_LEN: usize = 32;
pub(crate) const BLOCK_LEN: usize = 16;

/// Encrypts `text` in place, padding included, and answers the tag over everything.
pub(crate) fn encrypt(key: &ContentKey, iv: &[u8; IV_LEN], aad: &[u8], text: &mut Vec<u8>) -> [u8; TAG_LEN] {
    let (mac_key, enc_key) = key.expose_secret().split_at(32);
    let length = text.len();
    text.resize((length / BLOCK_LEN + 1) * BLOCK_LEN, 0);
    let cipher = cbc::Encryptor::<Aes256>::new_from_slices(enc_key, iv).expect("a key of 32 octets, an IV of 16");
    cipher.encrypt_padded::<Pkcs7>(text, length).expect("there is room for one to 16 octets of padding");
    tag(mac_key, aad, iv, text)
}

/// Whether `found` is the tag over everything, in the same time wherever they differ.
#[must_use]
pub(crate) fn is_authentic(key: &ContentKey, iv: &[u8; IV_LEN], aad: &[u8], text: &[u8], found: &[u8]) -> bool {
    let (mac_key, _) = key.expose_secret().split_at(32);
    tag(mac_key, aad, iv, text).ct_eq(found).into()
}

/// Decrypts `text` in place; `None` if its padding is wrong. Only for text whose tag was checked.
pub(crate) fn decrypt(key: &ContentKey, iv: &[u8; IV_LEN], text: &mut Vec<u8>) -> Option<()> {
    let (_, enc_key) = key.expose_secret().split_at(32);
    let cipher = cbc::Decryptor::<Aes256>::new_from_slices(enc_key, iv).expect("a key of 32 octets, an IV of 16");
    let length = cipher.decrypt_padded::<Pkcs7>(text).ok()?.len();
    text.truncate(length);
    Some(())
}

fn tag(mac_key: &[u8], aad: &[u8], iv: &[u8; IV_LEN], text: &[u8]) -> [u8; TAG_LEN] {
    let mut mac = Hmac::<Sha512>::new_from_slice(mac_key).expect("HMAC takes keys of any length");
    mac.update(aad);
    mac.update(iv);
    mac.update(text);
    // The length of the associated data in bits (RFC 7518 section 5.2.2.1): no input here comes near 2^61 octets.
    mac.update(&u64::try_from(aad.len()).unwrap_or(u64::MAX).saturating_mul(8).to_be_bytes());
    let whole = mac.finalize().into_bytes();
    let (half, _) = whole.split_at(TAG_LEN);
    half.try_into().expect("SHA-512 gives 64 octets")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_encrypted_comes_back_and_any_change_is_found(
            key in prop::array::uniform32(any::<u8>()),
            iv in any::<[u8; 16]>(),
            aad in prop::collection::vec(any::<u8>(), 0..40),
            plain in prop::collection::vec(any::<u8>(), 0..80),
            at in any::<prop::sample::Index>(),
        ) {
            let mut both = [0; 64];
            both[..32].copy_from_slice(&key);
            both[32..].copy_from_slice(&key);
            let key = ContentKey::from(both);
            let mut text = plain.clone();
            let tag = encrypt(&key, &iv, &aad, &mut text);
            prop_assert!(is_authentic(&key, &iv, &aad, &text, &tag));
            prop_assert!(!is_authentic(&key, &iv, &aad, &text, &tag[..16]));
            prop_assert!(!is_authentic(&key, &iv, &[&aad[..], b"x"].concat(), &text, &tag));
            let mut changed = text.clone();
            changed[at.index(text.len())] ^= 1;
            prop_assert!(!is_authentic(&key, &iv, &aad, &changed, &tag));
            prop_assert!(decrypt(&key, &iv, &mut text).is_some());
            prop_assert_eq!(text, plain);
        }
    }

    fn vectors(file: &str) -> Option<serde_json::Value> {
        let Some(shared) = std::env::var_os("BANKRAIL_SHARED") else {
            eprintln!("BANKRAIL_SHARED not set: skipped");
            return None;
        };
        let text = std::fs::read_to_string(std::path::Path::new(&shared).join("vectors").join(file)).unwrap();
        Some(serde_json::from_str(&text).unwrap())
    }

    fn hex(value: &serde_json::Value) -> Vec<u8> {
        let text = value.as_str().unwrap();
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    }

    fn key_and_iv(key: &serde_json::Value, iv: &serde_json::Value) -> (ContentKey, [u8; IV_LEN]) {
        let key: [u8; 64] = hex(key).try_into().unwrap();
        (ContentKey::from(key), hex(iv).try_into().unwrap())
    }

    #[test]
    fn rfc7518_b3_octet_for_octet() {
        let Some(file) = vectors("jose/rfc_vectors.json") else { return };
        let vector = &file["rfc7518_B.3_A256CBC-HS512"];
        let (key, iv) = key_and_iv(&vector["K"], &vector["IV"]);
        let mut text = hex(&vector["P"]);
        let tag = encrypt(&key, &iv, &hex(&vector["A"]), &mut text);
        assert_eq!((&text, tag.to_vec()), (&hex(&vector["E"]), hex(&vector["T"])));
        assert!(is_authentic(&key, &iv, &hex(&vector["A"]), &text, &tag));
        decrypt(&key, &iv, &mut text).unwrap();
        assert_eq!(text, hex(&vector["P"]));
    }

    #[test]
    fn wycheproof() {
        let Some(file) = vectors("wycheproof/a256cbc_hs512_test.json") else { return };
        let mut run = 0;
        for case in file["testGroups"].as_array().unwrap().iter().flat_map(|group| group["tests"].as_array().unwrap()) {
            let (key, iv) = key_and_iv(&case["key"], &case["iv"]);
            let (aad, found, mut text) = (hex(&case["aad"]), hex(&case["tag"]), hex(&case["ct"]));
            let authentic = is_authentic(&key, &iv, &aad, &text, &found);
            assert_eq!(authentic, case["result"] == "valid", "{case}");
            if authentic {
                decrypt(&key, &iv, &mut text).unwrap();
                assert_eq!(text, hex(&case["msg"]), "{case}");
                assert_eq!(encrypt(&key, &iv, &aad, &mut text).to_vec(), found);
                assert_eq!(text, hex(&case["ct"]), "{case}");
            }
            run += 1;
        }
        assert_eq!(run, 94);
    }
}
