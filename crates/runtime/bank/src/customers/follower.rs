//! The follower of a directory, which applies limits, webhook endpoints and accounts.

use super::record::set_limits;
use super::{AccountRegistrar, AccountsOfCustomer, CustomerSet, EndpointRecord, LimitOverride};
use bankrail_client_assertion::CustomerCode;
use bankrail_mailbox::EndpointId;
use bankrail_rate_limit::Limiter;
use bankrail_service::delivery::{Endpoints, SealPayload};
use bankrail_service::{Directory, RegisteredAccount};
use bankrail_statement::AccountId;
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture};
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// A directory that lists all customers, so that a follower can apply their records.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot list all customers",
    label = "not a `CustomerSource`",
    note = "pass a reference to a `CustomerFolder`, a `SqliteDirectory` or a `PostgresDirectory` of `bankrail_bank`",
    note = "`&*directory` is that reference where `directory` is an `Arc`"
)]
pub trait CustomerSource: Directory {
    /// Returns the customers in force, after reading those that have changed. While nothing changes
    /// it returns the same [`Arc`].
    fn customers(&self) -> StoreFuture<'_, Arc<CustomerSet>>;

    /// Returns the interval at which a follower queries changes.
    fn interval(&self) -> Duration;

    /// Waits until the customers may have changed, so that a follower can query them before the end
    /// of the interval. After an error the follower waits for the whole interval. The default never
    /// completes.
    fn changed(&self) -> StoreFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

/// The wait of a follower after a change, so that several changes in a row are read together.
const SETTLE_TIME: Duration = Duration::from_millis(20);

/// The maximum number of customers whose accounts are registered in one transaction, so that other
/// writes to the ledger run in between.
const MAX_BATCH_CUSTOMERS: usize = 500;

/// A follower of a directory. It applies the customers' limits to a [`Limiter`], their webhook
/// receivers to [`Endpoints`], and their accounts to a ledger.
///
/// - It applies only differences: the circuits of unchanged endpoints and the counters of
///   unchanged limits stay.
/// - It removes the limits, endpoints and accounts of a removed customer. Messages to a removed
///   endpoint stay in the outbox, and are delivered to a later endpoint of the same id. Access
///   tokens need no removal, because each call is refused for its unknown API key.
/// - It may lag behind the directory by the source's interval: a new customer's first calls may
///   be under the default limits, and may not find the customer's accounts yet.
/// - Limits, endpoints and accounts that other code has set stay, unless a customer's record
///   names the same call type, endpoint or customer.
///
/// ```no_run
/// use bankrail_bank::{CustomerSource, DirectoryFollower};
/// use std::sync::Arc;
/// # async fn example(
/// #     directory: Arc<dyn CustomerSource>,
/// #     limiter: Arc<bankrail_rate_limit::Limiter>,
/// #     stop: impl Future<Output = ()> + Send,
/// # ) {
/// DirectoryFollower::new().limiter(limiter).run(&*directory, stop).await;
/// # }
/// ```
#[derive(Default)]
pub struct DirectoryFollower {
    limiter: Option<Arc<Limiter>>,
    registrar: Option<Arc<dyn AccountRegistrar>>,
    endpoints: Option<(Endpoints, Box<MakeSealer>)>,
    applied: Applied,
}

type MakeSealer = dyn Fn(&EndpointRecord) -> Arc<dyn SealPayload> + Send + Sync;

/// The parts of records as they were last applied.
#[derive(Default)]
struct Applied {
    limits: BTreeMap<CustomerCode, Vec<LimitOverride>>,
    accounts: BTreeMap<CustomerCode, Vec<(AccountId, RegisteredAccount)>>,
    endpoints: BTreeMap<EndpointId, EndpointRecord>,
    /// Customers whose accounts were refused, each with the kind of the error.
    refused: BTreeMap<CustomerCode, StoreErrorKind>,
}

impl DirectoryFollower {
    /// Creates a follower that applies nothing until its targets are set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limiter that gets the customers' limits. Give the same one to the provider's
    /// options.
    #[must_use]
    pub fn limiter(mut self, limiter: Arc<Limiter>) -> Self {
        self.limiter = Some(limiter);
        self
    }

