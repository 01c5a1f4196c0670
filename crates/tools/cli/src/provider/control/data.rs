//! The operations of a provider's control on its data.

use super::super::Folders;
use super::super::{customers, demo, keys};
use super::past;
use crate::failure::{Failure, causes};
use bankrail::bank::{Booked, Booking, BookingKind, CustomerFolder, CustomerRecord, SqliteLedger};
use bankrail::client_assertion::CustomerCode;
use bankrail::client_assertion::token::{ScopeSet, names};
use bankrail::jose::{
    CurrentKey, KeyHandle, KeyMaterial, KeyOptions, KeySet, SigningKey, VerifyingKey,
};
use bankrail::service::Customer;
use bankrail::service::delivery::EndpointUrl;
use bankrail::statement::AccountId;
use bankrail::values::{Clock as _, Currency, Date, Money, parse_decimal};
use bankrail_emulator::{
    Arguments, BankClock, BankData, ControlError, DataFuture, Emulator, Operation, ShopStory,
    TestAccount,
};
use serde_json::{Value, json};
use std::fmt::Display;
use std::sync::Arc;

/// The data of a running provider.
#[derive(Debug)]
pub(in crate::provider) struct FolderData {
    pub(in crate::provider) folders: Folders,
    pub(in crate::provider) ledger: SqliteLedger,
    pub(in crate::provider) directory: Arc<CustomerFolder>,
    pub(in crate::provider) signing: CurrentKey<SigningKey>,
    pub(in crate::provider) clock: Arc<BankClock>,
    pub(in crate::provider) emulator: Arc<Emulator>,
}

impl From<Failure> for ControlError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(what) => Self::Wrong(what),
            Failure::Unable(what) => Self::Failed(what),
            Failure::Closed => Self::Failed("nobody reads the output".to_owned()),
        }
    }
}

fn wrong(what: impl Display) -> ControlError {
    ControlError::Wrong(what.to_string())
}

fn failed(error: impl std::error::Error) -> ControlError {
    ControlError::Failed(causes(&error))
}

impl BankData for FolderData {
    fn carry_out<'a>(&'a self, arguments: &'a Arguments) -> DataFuture<'a, Value> {
        Box::pin(async move {
            match arguments.operation() {
                Operation::Book => self.book(arguments).await,
                Operation::Customers => Ok(self.customers()),
                Operation::AddCustomer => self.add_customer(arguments).await,
                Operation::RotateApiKey => self.rotate_api_key(arguments).await,
                Operation::Keys => Ok(kids(&keys::published(&self.folders)?)),
                Operation::RotateKey => {
                    let keys = keys::rotated(&self.folders)?;
                    self.signing.replace(self.folders.signing_key()?);
                    Ok(kids(&keys))
                }
                Operation::Snapshot => past::keep(&self.folders, arguments).await,
                Operation::Seed => {
                    past::seed(&self.folders, arguments).await?;
                    self.register().await
                }
                _ => Err(ControlError::Failed(
                    "expected an operation on data, found another".to_owned(),
                )),
            }
        })
    }

    fn reset<'a>(&'a self, customer: Option<&'a CustomerCode>) -> DataFuture<'a, ()> {
        Box::pin(async move {
            let of = match customer {
                None => None,
                Some(code) => {
                    let record = self.directory.current().get(code).cloned();
                    let unknown = || {
                        ControlError::Unknown(format!(
                            "expected the code of a customer, found {code}"
                        ))
                    };
                    let endpoints = record.ok_or_else(unknown)?;
                    let endpoints = endpoints
                        .endpoints
                        .iter()
                        .map(|endpoint| endpoint.id().to_string())
                        .collect();
                    Some((code.to_string(), endpoints))
                }
            };
            let openings = if self.folders.is_demo() {
                TestAccount::ALL
            } else {
                &[]
            };
            past::forget(&self.folders, of, openings).await?;
            self.clock_changed().await
        })
    }

    fn clock_changed(&self) -> DataFuture<'_, ()> {
        Box::pin(async move {
            if self.folders.is_demo() {
                demo::book_today(self).await?;
            }
            Ok(())
        })
    }
}

impl FolderData {
    async fn book(&self, arguments: &Arguments) -> Result<Value, ControlError> {
        if let Some(rows) = arguments.text("csv") {
            let rows = std::io::Cursor::new(rows.to_owned());
            let loaded = self.ledger.load_csv(rows).await;
            let loaded = loaded.map_err(|error| wrong(format_args!("csv: {}", causes(&error))))?;
            return Ok(json!({ "booked": loaded.booked, "known": loaded.already }));
        }
        let account: AccountId = arguments
            .parsed("account")?
            .ok_or_else(|| wrong("expected account, found none"))?;
        let unknown = || {
            ControlError::Unknown(
                "expected an account that the provider has, found another".to_owned(),
            )
        };
        let balance = self.ledger.balance(&account).await?.ok_or_else(unknown)?;
        let day = arguments.parsed("day")?;
        let day = day.unwrap_or_else(|| self.emulator.today());
        let seed = arguments.text("story").map(|_| arguments.seed());
        let bookings = match seed {
            Some(seed) => ShopStory::day(seed, balance.currency(), day),
            None => vec![booking(arguments, balance.currency(), day)?],
        };
        let (mut new, mut known) = (0, 0);
        for booking in bookings {
            let booked = self.ledger.book(&account, &booking).await;
            match booked.map_err(|error| wrong(causes(&error)))? {
                Booked::New(_) => new += 1,
                _ => known += 1,
            }
        }
        let balance = self.ledger.balance(&account).await?.unwrap_or(balance);
        let balance = balance.to_string();
        Ok(json!({ "booked": new, "known": known, "balance": balance, "seed": seed }))
    }

