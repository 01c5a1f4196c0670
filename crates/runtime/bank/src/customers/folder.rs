//! The directory from a folder of TOML files.

mod load;

use self::load::Loaded;
use super::{CustomerSet, CustomerSource, CustomersError};
use bankrail_service::{ApiKeyHash, Customer, Directory};
use bankrail_values::{Clock, StoreFuture, SystemClock};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;
use tokio::time::Instant;

bankrail_values::options! {
    /// Options of a [`CustomerFolder`].
    #[derive(Clone, Debug)]
    pub struct CustomerFolderOptions {
        /// The interval between two checks for changed files, with one `stat` for each file.
        /// Default: 5 s. With zero, each lookup checks.
        interval: Duration = Duration::from_secs(5),
        /// The clock for the validity of API keys. Default: the operating system's.
        clock: Arc<dyn Clock> = Arc::new(SystemClock),
        /// If true, endpoints may have an `http` address on loopback. Default: false. Use this for
        /// tests and sandboxes only, because other programs on the machine may read everything that
        /// is sent, including the API key.
        danger_allow_http_on_loopback: bool = false,
    }
}

/// A [`Directory`] from a folder with one TOML file for each customer. Cheap to clone; clones share
/// everything.
///
/// ```toml
/// code = "ACME"
/// scopes = ["GBL.INSTO.ACCOUNTS.STATEMENT.READ"]
///
/// [[keys]]                      # at least one: the customer's public key for assertions
/// file = "acme.pem"             # PEM, JWK or JWK set; or within this file: pem = """…""", jwk = '…'
/// kid = "2026"                  # optional: names a key that has no kid, or selects one of a set
///
/// [[api_keys]]                  # several are valid at once, so that one can be replaced
/// sha256 = "2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683" # printf %s "$KEY" | sha256sum
/// not_before = 2026-11-01T00:00:00Z # optional
/// expires = 2027-11-01T00:00:00Z    # optional
///
/// [[limits]]                    # per_hour, per_minute, per_second; what is not stated stays as for everybody
/// call_type = "statement"       # or unlimited = true
/// per_hour = 50
/// until = 2026-12-24T00:00:00Z  # optional: the limit is temporary
///
/// [[accounts]]
/// id = "012003123456789"
/// currency = "AUD"
/// name = "Operating account"    # optional, and so are the next two
/// virtual_accounts = true
/// reporting_source = "CMM"
///
/// [[endpoints]]
/// id = "acme"
/// url = "https://biller.example/hooks"
/// encryption_key = { file = "acme-encryption.pem", kid = "e1" } # as in keys
/// api_key = { header = "apikey", file = "acme-endpoint.key" }   # optional; or value = "…"
/// client_certificate = { file = "bank-at-acme.pem" }            # optional: shown to this receiver; or pem = """…"""
/// requires_acknowledgement = false # optional: whether a 2xx answer needs status RCVD in its body; as for everybody
/// paths = { mandate_outcome = "/outcomes" }                     # optional
/// ```
///
/// - Each file whose name ends in `.toml` is a customer's, except hidden ones. Key files are
///   relative to the folder. There may be at most 30,000 files, each of at most 256 KiB and 32,768
///   lines and values, together 64 MiB. A folder without any file is refused, so that customers do
///   not lose access when the folder is not mounted.
/// - All files are validated together, by the rules of [`CustomerSet`], and unknown members are
///   refused. A change with an error changes nothing: the customers stay as they were, each error
///   is logged with file and line, and [`CustomerFolder::rejected`] has all of them.
/// - A change is in force for every lookup that begins [`CustomerFolderOptions::interval`] after
///   it. No task needs to run: the first lookup after the interval compares the files' times,
///   lengths and numbers, and reads those that were added or changed. To change several files at
///   once, write them elsewhere and rename the folder.
/// - Never give the id of an endpoint to another customer: messages to it that are still in the
///   outbox would be delivered to the new one.
/// - API keys are stored as hashes only. A file with the API key or the client certificate (with
///   its private key) of an endpoint has a secret. If all users of the machine may read it, a
///   warning is logged (Unix only).
///
/// ```no_run
/// use bankrail_bank::{CustomerFolder, CustomerFolderOptions};
/// use std::sync::Arc;
/// let directory = Arc::new(CustomerFolder::open("/etc/bank/customers", CustomerFolderOptions::new())?);
/// # Ok::<(), bankrail_bank::CustomersError>(())
/// ```
#[derive(Clone)]
pub struct CustomerFolder(Arc<Inner>);

struct Inner {
    path: PathBuf,
    options: CustomerFolderOptions,
    state: RwLock<State>,
    /// The instant of the last check of the files.
    looked: Mutex<Instant>,
    /// The files as they were last read. The lock is held during a reading, so that one reading
    /// does not overtake another.
    loaded: Arc<tokio::sync::Mutex<Loaded>>,
}

