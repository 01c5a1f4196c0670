//! A directory in a store: SQLite or PostgreSQL.

mod error;
mod options;
mod read;
mod write;

pub use self::error::CustomerChangeError;
pub use self::options::SqlDirectoryOptions;

use self::read::Whose;
use super::{ApiKeyRecord, CustomerBook, CustomerRecord, CustomerSource};
use crate::sql::{Engine, Sql};
use bankrail_client_assertion::CustomerCode;
use bankrail_service::{ApiKeyHash, Customer, Directory};
#[cfg(feature = "postgres")]
use bankrail_stores::postgres::{Notifications, PostgresStore};
#[cfg(feature = "sqlite")]
use bankrail_stores::sqlite::SqliteStore;
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture, Timestamp};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The most customers whose parsed keys are kept.
const MAX_CACHED: usize = 10_000;

/// More customers than this are read together, and validated with all others.
const FEW: usize = 100;

/// A [`Directory`] in an SQLite file, beside the other records of a [`SqliteStore`].
#[cfg(feature = "sqlite")]
pub type SqliteDirectory = SqlDirectory<SqliteStore>;

/// A [`Directory`] in PostgreSQL, beside the other records of a [`PostgresStore`], for instances on
/// several machines.
#[cfg(feature = "postgres")]
pub type PostgresDirectory = SqlDirectory<PostgresStore>;

/// A [`Directory`] in a store, as [`SqliteDirectory`] and `PostgresDirectory`. Cheap to clone;
/// clones share everything.
///
/// - Each change is one transaction. It is validated before, with those customers that have a key,
///   an account or an endpoint in common with it, as [`CustomerBook`] says, and refused as a whole.
/// - A change is in force for every lookup that begins after it, also for those of other processes
///   and machines: a lookup reads one row by an index. Only the parsed public keys are kept in
///   memory.
/// - What a [`DirectoryFollower`](crate::DirectoryFollower) applies, limits, endpoints and
///   accounts, follows a change within the [interval](SqlDirectoryOptions::interval). On PostgreSQL
///   a change notifies the followers of all instances (`LISTEN`, on one connection beside the
///   pool), so that they ask within a tenth of a second. Of several followers over clones of one
///   directory, one is told, and the others ask at their interval.
/// - API keys are stored as hashes. Those of webhook endpoints are stored in clear, because they
///   are sent: a new SQLite file is readable for its owner only, and a database must be protected
///   likewise.
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
    /// The connection that hears of changes, once a follower has asked for them.
    #[cfg(feature = "postgres")]
    listening: Arc<tokio::sync::Mutex<Option<Notifications>>>,
}

/// What was parsed, each with the number of the change that it is from.
#[derive(Default)]
struct Cache {
    customers: HashMap<CustomerCode, (i64, Arc<Customer>)>,
    book: Option<Known>,
}

/// A book as it was after a change.
#[derive(Clone)]
struct Known {
    book: Arc<CustomerBook>,
    last: i64,
    /// The number of the last change of each customer.
    changes: Arc<HashMap<CustomerCode, i64>>,
    /// What these numbers add up to, as [`read::count_and_sum`] says.
    sum: i64,
}

