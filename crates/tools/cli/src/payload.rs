//! `bankrail payload`: sealed messages.

mod explain;

use crate::failure::{Failure, Outcome};
use crate::input;
use crate::keys::file;
use crate::output::{Destination, Output};
use bankrail::secured_payload::{OpenOptions, Opener, SealOptions, Sealer, SecuredPayload};
use clap::{Args, Subcommand};
use std::io::Write as _;
use std::path::PathBuf;
use zeroize::Zeroizing;

/// The maximum number of bytes of a message.
const MAX_MESSAGE_BYTES: usize = SecuredPayload::MAX_JSON_BYTES;

#[derive(Args, Debug)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Sign and encrypt a JSON message
    #[command(after_help = "Examples:\n  \
        bankrail payload seal --sign signing.pem \\\n    \
        --encrypt encryption.pub.pem message.json\n  \
        bankrail message sample query |\n    \
        bankrail payload seal --sign signing.pem \\\n    \
        --encrypt encryption.pub.pem --envelope - > body.json")]
    Seal(Seal),
    /// Decrypt and verify a sealed message, and print it
    ///
    /// Reads the compact form or the JSON with the member secured_payload. Prints nothing unless
    /// the signature is valid. On a terminal control characters of the message are escaped.
    #[command(
        after_help = "Exit status: 0 for a message that was opened, 1 for one that is refused, 2 for a file that \
        cannot be read.\n\n\
        Example:\n  bankrail payload open --decrypt decryption.pem \\\n    \
        --verify sender.pub.pem body.json"
    )]
    Open(Open),
    /// Explain a sealed message layer by layer, and name the step that fails
    ///
    /// Without keys: its form and header. With the decryption key: whether it was encrypted to that
    /// key and is unchanged, and the claimed signer. With the sender's key too: whether the
    /// signature is valid, and the kind of the message. The message itself and the keys are never
    /// printed.
    #[command(
        after_help = "Exit status: 0 if no step fails, 1 if one does, 2 for a file that cannot be read.\n\n\
        Examples:\n  \
        bankrail payload explain body.json\n  \
        bankrail payload explain --decrypt decryption.pem \\\n    \
        --verify sender.pub.pem body.json"
    )]
    Explain(Explain),
}

#[derive(Args, Debug)]
struct Seal {
    /// The JSON message; - for standard input
    #[arg(default_value = "-")]
    file: String,
    /// Our private key, to sign with
    #[arg(long, value_name = "FILE")]
    sign: String,
    /// The recipient's public key, to encrypt to
    #[arg(long, value_name = "FILE")]
    encrypt: String,
    /// The name of our key, for the signed header
    #[arg(long, value_name = "KID")]
    sign_kid: Option<String>,
    /// The name of the recipient's key, for the outer header
    #[arg(long, value_name = "KID")]
    encrypt_kid: Option<String>,
    /// Print the JSON with the member secured_payload
    #[arg(long)]
    envelope: bool,
    /// Compress before encrypting; strict receivers refuse that
    #[arg(long)]
    deflate: bool,
    /// Leave out the outer header's cty
    #[arg(long)]
    no_cty: bool,
    /// The file to write, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct Open {
    /// The sealed message; - for standard input
    #[arg(default_value = "-")]
    file: String,
    /// Our private key or keys, which decrypt
    #[arg(long, value_name = "FILE")]
    decrypt: String,
    /// The sender's public key or keys
    #[arg(long, value_name = "FILE")]
    verify: String,
    /// Refuse compressed messages
    #[arg(long)]
    no_inflate: bool,
}

#[derive(Args, Debug)]
struct Explain {
    /// The sealed message; - for standard input
    #[arg(default_value = "-")]
    file: String,
    /// Our private key or keys, which decrypt
    #[arg(long, value_name = "FILE")]
    decrypt: Option<String>,
    /// The sender's public key or keys
    #[arg(long, value_name = "FILE", requires = "decrypt")]
    verify: Option<String>,
    /// Print one line of JSON for each step
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Outcome, Failure> {
    match &arguments.command {
        Command::Seal(arguments) => seal(arguments, output).map(|()| Outcome::Fine),
        Command::Open(arguments) => open(arguments, output).map(|()| Outcome::Fine),
        Command::Explain(arguments) => explain::run(arguments, output),
    }
}

fn seal(arguments: &Seal, output: &mut Output) -> Result<(), Failure> {
    let signing = file::signing(&arguments.sign, arguments.sign_kid.as_deref())?;
    let encryption = file::encryption(&arguments.encrypt, arguments.encrypt_kid.as_deref())?;
    let message = input::read(&arguments.file, MAX_MESSAGE_BYTES)?;
    let options = SealOptions::new()
        .deflate(arguments.deflate)
        .cty(!arguments.no_cty);
    let sealed = Sealer::new(signing, encryption, options).seal(&message);
    let sealed = sealed.map_err(|error| {
        input::refused(&arguments.file, &error, "pass one JSON message in UTF-8")
    })?;
    let text = if arguments.envelope {
        SecuredPayload::new(sealed).to_json()
    } else {
        sealed
    };
    let mut to = Destination::open(arguments.output.as_deref(), output)?;
    writeln!(to, "{text}")?;
    to.finish()
}

fn open(arguments: &Open, output: &mut Output) -> Result<(), Failure> {
    let (decryption, verifying) = (
        file::decryption(&arguments.decrypt)?,
        file::message_verifying(&arguments.verify)?,
    );
    let compact = compact(&arguments.file)?;
    let options = OpenOptions::new();
    let options = if arguments.no_inflate {
        options.max_inflated_bytes(None)
    } else {
        options
    };
    let opener = Opener::new(decryption, verifying, options)
        .map_err(|error| file::refused(&arguments.verify, &error))?;
    let opened = opener.open(&compact).map_err(|error| {
        let next = "bankrail payload explain with the same keys shows which step fails";
        input::refused(&arguments.file, &error, next)
    })?;
    let terminal = output.is_terminal();
    match std::str::from_utf8(opened.json()) {
        Ok(text) if terminal => output.line(crate::text::shown_lines(text)),
        _ => Ok(output.write_all(opened.json())?),
    }
}

/// Reads the compact form, which may be in a JSON envelope.
fn compact(path: &str) -> Result<Zeroizing<String>, Failure> {
    let text = input::read_text(path, MAX_MESSAGE_BYTES)?;
    if !text.trim_start().starts_with('{') {
        return Ok(Zeroizing::new(text.trim().to_owned()));
    }
    let next = "pass the body of a webhook call, or the compact message in it";
    let envelope = SecuredPayload::from_json(text.as_bytes())
        .map_err(|error| input::refused(path, &error, next))?;
    Ok(Zeroizing::new(envelope.secured_payload))
}
