//! Sealed messages that the library refuses to make: other algorithms, other keys, wrong and
//! changed parts, parts of two messages.

use super::messages::with;
use crate::error::{JudgeError, failed};
use crate::signature::{mac, pair, rsa};
use aws_lc_rs::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::cipher::{
    AES_128, AES_192, AES_256, EncryptionContext, PaddedBlockEncryptingKey, UnboundCipherKey,
};
use aws_lc_rs::hmac::{self, HMAC_SHA256, HMAC_SHA384, HMAC_SHA512};
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::rsa::{
    OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OaepPublicEncryptingKey, Pkcs1PublicEncryptingKey,
    PublicEncryptingKey,
};
use aws_lc_rs::signature::RsaKeyPair;
use bankrail_jose::{EncryptionKey, PublicKey, RsaSize, SigningKey, base64url};
use flate2::read::DeflateEncoder;
use flate2::{Compress, Compression, FlushCompress};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::Read as _;

/// The keys with which forged messages are made.
pub(super) struct Forge {
    pair: RsaKeyPair,
    large: Option<RsaKeyPair>,
    public: PublicKey,
    kid: Option<String>,
    encryption: EncryptionKey,
    /// The key of a stranger.
    stranger: SigningKey,
    stranger_pair: RsaKeyPair,
}

/// The signer of a message.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Signer {
    /// The provider, who signs by the algorithm of the header.
    Provider,
    /// The provider, with its key of 4096 bits.
    Large,
    /// A stranger.
    Stranger,
    /// Anybody, with the provider's published public key in PEM as a shared secret.
    PublicPem,
    /// Anybody, with the provider's public key in DER as a shared secret.
    PublicDer,
    /// Nobody: the signature is empty.
    Empty,
    /// Nobody: the signature is random.
    Random,
}

/// The parts of a JWE before they are encoded.
#[derive(Clone)]
pub(super) struct Jwe {
    pub(super) header: String,
    key: Vec<u8>,
    iv: Vec<u8>,
    text: Vec<u8>,
    tag: Vec<u8>,
}

/// A part of a JWE.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Part {
    Key,
    Iv,
    Text,
    Tag,
}

/// A change of a part.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Change {
    Flip,
    FlipLast,
    /// Cuts this many bytes from its end.
    Cut(usize),
    Clear,
    Append,
    /// The part of another message in its place.
    Exchange,
}

impl Forge {
    pub(super) fn new(
        signing: &SigningKey,
        large: Option<&SigningKey>,
        encryption: EncryptionKey,
    ) -> Result<Self, JudgeError> {
        let stranger = SigningKey::generate(RsaSize::Rsa2048).map_err(failed)?;
        Ok(Self {
            pair: pair(signing)?,
            large: large.map(pair).transpose()?,
            public: signing.verifying_key().public_key().clone(),
            kid: signing.kid().map(str::to_owned),
            encryption,
            stranger_pair: pair(&stranger)?,
            stranger,
        })
    }

    /// The header of a good signature, with these members too.
    fn signed_header(&self, more: &Value) -> Value {
        with(
            with(json!({"alg": "RS256"}), &kid(self.kid.as_deref())),
            more,
        )
    }

    /// Returns a JWS with these members in its header, signed by the algorithm that the header then
    /// names.
    pub(super) fn signed_by(
        &self,
        more: &Value,
        payload: &[u8],
        signer: Signer,
    ) -> Result<String, JudgeError> {
        let header = self.signed_header(more);
        let alg = header.get("alg").and_then(Value::as_str);
        self.signed_as(alg.unwrap_or_default(), &header, payload, signer)
    }

    /// A JWS with this header, signed by an algorithm that need not be the one that it names.
    fn signed_as(
        &self,
        alg: &str,
        header: &Value,
        payload: &[u8],
        signer: Signer,
    ) -> Result<String, JudgeError> {
        let signed = [header.to_string().as_bytes(), payload]
            .map(base64url::encode)
            .join(".");
        let signature = self.signature(alg, signed.as_bytes(), signer)?;
        Ok(format!("{signed}.{}", base64url::encode(&signature)))
    }

    fn signature(&self, alg: &str, signed: &[u8], signer: Signer) -> Result<Vec<u8>, JudgeError> {
        Ok(match signer {
            Signer::Provider => rsa(&self.pair, alg, signed)?,
            Signer::Large => rsa(self.large.as_ref().unwrap_or(&self.pair), alg, signed)?,
            Signer::Stranger => rsa(&self.stranger_pair, alg, signed)?,
            Signer::PublicPem => mac(self.public.to_spki_pem().as_bytes(), signed),
            Signer::PublicDer => mac(&self.public.to_spki_der(), signed),
            Signer::Empty => Vec::new(),
            Signer::Random => random(256)?,
        })
    }

