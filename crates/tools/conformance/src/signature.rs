//! Signatures that the library refuses to make: other algorithms, and secrets that are public keys.

use crate::error::{JudgeError, failed};
use aws_lc_rs::hmac::{self, HMAC_SHA256};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RsaEncoding, RsaKeyPair,
};
use bankrail_jose::{PrivateKey, SigningKey};

/// Converts a key into one that signs with any algorithm.
pub(crate) fn pair(key: &SigningKey) -> Result<RsaKeyPair, JudgeError> {
    let key = PrivateKey::from_pem(&key.to_pkcs8_pem()).map_err(failed)?;
    RsaKeyPair::from_pkcs8(&key.to_pkcs8_der()).map_err(failed)
}

/// Signs by the algorithm with a name; any unknown name means RS256.
pub(crate) fn rsa(pair: &RsaKeyPair, alg: &str, signed: &[u8]) -> Result<Vec<u8>, JudgeError> {
    let encoding: &'static dyn RsaEncoding = match alg {
        "PS256" => &RSA_PSS_SHA256,
        "RS384" => &RSA_PKCS1_SHA384,
        "RS512" => &RSA_PKCS1_SHA512,
        _ => &RSA_PKCS1_SHA256,
    };
    let mut signature = vec![0; pair.public_modulus_len()];
    pair.sign(encoding, &SystemRandom::new(), signed, &mut signature)
        .map_err(failed)?;
    Ok(signature)
}

/// Returns the HS256 authentication code with a secret.
pub(crate) fn mac(key: &[u8], signed: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(HMAC_SHA256, key), signed)
        .as_ref()
        .to_vec()
}
