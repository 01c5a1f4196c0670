//! A directory in SQLite.

mod error;
mod options;
mod read;
mod write;

pub use self::error::CustomerChangeError;
pub use self::options::SqliteDirectoryOptions;

use super::{ApiKeyRecord, CustomerBook, CustomerRecord, CustomerSource};
use bankrail_client_assertion::CustomerCode;
use bankrail_service::{ApiKeyHash, Customer, Directory};
use bankrail_stores::sqlite::rusqlite::Connection;
use bankrail_stores::sqlite::{SqliteStore, TransactionError};
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture, Timestamp};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The most customers whose parsed keys are kept.
const MAX_CACHED: usize = 10_000;

/// A [`Directory`] in an SQLite file, beside the other records of a [`SqliteStore`]. Cheap to clone; clones share
/// everything.
///
/// - Each change is one transaction. It is validated with all other customers before, as [`CustomerBook`] says, and
///   refused as a whole.
/// - A change is in force for every lookup that begins after it, also for those of other processes on the file: a
///   lookup reads one row by an index. Only the parsed public keys are kept in memory.
/// - API keys are stored as hashes. Those of webhook endpoints are stored in clear, because they are sent: a new file
///   is readable for its owner only.
///
/// ```
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use bankrail_bank::{SqliteDirectory, SqliteDirectoryOptions};
/// use bankrail_stores::sqlite::{SqliteOptions, SqliteStore};
/// use std::sync::Arc;
///
/// let store = SqliteStore::open("bank.db", SqliteOptions::new())?;
/// let directory = Arc::new(SqliteDirectory::new(store, SqliteDirectoryOptions::new()));
/// assert!(directory.list().await?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SqliteDirectory {
    store: SqliteStore,
    options: SqliteDirectoryOptions,
    cache: Arc<Mutex<Cache>>,
}

/// What was parsed, each with the number of the change that it is from.
#[derive(Default)]
struct Cache {
    customers: HashMap<CustomerCode, (i64, Arc<Customer>)>,
    records: BTreeMap<CustomerCode, (i64, CustomerRecord)>,
    book: Option<(i64, Arc<CustomerBook>)>,
}

impl SqliteDirectory {
    /// The customers in this store.
    #[must_use]
    pub fn new(store: SqliteStore, options: SqliteDirectoryOptions) -> Self {
        Self { store, options, cache: Arc::default() }
    }

    /// The codes of all customers in ascending order.
    ///
    /// # Errors
    /// [`StoreError`] of the store.
    pub async fn list(&self) -> Result<Vec<CustomerCode>, StoreError> {
        self.read(|connection| Ok(read::changes(connection)?.into_keys().collect())).await
    }

    /// The record of a customer.
    ///
    /// # Errors
    /// [`StoreError`] of the store.
    pub async fn find(&self, code: &CustomerCode) -> Result<Option<CustomerRecord>, StoreError> {
        let code = code.clone();
        self.read(move |connection| read::record(connection, &code)).await
    }

    /// Adds a customer, or replaces everything that is arranged with one.
    ///
    /// # Errors
    /// [`CustomerChangeError`], and then nothing is changed.
    pub async fn put(&self, record: CustomerRecord) -> Result<(), CustomerChangeError> {
        self.write(move |connection| write::put(connection, &[&record])).await
    }

    /// Adds or replaces all customers of a book, for example those of a [`CustomerFolder`](super::CustomerFolder).
    /// Other customers stay.
    ///
    /// # Errors
    /// [`CustomerChangeError`], and then nothing is changed.
    pub async fn import(&self, customers: Arc<CustomerBook>) -> Result<(), CustomerChangeError> {
        self.write(move |connection| {
            let records: Vec<&CustomerRecord> = customers.records().map(|record| &**record).collect();
            write::put(connection, &records)
        })
        .await
    }

    /// Removes a customer and everything that is arranged with it. False if there is none with this code.
    ///
    /// # Errors
    /// [`StoreError`] of the store.
    pub async fn remove(&self, code: &CustomerCode) -> Result<bool, StoreError> {
        let code = code.clone();
        self.write(move |connection| write::remove(connection, &code)).await
    }

