//! `bankrail keys generate`.

use super::{Generate, Only, jwk_set};
use crate::failure::{Failure, Outcome, causes};
use crate::files::{NewFile, Secrecy, make_folder, write};
use crate::output::Output;
use bankrail::jose::{DecryptionKey, KeyError, RsaSize, SigningKey};

pub(super) fn run(arguments: &Generate, output: &mut Output) -> Result<Outcome, Failure> {
    let failed = |error: KeyError| Failure::unable(causes(&error), "try again");
    let place = |name: &str| arguments.folder.join(name);
    let mut files = Vec::new();
    let mut jwks = Vec::new();
    let mut lines = Vec::new();
    if arguments.only != Some(Only::Decryption) {
        let size = if arguments.bits == "4096" {
            RsaSize::Rsa4096
        } else {
            RsaSize::Rsa2048
        };
        let key = SigningKey::generate(size).map_err(failed)?;
        let public = key.verifying_key();
        let kid = public.thumbprint();
        files.push(NewFile::private(place("signing.pem"), key.to_pkcs8_pem()));
        files.push(NewFile::public(
            place("signing.pub.pem"),
            public.to_spki_pem(),
        ));
        lines.push(format!(
            "signing key, {} bits, thumbprint {kid}",
            size.bits()
        ));
        jwks.push(public.with_kid(&kid).to_jwk());
    }
    if arguments.only != Some(Only::Signing) {
        let key = DecryptionKey::generate(RsaSize::Rsa2048).map_err(failed)?;
        let public = key.encryption_key();
        let kid = public.thumbprint();
        files.push(NewFile::private(
            place("decryption.pem"),
            key.to_pkcs8_pem(),
        ));
        files.push(NewFile::public(
            place("encryption.pub.pem"),
            public.to_spki_pem(),
        ));
        lines.push(format!("decryption key, 2048 bits, thumbprint {kid}"));
        jwks.push(public.with_kid(&kid).to_jwk());
    }
    files.push(NewFile::public(
        place("jwks.json"),
        format!("{}\n", jwk_set(&jwks)),
    ));
    make_folder(&arguments.folder)?;
    // All at once, so that no half of a pair is left behind.
    write(&files, arguments.force)?;
    for line in lines {
        output.line(line)?;
    }
    for NewFile { path, secrecy, .. } in &files {
        let note = if *secrecy == Secrecy::Private {
            "private, keep it secret"
        } else {
            "public, give it to the other side"
        };
        output.line(format_args!(
            "{}  ({note})",
            crate::text::shown(&path.to_string_lossy())
        ))?;
    }
    Ok(Outcome::Fine)
}