impl<S> SqlDirectory<S> {
    /// The customers in this store.
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
    /// The codes of all customers in ascending order.
    ///
    /// # Errors
    /// [`StoreError`] of the store.
    pub async fn list(&self) -> Result<Vec<CustomerCode>, StoreError> {
        let codes = async |connection: &S::Connection<'_>| {
            Ok(read::codes(connection).await?.into_iter().collect())
        };
        self.store.read(codes).await
    }

    /// The record of a customer.
    ///
    /// # Errors
    /// [`StoreError`] of the store.
    pub async fn find(&self, code: &CustomerCode) -> Result<Option<CustomerRecord>, StoreError> {
        let code = code.clone();
        self.store
            .read(async move |connection| read::record(connection, &code).await)
            .await
    }

    /// Adds a customer, or replaces everything that is arranged with one.
    ///
    /// # Errors
    /// [`CustomerChangeError`], and then nothing is changed.
    pub async fn put(&self, record: CustomerRecord) -> Result<(), CustomerChangeError> {
        let put =
            async move |connection: &S::Connection<'_>| write::put(connection, &[&record]).await;
        self.store.write_long(put).await
    }

    /// Adds or replaces all customers of a book, for example those of a
    /// [`CustomerFolder`](super::CustomerFolder). Other customers stay.
    ///
    /// # Errors
    /// [`CustomerChangeError`], and then nothing is changed.
    pub async fn import(&self, customers: Arc<CustomerBook>) -> Result<(), CustomerChangeError> {
        let put = async move |connection: &S::Connection<'_>| {
            let records: Vec<&CustomerRecord> =
                customers.records().map(|record| &**record).collect();
            write::put(connection, &records).await
        };
        self.store.write_long(put).await
    }

    /// Removes a customer and everything that is arranged with it. False if there is none with this
    /// code.
    ///
    /// # Errors
    /// [`StoreError`] of the store.
    pub async fn remove(&self, code: &CustomerCode) -> Result<bool, StoreError> {
        let code = code.clone();
        self.store
            .write(async move |connection| write::remove(connection, &code).await)
            .await
    }

    /// Gives a customer another API key, beside those that it has. Keys of the customer that have
    /// expired are deleted. False if there is no customer with this code.
    ///
    /// # Errors
    /// [`CustomerChangeError`], and then nothing is changed.
    pub async fn add_api_key(
        &self,
        code: &CustomerCode,
        key: ApiKeyRecord,
    ) -> Result<bool, CustomerChangeError> {
        let (code, now) = (code.clone(), self.options.clock.now());
        let add = async move |connection: &S::Connection<'_>| {
            write::lock(connection).await?;
            let Some(mut record) = read::record(connection, &code).await? else {
                return Ok(false);
            };
            record
                .api_keys
                .retain(|known| known.valid_until().is_none_or(|until| now < until));
            record.api_keys.push(key);
            write::put(connection, &[&record]).await?;
            Ok(true)
        };
        self.store.write_long(add).await
    }

    /// Lets an API key expire at this time, or at its own if that is earlier. Now or a past time
    /// ends it at once. False if nobody has this key.
    ///
    /// # Errors
    /// [`StoreError`] of the store.
    pub async fn retire_api_key(&self, key: ApiKeyHash, at: Timestamp) -> Result<bool, StoreError> {
        self.store
            .write(async move |connection| write::retire(connection, key, at).await)
            .await
    }

    async fn lookup(&self, key: ApiKeyHash) -> Result<Option<Arc<Customer>>, StoreError> {
        let (cache, now) = (Arc::clone(&self.cache), self.options.clock.now());
        let find = async move |connection: &S::Connection<'_>| {
            let Some((code, change, key)) = read::api_key(connection, key).await? else {
                return Ok(None);
            };
            if !key.is_valid_at(now) {
                return Ok(None);
            }
            if let Some(known) = Cache::of(&cache).customer(&code, change) {
                return Ok(Some(known));
            }
            let Some(customer) = read::customer(connection, &code).await? else {
                return Ok(None);
            };
            let customer = Arc::new(customer);
            Cache::of(&cache).keep(code, change, Arc::clone(&customer));
            Ok(Some(customer))
        };
        self.store.read(find).await
    }

    async fn book(&self) -> Result<Arc<CustomerBook>, StoreError> {
        let cache = Arc::clone(&self.cache);
        let read = async move |connection: &S::Connection<'_>| {
            let last = read::last_change(connection).await?;
            let known = Cache::of(&cache).book.clone();
            let known = match known {
                Some(known) if known.last == last => return Ok(known.book),
                Some(known) if known.last < last => update(connection, known, last, &cache).await?,
                // The database has lost changes: a backup was restored, or a standby without them
                // took over.
                _ => whole(connection, last).await?,
            };
            let book = Arc::clone(&known.book);
            Cache::of(&cache).book = Some(known);
            Ok(book)
        };
        self.store.read_long(read).await
    }
}

