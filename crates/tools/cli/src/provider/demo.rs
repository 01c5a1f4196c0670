//! The demo data of a provider without a configuration, made once.

mod connection;
mod customer;

pub(super) use connection::{connections, set_api_key, tell_address};

use super::Folders;
use super::keys::key_set;
use crate::failure::{Failure, causes};
use crate::files::unwritable;
use crate::files::{NewFile, make_folder, write};
use bankrail::jose::{RsaSize, SigningKey};
use bankrail::service::CursorSecret;
use bankrail::values::random_bytes;
use bankrail_emulator::{CertificateAuthority, CertificateAuthorityError};
use customer::DemoCustomer;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;
use std::time::Duration;
use zeroize::Zeroizing;

/// The random characters at the end of a folder's name while it is made.
const RANDOM: usize = 16;
/// After this time such a folder is one that a process has left. To make one takes seconds.
const LEFT: Duration = Duration::from_secs(600);

/// Makes the folder with all that is in it, unless there is one with something in it. If several
/// processes do so at once, one succeeds and the others find its folder; returns whether this one
/// made it. The certificate is for this host too.
pub(super) fn make(folders: &Folders, host: Option<&str>) -> Result<bool, Failure> {
    let folder = folders.root();
    match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(false) => return Ok(false),
        Ok(true) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(unusable(folder, &error)),
    }
    // A link keeps pointing to the folder.
    let place = fs::canonicalize(folder).or_else(|_| std::path::absolute(folder));
    let place = place.map_err(|error| unusable(folder, &error))?;
    if std::env::current_dir().is_ok_and(|here| here.starts_with(&place)) {
        // The folder is replaced by a new one of its name: this process would keep running in one
        // that no longer exists.
        return Err(Failure::unable(
            format_args!(
                "{}: expected another folder than the one this command runs in",
                folder.display()
            ),
            "name one that does not exist yet with --data",
        ));
    }
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(".partial-");
    let parent = place.parent().unwrap_or(&place);
    make_folder(parent)?;
    remove_left(parent, &name);
    // For its owner alone. Dropped before it has its own name, it is removed.
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let partial = builder.prefix(&name).rand_bytes(RANDOM).tempdir_in(parent);
    let partial = partial.map_err(|error| unusable(folder, &error))?;
    fill(partial.path(), host)?;
    #[cfg(not(unix))]
    // Elsewhere an empty folder is not replaced by a rename. One that is not empty stays.
    let _ = fs::remove_dir(&place);
    match fs::rename(partial.path(), &place) {
        Ok(()) => Ok(true),
        // Another process was faster.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists
            ) =>
        {
            Ok(false)
        }
        Err(error) => Err(unusable(folder, &error)),
    }
}

/// Removes what processes that were killed have left here under this beginning of a name.
fn remove_left(parent: &Path, beginning: &OsStr) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let random = name
            .as_encoded_bytes()
            .strip_prefix(beginning.as_encoded_bytes());
        let age = entry
            .metadata()
            .and_then(|about| about.modified())
            .ok()
            .and_then(|at| at.elapsed().ok());
        if random.is_some_and(|random| random.len() == RANDOM) && age.is_some_and(|age| age > LEFT)
        {
            // A folder that stays does no harm.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn fill(folder: &Path, host: Option<&str>) -> Result<(), Failure> {
    let authority = CertificateAuthority::new().map_err(no_certificate)?;
    let server = host.map_or_else(
        || authority.certificate(),
        |host| authority.certificate_for(host),
    );
    let server = server.map_err(no_certificate)?;
    let home = |customer: DemoCustomer| folder.join("demo").join(customer.folder_name());
    // At the same time, because keys are nearly all of a first start.
    let (signing, customers_made) = thread::scope(|scope| {
        let makers = DemoCustomer::ALL.map(|customer| {
            let (home, authority) = (home(customer), &authority);
            scope.spawn(move || customer.make(&home, authority))
        });
        let signing = SigningKey::generate(RsaSize::Rsa2048);
        let made = makers.map(|maker| maker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        (signing, made)
    });
    let signing = signing.map_err(|error| no_key(&error))?;
    let public = signing.verifying_key();
    let keys = key_set(std::slice::from_ref(&public));
    let database = folder.join("provider.sqlite");
    let customers = folder.join("customers");
    make_folder(&customers)?;
    for (customer, made) in DemoCustomer::ALL.into_iter().zip(customers_made) {
        let home = home(customer);
        make_folder(&home)?;
        let (record, mut files) = made?;
        files.push(NewFile::public(home.join("ca.pem"), authority.pem()));
        files.push(NewFile::public(home.join("provider.jwks.json"), &keys));
        files.push(NewFile::private(
            customers.join(format!("{}.toml", customer.folder_name())),
            record.to_toml(),
        ));
        // Nobody else knows the folder yet.
        write(&files, true)?;
    }
    let files = [
        NewFile::public(folder.join("ca.pem"), authority.pem()),
        NewFile::public(folder.join("server.pem"), server.chain_pem),
        NewFile::private(folder.join("server-key.pem"), server.key_pem),
        NewFile::private(folder.join("signing.pem"), signing.to_pkcs8_pem()),
        NewFile::public(folder.join("signing.pub.pem"), public.to_spki_pem()),
        NewFile::public(folder.join("signing.jwks.json"), keys),
    ];
    write(&files, true)?;
    CursorSecret::open_or_create(folder.join("cursor.key")).map_err(|error| no_key(&error))?;
    drop(
        bankrail::stores::sqlite::SqliteStore::open(&database, Default::default())
            .map_err(|error| Failure::caused(&error, causes(&error), "choose another folder"))?,
    );
    Ok(())
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
    Failure::unable(
        format_args!("a key cannot be made: {}", causes(error)),
        "try again",
    )
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn what_a_kill_has_left_is_removed_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let old = [
            "data.partial-0123456789abcdef",
            "data.partial-mine",
            "other.partial-0123456789abcdef",
        ];
        let names = [&old[..], &["data.partial-fedcba9876543210"]].concat();
        for name in &names {
            fs::create_dir(parent.path().join(name)).unwrap();
        }
        for name in old {
            let folder = fs::File::open(parent.path().join(name)).unwrap();
            folder.set_modified(SystemTime::now() - 2 * LEFT).unwrap();
        }
        remove_left(parent.path(), OsStr::new("data.partial-"));
        let left: Vec<_> = names
            .iter()
            .filter(|name| parent.path().join(name).exists())
            .collect();
        assert_eq!(left, [&names[1], &names[2], &names[3]]);
    }
}