    /// Returns a correct JWS.
    pub(super) fn signed(&self, payload: &[u8]) -> Result<String, JudgeError> {
        self.signed_by(&json!({}), payload, Signer::Provider)
    }

    /// Returns the public key of the stranger as a JWK.
    pub(super) fn strangers_jwk(&self) -> Value {
        serde_json::from_str(&self.stranger.verifying_key().to_jwk()).unwrap_or_default()
    }

    /// Returns a correct message, with these members in its outer and its signed header.
    pub(super) fn sealed(
        &self,
        outer: &Value,
        inner: &Value,
        payload: &[u8],
    ) -> Result<String, JudgeError> {
        let jws = self.signed_by(inner, payload, Signer::Provider)?;
        Ok(self.encrypted(outer, jws.as_bytes())?.compact())
    }

    /// Returns a JWE with the specification's algorithms and additional members in its header.
    pub(super) fn encrypted(&self, more: &Value, plain: &[u8]) -> Result<Jwe, JudgeError> {
        self.jwe("RSA-OAEP", "A256CBC-HS512", more, plain, true)
    }

    /// Returns a JWE whose content is really encrypted by the given algorithms. Its tag covers the
    /// header or not. With `dir`, no receiver has the key.
    pub(super) fn jwe(
        &self,
        alg: &str,
        enc: &str,
        more: &Value,
        plain: &[u8],
        is_bound: bool,
    ) -> Result<Jwe, JudgeError> {
        let header = with(
            with(json!({"alg": alg, "enc": enc}), more),
            &kid(self.encryption.kid()),
        )
        .to_string();
        let aad = if is_bound {
            base64url::encode(header.as_bytes())
        } else {
            String::new()
        };
        let key = random(match enc {
            "A128GCM" => 16,
            "A128CBC-HS256" | "A256GCM" => 32,
            "A192CBC-HS384" => 48,
            _ => 64,
        })?;
        let mut jwe = Jwe {
            header,
            key: self.wrapped(alg, &key)?,
            iv: Vec::new(),
            text: plain.to_vec(),
            tag: Vec::new(),
        };
        if enc.ends_with("GCM") {
            jwe.iv = random(12)?;
            let algorithm = if key.len() == 16 {
                &AES_128_GCM
            } else {
                &AES_256_GCM
            };
            // A key encrypts once, so each nonce is unique for its key.
            let nonce = Nonce::try_assume_unique_for_key(&jwe.iv).map_err(failed)?;
            let key = LessSafeKey::new(UnboundKey::new(algorithm, &key).map_err(failed)?);
            let tag = key
                .seal_in_place_separate_tag(nonce, Aad::from(aad), &mut jwe.text)
                .map_err(failed)?;
            jwe.tag = tag.as_ref().to_vec();
            return Ok(jwe);
        }
        // RFC 7518 section 5.2.2.
        let (mac_key, content_key) = key.split_at(key.len() / 2);
        let (mac, cipher) = match content_key.len() {
            16 => (HMAC_SHA256, &AES_128),
            24 => (HMAC_SHA384, &AES_192),
            _ => (HMAC_SHA512, &AES_256),
        };
        jwe.iv = random(16)?;
        let iv = FixedLength::try_from(jwe.iv.as_slice()).map_err(failed)?;
        let unbound = UnboundCipherKey::new(cipher, content_key).map_err(failed)?;
        let cipher = PaddedBlockEncryptingKey::cbc_pkcs7(unbound).map_err(failed)?;
        cipher
            .less_safe_encrypt(&mut jwe.text, EncryptionContext::Iv128(iv))
            .map_err(failed)?;
        let bits = u64::try_from(aad.len())
            .unwrap_or(u64::MAX)
            .saturating_mul(8)
            .to_be_bytes();
        let mut context = hmac::Context::with_key(&hmac::Key::new(mac, mac_key));
        [aad.as_bytes(), &jwe.iv, &jwe.text, &bits]
            .into_iter()
            .for_each(|part| context.update(part));
        jwe.tag = context
            .sign()
            .as_ref()
            .iter()
            .copied()
            // The tag is the first half of the MAC (RFC 7518 section 5.2.2.1).
            .take(mac_key.len())
            .collect();
        Ok(jwe)
    }

