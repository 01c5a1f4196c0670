//! Seals and opens a message with private keys that stay in a PKCS#11 token, such as an HSM, a
//! smart card or SoftHSM.
//!
//! `hsm MODULE` loads the token's library, for example `/usr/lib/softhsm/libsofthsm2.so`, and logs
//! in to its first token with the PIN in the environment variable `HSM_PIN`. It makes two key pairs
//! in the token if there are none.

use bankrail::jose::jws::{self, JwsHeader, VerifyOptions};
use bankrail::jose::remote::{
    DecryptionOutcome, RemoteDecrypter, RemoteError, RemoteFuture, RemoteSigner, SignRequest,
};
use bankrail::jose::{EncryptionKey, Jwk, KeyOptions, VerifyingKey, base64url};
use bankrail::secured_payload::{OpenError, OpenOptions, Opener, SealOptions, Sealer};
use bankrail::values::MainError;
use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error as TokenError, RvError};
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsOaepParams, PkcsOaepSource};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, AttributeType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use std::sync::{Arc, Mutex, PoisonError};

/// A private key in a token, with its public key `P` in memory.
#[derive(Clone, Debug)]
struct TokenKey<P> {
    session: Arc<Mutex<Session>>,
    private: ObjectHandle,
    public: P,
}

impl<P> TokenKey<P> {
    /// Calls the token on a thread for blocking work, because its library blocks.
    async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Session, ObjectHandle) -> Result<T, TokenError> + Send + 'static,
    ) -> Result<Result<T, TokenError>, RemoteError> {
        let (session, private) = (Arc::clone(&self.session), self.private);
        let work = move || {
            ask(
                &session.lock().unwrap_or_else(PoisonError::into_inner),
                private,
            )
        };
        tokio::task::spawn_blocking(work)
            .await
            .map_err(RemoteError::retryable)
    }
}

impl RemoteSigner for TokenKey<VerifyingKey> {
    fn verifying_key(&self) -> VerifyingKey {
        self.public.clone()
    }

    fn sign<'a>(&'a self, request: SignRequest<'a>) -> RemoteFuture<'a, Vec<u8>> {
        let message = request.message().to_vec();
        Box::pin(async move {
            let signed = self
                .ask(move |session, key| session.sign(&Mechanism::Sha256RsaPkcs, key, &message))
                .await?;
            signed.map_err(fault)
        })
    }
}

impl RemoteDecrypter for TokenKey<EncryptionKey> {
    fn encryption_key(&self) -> &EncryptionKey {
        &self.public
    }

    fn decrypt<'a>(&'a self, encrypted: &'a [u8]) -> RemoteFuture<'a, DecryptionOutcome> {
        let encrypted = encrypted.to_vec();
        Box::pin(async move {
            let work = move |session: &Session, key| {
                let sha1 = (MechanismType::SHA1, PkcsMgfType::MGF1_SHA1);
                let padding = PkcsOaepParams::new(sha1.0, sha1.1, PkcsOaepSource::empty());
                session.decrypt(&Mechanism::RsaPkcsOaep(padding), key, &encrypted)
            };
            match self.ask(work).await? {
                Ok(key) => Ok(DecryptionOutcome::Key(key.into())),
                Err(error) if is_fault(&error) => Err(fault(error)),
                // Tokens report a wrong ciphertext with different errors, SoftHSM with
                // CKR_GENERAL_ERROR. The sender must not learn which.
                Err(_) => Ok(DecryptionOutcome::CannotDecrypt),
            }
        })
    }
}

/// Returns true if an error cannot be caused by a ciphertext: the token, the session or the key is
/// missing. The errors depend on the device. SoftHSM reports a wrong ciphertext as a general error,
/// so this is not a fault here; check your device.
fn is_fault(error: &TokenError) -> bool {
    let TokenError::Pkcs11(error, _) = error else {
        return true;
    };
    is_passing(error)
        || matches!(
            error,
            RvError::CryptokiNotInitialized
                | RvError::KeyFunctionNotPermitted
                | RvError::KeyHandleInvalid
                | RvError::MechanismInvalid
                | RvError::MechanismParamInvalid
                | RvError::UserNotLoggedIn
        )
}

/// Returns true if an error may be temporary.
fn is_passing(error: &RvError) -> bool {
    matches!(
        error,
        RvError::DeviceError
            | RvError::DeviceMemory
            | RvError::DeviceRemoved
            | RvError::HostMemory
            | RvError::SessionClosed
            | RvError::SessionHandleInvalid
            | RvError::TokenNotPresent
    )
}

