//! `bankrail payload explain`: explains each layer separately.

use super::{Explain, compact};
use crate::failure::{Failure, Outcome, causes};
use crate::keys::file;
use crate::output::{Output, Steps};
use crate::text::counted;
use bankrail::jose::header::JoseHeader;
use bankrail::jose::{
    ContentKey, DecryptionKey, KeyOptions, KeySet, RsaSize, SigningKey, VerifyingKey,
};
use bankrail::secured_payload::{OpenError, OpenOptions, Opened, Opener, SealedMessage};
use bankrail::values::HyphenatedUuid;
use bankrail::webhook::Message;

pub(super) fn run(arguments: &Explain, output: &mut Output) -> Result<Outcome, Failure> {
    let compact = compact(&arguments.file)?;
    let decryption = arguments
        .decrypt
        .as_deref()
        .map(file::decryption)
        .transpose()?;
    let verifying = arguments
        .verify
        .as_deref()
        .map(file::message_verifying)
        .transpose()?;
    let json = arguments.json;
    let mut steps = Steps { output, json };
    steps.take(&compact, decryption.as_ref(), verifying.as_ref())
}

/// The steps of opening a message. After a step that fails, which is [`Outcome::Findings`], the
/// others are skipped.
impl Steps<'_> {
    fn take(
        &mut self,
        compact: &str,
        decryption: Option<&KeySet<DecryptionKey>>,
        verifying: Option<&KeySet<VerifyingKey>>,
    ) -> Result<Outcome, Failure> {
        let parts: Vec<&str> = compact.split('.').collect();
        self.title(&format!(
            "encrypted message (JWE), {} characters, {} parts",
            compact.len(),
            parts.len()
        ))?;
        self.members(parts.first().copied().unwrap_or_default(), |_| {
            String::new()
        })?;
        let options = OpenOptions::new();
        let sealed = match SealedMessage::parse(compact, &options) {
            Ok(sealed) => sealed,
            Err(error) => return self.fail("form and header", &causes(&error)),
        };
        self.step("pass", "form and header", "RSA-OAEP with A256CBC-HS512")?;
        if sealed.header().is_deflated() {
            self.step(
                "note",
                "",
                "compressed, which the specification does not name: opened by default",
            )?;
        }
        let Some(decryption) = decryption else {
            self.step("note", "", "pass --decrypt for the next steps")?;
            return Ok(Outcome::Fine);
        };
        if self.content_key(&sealed, decryption)? != Outcome::Fine {
            return Ok(Outcome::Findings);
        }
        let who = match probe(compact, decryption, &options) {
            Ok(who) => who,
            Err(why) => {
                let changed = "the message was changed after it was encrypted, or what was encrypted is not a signed \
                               message";
                return self.fail("content", &format!("{why}: {changed}"));
            }
        };
        self.step(
            "pass",
            "content",
            "unchanged since it was encrypted, and a signed message (JWS) inside",
        )?;
        self.title("signed message (JWS)")?;
        self.line(&format!("  kid: {}", who.as_deref().unwrap_or("none")))?;
        let Some(verifying) = verifying else {
            self.step("note", "", "pass --verify for the next steps")?;
            return Ok(Outcome::Fine);
        };
        let opener = match Opener::new(decryption.clone(), verifying.clone(), options) {
            Ok(opener) => opener,
            Err(error) => return self.fail("signature", &causes(&error)),
        };
        match opener.open(compact) {
            Ok(opened) => self.opened(&opened),
            Err(OpenError::Rejected) => {
                let tried: Vec<String> = verifying
                    .keys()
                    .iter()
                    .map(VerifyingKey::thumbprint)
                    .collect();
                self.fail(
                    "signature",
                    &format!(
                        "not valid for the key with the thumbprint {}",
                        tried.join(", ")
                    ),
                )
            }
            Err(error @ OpenError::PayloadInvalid(_)) => {
                self.step("pass", "signature", "valid")?;
                self.fail("message", &causes(&error))
            }
            Err(error) => self.fail("signature", &causes(&error)),
        }
    }

    /// Checks if one of our keys decrypts the content key.
    fn content_key(
        &mut self,
        sealed: &SealedMessage<'_>,
        keys: &KeySet<DecryptionKey>,
    ) -> Result<Outcome, Failure> {
        let selected = match keys.select(sealed.header().kid()) {
            Ok(selected) => selected,
            Err(error) => return self.fail("our key", &causes(&error)),
        };
        let mut why = String::new();
        for key in selected.as_slice() {
            let (found, expected) = (sealed.encrypted_key().len(), key.encrypted_len());
            if found != expected {
                why = format!("expected an encrypted key of {expected} bytes, found {found}");
                continue;
            }
            match key.decrypt(sealed.encrypted_key()) {
                Ok(content) if content.len() == ContentKey::LEN => {
                    self.step(
                        "pass",
                        "our key",
                        &format!(
                            "encrypted to the key with the thumbprint {}",
                            key.thumbprint()
                        ),
                    )?;
                    return Ok(Outcome::Fine);
                }
                Ok(content) => {
                    why = format!(
                        "expected a content key of 64 bytes, found {}",
                        content.len()
                    )
                }
                Err(_) => {
                    why = format!(
                        "not encrypted to the key with the thumbprint {}",
                        key.thumbprint()
                    )
                }
            }
        }
        self.fail("our key", &why)
    }

    fn opened(&mut self, opened: &Opened) -> Result<Outcome, Failure> {
        self.signed_members(opened.signed_header())?;
        self.step(
            "pass",
            "signature",
            &format!(
                "valid for the key with the thumbprint {}",
                opened.signing_key().thumbprint()
            ),
        )?;
        self.title(&format!(
            "message, {}",
            counted(opened.json().len(), "byte", "bytes")
        ))?;
        match Message::from_json_of_any_kind(opened.json()) {
            Some(parsed) => {
                let findings = counted(parsed.findings.len(), "finding", "findings");
                self.step(
                    "pass",
                    "message",
                    &format!("{}, {findings}", parsed.message.kind()),
                )?;
            }
            None => self.step(
                "note",
                "",
                "JSON, none of the four messages; bankrail message check says why",
            )?,
        }
        Ok(Outcome::Fine)
    }

    fn signed_members(&mut self, header: &JoseHeader) -> Result<(), Failure> {
        for name in ["alg", "typ", "cty"] {
            if let Some(value) = header.member_json(name) {
                self.line(&format!("  {name}: {value}"))?;
            }
        }
        Ok(())
    }

    fn fail(&mut self, step: &str, why: &str) -> Result<Outcome, Failure> {
        self.step("FAIL", step, why)?;
        Ok(Outcome::Findings)
    }
}

