//! `bankrail keys generate`.

use super::write::{Secrecy, make_folder, write};
use super::{Generate, Only, jwk_set};
use crate::failure::{Failure, Outcome, causes};
use crate::output::Output;
use bankrail::jose::{DecryptionKey, KeyError, RsaSize, SigningKey};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

pub(super) fn run(arguments: &Generate, output: &mut Output) -> Result<Outcome, Failure> {
    let failed = |error: KeyError| Failure::unable(causes(&error), "try again");
    let mut files: Vec<(PathBuf, Zeroizing<Vec<u8>>, Secrecy)> = Vec::new();
    let mut add = |name: &str, bytes: &[u8], secrecy| {
        files.push((arguments.folder.join(name), Zeroizing::new(bytes.to_vec()), secrecy));
    };
    let mut jwks = Vec::new();
    let mut lines = Vec::new();
    if arguments.only != Some(Only::Decryption) {
        let size = if arguments.bits == "4096" { RsaSize::Rsa4096 } else { RsaSize::Rsa2048 };
        let key = SigningKey::generate(size).map_err(failed)?;
        let public = key.verifying_key();
        let kid = public.thumbprint();
        add("signing.pem", key.to_pkcs8_pem().as_bytes(), Secrecy::Private);
        add("signing.pub.pem", public.to_spki_pem().as_bytes(), Secrecy::Public);
        lines.push(format!("signing key, {} bits, thumbprint {kid}", size.bits()));
        jwks.push(public.with_kid(&kid).to_jwk());
    }
    if arguments.only != Some(Only::Signing) {
        let key = DecryptionKey::generate(RsaSize::Rsa2048).map_err(failed)?;
        let public = key.encryption_key();
        let kid = public.thumbprint();
        add("decryption.pem", key.to_pkcs8_pem().as_bytes(), Secrecy::Private);
        add("encryption.pub.pem", public.to_spki_pem().as_bytes(), Secrecy::Public);
        lines.push(format!("decryption key, 2048 bits, thumbprint {kid}"));
        jwks.push(public.with_kid(&kid).to_jwk());
    }
    add("jwks.json", format!("{}\n", jwk_set(&jwks)).as_bytes(), Secrecy::Public);
    make_folder(&arguments.folder)?;
    let each: Vec<(&Path, &[u8], Secrecy)> =
        files.iter().map(|(path, bytes, secrecy)| (path.as_path(), bytes.as_slice(), *secrecy)).collect();
    write(&each, arguments.force)?;
    for line in lines {
        output.line(line)?;
    }
    for (path, _, secrecy) in &files {
        let note =
            if *secrecy == Secrecy::Private { "private, keep it secret" } else { "public, give it to the other side" };
        output.line(format_args!("{}  ({note})", crate::text::shown(&path.to_string_lossy())))?;
    }
    Ok(Outcome::Fine)
}
