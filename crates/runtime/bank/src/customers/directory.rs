//! The directory in a store: SQLite or PostgreSQL.

mod cache;
mod rows;

use self::cache::Cache;
use super::{ApiKeyRecord, CustomerRecord, CustomerSet, CustomerSource, CustomersError};
use crate::sql::Engine;
use bankrail_client_assertion::CustomerCode;
use bankrail_service::{ApiKeyHash, Customer, Directory};
#[cfg(feature = "postgres")]
use bankrail_stores::postgres::{Notifications, PostgresStore};
#[cfg(feature = "sqlite")]
use bankrail_stores::sqlite::SqliteStore;
#[cfg(feature = "postgres")]
use bankrail_values::StoreErrorKind;
use bankrail_values::{Clock, StoreError, StoreFuture, SystemClock, Timestamp};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

bankrail_values::options! {
    /// Options of a [`SqlDirectory`].
    #[derive(Clone, Debug)]
    pub struct SqlDirectoryOptions {
        /// The interval at which a [`DirectoryFollower`](crate::DirectoryFollower) queries changes.
        /// Default: 5 s. Lookups see each change at once. On PostgreSQL a notification of a change
        /// makes the follower query at once; without its connection it lags by the interval.
        interval: Duration = Duration::from_secs(5),
        /// The clock for the validity of API keys. Default: the operating system's.
        clock: Arc<dyn Clock> = Arc::new(SystemClock),
    }
}

/// The error of a change of customers, after which nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CustomerChangeError {
    /// The record breaks a rule, alone or together with another customer's.
    #[error("the record is refused")]
    Refused(#[source] CustomersError),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
}

/// A [`Directory`] in an SQLite file, with the other records of a [`SqliteStore`].
#[cfg(feature = "sqlite")]
pub type SqliteDirectory = SqlDirectory<SqliteStore>;

/// A [`Directory`] in PostgreSQL, with the other records of a [`PostgresStore`], for instances on
/// several machines.
#[cfg(feature = "postgres")]
pub type PostgresDirectory = SqlDirectory<PostgresStore>;

/// A [`Directory`] in a store, as [`SqliteDirectory`] and `PostgresDirectory`. Cheap to clone;
/// clones share everything.
///
/// - Each change is one transaction. A change is validated by the rules of [`CustomerSet`],
///   together with the customers that share a key, an account or an endpoint with it, and refused
///   as a whole.
/// - A change is in force for every lookup that begins after it, also for those of other
///   processes and machines: a lookup reads one row by an index. Only the parsed public keys are
///   cached in memory.
/// - Limits, endpoints and accounts, which a [`DirectoryFollower`](crate::DirectoryFollower)
///   applies, follow a change within the [interval](SqlDirectoryOptions::interval). On PostgreSQL a
///   change notifies the followers of all instances (`LISTEN`, on one connection outside the pool),
///   so that they query the change within a tenth of a second. One of several followers over clones
///   of one directory is notified, and the others query at their interval.
/// - API keys are stored as hashes. The API keys of webhook endpoints are stored in clear,
///   because they are sent. A new SQLite file is therefore readable for its owner only; protect a
///   database likewise.
///
#[cfg_attr(feature = "sqlite", doc = "```")]
#[cfg_attr(not(feature = "sqlite"), doc = "```ignore")]
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use bankrail_bank::{SqliteDirectory, SqlDirectoryOptions};
/// use bankrail_stores::sqlite::{SqliteOptions, SqliteStore};
/// use std::sync::Arc;
///
/// let store = SqliteStore::open("bank.db", SqliteOptions::new())?;
/// let directory = Arc::new(SqliteDirectory::new(store, SqlDirectoryOptions::new()));
/// assert!(directory.list().await?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SqlDirectory<S> {
    store: S,
    options: SqlDirectoryOptions,
    cache: Arc<Mutex<Cache>>,
    /// The connection that is notified of changes, once a follower waits for them.
    #[cfg(feature = "postgres")]
    listening: Arc<tokio::sync::Mutex<Option<Notifications>>>,
}

impl<S> SqlDirectory<S> {
    /// Creates the directory of the customers in this store.
    #[must_use]
    pub fn new(store: S, options: SqlDirectoryOptions) -> Self {
        Self {
            store,
            options,
            cache: Arc::default(),
            #[cfg(feature = "postgres")]
            listening: Arc::default(),
        }
    }
}