/// The book, with those customers read anew whose last change comes after the last one that it
/// knows. What they have in common with others was validated when they were stored.
async fn update(
    connection: &impl Sql,
    mut known: Known,
    last: i64,
    cache: &Mutex<Cache>,
) -> Result<Known, StoreError> {
    let changed = read::changed_after(connection, known.last, FEW + 1).await?;
    if changed.len() > FEW {
        return whole(connection, last).await;
    }
    let mut records = Vec::new();
    for (code, change) in &changed {
        records.extend(read::record(connection, code).await?);
        known.sum += lower(change) - known.changes.get(code).map_or(0, lower);
    }
    let mut book = known.book.with(validated(records)?);
    let (count, sum) = read::count_and_sum(connection).await?;
    let mut gone = Vec::new();
    if book.len() != count {
        let there = read::codes(connection).await?;
        book.retain(&there);
        gone.extend(
            known
                .changes
                .keys()
                .filter(|code| !there.contains(*code))
                .cloned(),
        );
    }
    known.sum -= gone
        .iter()
        .filter_map(|code| known.changes.get(code))
        .map(lower)
        .sum::<i64>();
    // Otherwise the database has lost changes, and those that it has made since are of other
    // customers.
    if (book.len(), known.sum) != (count, sum) {
        return whole(connection, last).await;
    }
    // Without the cache's handle the numbers are changed where they are.
    Cache::of(cache).book = None;
    let changes = Arc::make_mut(&mut known.changes);
    changes.extend(changed);
    for code in &gone {
        changes.remove(code);
    }
    Ok(Known {
        book: Arc::new(book),
        last,
        ..known
    })
}

async fn whole(connection: &impl Sql, last: i64) -> Result<Known, StoreError> {
    let book = validated(
        read::records(connection, Whose::All)
            .await?
            .into_values()
            .collect(),
    )?;
    let changes = read::changes(connection).await?;
    let sum = changes.values().map(lower).sum();
    Ok(Known {
        book: Arc::new(book),
        last,
        changes: Arc::new(changes),
        sum,
    })
}

/// The lower half of a change's number, so that no sum overflows. The steps between numbers are
/// random: the sum tells which changes there were.
fn lower(change: &i64) -> i64 {
    change & 0xffff_ffff
}

/// Another program may have written to the tables.
fn validated(records: Vec<CustomerRecord>) -> Result<CustomerBook, StoreError> {
    CustomerBook::new(records).map_err(|error| StoreError::new(StoreErrorKind::Corrupt, error))
}

impl Cache {
    fn of(cache: &Mutex<Self>) -> MutexGuard<'_, Self> {
        cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The customer with this code, if it is known as it was after this change.
    fn customer(&self, code: &CustomerCode, change: i64) -> Option<Arc<Customer>> {
        let (_, customer) = self
            .customers
            .get(code)
            .filter(|(known, _)| *known == change)?;
        Some(Arc::clone(customer))
    }

    fn keep(&mut self, code: CustomerCode, change: i64, customer: Arc<Customer>) {
        if self.customers.len() >= MAX_CACHED {
            self.customers.clear();
        }
        self.customers.insert(code, (change, customer));
    }
}

/// What needs to know of each engine that its work may go on on another thread.
macro_rules! traits {
    ($($(#[$feature:meta])* $Store:ty { $($changed:tt)* })*) => { $(
        $(#[$feature])*
        impl Directory for SqlDirectory<$Store> {
            fn customer_by_api_key(&self, key: ApiKeyHash) -> StoreFuture<'_, Option<Arc<Customer>>> {
                Box::pin(self.lookup(key))
            }
        }

        $(#[$feature])*
        impl CustomerSource for SqlDirectory<$Store> {
            fn customers(&self) -> StoreFuture<'_, Arc<CustomerBook>> {
                Box::pin(self.book())
            }

            fn interval(&self) -> Duration {
                self.options.interval
            }

            $($changed)*
        }
    )* };
}

traits! {
    #[cfg(feature = "sqlite")]
    SqliteStore {}
    #[cfg(feature = "postgres")]
    PostgresStore {
        fn changed(&self) -> StoreFuture<'_, ()> {
            Box::pin(async {
                let mut listening = self.listening.lock().await;
                match &mut *listening {
                    // What came before it listened is read once more.
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
}

impl<S: fmt::Debug> fmt::Debug for SqlDirectory<S> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SqlDirectory")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}
