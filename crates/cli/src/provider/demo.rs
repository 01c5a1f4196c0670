//! What a provider without a configuration makes up, once.

mod connection;
mod customer;

pub(super) use connection::{connections, set_api_key, tell_address};

use super::folder::Folders;
use super::rotation::key_set;
use crate::failure::{Failure, causes};
use crate::keys::write::{Secrecy, make_folder, write};
use crate::output::unwritable;
use bankrail::emulator::{CertificateAuthority, CertificateAuthorityError};
use bankrail::jose::{RsaSize, SigningKey};
use bankrail::values::random_bytes;
use customer::DemoCustomer;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Makes the folder with all that is in it, unless there is one with something in it. Of several processes that do so
/// at the same moment one succeeds, and the others find what it made.
pub(super) fn make(folders: &Folders) -> Result<(), Failure> {
    let folder = folders.root();
    match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(false) => return Ok(()),
        Ok(true) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(unusable(folder, &error)),
    }
    // A link keeps pointing to the folder.
    let place = fs::canonicalize(folder).or_else(|_| std::path::absolute(folder));
    let place = place.map_err(|error| unusable(folder, &error))?;
    if std::env::current_dir().is_ok_and(|here| here.starts_with(&place)) {
        // The folder is replaced by a new one of its name: this process would keep running in one that no longer
        // exists.
        return Err(Failure::unable(
            format_args!("{}: expected another folder than the one this command runs in", folder.display()),
            "name one that does not exist yet with --data",
        ));
    }
    let mut name = place.file_name().unwrap_or_default().to_owned();
    // A process has the same number in each container.
    let random = random_bytes::<8>().map(u64::from_be_bytes).map_err(|error| no_key(&error))?;
    name.push(format!(".partial-{random:016x}"));
    let partial = Partial(place.with_file_name(name));
    make_folder(&partial.0)?;
    fill(&partial.0)?;
    #[cfg(not(unix))]
    // Elsewhere an empty folder is not replaced by a rename. One that is not empty stays.
    let _ = fs::remove_dir(&place);
    match fs::rename(&partial.0, &place) {
        Ok(()) => Ok(()),
        // Another process was faster.
        Err(error) if matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists) => Ok(()),
        Err(error) => Err(unusable(folder, &error)),
    }
}

/// A folder under the name that it has until it is whole.
struct Partial(PathBuf);

impl Drop for Partial {
    fn drop(&mut self) {
        // After the rename no folder has this name, which is not a failure.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn fill(folder: &Path) -> Result<(), Failure> {
    let authority = CertificateAuthority::new().map_err(no_certificate)?;
    let server = authority.certificate().map_err(no_certificate)?;
    let signing = SigningKey::generate(RsaSize::Rsa2048).map_err(|error| no_key(&error))?;
    let public = signing.verifying_key();
    let keys = key_set(std::slice::from_ref(&public));
    let cursor = random_bytes::<32>().map_err(|error| no_key(&error))?;
    let database = folder.join("provider.sqlite");
    for customer in DemoCustomer::ALL {
        let (record, files) = customer.make(&authority)?;
        let home = folder.join("demo").join(customer.folder_name());
        make_folder(&home)?;
        let mut all: Vec<(PathBuf, Zeroizing<Vec<u8>>, Secrecy)> = files
            .into_iter()
            .map(|(name, content, secrecy)| (home.join(name), Zeroizing::new(content.as_bytes().to_vec()), secrecy))
            .collect();
        let shared = [("ca.pem", authority.pem()), ("provider.jwks.json", keys.clone())];
        all.extend(shared.map(|(name, text)| (home.join(name), Zeroizing::new(text.into_bytes()), Secrecy::Public)));
        let customers = folder.join("customers");
        make_folder(&customers)?;
        let name = customers.join(format!("{}.toml", customer.folder_name()));
        all.push((name, Zeroizing::new(record.to_toml().as_bytes().to_vec()), Secrecy::Private));
        write_all(&all)?;
    }
    let text = |text: &str| Zeroizing::new(text.as_bytes().to_vec());
    write_all(&[
        (folder.join("ca.pem"), text(&authority.pem()), Secrecy::Public),
        (folder.join("server.pem"), text(&server.chain_pem), Secrecy::Public),
        (folder.join("server-key.pem"), text(&server.key_pem), Secrecy::Private),
        (folder.join("signing.pem"), text(&signing.to_pkcs8_pem()), Secrecy::Private),
        (folder.join("signing.pub.pem"), text(&public.to_spki_pem()), Secrecy::Public),
        (folder.join("signing.jwks.json"), text(&keys), Secrecy::Public),
        (folder.join("cursor.key"), Zeroizing::new(cursor.to_vec()), Secrecy::Private),
    ])?;
    drop(bankrail::stores::sqlite::SqliteStore::open(&database, Default::default()).map_err(|error| {
        Failure::unable(format_args!("{}: {}", database.display(), causes(&error)), "choose another folder")
    })?);
    Ok(())
}

fn write_all(files: &[(PathBuf, Zeroizing<Vec<u8>>, Secrecy)]) -> Result<(), Failure> {
    let files: Vec<(&Path, &[u8], Secrecy)> =
        files.iter().map(|(path, bytes, secrecy)| (path.as_path(), bytes.as_slice(), *secrecy)).collect();
    // Nobody else knows the folder yet.
    write(&files, true)
}

/// A new API key: 192 random bits.
pub(super) fn new_api_key() -> Result<Zeroizing<String>, Failure> {
    use std::fmt::Write as _;
    let bytes = Zeroizing::new(random_bytes::<24>().map_err(|error| no_key(&error))?);
    let mut key = Zeroizing::new(String::with_capacity(48));
    for byte in bytes.iter() {
        // Writing into a string cannot fail.
        let _ = write!(key, "{byte:02x}");
    }
    Ok(key)
}

pub(super) fn no_key(error: &dyn std::error::Error) -> Failure {
    Failure::unable(format_args!("a key cannot be made: {}", causes(error)), "try again")
}

fn no_certificate(error: CertificateAuthorityError) -> Failure {
    Failure::unable(causes(&error), "try again")
}

fn unusable(folder: &Path, error: &std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::NotADirectory | ErrorKind::ResourceBusy => Failure::unable(
            format_args!("{}: {error}", folder.display()),
            "name a folder that does not exist yet with --data",
        ),
        _ => unwritable(folder, error),
    }
}
