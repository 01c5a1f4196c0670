//! Registration of customers' accounts with a ledger.

use bankrail_client_assertion::CustomerCode;
use bankrail_service::RegisteredAccount;
use bankrail_statement::AccountId;
use bankrail_values::StoreFuture;

/// A ledger to which a customer's accounts are reported (Specification: "What the service does",
/// pre-requisites: every account is registered beforehand).
///
/// A closure that returns a [`StoreFuture`] is one too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not take registered accounts",
    label = "not an `AccountRegistrar`",
    note = "pass `Arc::new(SqliteLedger::new(store))` of `bankrail_bank`, or implement `AccountRegistrar`",
    note = "a closure is one too: `Fn(CustomerCode, Vec<(AccountId, RegisteredAccount)>) -> StoreFuture<'static, ()>`"
)]
pub trait AccountRegistrar: Send + Sync {
    /// Replaces the customer's accounts. An empty list removes all of them. Repeating a call
    /// changes nothing.
    fn register(
        &self,
        customer: CustomerCode,
        accounts: Vec<(AccountId, RegisteredAccount)>,
    ) -> StoreFuture<'_, ()>;

    /// Replaces the accounts of several customers, as when a provider starts. After an error the
    /// caller registers each customer separately. Default: one after the other.
    fn register_all(
        &self,
        customers: Vec<(CustomerCode, Vec<(AccountId, RegisteredAccount)>)>,
    ) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            for (customer, accounts) in customers {
                self.register(customer, accounts).await?;
            }
            Ok(())
        })
    }
}

#[diagnostic::do_not_recommend]
impl<F> AccountRegistrar for F
where
    F: Fn(CustomerCode, Vec<(AccountId, RegisteredAccount)>) -> StoreFuture<'static, ()>
        + Send
        + Sync,
{
    fn register(
        &self,
        customer: CustomerCode,
        accounts: Vec<(AccountId, RegisteredAccount)>,
    ) -> StoreFuture<'_, ()> {
        self(customer, accounts)
    }
}
