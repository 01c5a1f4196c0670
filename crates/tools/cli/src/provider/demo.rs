//! The demo data of a provider without a configuration: made once, told the provider's address, and
//! booked every day.

mod customer;

use super::control::FolderData;
use super::keys::key_set;
use super::samples;
use super::{Folders, damaged, read};
use crate::connection::failure;
use crate::failure::{Failure, causes};
use crate::files::{NewFile, make_folder, unwritable, write};
use bankrail::bank::{ApiKeyRecord, SqliteLedger};
use bankrail::client::Connection;
use bankrail::jose::{RsaSize, SigningKey};
use bankrail::service::{ApiKeyHash, CursorSecret};
use bankrail::stores::sqlite::SqliteStore;
use bankrail::values::{Date, random_bytes};
use bankrail_emulator::{CertificateAuthority, CertificateAuthorityError, TestAccount};
use customer::DemoCustomer;
use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use zeroize::Zeroizing;

/// The random characters at the end of a folder's name while it is made.
const RANDOM_CHARS: usize = 16;
/// After this time such a folder is one that a process has left. To make one takes seconds.
const ABANDONED_AFTER: Duration = Duration::from_secs(600);
/// The pause between two looks for a new day.
const DAY_PAUSE: Duration = Duration::from_secs(1);

/// Makes the folder with all its files, unless a non-empty folder exists. If several processes do
/// so at once, one succeeds and the others find its folder. Returns true if this process made it.
/// The certificate is also valid for `host`.
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
        // The folder would be replaced by a new one of the same name, and this process would keep
        // running in the deleted one.
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
    // Only the owner can use the folder. If it is dropped before it gets its final name, it is
    // removed.
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let partial = builder
        .prefix(&name)
        .rand_bytes(RANDOM_CHARS)
        .tempdir_in(parent);
    let partial = partial.map_err(|error| unusable(folder, &error))?;
    fill(partial.path(), host)?;
    #[cfg(not(unix))]
    // On other systems, a rename does not replace an empty folder, so it is removed first. A
    // non-empty folder stays.
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

/// Removes the folders that killed processes have left in `parent` under names with this beginning.
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
        if random.is_some_and(|random| random.len() == RANDOM_CHARS)
            && age.is_some_and(|age| age > ABANDONED_AFTER)
        {
            // A folder that cannot be removed is harmless.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn fill(folder: &Path, host: Option<&str>) -> Result<(), Failure> {
    let authority = CertificateAuthority::new().map_err(no_certificate)?;
    let server = authority.certificate(host).map_err(no_certificate)?;
    let home = |customer: DemoCustomer| folder.join("demo").join(customer.folder_name());
    // Generates the keys in parallel, because they take nearly all of the time of a first start.
    let (signing, customers_made) = thread::scope(|scope| {
        let makers = DemoCustomer::ALL.map(|customer| {
            let (home, authority) = (home(customer), &authority);
            scope.spawn(move || customer.make(&home, authority))
        });
        let signing = SigningKey::generate(RsaSize::Rsa2048);
        let made = makers.map(|maker| maker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        (signing, made)
    });
    let signing = signing.map_err(no_key)?;
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
    CursorSecret::open_or_create(folder.join("cursor.key")).map_err(no_key)?;
    drop(
        SqliteStore::open(&database, Default::default())
            .map_err(|error| Failure::caused(&error, causes(&error), "choose another folder"))?,
    );
    Ok(())
}

/// Returns the folder and the connection of each demo customer, by name. Files are named as in
/// `connection.toml`.
pub(super) fn connections(folders: &Folders) -> Result<Vec<(PathBuf, Connection)>, Failure> {
    let demo = folders.data("demo");
    let mut homes = Vec::new();
    for entry in fs::read_dir(&demo).map_err(|error| damaged(&demo, &error))? {
        let home = entry.map_err(|error| damaged(&demo, &error))?.path();
        if home.is_dir() {
            homes.push(home);
        }
    }
    homes.sort();
    let connection =
        |home: PathBuf| parse(&home.join("connection.toml")).map(|connection| (home, connection));
    homes.into_iter().map(connection).collect()
}

fn parse(path: &Path) -> Result<Connection, Failure> {
    let bytes = Zeroizing::new(read(path)?);
    let text = std::str::from_utf8(&bytes).map_err(|error| damaged(path, &error))?;
    Connection::from_toml(text, path).map_err(failure)
}

/// Writes the address of the provider into the demo customers' files, and their sample calls.
pub(super) fn tell_address(
    folders: &Folders,
    base_url: &str,
) -> Result<Vec<(PathBuf, Connection)>, Failure> {
    let mut all = connections(folders)?;
    for (home, connection) in &mut all {
        let token_url = format!("{base_url}/v1.0/auth");
        connection.base_url = base_url.to_owned();
        connection.audience = Some(token_url.clone());
        connection.token_url = Some(token_url);
        write_connection(home, connection)?;
        samples::write_all(home, connection)?;
    }
    Ok(all)
}

/// Puts a new API key into the file of the demo customer with this code. False if there is none.
pub(super) fn set_api_key(folders: &Folders, code: &str, api_key: &str) -> Result<bool, Failure> {
    if !folders.is_demo() {
        return Ok(false);
    }
    for (home, mut connection) in connections(folders)? {
        if connection.customer.as_str() == code {
            connection.api_key = api_key.into();
            write_connection(&home, &connection)?;
            samples::write_all(&home, &connection)?;
            return Ok(true);
        }
    }
    Ok(false)
}

fn write_connection(home: &Path, connection: &Connection) -> Result<(), Failure> {
    let path = home.join("connection.toml");
    let text = to_toml(connection)?;
    if fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
        return Ok(());
    }
    write(&[NewFile::private(path, text)], true)
}

