//! `bankrail provider`: a bank in a box, and what acts on its data.

mod control;
mod customers;
mod demo;
mod keys;
mod page;
mod samples;
mod serve;

use crate::block_on;
use crate::failure::{Failure, Outcome, causes};
use crate::files::{lock_of, open_lock, take_lock};
use crate::keys::file;
use crate::output::Output;
use bankrail::bank::{CustomerFolder, CustomerFolderOptions, CustomersError};
use bankrail::jose::SigningKey;
use bankrail::stores::sqlite::{SqliteOptions, SqliteStore};
use bankrail::values::{Clock, SystemClock};
use clap::{Args, Subcommand};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// `bankrail provider`, with or without a command.
#[derive(Args, Debug)]
pub(crate) struct Provider {
    /// The folder of the provider's data; without --config also of its keys and customers
    ///
    /// It is made if it does not exist: with demo customers, test accounts, keys and certificates.
    /// Without it: the folder of --config, or bankrail-data.
    #[arg(long, global = true, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// A folder with customers/*.toml, signing.pem, server.pem, server-key.pem and cursor.key of
    /// your own
    #[arg(long, global = true, value_name = "FOLDER")]
    config: Option<PathBuf>,
    #[command(flatten)]
    serve: serve::Given,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Book, add customers, send and resend messages, rotate keys; steer a running provider: its
    /// clock, limits, faults and calls
    ///
    /// Prints the answer in JSON. A provider that runs with --control carries it out: control.json
    /// in the folder of the data has its address and token. Otherwise operations on bookings,
    /// messages, customers and keys are carried out on the folder, and a provider that runs without
    /// --control follows within a second.
    #[command(
        after_help = "Exit status: 0 if the operation was done or the assertion holds; 1 if not; \
            2 if nobody answers.\n\n\
        Examples:\n  \
        bankrail provider control book --account 999001400100101 --amount 25.00\n  \
        bankrail provider control send --endpoint democustomer \\\n    \
        --story mandate --wait 20\n  \
        bankrail provider control set-clock --now 2026-03-02T00:00:00Z --rate 0\n  \
        bankrail provider control step-clock --seconds 86400\n  \
        bankrail provider control add-fault --fault statement-503 --count 2\n  \
        bankrail provider control assert-calls --endpoint webhook --at-least 3"
    )]
    Control(control::Order),
}

pub(crate) fn run(arguments: &Provider, output: &mut Output) -> Result<Outcome, Failure> {
    let folders = Folders::of(arguments.data.as_deref(), arguments.config.as_deref());
    let Some(command) = &arguments.command else {
        return block_on(serve::run(&arguments.serve.arguments, &folders, output));
    };
    if let Some(option) = &arguments.serve.option {
        return Err(Failure::unable(
            format_args!("{option}: expected with serving alone, found with a command"),
            "leave it out, or pass it to bankrail provider without a command",
        ));
    }
    folders.check()?;
    let Command::Control(order) = command;
    block_on(control::run(
        order,
        &arguments.serve.arguments,
        &folders,
        output,
    ))
}

/// The maximum number of faults in customers' files that an error names.
const MAX_SHOWN_ERRORS: usize = 3;

/// The folders of a provider's files.
#[derive(Clone, Debug)]
struct Folders {
    data: PathBuf,
    /// The folder of customers and keys; `None` if it is the folder of the data.
    config: Option<PathBuf>,
}

/// The interval at which changes of the customers are read.
const INTERVAL: Duration = Duration::from_secs(1);

impl Folders {
    fn of(data: Option<&Path>, config: Option<&Path>) -> Self {
        let data = data
            .or(config)
            .unwrap_or(Path::new("bankrail-data"))
            .to_owned();
        Self {
            data,
            config: config.map(Path::to_owned),
        }
    }

    /// Returns true if customers, accounts and keys are demo data: there is no configuration, and
    /// the folder of the data has only demo customers.
    fn is_demo(&self) -> bool {
        self.config.is_none()
            && (self.data.join("demo").is_dir() || !self.data.join("customers").is_dir())
    }