    fn customers(&self) -> Value {
        let now = self.clock.now();
        let customer = |record: &CustomerRecord| {
            json!({
                "code": record.customer.code.as_str(),
                "scopes": record.customer.scopes.to_string(),
                "api_keys": record.api_keys.iter().filter(|key| key.is_valid_at(now)).count(),
                "accounts": record.accounts.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(),
                "endpoints": record.endpoints.iter().map(|endpoint| endpoint.id().to_string()).collect::<Vec<_>>(),
            })
        };
        let customers: Vec<_> = self
            .directory
            .current()
            .records()
            .map(|record| customer(record))
            .collect();
        json!({ "customers": customers })
    }

    async fn add_customer(&self, arguments: &Arguments) -> Result<Value, ControlError> {
        let code = arguments
            .parsed::<CustomerCode>("code")?
            .ok_or_else(|| wrong("expected code, found none"))?;
        let key = key_set(arguments, "key")?.ok_or_else(|| wrong("expected key, found none"))?;
        let scopes = arguments.text("scopes").unwrap_or(names::STATEMENT_READ);
        let scopes: ScopeSet = scopes
            .parse()
            .map_err(|error| wrong(format_args!("scopes: {}", causes(&error))))?;
        let mut record = CustomerRecord::new(Customer::new(code, key, scopes));
        let accounts = arguments
            .text("accounts")
            .unwrap_or_default()
            .split_whitespace()
            .map(customers::account);
        record.accounts = accounts
            .collect::<Result<_, _>>()
            .map_err(|error| wrong(format_args!("accounts: {error}")))?;
        let encryption = key_set(arguments, "encrypt_to")?.map(|keys| keys.keys().first().cloned());
        let url = arguments
            .text("webhooks")
            .map(EndpointUrl::parse)
            .transpose();
        let url = url.map_err(|error| wrong(format_args!("webhooks: {}", causes(&error))))?;
        let receivers = match (url, encryption.flatten()) {
            (Some(url), Some(key)) => Some((url, key)),
            (None, None) => None,
            _ => return Err(wrong("expected webhooks and encrypt_to, found one of them")),
        };
        let added = customers::added(record, receivers, &self.folders)?;
        self.reload().await?;
        self.register().await?;
        Ok(added)
    }

    async fn rotate_api_key(&self, arguments: &Arguments) -> Result<Value, ControlError> {
        let code = arguments
            .parsed::<CustomerCode>("code")?
            .ok_or_else(|| wrong("expected code, found none"))?;
        let overlap = arguments.fitting("overlap")?.unwrap_or(24);
        let rotated = customers::rotated(&code, overlap, self.clock.now(), &self.folders)?;
        self.reload().await?;
        Ok(rotated)
    }

    /// Reads the customers' files again at once, so that changes are in force.
    async fn reload(&self) -> Result<(), ControlError> {
        self.directory.reload().await.map_err(failed)
    }

    /// Registers each customer's accounts, so that it can request their statements.
    async fn register(&self) -> Result<Value, ControlError> {
        for record in self.directory.current().records() {
            let registered = self
                .ledger
                .register(&record.customer.code, record.accounts.clone())
                .await;
            registered.map_err(failed)?;
        }
        Ok(json!({}))
    }
}

/// Reads the booking of a single `book` operation.
fn booking(arguments: &Arguments, currency: Currency, day: Date) -> Result<Booking, ControlError> {
    let amount = arguments
        .text("amount")
        .ok_or_else(|| wrong("expected an amount, found none"))?;
    let amount = parse_decimal(amount).map_err(|error| wrong(causes(&error)))?;
    let kind = arguments
        .parsed("kind")?
        .unwrap_or(BookingKind::FastPaymentIn);
    let mut booking = Booking::new(kind, Money::new(amount, currency), day);
    if let Some(text) = arguments.text("reference") {
        booking = booking.reference(text);
    }
    if let Some(text) = arguments.text("narrative") {
        booking = booking.narrative(text);
    }
    if let Some(name) = arguments.text("counterparty") {
        booking = booking.counterparty(name);
    }
    if let Some(number) = arguments.text("virtual_account") {
        booking = booking.virtual_account(number);
    }
    if arguments.flag("reversal") {
        booking = booking.reversal();
    }
    Ok(booking)
}

fn kids(keys: &[VerifyingKey]) -> Value {
    json!({ "kids": keys.iter().map(VerifyingKey::thumbprint).collect::<Vec<_>>() })
}

/// Reads the keys in a text.
fn key_set<K: KeyHandle>(
    arguments: &Arguments,
    name: &str,
) -> Result<Option<KeySet<K>>, ControlError> {
    let refused = |error: &dyn std::error::Error| wrong(format_args!("{name}: {}", causes(error)));
    let Some(text) = arguments.text(name) else {
        return Ok(None);
    };
    let material = KeyMaterial::parse(text.as_bytes()).map_err(|error| refused(&error))?;
    Ok(Some(
        material
            .into_keys(&KeyOptions::new())
            .map_err(|error| refused(&error))?
            .0,
    ))
}
