//! `bankrail keys`: RSA keys in all their spellings.

mod convert;
pub(crate) mod file;
mod show;

use crate::failure::{Failure, Outcome, causes};
use crate::files::{NewFile, Secrecy, make_folder, write};
use crate::output::Output;
use crate::text::shown;
use bankrail::jose::{DecryptionKey, KeyError, RsaSize, SigningKey};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a signing key and a decryption key
    ///
    /// Writes signing.pem and decryption.pem (private, PKCS#8), signing.pub.pem and
    /// encryption.pub.pem (public, for the other side), and jwks.json (both public keys, named by
    /// their thumbprints). A new folder and the private files are readable by you alone. No file is
    /// overwritten unless --force is given, and without it either all files are written or none.
    #[command(after_help = "Examples:\n  \
        bankrail keys generate my-keys\n  \
        bankrail keys generate --only signing --bits 4096 large-keys")]
    Generate(Generate),
    /// Print what keys are, never their private numbers
    #[command(after_help = "Examples:\n  \
        bankrail keys show signing.pem jwks.json\n  \
        openssl pkey -in signing.pem -pubout | bankrail keys show -")]
    Show {
        #[command(flatten)]
        files: Files,
        /// Print one line of JSON for each key
        #[arg(long)]
        json: bool,
    },
    /// Write a key in another format
    ///
    /// Reads PEM and DER of PKCS#1, PKCS#8 and SubjectPublicKeyInfo, and JWK. A private key is only
    /// written to a file, readable by you alone, or with `-o -`.
    #[command(after_help = "Examples:\n  \
        bankrail keys convert signing.pem --public --to pem\n  \
        bankrail keys convert signing.pem --to pkcs1-pem -o old.pem\n  \
        bankrail keys convert signing.pub.pem --to jwk --use sign --kid 2026-11")]
    Convert(Convert),
    /// Print the SHA-256 thumbprint of keys (RFC 7638), the same for a private key and its public
    /// half
    #[command(after_help = "Example:\n  bankrail keys thumbprint signing.pem")]
    Thumbprint(Files),
    /// Print a set of public keys as JSON (RFC 7517), for publishing
    ///
    /// Each key has its use, and a kid: that of a JWK, otherwise its thumbprint. Only the public
    /// half of a private key is written.
    #[command(
        after_help = "Example:\n  bankrail keys jwks --sign signing.pem --encrypt decryption.pem > jwks.json"
    )]
    Jwks(Jwks),
}

#[derive(Args, Debug)]
struct Files {
    /// Keys as PEM, DER, JWK or JWK set; - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
}

/// A key to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Only {
    Signing,
    Decryption,
}

#[derive(Args, Debug)]
struct Generate {
    /// The folder; it is made if it does not exist
    folder: PathBuf,
    /// Make only this key
    #[arg(long, value_enum, value_name = "KEY")]
    only: Option<Only>,
    /// The bits of the signing key: 2048 or 4096; a decryption key has 2048
    #[arg(long, default_value = "2048", value_parser = ["2048", "4096"])]
    bits: String,
    /// Overwrite files
    #[arg(long)]
    force: bool,
}

/// A spelling of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// PKCS#8, or SubjectPublicKeyInfo for a public key, as PEM.
    Pem,
    /// The same as DER.
    Der,
    /// PKCS#1 as PEM.
    Pkcs1Pem,
    /// PKCS#1 as DER.
    Pkcs1Der,
    /// JSON Web Key.
    Jwk,
}

/// The use of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Use {
    /// Signing, and verifying with the public half.
    Sign,
    /// Encrypting with the public half, and decrypting.
    Encrypt,
}

#[derive(Args, Debug)]
struct Convert {
    /// The key; - for standard input
    file: String,
    /// The format to write
    #[arg(long, value_enum)]
    to: Format,
    /// Write the public half
    #[arg(long)]
    public: bool,
    /// The use of the key; needed for a JWK
    #[arg(
        long = "use",
        value_enum,
        value_name = "USE",
        required_if_eq("to", "jwk")
    )]
    use_: Option<Use>,
    /// The name of the JWK; by default that of the JWK read, if it is one
    #[arg(long)]
    kid: Option<String>,
    /// The file to write; - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long)]
    force: bool,
}

#[derive(Args, Debug)]
#[group(required = true, multiple = true)]
struct Jwks {
    /// A key to verify signatures with
    #[arg(long, value_name = "FILE")]
    sign: Vec<String>,
    /// A key to encrypt to
    #[arg(long, value_name = "FILE")]
    encrypt: Vec<String>,
}

/// Returns a JWK set of these keys in JSON (RFC 7517 section 5).
pub(crate) fn jwk_set(jwks: &[String]) -> String {
    format!(r#"{{"keys":[{}]}}"#, jwks.join(","))
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Outcome, Failure> {
    match &arguments.command {
        Command::Generate(arguments) => generate(arguments, output),
        Command::Show { files, json } => show::run(&files.files, *json, output),
        Command::Convert(arguments) => convert::run(arguments, output),
        Command::Thumbprint(arguments) => show::thumbprints(&arguments.files, output),
        Command::Jwks(arguments) => {
            show::jwks(&arguments.sign, &arguments.encrypt, output).map(|()| Outcome::Fine)
        }
    }
}

fn generate(arguments: &Generate, output: &mut Output) -> Result<Outcome, Failure> {
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
        output.line(format_args!("{}  ({note})", shown(&path.to_string_lossy())))?;
    }
    Ok(Outcome::Fine)
}