    /// Returns the folder of the data.
    fn root(&self) -> &Path {
        &self.data
    }

    /// The folder of the configuration, if it is another one than that of the data.
    fn other_config(&self) -> Option<PathBuf> {
        self.config.clone().filter(|config| *config != self.data)
    }

    /// Returns the path of a file of the data.
    fn data(&self, name: &str) -> PathBuf {
        self.data.join(name)
    }

    /// Returns the path of a file of the configuration.
    fn config(&self, name: &str) -> PathBuf {
        self.config.as_ref().unwrap_or(&self.data).join(name)
    }

    /// Checks that the folder has a provider's data.
    fn check(&self) -> Result<(), Failure> {
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

    /// Opens the database.
    fn store(&self) -> Result<SqliteStore, Failure> {
        let path = self.data("provider.sqlite");
        SqliteStore::open(&path, SqliteOptions::new()).map_err(|error| damaged(&path, &error))
    }

    /// Reads the customers.
    fn customers(&self) -> Result<CustomerFolder, Failure> {
        self.customers_by(Arc::new(SystemClock))
    }

    /// Reads the customers, whose API keys expire by this clock.
    fn customers_by(&self, clock: Arc<dyn Clock>) -> Result<CustomerFolder, Failure> {
        let options = CustomerFolderOptions::new().interval(INTERVAL).clock(clock);
        let folder = CustomerFolder::open(self.config("customers"), options);
        folder.map_err(|error| Failure::unable(first_errors(&error), "correct the file"))
    }

    /// Reads the key that signs webhooks, named by its thumbprint.
    fn signing_key(&self) -> Result<SigningKey, Failure> {
        let path = self.config("signing.pem");
        let key = file::signing(&path.to_string_lossy(), None)
            .map_err(|failure| failure.into_unable())?;
        let kid = key.verifying_key().thumbprint();
        Ok(key.with_kid(&kid))
    }

    /// Locks the data for this process until the returned file is dropped. Commands that act on the
    /// data do not need this lock.
    fn lock(&self) -> Result<File, Failure> {
        // Tries several times, because a command may hold the lock briefly to find out if a
        // provider runs.
        let database = self.data("provider.sqlite");
        let path = lock_of(&database)?;
        take_lock(&path, 20)?.ok_or_else(|| {
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

    /// Locks changes of customers and keys for this process, until the returned file is dropped.
    fn lock_changes(&self) -> Result<File, Failure> {
        let path = self.config(".changes.lock");
        take_lock(&path, 100)?.ok_or_else(|| {
            let what = format!(
                "{}: another command has been changing customers or keys for 5 s",
                path.display()
            );
            Failure::unable(what, "end that command, and try again")
        })
    }

    /// Returns true while a provider runs on the data.
    fn is_in_use(&self) -> Result<bool, Failure> {
        let file = open_lock(&lock_of(&self.data("provider.sqlite"))?);
        // The lock below is shared, so that two commands that check at once do not take each other
        // for a provider.
        let is_locked =
            |file: File| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        Ok(file.is_ok_and(is_locked))
    }
}

/// Returns the first errors of the customers' files, each with the name of its file, and the number
/// of further errors, in one line.
fn first_errors(error: &CustomersError) -> String {
    let more = error
        .errors
        .len()
        .saturating_sub(MAX_SHOWN_ERRORS)
        .saturating_add(error.more);
    let more = if more == 0 {
        String::new()
    } else {
        format!("; and {more} more")
    };
    let first: Vec<String> = error
        .errors
        .iter()
        .take(MAX_SHOWN_ERRORS)
        .map(|error| causes(error))
        .collect();
    format!("{}{more}", first.join("; "))
}

/// Reads a whole file.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| damaged(path, &error))
}

/// Returns the failure of a missing or damaged file. Such a file is never replaced, because its
/// content may exist nowhere else.
fn damaged(path: &Path, error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::caused(
        error,
        format_args!("{}: {}", path.display(), causes(error)),
        "restore the file, or start with another folder with --data",
    )
}
