//! Seals a JSON message and opens it again: JWS with RS256, then JWE with RSA-OAEP and
//! A256CBC-HS512.
//!
//! - `payload` shows both with new keys.
//! - `payload keys DIR` makes a signing key and a decryption key, and writes them and their public
//!   keys as PEM files into DIR.
//! - `payload seal DIR` reads a JSON message from standard input and prints the sealed text.
//! - `payload open DIR` reads a sealed text from standard input and prints the verified message.

use bankrail::jose::{DecryptionKey, EncryptionKey, RsaSize, SigningKey, VerifyingKey};
use bankrail::secured_payload::{OpenOptions, Opener, SealOptions, Sealer};
use bankrail::values::MainError;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;

fn main() -> Result<(), MainError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match *arguments.as_slice() {
        [] => show(),
        ["keys", folder] => make_keys(Path::new(folder)),
        ["seal", folder] => seal(Path::new(folder)),
        ["open", folder] => open(Path::new(folder)),
        _ => Err("usage: payload [keys DIR | seal DIR | open DIR]".into()),
    }
}

fn show() -> Result<(), MainError> {
    let signing = SigningKey::generate(RsaSize::Rsa2048)?;
    let decryption = DecryptionKey::generate(RsaSize::Rsa2048)?;
    let message = r#"{"status":"SUCC"}"#;
    let sealed = Sealer::new(
        signing.clone(),
        decryption.encryption_key(),
        SealOptions::new(),
    )
    .seal(message.as_bytes())?;
    println!("sealed:  {sealed}\n");
    let opened =
        Opener::new(decryption, signing.verifying_key(), OpenOptions::new())?.open(&sealed)?;
    println!("opened:  {}", std::str::from_utf8(opened.json())?);
    Ok(())
}

fn make_keys(folder: &Path) -> Result<(), MainError> {
    let signing = SigningKey::generate(RsaSize::Rsa2048)?;
    let decryption = DecryptionKey::generate(RsaSize::Rsa2048)?;
    write_private(&folder.join("signing.pem"), &signing.to_pkcs8_pem())?;
    fs::write(
        folder.join("signing.pub.pem"),
        signing.verifying_key().to_spki_pem(),
    )?;
    write_private(&folder.join("decryption.pem"), &decryption.to_pkcs8_pem())?;
    fs::write(
        folder.join("encryption.pub.pem"),
        decryption.encryption_key().to_spki_pem(),
    )?;
    println!("four keys in {}", folder.display());
    Ok(())
}

/// Writes a new file that only its owner can read.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

fn seal(folder: &Path) -> Result<(), MainError> {
    let signing = SigningKey::open(folder.join("signing.pem"))?;
    let encryption = EncryptionKey::open(folder.join("encryption.pub.pem"))?;
    let mut message = Vec::new();
    std::io::stdin().read_to_end(&mut message)?;
    println!(
        "{}",
        Sealer::new(signing, encryption, SealOptions::new()).seal(&message)?
    );
    Ok(())
}

fn open(folder: &Path) -> Result<(), MainError> {
    let decryption = DecryptionKey::open(folder.join("decryption.pem"))?;
    let verifying = VerifyingKey::open(folder.join("signing.pub.pem"))?;
    let mut sealed = String::new();
    std::io::stdin().read_to_string(&mut sealed)?;
    let opened = Opener::new(decryption, verifying, OpenOptions::new())?.open(sealed.trim_end())?;
    std::io::stdout().write_all(opened.json())?;
    Ok(())
}