#[derive(Clone)]
struct State {
    customers: Arc<CustomerSet>,
    rejected: Option<Arc<CustomersError>>,
}

impl CustomerFolder {
    /// The maximum number of files of customers.
    pub const MAX_FILES: usize = 30_000;

    /// Reads a folder. This blocks while it reads.
    ///
    /// # Errors
    /// [`CustomersError`] with all errors of all files.
    pub fn open(
        path: impl Into<PathBuf>,
        options: CustomerFolderOptions,
    ) -> Result<Self, CustomersError> {
        let (path, looked) = (path.into(), Mutex::new(Instant::now()));
        let mut loaded = Loaded::default();
        let customers = Arc::new(loaded.load(&path, &options)?);
        let (state, loaded) = (
            State {
                customers,
                rejected: None,
            },
            Arc::new(tokio::sync::Mutex::new(loaded)),
        );
        Ok(Self(Arc::new(Inner {
            path,
            options,
            state: RwLock::new(state),
            looked,
            loaded,
        })))
    }

    /// Returns the customers in force.
    #[must_use]
    pub fn current(&self) -> Arc<CustomerSet> {
        self.state().customers
    }

    /// Returns the reason why the present files are not in force; `None` if they are.
    #[must_use]
    pub fn rejected(&self) -> Option<Arc<CustomersError>> {
        self.state().rejected
    }

    /// Reads all files now, without waiting for the end of the interval.
    ///
    /// # Errors
    /// [`CustomersError`] with all errors of all files. The customers then stay as they were.
    pub async fn reload(&self) -> Result<(), Arc<CustomersError>> {
        self.look(true).await;
        self.rejected().map_or(Ok(()), Err)
    }

    fn state(&self) -> State {
        self.0
            .state
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Reads the files if the interval has passed and one of them has changed.
    async fn refresh(&self) {
        if self.is_due() {
            self.look(false).await;
        }
    }

    fn is_due(&self) -> bool {
        let looked = *self.0.looked.lock().unwrap_or_else(PoisonError::into_inner);
        looked.elapsed() >= self.0.options.interval
    }

    async fn look(&self, forced: bool) {
        // Owned by the thread that reads, which goes on when this future is dropped.
        let mut loaded = Arc::clone(&self.0.loaded).lock_owned().await;
        // Another lookup may have read the files meanwhile.
        if !forced && !self.is_due() {
            return;
        }
        let began = Instant::now();
        let folder = self.clone();
        // Reading files blocks, so that it needs a thread; it goes on if this future is dropped.
        let looking = tokio::task::spawn_blocking(move || {
            if forced {
                // The caller may know of a change that the files' stamps do not show.
                loaded.distrust();
            }
            if forced || loaded.may_have_changed(&folder.0.path) {
                folder.accept(loaded.load(&folder.0.path, &folder.0.options));
            }
            // The time before the reading: a change during it is found by the next look.
            *folder
                .0
                .looked
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = began;
        });
        if looking.await.is_err() {
            tracing::error!(file = %self.0.path.display(), "the customers were not read");
        }
    }

    /// Puts the newly read customers in force, or logs their errors.
    fn accept(&self, read: Result<CustomerSet, CustomersError>) {
        let mut state = self.0.state.write().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(customers) => {
                state.rejected = None;
                if customers != *state.customers {
                    tracing::info!(customers = customers.len(), "the customers have changed");
                    state.customers = Arc::new(customers);
                }
            }
            // Logged when it was found first.
            Err(error) if state.rejected.as_deref() == Some(&error) => {}
            Err(error) => {
                for error in &error.errors {
                    tracing::error!(%error, "a change of the customers was refused");
                }
                state.rejected = Some(Arc::new(error));
            }
        }
    }
}

impl Directory for CustomerFolder {
    fn customer_by_api_key(&self, key: ApiKeyHash) -> StoreFuture<'_, Option<Arc<Customer>>> {
        Box::pin(async move {
            self.refresh().await;
            Ok(self
                .current()
                .customer_by_api_key(key, self.0.options.clock.now()))
        })
    }
}

impl CustomerSource for CustomerFolder {
    fn customers(&self) -> StoreFuture<'_, Arc<CustomerSet>> {
        Box::pin(async move {
            self.refresh().await;
            Ok(self.current())
        })
    }

    fn interval(&self) -> Duration {
        self.0.options.interval
    }
}

impl fmt::Debug for CustomerFolder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("CustomerFolder")
            .field("path", &self.0.path)
            .field("customers", &self.current())
            .finish()
    }
}