    /// Gives a customer another API key, beside those that it has. Keys of the customer that have expired are deleted.
    /// False if there is no customer with this code.
    ///
    /// # Errors
    /// [`CustomerChangeError`], and then nothing is changed.
    pub async fn add_api_key(&self, code: &CustomerCode, key: ApiKeyRecord) -> Result<bool, CustomerChangeError> {
        let (code, now) = (code.clone(), self.options.clock.now());
        self.write(move |connection| {
            let Some(mut record) = read::record(connection, &code)? else { return Ok(false) };
            record.api_keys.retain(|known| known.valid_until().is_none_or(|until| now < until));
            record.api_keys.push(key);
            write::put(connection, &[&record])?;
            Ok(true)
        })
        .await
    }

    /// Lets an API key expire at this time, or at its own if that is earlier. Now or a past time ends it at once. False
    /// if nobody has this key.
    ///
    /// # Errors
    /// [`StoreError`] of the store.
    pub async fn retire_api_key(&self, key: ApiKeyHash, at: Timestamp) -> Result<bool, StoreError> {
        self.write(move |connection| write::retire(connection, key, at)).await
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.store.read(work).await.map_err(TransactionError::into_error)
    }

    async fn write<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.store
            .transaction(move |transaction| work(transaction.connection()))
            .await
            .map_err(TransactionError::into_error)
    }
}

impl Cache {
    /// The customer with this code, as it was after this change.
    fn customer(
        &mut self,
        connection: &Connection,
        code: CustomerCode,
        change: i64,
    ) -> Result<Option<Arc<Customer>>, StoreError> {
        match self.customers.get(&code) {
            Some((known, customer)) if *known == change => return Ok(Some(Arc::clone(customer))),
            _ => {}
        }
        let Some(customer) = read::customer(connection, &code)? else { return Ok(None) };
        if self.customers.len() >= MAX_CACHED {
            self.customers.clear();
        }
        let customer = Arc::new(customer);
        self.customers.insert(code, (change, Arc::clone(&customer)));
        Ok(Some(customer))
    }

    /// All customers; only those that have changed are read.
    fn book(&mut self, connection: &Connection) -> Result<Arc<CustomerBook>, StoreError> {
        let last = read::last_change(connection)?;
        if let Some((_, book)) = self.book.as_ref().filter(|(known, _)| *known == last) {
            return Ok(Arc::clone(book));
        }
        let changes = read::changes(connection)?;
        self.records.retain(|code, (known, _)| changes.get(code) == Some(known));
        for (code, change) in changes {
            if !self.records.contains_key(&code)
                && let Some(record) = read::record(connection, &code)?
            {
                self.records.insert(code, (change, record));
            }
        }
        let records = self.records.values().map(|(_, record)| record.clone());
        // Another program may have written to the tables.
        let book = CustomerBook::new(records).map_err(|error| StoreError::new(StoreErrorKind::Corrupt, error))?;
        let book = Arc::new(book);
        self.book = Some((last, Arc::clone(&book)));
        Ok(book)
    }
}

impl Directory for SqliteDirectory {
    fn customer_by_api_key(&self, key: ApiKeyHash) -> StoreFuture<'_, Option<Arc<Customer>>> {
        let (cache, now) = (Arc::clone(&self.cache), self.options.clock.now());
        Box::pin(self.read(move |connection| {
            let Some((code, change, key)) = read::api_key(connection, key)? else { return Ok(None) };
            if !key.is_valid_at(now) {
                return Ok(None);
            }
            cache.lock().unwrap_or_else(PoisonError::into_inner).customer(connection, code, change)
        }))
    }
}

impl CustomerSource for SqliteDirectory {
    fn customers(&self) -> StoreFuture<'_, Arc<CustomerBook>> {
        let cache = Arc::clone(&self.cache);
        Box::pin(self.read(move |connection| cache.lock().unwrap_or_else(PoisonError::into_inner).book(connection)))
    }

    fn interval(&self) -> Duration {
        self.options.interval
    }
}

bankrail_values::impl_debug!(SqliteDirectory, self; store: self.store);