/// The text of a `connection.toml`.
fn to_toml(connection: &Connection) -> Result<Zeroizing<String>, Failure> {
    let text = toml::to_string(connection).map(Zeroizing::new);
    let text = text
        .map_err(|error| Failure::unable(format_args!("connection.toml: {error}"), "report it"))?;
    let comment = "# What this customer and its provider have arranged. It holds secrets.\n";
    Ok(Zeroizing::new([comment, &text].concat()))
}

/// Opens the test accounts, and books their entries of today, each once.
pub(super) async fn book_today(data: &FolderData) -> Result<Date, Failure> {
    let today = data.emulator.today();
    book_day(&data.ledger, today).await.map_err(|error| {
        let what = format!("the test accounts cannot be booked: {}", causes(&*error));
        Failure::unable(what, "start with another folder with --data")
    })?;
    Ok(today)
}

async fn book_day(ledger: &SqliteLedger, day: Date) -> Result<(), Box<dyn Error>> {
    for account in TestAccount::ALL {
        ledger
            .open_account(&account.id(), account.opening())
            .await?;
        for booking in account.bookings(day) {
            ledger.book(&account.id(), &booking).await?;
        }
    }
    Ok(())
}

/// Books each day that begins after `day`; runs forever.
pub(super) async fn follow_days(data: Arc<FolderData>, mut day: Date) {
    loop {
        // A test may set the clock, so the day is looked at and not waited for.
        tokio::time::sleep(DAY_PAUSE).await;
        let today = data.emulator.today();
        if today == day {
            continue;
        }
        match book_day(&data.ledger, today)
            .await
            .map_err(|error| error.to_string())
        {
            Ok(()) => day = today,
            Err(error) => tracing::error!(error, "the test accounts were not booked"),
        }
    }
}

/// A new API key: 192 random bits.
pub(super) fn new_api_key() -> Result<Zeroizing<String>, Failure> {
    use std::fmt::Write as _;
    let bytes = Zeroizing::new(random_bytes::<24>().map_err(no_key)?);
    let mut key = Zeroizing::new(String::with_capacity(48));
    for byte in bytes.iter() {
        // Writing into a string cannot fail.
        let _ = write!(key, "{byte:02x}");
    }
    Ok(key)
}

/// The record of an API key, which has its hash alone.
pub(super) fn api_key_record(api_key: &str) -> ApiKeyRecord {
    ApiKeyRecord::new(ApiKeyHash::of(api_key.as_bytes()))
}

pub(super) fn no_key(error: impl Error) -> Failure {
    Failure::unable(
        format_args!("a key cannot be made: {}", causes(&error)),
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
    fn what_is_written_says_all_that_was_read() {
        let text = r#"
base_url = "https://bank.example"
token_url = "https://bank.example/token"
audience = "the audience"
customer = "BILLER"
api_key = "q\"\\\u0001ü"
api_key_header = "x-key"
scopes = ["ONE", "TWO"]
signing_key = "signing.pem"
signing_kid = "2026"
roots = "ca.pem"
accounts = ["1", "2"]

[receivers]
listen = "127.0.0.1:1"
certificate = "receiver.pem"
certificate_key = "receiver-key.pem"
api_key = "r"
decryption_key = "decryption.pem"
provider_keys = "bank.jwks.json"
"#;
        let connection = Connection::from_toml(text, "connection.toml").unwrap();
        assert_eq!(connection.api_key.expose_secret(), "q\"\\\u{1}ü");
        let written: toml::Table = toml::from_str(&to_toml(&connection).unwrap()).unwrap();
        assert_eq!(written, toml::from_str::<toml::Table>(text).unwrap());
    }

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
            folder
                .set_modified(SystemTime::now() - 2 * ABANDONED_AFTER)
                .unwrap();
        }
        remove_left(parent.path(), OsStr::new("data.partial-"));
        let left: Vec<_> = names
            .iter()
            .filter(|name| parent.path().join(name).exists())
            .collect();
        assert_eq!(left, [&names[1], &names[2], &names[3]]);
    }
}
