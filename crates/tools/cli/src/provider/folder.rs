//! The folders of a provider, and the files in them.

use crate::failure::{Failure, causes};
use crate::keys::file;
use crate::keys::write::open_lock;
use bankrail::bank::{CustomerFolder, CustomerFolderOptions, CustomersError};
use bankrail::jose::SigningKey;
use bankrail::stores::sqlite::{SqliteOptions, SqliteStore};
use bankrail::values::{Clock, SystemClock};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The number of faults in customers' files that an error names.
const FAULTS: usize = 3;
use std::time::Duration;

/// Where a provider's files are.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    data: PathBuf,
    /// The folder of customers and keys; that of the data without one.
    config: Option<PathBuf>,
}

/// The time until a change of the customers is in force.
const INTERVAL: Duration = Duration::from_secs(1);

impl Folders {
    pub(super) fn of(data: Option<&Path>, config: Option<&Path>) -> Self {
        let data = data
            .or(config)
            .unwrap_or(Path::new("bankrail-data"))
            .to_owned();
        Self {
            data,
            config: config.map(Path::to_owned),
        }
    }

    /// True if customers, accounts and keys are demo data: there is no configuration, and the
    /// folder of the data has no customers but demo ones.
    pub(super) fn is_demo(&self) -> bool {
        self.config.is_none()
            && (self.data.join("demo").is_dir() || !self.data.join("customers").is_dir())
    }

    /// The folder of the data.
    pub(super) fn root(&self) -> &Path {
        &self.data
    }

    /// The folder of the configuration, if it is another one than that of the data.
    #[cfg(feature = "page")]
    pub(super) fn other_config(&self) -> Option<PathBuf> {
        self.config.clone().filter(|config| *config != self.data)
    }

    /// A file of the data.
    pub(super) fn data(&self, name: &str) -> PathBuf {
        self.data.join(name)
    }

    /// A file of the configuration.
    pub(super) fn config(&self, name: &str) -> PathBuf {
        self.config.as_ref().unwrap_or(&self.data).join(name)
    }

    /// Fails unless there is a provider's data.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let database = self.data("provider.sqlite");
        if database.is_file() {
            return Ok(());
        }
        Err(Failure::unable(
            format_args!(
                "{}: expected the data of a provider, found none",
                self.data.display()
            ),
            "name its folder with --data, or start bankrail provider once",
        ))
    }

    /// The database.
    pub(super) fn store(&self) -> Result<SqliteStore, Failure> {
        let path = self.data("provider.sqlite");
        SqliteStore::open(&path, SqliteOptions::new()).map_err(|error| damaged(&path, &error))
    }

    /// The customers.
    pub(super) fn customers(&self) -> Result<CustomerFolder, Failure> {
        self.customers_by(Arc::new(SystemClock))
    }

    /// The customers, whose API keys end by this clock.
    pub(super) fn customers_by(&self, clock: Arc<dyn Clock>) -> Result<CustomerFolder, Failure> {
        let options = CustomerFolderOptions::new().interval(INTERVAL).clock(clock);
        let folder = CustomerFolder::open(self.config("customers"), options);
        folder.map_err(|error| Failure::unable(first_faults(&error), "correct the file"))
    }

    /// The key that signs webhooks, named by its thumbprint.
    pub(super) fn signing_key(&self) -> Result<SigningKey, Failure> {
        let path = self.config("signing.pem");
        let key = file::signing(&path.to_string_lossy(), None)
            .map_err(|failure| failure.into_unable())?;
        let kid = key.verifying_key().thumbprint();
        Ok(key.with_kid(&kid))
    }

    /// Reads a file of the configuration whole.
    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>, Failure> {
        read(&self.config(name))
    }

    /// Takes the data for this process alone, until the file is dropped. The commands that act on
    /// the data do not need it.
    pub(super) fn lock(&self) -> Result<File, Failure> {
        // A command may be asking whether a provider runs.
        let taken = taken(&self.data("provider.lock"), 20)?;
        taken.ok_or_else(|| {
            let (data, expected) = (
                self.data.display(),
                "expected data that no other provider uses, found one that does",
            );
            Failure::unable(
                format!("{data}: {expected}"),
                "stop that one, or choose another folder with --data",
            )
        })
    }

    /// Keeps others from changing customers and keys, until the file is dropped.
    pub(super) fn lock_changes(&self) -> Result<File, Failure> {
        let path = self.config(".changes.lock");
        let taken = taken(&path, 100)?;
        taken.ok_or_else(|| {
            let what = format!(
                "{}: another command has been changing customers or keys for 5 s",
                path.display()
            );
            Failure::unable(what, "end that command, and try again")
        })
    }

    /// True while a provider runs on the data.
    pub(super) fn is_in_use(&self) -> bool {
        let file = open_lock(&self.data("provider.lock"));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

/// The file, locked for this process; `None` if another has it locked at each of so many tries, 50
/// ms apart.
fn taken(path: &Path, tries: u32) -> Result<Option<File>, Failure> {
    let file = open_lock(path).map_err(|error| damaged(path, &error))?;
    for _ in 0..tries {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(50)),
            Err(TryLockError::Error(error)) => return Err(damaged(path, &error)),
        }
    }
    Ok(None)
}

/// The first faults of the customers' files, each of which names its file, and how many more there
/// are: one line.
pub(super) fn first_faults(error: &CustomersError) -> String {
    let more = error
        .faults
        .len()
        .saturating_sub(FAULTS)
        .saturating_add(error.more);
    let more = if more == 0 {
        String::new()
    } else {
        format!("; and {more} more")
    };
    let first: Vec<String> = error
        .faults
        .iter()
        .take(FAULTS)
        .map(|fault| causes(fault))
        .collect();
    format!("{}{more}", first.join("; "))
}

/// Reads a file whole.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| damaged(path, &error))
}

/// A file that is missing or damaged. It is never replaced, because its content may exist nowhere
/// else.
pub(super) fn damaged(path: &Path, error: &dyn std::error::Error) -> Failure {
    Failure::unable(
        format_args!("{}: {}", path.display(), causes(error)),
        "restore the file, or start with another folder with --data",
    )
}