impl<S: Engine> SqlDirectory<S> {
    /// Returns the codes of all customers in ascending order.
    ///
    /// # Errors
    /// [`StoreError`] of the store.
    pub async fn list(&self) -> Result<Vec<CustomerCode>, StoreError> {
        let codes = async |connection: &S::Connection<'_>| {
            Ok(rows::codes(connection).await?.into_iter().collect())
        };
        self.store.read(codes).await
    }

    /// Returns the record of a customer.
    ///
    /// # Errors
    /// [`StoreError`] of the store.
    pub async fn find(&self, code: &CustomerCode) -> Result<Option<CustomerRecord>, StoreError> {
        let code = code.clone();
        self.store
            .read(async move |connection| rows::record(connection, &code).await)
            .await
    }

    /// Adds a customer, or replaces all arrangements with an existing one.
    ///
    /// # Errors
    /// [`CustomerChangeError`], after which nothing is changed.
    pub async fn put(&self, record: CustomerRecord) -> Result<(), CustomerChangeError> {
        let put =
            async move |connection: &S::Connection<'_>| rows::put(connection, &[&record]).await;
        self.store.write_long(put).await
    }

    /// Adds or replaces all customers of a set, for example those of a
    /// [`CustomerFolder`](super::CustomerFolder). Other customers stay.
    ///
    /// # Errors
    /// [`CustomerChangeError`], after which nothing is changed.
    pub async fn import(&self, customers: Arc<CustomerSet>) -> Result<(), CustomerChangeError> {
        let put = async move |connection: &S::Connection<'_>| {
            let records: Vec<&CustomerRecord> =
                customers.records().map(|record| &**record).collect();
            rows::put(connection, &records).await
        };
        self.store.write_long(put).await
    }

    /// Removes a customer and all arrangements with it. Returns false if there is no customer with
    /// this code.
    ///
    /// # Errors
    /// [`StoreError`] of the store.
    pub async fn remove(&self, code: &CustomerCode) -> Result<bool, StoreError> {
        let code = code.clone();
        self.store
            .write(async move |connection| rows::remove(connection, &code).await)
            .await
    }

    /// Adds an API key to those of a customer. Expired keys of the customer are deleted. Returns
    /// false if there is no customer with this code.
    ///
    /// # Errors
    /// [`CustomerChangeError`], after which nothing is changed.
    pub async fn add_api_key(
        &self,
        code: &CustomerCode,
        key: ApiKeyRecord,
    ) -> Result<bool, CustomerChangeError> {
        let (code, now) = (code.clone(), self.options.clock.now());
        let add = async move |connection: &S::Connection<'_>| {
            rows::lock(connection).await?;
            let Some(mut record) = rows::record(connection, &code).await? else {
                return Ok(false);
            };
            record
                .api_keys
                .retain(|known| known.expires.is_none_or(|until| now < until));
            record.api_keys.push(key);
            rows::put(connection, &[&record]).await?;
            Ok(true)
        };
        self.store.write_long(add).await
    }

    /// Makes an API key expire at this time, or at its own expiry if that is earlier. With the
    /// present or a past time, the key expires at once. Returns false if no customer has this key.
    ///
    /// # Errors
    /// [`StoreError`] of the store.
    pub async fn retire_api_key(&self, key: ApiKeyHash, at: Timestamp) -> Result<bool, StoreError> {
        self.store
            .write(async move |connection| rows::retire(connection, key, at).await)
            .await
    }

    async fn lookup(&self, key: ApiKeyHash) -> Result<Option<Arc<Customer>>, StoreError> {
        let (cache, now) = (Arc::clone(&self.cache), self.options.clock.now());
        let find = async move |connection: &S::Connection<'_>| {
            Cache::customer(&cache, connection, key, now).await
        };
        self.store.read(find).await
    }

    async fn all(&self) -> Result<Arc<CustomerSet>, StoreError> {
        let cache = Arc::clone(&self.cache);
        let read =
            async move |connection: &S::Connection<'_>| Cache::customers(&cache, connection).await;
        self.store.read_long(read).await
    }
}

// Each engine has its own implementations, although they are alike, because the compiler proves
// that the futures are `Send` only for a known engine.

#[cfg(feature = "sqlite")]
impl Directory for SqliteDirectory {
    fn customer_by_api_key(&self, key: ApiKeyHash) -> StoreFuture<'_, Option<Arc<Customer>>> {
        Box::pin(self.lookup(key))
    }
}

#[cfg(feature = "postgres")]
impl Directory for PostgresDirectory {
    fn customer_by_api_key(&self, key: ApiKeyHash) -> StoreFuture<'_, Option<Arc<Customer>>> {
        Box::pin(self.lookup(key))
    }
}

#[cfg(feature = "sqlite")]
impl CustomerSource for SqliteDirectory {
    fn customers(&self) -> StoreFuture<'_, Arc<CustomerSet>> {
        Box::pin(self.all())
    }

    fn interval(&self) -> Duration {
        self.options.interval
    }
}

#[cfg(feature = "postgres")]
impl CustomerSource for PostgresDirectory {
    fn customers(&self) -> StoreFuture<'_, Arc<CustomerSet>> {
        Box::pin(self.all())
    }

    fn interval(&self) -> Duration {
        self.options.interval
    }

    fn changed(&self) -> StoreFuture<'_, ()> {
        Box::pin(async {
            // Held while it waits: of several followers one is notified, and the others ask at
            // their interval.
            let mut listening = self.listening.lock().await;
            match &mut *listening {
                // Changes from before it listened are read once more.
                None => *listening = Some(self.store.listen("bankrail_customer").await?),
                Some(notifications) => {
                    if notifications.next().await.is_none() {
                        *listening = None;
                        return Err(StoreErrorKind::Unavailable.into());
                    }
                }
            }
            Ok(())
        })
    }
}

impl<S: fmt::Debug> fmt::Debug for SqlDirectory<S> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SqlDirectory")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}
