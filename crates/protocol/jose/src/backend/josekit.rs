//! RSA operations by OpenSSL, through josekit.
//!
//! Only josekit's RSA primitives are used. Header checks, tag comparison and inflating are done
//! outside this module. Decryption calls OpenSSL directly: see `content_key`.

mod oaep;

use super::{Decrypt, Encrypt, Library, Refused, Sign, Verify};
use crate::ContentKey;
use crate::key::{KeyError, PublicKey, RsaSize};
use josekit::jwe::alg::rsaes::RsaesJweEncrypter;
use josekit::jwe::{JweEncrypter as _, JweHeader, RSA_OAEP};
use josekit::jwk::KeyPair as _;
use josekit::jwk::alg::rsa::RsaKeyPair;
use josekit::jws::alg::rsassa::{RsassaJwsSigner, RsassaJwsVerifier};
use josekit::jws::{JwsSigner as _, JwsVerifier as _, RS256};
use openssl::pkey::{PKey, Private};
use openssl::rsa::{Padding, Rsa};
use zeroize::Zeroizing;

pub(super) struct Josekit;

impl Library for Josekit {
    fn signer(&self, pkcs8: &[u8]) -> Result<Box<dyn Sign>, KeyError> {
        let key = RS256
            .signer_from_der(pkcs8)
            .map_err(|_| KeyError::Backend)?;
        Ok(Box::new(Signer {
            key,
            der: Zeroizing::new(pkcs8.to_vec()),
        }))
    }

    fn verifier(&self, public: &PublicKey) -> Result<Box<dyn Verify>, KeyError> {
        Ok(Box::new(Verifier(
            RS256
                .verifier_from_der(public.to_spki_der())
                .map_err(|_| KeyError::Backend)?,
        )))
    }

    fn encrypter(&self, public: &PublicKey) -> Result<Box<dyn Encrypt>, KeyError> {
        Ok(Box::new(Encrypter(
            RSA_OAEP
                .encrypter_from_der(public.to_spki_der())
                .map_err(|_| KeyError::Backend)?,
        )))
    }

    fn decrypter(&self, pkcs8: &[u8]) -> Result<Box<dyn Decrypt>, KeyError> {
        let key = PKey::private_key_from_pkcs8(pkcs8)
            .and_then(|key| key.rsa())
            .map_err(|_| KeyError::Backend)?;
        Ok(Box::new(Decrypter {
            key,
            der: Zeroizing::new(pkcs8.to_vec()),
        }))
    }

    fn generate(&self, size: RsaSize) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let key = RsaKeyPair::generate(size.bits()).map_err(|_| KeyError::Backend)?;
        Ok(Zeroizing::new(key.to_der_private_key()))
    }
}

/// A signing key with its DER, because josekit cannot export the OpenSSL key.
struct Signer {
    key: RsassaJwsSigner,
    der: Zeroizing<Vec<u8>>,
}

impl Sign for Signer {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Refused> {
        self.key.sign(message).map_err(|_| Refused)
    }

    fn pkcs8_der(&self) -> Result<Zeroizing<Vec<u8>>, Refused> {
        Ok(self.der.clone())
    }
}

struct Verifier(RsassaJwsVerifier);

impl Verify for Verifier {
    fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Refused> {
        self.0.verify(message, signature).map_err(|_| Refused)
    }
}

struct Encrypter(RsaesJweEncrypter);

impl Encrypt for Encrypter {
    fn encrypt(&self, plain: &[u8]) -> Result<Vec<u8>, Refused> {
        // RSA-OAEP reads neither header.
        let encrypted = self
            .0
            .encrypt(plain, &JweHeader::new(), &mut JweHeader::new());
        encrypted.ok().flatten().ok_or(Refused)
    }
}

struct Decrypter {
    key: Rsa<Private>,
    der: Zeroizing<Vec<u8>>,
}

impl Decrypt for Decrypter {
    fn decrypt(&self, encrypted: &[u8]) -> Result<Zeroizing<Vec<u8>>, Refused> {
        self.raw_decrypt(encrypted, Padding::PKCS1_OAEP)
    }

    /// Decrypts without padding and then decodes the padding in constant time. A failure in
    /// OpenSSL's own decoding builds an error with texts, and in josekit's an error with a back
    /// trace if the environment requests one; both take measurably longer than a success.
    fn content_key(&self, encrypted: &[u8], stand_in: ContentKey) -> ContentKey {
        match self.raw_decrypt(encrypted, Padding::NONE) {
            Ok(mut encoded) => oaep::content_key(&mut encoded, stand_in),
            // OpenSSL refuses only a number that is not smaller than the modulus, which anybody can
            // see in the message, so returning the stand-in at once reveals nothing.
            Err(Refused) => stand_in,
        }
    }

    fn pkcs8_der(&self) -> Result<Zeroizing<Vec<u8>>, Refused> {
        Ok(self.der.clone())
    }
}

impl Decrypter {
    fn raw_decrypt(
        &self,
        encrypted: &[u8],
        padding: Padding,
    ) -> Result<Zeroizing<Vec<u8>>, Refused> {
        let mut plain = Zeroizing::new(vec![
            0;
            usize::try_from(self.key.size())
                .map_err(|_| Refused)?
        ]);
        let length = self
            .key
            .private_decrypt(encrypted, &mut plain, padding)
            .map_err(|_| Refused)?;
        plain.truncate(length);
        Ok(plain)
    }
}
