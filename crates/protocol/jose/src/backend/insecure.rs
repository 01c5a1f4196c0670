//! A back end without security, which lets fuzzers get past the RSA operations. The module exists
//! only under `cfg(fuzzing)`.

use super::{Backend, Decrypt, Encrypt, Refused, Sign, Verify};
use crate::ContentKey;
use crate::key::{KeyError, PublicKey, RsaSize};
use zeroize::Zeroizing;

const LEN: usize = 256;

pub(super) struct Library;

impl super::Library for Library {
    fn signer(&self, pkcs8: &[u8]) -> Result<Box<dyn Sign>, KeyError> {
        Ok(Box::new(Insecure {
            pkcs8: Zeroizing::new(pkcs8.to_vec()),
        }))
    }

    fn verifier(&self, _public: &PublicKey) -> Result<Box<dyn Verify>, KeyError> {
        Ok(Box::new(Insecure {
            pkcs8: Zeroizing::default(),
        }))
    }

    fn encrypter(&self, _public: &PublicKey) -> Result<Box<dyn Encrypt>, KeyError> {
        Ok(Box::new(Insecure {
            pkcs8: Zeroizing::default(),
        }))
    }

    fn decrypter(&self, pkcs8: &[u8]) -> Result<Box<dyn Decrypt>, KeyError> {
        Ok(Box::new(Insecure {
            pkcs8: Zeroizing::new(pkcs8.to_vec()),
        }))
    }

    fn generate(&self, size: RsaSize) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        Backend::default().library().generate(size)
    }
}

struct Insecure {
    pkcs8: Zeroizing<Vec<u8>>,
}

impl Sign for Insecure {
    fn sign(&self, _message: &[u8]) -> Result<Vec<u8>, Refused> {
        Ok(vec![0; LEN])
    }

    fn pkcs8_der(&self) -> Result<Zeroizing<Vec<u8>>, Refused> {
        Ok(self.pkcs8.clone())
    }
}

impl Verify for Insecure {
    fn verify(&self, _message: &[u8], _signature: &[u8]) -> Result<(), Refused> {
        Ok(())
    }
}

impl Encrypt for Insecure {
    fn encrypt(&self, plain: &[u8]) -> Result<Vec<u8>, Refused> {
        let mut encrypted = vec![u8::try_from(plain.len()).map_err(|_| Refused)?];
        encrypted.extend_from_slice(plain);
        encrypted.resize(LEN, 0);
        Ok(encrypted)
    }
}

impl Decrypt for Insecure {
    fn decrypt(&self, encrypted: &[u8]) -> Result<Zeroizing<Vec<u8>>, Refused> {
        let (length, rest) = encrypted.split_first().ok_or(Refused)?;
        Ok(Zeroizing::new(
            rest.get(..usize::from(*length)).ok_or(Refused)?.to_vec(),
        ))
    }

    fn content_key(&self, encrypted: &[u8], stand_in: ContentKey) -> ContentKey {
        let decrypted = self.decrypt(encrypted);
        stand_in.or(decrypted.as_deref().map(Vec::as_slice).unwrap_or_default())
    }

    fn pkcs8_der(&self) -> Result<Zeroizing<Vec<u8>>, Refused> {
        Ok(self.pkcs8.clone())
    }
}
