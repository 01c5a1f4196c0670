//! `bankrail keys convert`.

use super::file;
use super::{Convert, Format, Use};
use crate::failure::{Failure, Outcome};
use crate::files::{NewFile, Secrecy, write};
use crate::output::Output;
use crate::text::shown_lines;
use bankrail::jose::{
    DecryptionKey, EncryptionKey, KeyMaterial, KeyOptions, PrivateKey, PublicKey, SigningKey,
    VerifyingKey,
};
use std::io::Write as _;
use zeroize::Zeroizing;

pub(super) fn run(arguments: &Convert, output: &mut Output) -> Result<Outcome, Failure> {
    let mut kid = arguments.kid.clone();
    let (private, public) = match file::read(&arguments.file)? {
        KeyMaterial::Private(_, key) => (Some(key), None),
        KeyMaterial::Public(_, key) => (None, Some(key)),
        KeyMaterial::Set(_) => return Err(file::one(&arguments.file)),
        KeyMaterial::Jwk(jwk) => {
            kid = kid.or_else(|| jwk.kid().map(str::to_owned));
            // The numbers were checked when the JWK was read, and are not checked again.
            let private = jwk
                .private_key()
                .map(|key| PrivateKey::from_pkcs8_der(&key.to_pkcs8_der()));
            let private = private
                .transpose()
                .map_err(|error| file::refused(&arguments.file, &error))?;
            (private, Some(jwk.public_key().clone()))
        }
    };
    let (bytes, secrecy) = match private {
        Some(key) if !arguments.public => (
            private_bytes(&key, arguments, kid.as_deref())?,
            Secrecy::Private,
        ),
        private => {
            let public = public.or_else(|| private.map(|key| key.public_key()));
            let public = public.ok_or_else(|| file::one(&arguments.file))?;
            (
                Zeroizing::new(public_bytes(&public, arguments, kid.as_deref())?),
                Secrecy::Public,
            )
        }
    };
    match (&arguments.output, secrecy) {
        (None, Secrecy::Private) => {
            return Err(Failure::unable(
                "expected a file for the private key, found none",
                "pass -o FILE, or -o - to print it, or --public for the public half",
            ));
        }
        (Some(path), secrecy) if path.as_os_str() != "-" => {
            write(
                &[NewFile {
                    path: path.clone(),
                    content: bytes,
                    secrecy,
                }],
                arguments.force,
            )?;
        }
        _ if output.is_terminal() => match std::str::from_utf8(&bytes) {
            Ok(text) => output.write_all(shown_lines(text).as_bytes())?,
            Err(_) => {
                return Err(Failure::unable(
                    "DER is not printed to a terminal",
                    "pass -o FILE",
                ));
            }
        },
        _ => output.write_all(&bytes)?,
    }
    Ok(Outcome::Fine)
}

fn private_bytes(
    key: &PrivateKey,
    arguments: &Convert,
    kid: Option<&str>,
) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let options = KeyOptions::default();
    let refused = |error| file::refused(&arguments.file, &error);
    let text = match (arguments.to, arguments.use_) {
        (Format::Der, _) => return Ok(key.to_pkcs8_der()),
        (Format::Pkcs1Der, _) => return Ok(key.to_pkcs1_der()),
        (Format::Pem, _) => key.to_pkcs8_pem(),
        (Format::Pkcs1Pem, _) => key.to_pkcs1_pem(),
        (Format::Jwk, Some(Use::Encrypt)) => {
            let key = DecryptionKey::from_private_key(key, &options).map_err(refused)?;
            line(&file::named(key, kid).to_jwk())
        }
        (Format::Jwk, _) => {
            let key = SigningKey::from_private_key(key, &options).map_err(refused)?;
            line(&file::named(key, kid).to_jwk())
        }
    };
    Ok(text.as_bytes().to_vec().into())
}

fn public_bytes(
    key: &PublicKey,
    arguments: &Convert,
    kid: Option<&str>,
) -> Result<Vec<u8>, Failure> {
    let options = KeyOptions::default();
    let refused = |error| file::refused(&arguments.file, &error);
    let text = match (arguments.to, arguments.use_) {
        (Format::Der, _) => return Ok(key.to_spki_der()),
        (Format::Pkcs1Der, _) => return Ok(key.to_pkcs1_der()),
        (Format::Pem, _) => key.to_spki_pem(),
        (Format::Pkcs1Pem, _) => key.to_pkcs1_pem(),
        (Format::Jwk, Some(Use::Encrypt)) => {
            let key = EncryptionKey::from_public_key(key.clone(), &options).map_err(refused)?;
            file::named(key, kid).to_jwk() + "\n"
        }
        (Format::Jwk, _) => {
            let key = VerifyingKey::from_public_key(key.clone(), &options).map_err(refused)?;
            file::named(key, kid).to_jwk() + "\n"
        }
    };
    Ok(text.into_bytes())
}

/// Appends a line end to a text.
fn line(text: &str) -> Zeroizing<String> {
    Zeroizing::new([text, "\n"].concat())
}
