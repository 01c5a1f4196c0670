//! The registration of customers' accounts with a ledger.

use bankrail_client_assertion::CustomerCode;
use bankrail_service::RegisteredAccount;
use bankrail_statement::AccountId;
use bankrail_values::StoreFuture;

/// A ledger with which a customer's accounts are registered (Specification: "What the service
/// does", pre-requisites: every account is registered beforehand).
///
/// A closure that returns a [`StoreFuture`] implements this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not take registered accounts",
    label = "not an `AccountRegistrar`",
    note = "pass `Arc::new(SqliteLedger::new(store))` of `bankrail_bank`, or implement `AccountRegistrar`",
    note = "a closure is one too: `Fn(Vec<(CustomerCode, Vec<(AccountId, RegisteredAccount)>)>) -> StoreFuture<'static, ()>`"
)]
pub trait AccountRegistrar: Send + Sync {
    /// Replaces the accounts of each of these customers. An empty list removes all of a customer's.
    /// Repeating a call changes nothing. After an error the caller registers each customer
    /// separately.
    fn register(&self, customers: Vec<AccountsOfCustomer>) -> StoreFuture<'_, ()>;
}

/// A customer, and the accounts that are registered for the customer.
pub type AccountsOfCustomer = (CustomerCode, Vec<(AccountId, RegisteredAccount)>);

#[diagnostic::do_not_recommend]
impl<F> AccountRegistrar for F
where
    F: Fn(Vec<AccountsOfCustomer>) -> StoreFuture<'static, ()> + Send + Sync,
{
    fn register(&self, customers: Vec<AccountsOfCustomer>) -> StoreFuture<'_, ()> {
        self(customers)
    }
}
