//! A cache of parsed customers, each with the number of its last change.

use super::rows::{self, lower_half};
use crate::customers::{ApiKeyRecord, CustomerRecord, CustomerSet};
use crate::sql::Sql;
use bankrail_client_assertion::CustomerCode;
use bankrail_service::{ApiKeyHash, Customer};
use bankrail_values::{StoreError, StoreErrorKind, Timestamp};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of customers whose parsed keys are cached.
const MAX_CUSTOMERS: usize = 10_000;

/// The maximum number of changed customers that are validated by themselves. With more changes, all
/// customers are read and validated together.
const MAX_UPDATES: u32 = 100;

#[derive(Default)]
pub(super) struct Cache {
    customers: HashMap<CustomerCode, CachedCustomer>,
    all: Option<CachedSet>,
}

/// A customer's state after the change with this number.
struct CachedCustomer {
    change: i64,
    api_keys: Vec<ApiKeyRecord>,
    customer: Arc<Customer>,
}

/// All customers in their state after a change.
#[derive(Clone)]
struct CachedSet {
    customers: Arc<CustomerSet>,
    last: i64,
    /// The number of the last change of each customer.
    changes: Arc<HashMap<CustomerCode, i64>>,
    /// The sum of the lower halves of the changes' numbers, as [`rows::count_and_sum`] returns it.
    sum: i64,
}

impl Cache {
    /// Locks the cache, which callers do for a look-up in memory only, never while a query runs.
    fn lock(cache: &Mutex<Self>) -> MutexGuard<'_, Self> {
        // Each change is one insertion or assignment, so a panic elsewhere leaves it whole.
        cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the customer with an API key that is valid now.
    pub(super) async fn customer(
        cache: &Mutex<Self>,
        connection: &impl Sql,
        key: ApiKeyHash,
        now: Timestamp,
    ) -> Result<Option<Arc<Customer>>, StoreError> {
        let Some((code, change)) = rows::by_api_key(connection, key).await? else {
            return Ok(None);
        };
        if let Some(known) = Self::lock(cache).customers.get(&code)
            && known.change == change
        {
            return Ok(known.with_key(key, now));
        }
        let Some(record) = rows::record(connection, &code).await? else {
            return Ok(None);
        };
        let cached = CachedCustomer {
            change,
            api_keys: record.api_keys,
            customer: Arc::new(record.customer),
        };
        let customer = cached.with_key(key, now);
        let customers = &mut Self::lock(cache).customers;
        if customers.len() >= MAX_CUSTOMERS {
            // All at once, which is seldom and needs no order of use.
            customers.clear();
        }
        customers.insert(code, cached);
        Ok(customer)
    }

    /// Returns all customers.
    pub(super) async fn customers(
        cache: &Mutex<Self>,
        connection: &impl Sql,
    ) -> Result<Arc<CustomerSet>, StoreError> {
        // Before the customers: a change in between is then read once more next time.
        let last = rows::last_change(connection).await?;
        // Cloned, because the lock must not be held across a query.
        let known = Self::lock(cache).all.clone();
        let known = match known {
            Some(known) if known.last == last => return Ok(known.customers),
            Some(known) if known.last < last => known.update(connection, last, cache).await?,
            // The database has lost changes: a backup was restored, or a standby without them
            // took over.
            _ => CachedSet::read(connection, last).await?,
        };
        let customers = Arc::clone(&known.customers);
        Self::lock(cache).all = Some(known);
        Ok(customers)
    }
}

impl CachedCustomer {
    fn with_key(&self, key: ApiKeyHash, now: Timestamp) -> Option<Arc<Customer>> {
        let mut keys = self.api_keys.iter();
        let key = keys.find(|known| known.hash == key)?;
        key.is_valid_at(now).then(|| Arc::clone(&self.customer))
    }
}

impl CachedSet {
    #[expect(clippy::disallowed_methods, reason = "a sum")]
    async fn read(connection: &impl Sql, last: i64) -> Result<Self, StoreError> {
        let (mut records, mut changes) = (Vec::new(), HashMap::new());
        for (record, change) in rows::records(connection).await? {
            changes.insert(record.customer.code.clone(), change);
            records.push(record);
        }
        Ok(Self {
            customers: Arc::new(validated(records)?),
            last,
            sum: changes.values().copied().map(lower_half).sum(),
            changes: Arc::new(changes),
        })
    }

    /// Reads the customers that have changed since this set. They are validated by themselves,
    /// because they were validated with the others when they were stored.
    #[expect(
        clippy::disallowed_methods,
        reason = "a sum, and customers removed in any order"
    )]
    async fn update(
        mut self,
        connection: &impl Sql,
        last: i64,
        cache: &Mutex<Cache>,
    ) -> Result<Self, StoreError> {
        let changed = rows::changed_after(connection, self.last, MAX_UPDATES + 1).await?;
        // Beyond so many, reading all is cheaper. Lossless: `usize` has at least 32 bits.
        if changed.len() > MAX_UPDATES as usize {
            return Self::read(connection, last).await;
        }
        let (mut records, mut changes) = (Vec::new(), Vec::new());
        for (record, change) in changed {
            let code = record.customer.code.clone();
            let before = self.changes.get(&code).copied().map_or(0, lower_half);
            self.sum += lower_half(change) - before;
            changes.push((code, change));
            records.push(record);
        }
        let mut customers = self.customers.with(validated(records)?);
        let (count, sum) = rows::count_and_sum(connection).await?;
        let mut gone: Vec<CustomerCode> = Vec::new();
        // A customer that was removed leaves no row to read, and shows only in the count.
        if customers.len() != count {
            let there = rows::codes(connection).await?;
            customers.retain(&there);
            let known = self.changes.keys();
            gone.extend(known.filter(|code| !there.contains(*code)).cloned());
        }
        let changes_gone = gone.iter().filter_map(|code| self.changes.get(code));
        self.sum -= changes_gone.copied().map(lower_half).sum::<i64>();
        // Otherwise the database has lost changes, and those that it has made since are of other
        // customers.
        if (customers.len(), self.sum) != (count, sum) {
            return Self::read(connection, last).await;
        }
        // Without the cache's handle the map is changed in place, and not copied.
        Cache::lock(cache).all = None;
        let known = Arc::make_mut(&mut self.changes);
        known.extend(changes);
        for code in &gone {
            known.remove(code);
        }
        Ok(Self {
            customers: Arc::new(customers),
            last,
            ..self
        })
    }
}

/// Validates records of the store: another program may have written to the tables.
fn validated(records: Vec<CustomerRecord>) -> Result<CustomerSet, StoreError> {
    CustomerSet::new(records).map_err(|error| StoreError::new(StoreErrorKind::Corrupt, error))
}
