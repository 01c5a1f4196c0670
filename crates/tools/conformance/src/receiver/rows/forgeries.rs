//! Forged messages: parts of two messages, and changed parts.

use super::super::forge::{Forge, Jwe, Signer};
use crate::error::{JudgeError, failed};
use bankrail_jose::base64url;
use flate2::read::DeflateEncoder;
use flate2::{Compress, Compression, FlushCompress};
use serde::Deserialize;
use serde_json::json;
use std::io::Read as _;

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
        let header = self.signed_header(&json!({ "alg": alg })).to_string();
        let signed = [header.as_bytes(), usual].map(base64url::encode).join(".");
        let signature = self.signature("RS256", signed.as_bytes(), Signer::Provider)?;
        Ok(format!("{signed}.{}", base64url::encode(&signature)))
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
