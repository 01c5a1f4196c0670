//! All customers, validated together.

use super::check::Checker;
use super::{ApiKeyRecord, CustomerRecord, CustomersError};
use bankrail_client_assertion::CustomerCode;
use bankrail_service::{ApiKeyHash, Customer};
use bankrail_values::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// All customers at one moment, validated together:
///
/// - No two customers have the same code, and no two API keys the same hash. No two endpoints have
///   the same id.
/// - An account that is registered for several customers has the same details for each.
/// - Each record is within the bounds that [`CustomerRecord`] states.
#[derive(Clone, Default)]
pub struct CustomerSet {
    records: BTreeMap<CustomerCode, Arc<CustomerRecord>>,
    by_api_key: HashMap<ApiKeyHash, (ApiKeyRecord, Arc<Customer>)>,
}

impl CustomerSet {
    /// Creates the set of these records.
    ///
    /// # Errors
    /// [`CustomersError`] with all errors of all records.
    pub fn new(records: impl IntoIterator<Item = CustomerRecord>) -> Result<Self, CustomersError> {
        let records: Vec<CustomerRecord> = records.into_iter().collect();
        let mut checker = Checker::default();
        for record in &records {
            checker.check(record.into(), record);
        }
        let errors = checker.errors();
        if errors.is_empty() {
            Ok(Self::of_checked(records.into_iter().map(Arc::new)))
        } else {
            Err(CustomersError::of(errors))
        }
    }

    pub(super) fn of_checked(records: impl IntoIterator<Item = Arc<CustomerRecord>>) -> Self {
        let mut set = Self::default();
        records.into_iter().for_each(|record| set.add(record));
        set
    }

    fn add(&mut self, record: Arc<CustomerRecord>) {
        let customer = Arc::new(record.customer.clone());
        for key in &record.api_keys {
            self.by_api_key
                .insert(key.hash, (key.clone(), Arc::clone(&customer)));
        }
        self.records.insert(record.customer.code.clone(), record);
    }

    /// Returns the customer to whom this API key was given, if the key is valid at `now`.
    #[must_use]
    pub fn customer_by_api_key(&self, key: ApiKeyHash, now: Timestamp) -> Option<Arc<Customer>> {
        let (key, customer) = self.by_api_key.get(&key)?;
        key.is_valid_at(now).then(|| Arc::clone(customer))
    }

    /// Returns the record of a customer.
    #[must_use]
    pub fn get(&self, code: &CustomerCode) -> Option<&Arc<CustomerRecord>> {
        self.records.get(code)
    }

    /// Returns all records in the order of their codes.
    pub fn records(&self) -> impl Iterator<Item = &Arc<CustomerRecord>> {
        self.records.values()
    }

    /// Returns the number of customers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns true if there is no customer.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

// These functions are for directories that read only changed customers.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
impl CustomerSet {
    /// Returns the set with other customers added or replaced. The records that stay are shared.
    pub(super) fn with(&self, others: Self) -> Self {
        let mut set = self.clone();
        // All old records are removed first, because another customer may have taken over a key.
        others.records.keys().for_each(|code| set.remove(code));
        others
            .records
            .into_values()
            .for_each(|record| set.add(record));
        set
    }

    /// Removes all customers except these.
    pub(super) fn retain(&mut self, codes: &std::collections::BTreeSet<CustomerCode>) {
        let gone: Vec<CustomerCode> = self
            .records
            .keys()
            .filter(|code| !codes.contains(*code))
            .cloned()
            .collect();
        gone.iter().for_each(|code| self.remove(code));
    }

    fn remove(&mut self, code: &CustomerCode) {
        let Some(record) = self.records.remove(code) else {
            return;
        };
        for key in &record.api_keys {
            let hash = key.hash;
            // Unless another customer has taken the key over.
            if self
                .by_api_key
                .get(&hash)
                .is_some_and(|(_, owner)| owner.code == *code)
            {
                self.by_api_key.remove(&hash);
            }
        }
    }
}

/// Sets are equal if their records are equal.
impl PartialEq for CustomerSet {
    fn eq(&self, other: &Self) -> bool {
        self.records == other.records
    }
}

impl Eq for CustomerSet {}

bankrail_values::impl_debug!(CustomerSet, self; customers: self.records.keys());