    /// Sets the ledger that the customers' accounts are registered with. A ledger that stores them
    /// over a restart also keeps the accounts of customers who were removed while no follower ran,
    /// but nobody can request them.
    #[must_use]
    pub fn accounts(mut self, registrar: Arc<dyn AccountRegistrar>) -> Self {
        self.registrar = Some(registrar);
        self
    }

    /// Sets the dispatcher's endpoints, and the function that makes the sealer of a receiver's
    /// messages, for example a `Sealer` of the bank's signing key and
    /// [`EndpointRecord::encryption_key`].
    #[must_use]
    pub fn endpoints(
        mut self,
        endpoints: Endpoints,
        sealer: impl Fn(&EndpointRecord) -> Arc<dyn SealPayload> + Send + Sync + 'static,
    ) -> Self {
        self.endpoints = Some((endpoints, Box::new(sealer)));
        self
    }

    /// Applies all changes since the last call.
    ///
    /// # Errors
    /// [`StoreError`] of the ledger. All else was applied, including the accounts of the other
    /// customers; the next call registers the rest.
    pub async fn apply(&mut self, customers: &CustomerSet) -> Result<(), StoreError> {
        self.apply_limits(customers);
        self.apply_endpoints(customers);
        // Last, because it alone can fail.
        self.apply_accounts(customers).await
    }

    /// Applies the customers of `source`, now and after each change, until `stop` is ready. A
    /// ledger or source that fails is tried again after the source's interval; the first failure of
    /// each kind is logged, until a success.
    pub async fn run<S: CustomerSource + ?Sized>(
        mut self,
        source: &S,
        stop: impl Future<Output = ()> + Send,
    ) {
        let following = async {
            let mut applied: Option<Arc<CustomerSet>> = None;
            let mut failed = None;
            loop {
                let failure = match source.customers().await {
                    Ok(customers)
                        if applied
                            .as_ref()
                            .is_some_and(|last| Arc::ptr_eq(last, &customers)) =>
                    {
                        None
                    }
                    Ok(customers) => {
                        // A customer that was refused is logged, and tried again next time.
                        if self.apply(&customers).await.is_ok() {
                            applied = Some(customers);
                        }
                        None
                    }
                    Err(error) => Some(error.kind()),
                };
                // Once for each kind in a row, so that an outage does not fill the log.
                if let Some(kind) = failure.filter(|_| failure != failed) {
                    tracing::error!(error = %kind, "the customers were not read");
                }
                failed = failure;
                tokio::select! {
                    // Without a pause, an interval of zero would keep a core busy.
                    () = tokio::time::sleep(source.interval().max(Duration::from_millis(1))) => {}
                    // An error disables this branch, so that the interval decides.
                    Ok(()) = source.changed() => tokio::time::sleep(SETTLE_TIME).await,
                }
            }
        };
        tokio::select! {
            () = stop => {}
            () = following => {}
        }
    }

    fn apply_limits(&mut self, customers: &CustomerSet) {
        let Some(limiter) = &self.limiter else { return };
        let wanted = wanted(customers, |record| &record.limits);
        let applied = std::mem::replace(&mut self.applied.limits, wanted);
        let wanted = &self.applied.limits;
        if applied == *wanted {
            return;
        }
        // One change, so that no request is judged in between.
        limiter.change_limits(|limits| {
            for (code, agreed) in applied
                .iter()
                .filter(|(code, agreed)| wanted.get(*code) != Some(agreed))
            {
                agreed
                    .iter()
                    .for_each(|limit| limits.clear(code.as_str(), limit.call_type()));
            }
            for (code, agreed) in wanted
                .iter()
                .filter(|(code, agreed)| applied.get(*code) != Some(agreed))
            {
                if let Err(error) = set_limits(code.as_str(), agreed, limits) {
                    tracing::error!(customer = %code, %error, "a customer's limit was not applied");
                }
            }
        });
    }