fn fault(error: TokenError) -> RemoteError {
    match error {
        TokenError::Pkcs11(found, _) if is_passing(&found) => RemoteError::retryable(error),
        error => RemoteError::permanent(error),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), MainError> {
    let usage = "usage: HSM_PIN=… hsm MODULE";
    let (module, pin) = (
        std::env::args().nth(1).ok_or(usage)?,
        std::env::var("HSM_PIN").map_err(|_| usage)?,
    );
    let library = Pkcs11::new(module)?;
    library.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK))?;
    let slot = *library
        .get_slots_with_initialized_token()?
        .first()
        .ok_or("no token")?;
    let session = library.open_rw_session(slot)?;
    session.login(UserType::User, Some(&pin.into()))?;

    let (signing, verifying) = key_pair(&session, "bankrail-signing", "sig")?;
    let (decryption, encryption) = key_pair(&session, "bankrail-decryption", "enc")?;
    let session = Arc::new(Mutex::new(session));
    let options = KeyOptions::default();
    let signer = TokenKey {
        session: Arc::clone(&session),
        private: signing,
        public: VerifyingKey::from_jwk(&Jwk::parse(&verifying)?, &options)?,
    };
    let decrypter = TokenKey {
        session,
        private: decryption,
        public: EncryptionKey::from_jwk(&Jwk::parse(&encryption)?, &options)?,
    };

    let token = jws::sign_remote(&signer, &JwsHeader::new(), b"{}").await?;
    jws::verify(&token, &signer.public, &VerifyOptions::default())?;
    println!("signed:   by {}", signer.public.thumbprint());

    let message = r#"{"status":"SUCC"}"#;
    let sealed = Sealer::new(signer.clone(), decrypter.public.clone(), SealOptions::new())
        .seal_remote(message.as_bytes())
        .await?;
    let opener = Opener::remote(decrypter, signer.public, OpenOptions::new())?;
    let opened = opener.open_remote(&sealed).await?;
    println!("opened:   {}", std::str::from_utf8(opened.json())?);

    // Changes one bit of the encrypted key, the second part. The token cannot decrypt it, and the
    // error does not reveal it.
    let mut parts: Vec<String> = sealed.split('.').map(str::to_owned).collect();
    let part = parts.get_mut(1).ok_or("no encrypted key")?;
    let mut bytes = base64url::decode(part)?;
    *bytes.last_mut().ok_or("an empty encrypted key")? ^= 1;
    *part = base64url::encode(&bytes);
    match opener.open_remote(&parts.join(".")).await {
        Err(OpenError::Rejected) => println!("changed:  {}", OpenError::Rejected),
        Err(error) => return Err(error.into()),
        Ok(_) => return Err("a changed message was opened".into()),
    }
    Ok(())
}

/// The private key with this label and its public key as a JWK. They are made if the token has
/// none.
fn key_pair(
    session: &Session,
    label: &str,
    key_use: &str,
) -> Result<(ObjectHandle, String), MainError> {
    let label_attribute = Attribute::Label(label.into());
    let find = |class| session.find_objects(&[Attribute::Class(class), label_attribute.clone()]);
    if find(ObjectClass::PRIVATE_KEY)?.is_empty() {
        let signs = key_use == "sig";
        let public = [
            Attribute::Token(true),
            Attribute::ModulusBits(2048.into()),
            Attribute::PublicExponent(vec![1, 0, 1]),
            Attribute::Verify(signs),
            Attribute::Encrypt(!signs),
            label_attribute.clone(),
        ];
        let private = [
            Attribute::Token(true),
            Attribute::Private(true),
            Attribute::Sensitive(true),
            Attribute::Extractable(false),
            Attribute::Sign(signs),
            Attribute::Decrypt(!signs),
            label_attribute.clone(),
        ];
        session.generate_key_pair(&Mechanism::RsaPkcsKeyPairGen, &public, &private)?;
    }
    let private = *find(ObjectClass::PRIVATE_KEY)?
        .first()
        .ok_or("no private key")?;
    let public = *find(ObjectClass::PUBLIC_KEY)?
        .first()
        .ok_or("no public key")?;
    let (mut n, mut e) = (String::new(), String::new());
    for attribute in session.get_attributes(
        public,
        &[AttributeType::Modulus, AttributeType::PublicExponent],
    )? {
        match attribute {
            Attribute::Modulus(bytes) => n = base64url::encode(&bytes),
            Attribute::PublicExponent(bytes) => e = base64url::encode(&bytes),
            _ => {}
        }
    }
    Ok((
        private,
        serde_json::json!({"kty": "RSA", "n": n, "e": e, "use": key_use, "kid": label}).to_string(),
    ))
}