/// Opens a message with unrelated verifying keys. This shows if it decrypts to a signed message,
/// and the `kid` of the signature, without verifying the signature.
fn probe(
    compact: &str,
    decryption: &KeySet<DecryptionKey>,
    options: &OpenOptions,
) -> Result<Option<String>, String> {
    let stranger = SigningKey::generate(RsaSize::Rsa2048)
        .map_err(|error| causes(&error))?
        .verifying_key();
    // The set has more keys than are tried, so that a signature without `kid` selects none.
    let strangers = (0..=KeySet::<VerifyingKey>::MAX_TRIED).map(|_| {
        let kid = HyphenatedUuid::random().to_string();
        VerifyingKey::from_public_key(stranger.public_key().clone(), &KeyOptions::default())
            .map(|key| key.with_kid(kid))
    });
    let strangers = strangers
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| causes(&error))?;
    let strangers = KeySet::new(strangers).map_err(|error| causes(&error))?;
    let opener = Opener::new(decryption.clone(), strangers, options.clone())
        .map_err(|error| causes(&error))?;
    match opener.open(compact) {
        Err(OpenError::NoSigningKey { kid, .. }) => Ok(kid),
        Err(error) => Err(causes(&error)),
        Ok(_) => Err("opened by no key".to_owned()),
    }
}