    fn apply_endpoints(&mut self, customers: &CustomerSet) {
        let Some((endpoints, sealer)) = &self.endpoints else {
            return;
        };
        let all = customers.records().flat_map(|record| &record.endpoints);
        let wanted: BTreeMap<EndpointId, EndpointRecord> = all
            .map(|endpoint| (endpoint.id().clone(), endpoint.clone()))
            .collect();
        for (id, record) in wanted
            .iter()
            .filter(|(id, record)| self.applied.endpoints.get(*id) != Some(record))
        {
            endpoints.insert(record.endpoint(sealer(record)));
            tracing::info!(endpoint = %id, "an endpoint was set");
        }
        for id in self
            .applied
            .endpoints
            .keys()
            .filter(|id| !wanted.contains_key(*id))
        {
            endpoints.remove(id);
            tracing::info!(endpoint = %id, "an endpoint was removed");
        }
        self.applied.endpoints = wanted;
    }

    async fn apply_accounts(&mut self, customers: &CustomerSet) -> Result<(), StoreError> {
        let Some(registrar) = &self.registrar else {
            return Ok(());
        };
        let wanted = wanted(customers, |record| &record.accounts);
        let applied = &self.applied.accounts;
        let changed = wanted
            .iter()
            .filter(|(code, accounts)| applied.get(*code) != Some(accounts))
            .map(|(code, accounts)| (code.clone(), accounts.clone()));
        let gone = applied.keys().filter(|code| !wanted.contains_key(*code));
        let mut changed: Vec<AccountsOfCustomer> = changed
            .chain(gone.map(|code| (code.clone(), Vec::new())))
            .collect();
        // In one order in all processes, so that no two of them wait for each other's customers,
        // which a transaction of PostgreSQL locks one after the other.
        changed.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.applied
            .refused
            .retain(|code, _| wanted.get(code) != applied.get(code));
        let mut outcome = Ok(());
        for batch in changed.chunks(MAX_BATCH_CUSTOMERS) {
            if batch.len() > 1 && registrar.register(batch.to_vec()).await.is_ok() {
                batch
                    .iter()
                    .for_each(|one| self.applied.register(one, &wanted));
                continue;
            }
            // A batch is refused as a whole, so each customer is tried separately.
            for one @ (code, _) in batch {
                match registrar.register(vec![one.clone()]).await {
                    Ok(()) => self.applied.register(one, &wanted),
                    Err(error) => {
                        let kind = error.kind();
                        // Once for each kind, because a refused customer is tried again at each
                        // interval.
                        if self.applied.refused.insert(code.clone(), kind) != Some(kind) {
                            tracing::error!(customer = %code, error = %kind, "a customer's accounts were not registered");
                        }
                        outcome = Err(error);
                    }
                }
            }
        }
        outcome
    }
}

impl Applied {
    /// Notes that a customer's accounts were registered.
    fn register(
        &mut self,
        (code, accounts): &AccountsOfCustomer,
        wanted: &BTreeMap<CustomerCode, Vec<(AccountId, RegisteredAccount)>>,
    ) {
        self.refused.remove(code);
        if wanted.contains_key(code) {
            self.accounts.insert(code.clone(), accounts.clone());
        } else {
            self.accounts.remove(code);
        }
    }
}

/// Returns one list of each customer's record.
fn wanted<T: Clone>(
    customers: &CustomerSet,
    list: impl Fn(&super::CustomerRecord) -> &Vec<T>,
) -> BTreeMap<CustomerCode, Vec<T>> {
    customers
        .records()
        .map(|record| (record.customer.code.clone(), list(record).clone()))
        .collect()
}

impl fmt::Debug for DirectoryFollower {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = out.debug_struct("DirectoryFollower");
        out.field("endpoints", &self.endpoints.is_some());
        out.field("limiter", &self.limiter.is_some())
            .field("accounts", &self.registrar.is_some())
            .finish_non_exhaustive()
    }
}