    /// Returns a content key, encrypted to the receivers.
    fn wrapped(&self, alg: &str, key: &[u8]) -> Result<Vec<u8>, JudgeError> {
        let public = PublicEncryptingKey::from_der(&self.encryption.public_key().to_spki_der())
            .map_err(failed)?;
        let mut out = vec![0; public.key_size_bytes()];
        let length = match alg {
            "dir" => 0,
            "RSA1_5" => Pkcs1PublicEncryptingKey::new(public)
                .map_err(failed)?
                .encrypt(key, &mut out)
                .map_err(failed)?
                .len(),
            _ => {
                let hash = if alg == "RSA-OAEP-256" {
                    &OAEP_SHA256_MGF1SHA256
                } else {
                    &OAEP_SHA1_MGF1SHA1
                };
                let public = OaepPublicEncryptingKey::new(public).map_err(failed)?;
                public
                    .encrypt(hash, key, &mut out, None)
                    .map_err(failed)?
                    .len()
            }
        };
        out.truncate(length);
        Ok(out)
    }

    /// A good message with a changed part.
    pub(super) fn changed(
        &self,
        usual: &[u8],
        part: Part,
        change: &Change,
    ) -> Result<String, JudgeError> {
        let sealed = |message| self.encrypted(&json!({}), self.signed(message)?.as_bytes());
        let mut jwe = sealed(usual)?;
        let bytes = jwe.part(part);
        match change {
            Change::Flip => flip(bytes),
            Change::FlipLast => bytes.iter_mut().rev().take(1).for_each(|byte| *byte ^= 1),
            Change::Cut(less) => bytes.truncate(bytes.len().saturating_sub(*less)),
            Change::Clear => bytes.clear(),
            Change::Append => bytes.push(0),
            Change::Exchange => bytes.clone_from(sealed(b"{}")?.part(part)),
        }
        Ok(jwe.compact())
    }

    /// A JWS with the signature of another message.
    pub(super) fn others_signature(&self, usual: &[u8]) -> Result<String, JudgeError> {
        let [good, other] = [self.signed(usual)?, self.signed(&[usual, b" "].concat())?];
        Ok(format!("{}.{}", parts(&other).0, parts(&good).1))
    }

    /// A JWS with a bit of its signature flipped.
    pub(super) fn flipped_signature(&self, usual: &[u8]) -> Result<String, JudgeError> {
        let good = self.signed(usual)?;
        let mut signature = base64url::decode(parts(&good).1).unwrap_or_default();
        flip(&mut signature);
        Ok(format!(
            "{}.{}",
            parts(&good).0,
            base64url::encode(&signature)
        ))
    }

    /// A JWS whose RS256 signature is right, and whose header names another algorithm.
    pub(super) fn renamed(&self, usual: &[u8], alg: &str) -> Result<String, JudgeError> {
        let header = self.signed_header(&json!({ "alg": alg }));
        self.signed_as("RS256", &header, usual, Signer::Provider)
    }

    /// A message that is compressed before it is encrypted.
    pub(super) fn compressed(&self, usual: &[u8]) -> Result<String, JudgeError> {
        let jws = self.signed(usual)?;
        let mut compressed = DeflateEncoder::new(jws.as_bytes(), Compression::best());
        let mut plain = Vec::new();
        compressed.read_to_end(&mut plain).map_err(failed)?;
        self.zipped(&plain)
    }

    fn zipped(&self, plain: &[u8]) -> Result<String, JudgeError> {
        Ok(self.encrypted(&json!({"zip": "DEF"}), plain)?.compact())
    }

    /// A compressed message with spaces after it, this many bytes of them, in about 150 kB for 100
    /// MiB.
    ///
    /// Its blocks refer to nothing before them, so that one of them can be repeated and compressed
    /// once.
    pub(super) fn bomb(
        &self,
        message: &[u8],
        by: Signer,
        bytes: usize,
    ) -> Result<String, JudgeError> {
        let header = self.signed_header(&json!({})).to_string();
        // Without padding, so that what follows can be appended.
        let mut message = message.to_vec();
        message.resize(message.len().next_multiple_of(3), b' ');
        let begin = [header.as_bytes(), &message]
            .map(base64url::encode)
            .join(".");
        let spaces = base64url::encode(&vec![b' '; 3 << 18]);
        // Four characters for three bytes.
        let times = (bytes / 3 * 4).div_ceil(spaces.len());
        let signed = if matches!(by, Signer::Provider) {
            begin.clone() + &spaces.repeat(times)
        } else {
            String::new()
        };
        let signature = base64url::encode(&self.signature("RS256", signed.as_bytes(), by)?);
        let mut stream = Compress::new(Compression::best(), false);
        let mut block = |plain: &str, flush| {
            let mut out = Vec::with_capacity(plain.len() + 1024);
            stream
                .compress_vec(plain.as_bytes(), &mut out, flush)
                .map_err(failed)?;
            Ok::<_, JudgeError>(out)
        };
        let mut whole = block(&begin, FlushCompress::Full)?;
        let repeated = block(&spaces, FlushCompress::Full)?;
        for _ in 0..times {
            whole.extend_from_slice(&repeated);
        }
        whole.extend(block(&format!(".{signature}"), FlushCompress::Finish)?);
        self.zipped(&whole)
    }
}

impl Jwe {
    pub(super) fn compact(&self) -> String {
        [
            self.header.as_bytes(),
            &self.key,
            &self.iv,
            &self.text,
            &self.tag,
        ]
        .map(base64url::encode)
        .join(".")
    }

    fn part(&mut self, part: Part) -> &mut Vec<u8> {
        match part {
            Part::Key => &mut self.key,
            Part::Iv => &mut self.iv,
            Part::Text => &mut self.text,
            Part::Tag => &mut self.tag,
        }
    }
}

/// A JWS without its signature, and the signature.
fn parts(jws: &str) -> (&str, &str) {
    jws.rsplit_once('.').unwrap_or_default()
}

fn flip(bytes: &mut [u8]) {
    if let Some(byte) = bytes.get_mut(7) {
        *byte ^= 1;
    }
}

/// Returns the header member `kid` for the name of a key.
fn kid(name: Option<&str>) -> Value {
    name.map_or_else(|| json!({}), |kid| json!({ "kid": kid }))
}

/// Returns random bytes.
fn random(length: usize) -> Result<Vec<u8>, JudgeError> {
    // The bytes are not made from the seed, because somebody who knows the seed could decrypt the
    // messages of a run.
    let mut bytes = vec![0; length];
    bankrail_values::fill_random(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail_jose::DecryptionKey;
    use bankrail_secured_payload::{OpenError, OpenOptions, Opener};

    /// A message is refused only for its one fault, because the same code without the fault makes
    /// good messages.
    #[test]
    fn the_library_opens_what_has_no_fault_and_nothing_else() {
        let (signing, decryption) = (
            SigningKey::generate(RsaSize::Rsa2048)
                .unwrap()
                .with_kid("ours"),
            DecryptionKey::generate(RsaSize::Rsa2048).unwrap(),
        );
        let forge = Forge::new(&signing, None, decryption.encryption_key()).unwrap();
        let opener = Opener::new(decryption, signing.verifying_key(), OpenOptions::new()).unwrap();
        let open = |compact: String| opener.open(&compact).map(|opened| opened.json().to_vec());
        let sealed = forge
            .sealed(&json!({}), &json!({"typ": "JWT"}), b"{\"a\":1}")
            .unwrap();
        assert_eq!(open(sealed).unwrap(), b"{\"a\":1}");

        let wrapped = |jws: &str| {
            forge
                .encrypted(&json!({}), jws.as_bytes())
                .unwrap()
                .compact()
        };
        for (alg, by) in [
            ("RS256", Signer::Stranger),
            ("RS256", Signer::Empty),
            ("RS256", Signer::Random),
        ] {
            let jws = forge.signed_by(&json!({ "alg": alg }), b"{}", by).unwrap();
            assert!(
                matches!(open(wrapped(&jws)), Err(OpenError::Rejected)),
                "{alg}"
            );
        }
        for (alg, by) in [
            ("PS256", Signer::Provider),
            ("HS256", Signer::PublicPem),
            ("HS256", Signer::PublicDer),
            ("none", Signer::Empty),
        ] {
            let jws = forge.signed_by(&json!({ "alg": alg }), b"{}", by).unwrap();
            assert!(open(wrapped(&jws)).is_err(), "{alg}");
        }
        for (alg, enc) in [
            ("RSA1_5", "A256CBC-HS512"),
            ("RSA-OAEP-256", "A256CBC-HS512"),
            ("RSA-OAEP", "A256GCM"),
            ("RSA-OAEP", "A128CBC-HS256"),
            ("dir", "A256CBC-HS512"),
        ] {
            assert!(
                open(
                    forge
                        .jwe(alg, enc, &json!({}), b"a.b.c", true)
                        .unwrap()
                        .compact()
                )
                .is_err(),
                "{alg} {enc}"
            );
        }
    }
}
