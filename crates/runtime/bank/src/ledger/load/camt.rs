//! Entries from camt documents.

use super::error::{LoadError, ReportError};
use super::{LoadOptions, Loaded};
use crate::ledger::account;
use crate::ledger::book::{self, Booked};
use crate::ledger::error::BookError;
use crate::sql::Sql;
use bankrail_camt052::{
    AccountId as CamtAccountId, Amount, Balance, BalanceCode, Entry, EntryStatus, Mode,
    NumberError, ReadError, ReadOptions,
};
use bankrail_service::LedgerEntry;
use bankrail_statement::AccountId;
use bankrail_values::{Currency, Decimal, Money};
use std::io::BufRead;

/// The balances that a ledger's may be compared with, the best first.
const BALANCES: [BalanceCode; 4] = [
    BalanceCode::InterimAvailable,
    BalanceCode::InterimBooked,
    BalanceCode::ClosingAvailable,
    BalanceCode::ClosingBooked,
];

/// A part of a document.
pub(super) enum DocumentPart {
    Start(Box<Head>),
    Entry(Box<Entry>),
    End,
    MessageEnd,
}

/// What a report or statement has before its entries.
pub(super) struct Head {
    id: String,
    account: bankrail_camt052::Account,
    balances: Vec<Balance>,
}

/// A document part by part.
pub(super) trait Source {
    fn next(&mut self) -> Result<Option<DocumentPart>, ReadError>;
    /// `GrpHdr/MsgId`.
    fn message_id(&self) -> String;
}

/// States the source of a message once.
macro_rules! source {
    ($(#[$doc:meta])* $Source:ident of $message:ident: $Start:ident, $End:ident) => {
        $(#[$doc])*
        pub(super) struct $Source<R>($message::EntryReader<R>);

        impl<R: BufRead> $Source<R> {
            pub(super) fn new(document: R) -> Self {
                let options = ReadOptions::default().mode(Mode::Strict);
                Self($message::EntryReader::new(document, options))
            }
        }

        impl<R: BufRead> Source for $Source<R> {
            fn next(&mut self) -> Result<Option<DocumentPart>, ReadError> {
                use $message::StreamItem as Item;
                Ok(self.0.next_item()?.map(|item| match item {
                    Item::$Start(group) => DocumentPart::Start(Box::new(Head {
                        id: group.id.as_str().to_owned(),
                        account: group.account,
                        balances: group.balances,
                    })),
                    Item::Entry(entry) => DocumentPart::Entry(entry),
                    Item::$End(_) => DocumentPart::End,
                    _ => DocumentPart::MessageEnd,
                }))
            }

            fn message_id(&self) -> String {
                self.0.header().map(|header| header.message_id.as_str().to_owned()).unwrap_or_default()
            }
        }
    };
}

source! {
    /// The reports of a camt.052 document.
    Reports of bankrail_camt052: ReportStart, ReportEnd
}
source! {
    /// The statements of a camt.053 document.
    Statements of bankrail_camt053: StatementStart, StatementEnd
}

/// The report that is being loaded.
struct Open {
    account: AccountId,
    /// `MsgId/Id/number of the report`, the beginning of its entries' keys.
    key: String,
    /// Whether the account had no entry and no balance before it.
    is_fresh: bool,
    stated: Option<Decimal>,
    entries: u64,
}

pub(super) async fn load(
    connection: &impl Sql,
    source: &mut impl Source,
    options: LoadOptions,
) -> Result<Loaded, LoadError> {
    let mut loaded = Loaded::default();
    let mut open: Option<Open> = None;
    let mut report = 0_u64;
    let broken = |error: ReadError| LoadError::Document(Box::new(error));
    while let Some(part) = source.next().map_err(broken)? {
        match part {
            DocumentPart::Start(head) => {
                report += 1;
                let started = start(connection, *head, &source.message_id(), report).await;
                open = Some(started.map_err(|source| LoadError::Report { report, source })?);
            }
            DocumentPart::Entry(entry) => {
                let Some(open) = &mut open else { continue };
                open.entries += 1;
                if entry.status != EntryStatus::Booked {
                    loaded.not_booked += 1;
                    continue;
                }
                let number = open.entries;
                let located = |source| LoadError::Entry {
                    report,
                    entry: number,
                    source: Box::new(source),
                };
                match add(connection, open, *entry, options)
                    .await
                    .map_err(located)?
                {
                    Booked::New(_) => loaded.booked += 1,
                    Booked::Known(_) => loaded.already += 1,
                }
            }
            DocumentPart::End => {
                let Some(open) = open.take() else { continue };
                let agrees = end(connection, &open)
                    .await
                    .map_err(|source| LoadError::Report { report, source })?;
                loaded.other_balances += u64::from(!agrees);
            }
            DocumentPart::MessageEnd => {}
        }
    }
    Ok(loaded)
}

async fn start(
    connection: &impl Sql,
    head: Head,
    message_id: &str,
    report: u64,
) -> Result<Open, ReportError> {
    let id = match &head.account.id {
        CamtAccountId::Iban(iban) => iban.as_str(),
        CamtAccountId::Other(other) => other.id.as_str(),
        _ => "",
    };
    let account = AccountId::parse(id).map_err(ReportError::AccountId)?;
    let balance = BALANCES
        .iter()
        .find_map(|code| head.balances.iter().rfind(|balance| balance.is(code)));
    let own = head
        .account
        .currency
        .as_ref()
        .and_then(bankrail_camt052::CurrencyCode::to_currency);
    let currency = own
        .or_else(|| Some(balance?.amount.to_money()?.currency()))
        .ok_or(ReportError::NoCurrency)?;
    let stated = balance
        .map(|balance| stated(balance, currency))
        .transpose()?;
    account::open(connection, &account, Money::new(Decimal::ZERO, currency))
        .await
        .map_err(ReportError::Account)?;
    let found = account::lock(connection, &account)
        .await
        .map_err(|error| ReportError::Account(error.into()))?;
    let is_fresh = found.is_some_and(|found| found.last_entry == 0 && found.balance.is_zero());
    let key = format!("{message_id}/{}/{report}", head.id);
    Ok(Open {
        account,
        key,
        is_fresh,
        stated,
        entries: 0,
    })
}

fn stated(balance: &Balance, currency: Currency) -> Result<Decimal, ReportError> {
    let fits: Result<Amount, NumberError> = Amount::new(balance.amount.value(), currency);
    let same = balance
        .amount
        .currency()
        .is_some_and(|found| found.as_str() == currency.as_str());
    balance
        .signed_amount()
        .filter(|_| same && fits.is_ok())
        .ok_or(ReportError::Balance)
}

async fn add(
    connection: &impl Sql,
    open: &Open,
    entry: Entry,
    options: LoadOptions,
) -> Result<Booked, BookError> {
    let key = format!("{}#{}", open.key, open.entries);
    let channel = (options.channel)(&entry);
    // A document is of the day of which it is: nothing is booked now.
    book::book(
        connection,
        &open.account,
        &LedgerEntry::new(entry, channel),
        Some(&key),
        None,
    )
    .await
}

/// Gives a fresh account the balance of the report. False if the account has another one.
async fn end(connection: &impl Sql, open: &Open) -> Result<bool, ReportError> {
    let Some(stated) = open.stated else {
        return Ok(true);
    };
    let failed = |error: bankrail_values::StoreError| ReportError::Account(error.into());
    let account = account::find(connection, &open.account)
        .await
        .map_err(failed)?;
    let Some(account) = account else {
        return Ok(true);
    };
    if open.is_fresh {
        account::set_balance(connection, account.row, stated)
            .await
            .map_err(failed)?;
        return Ok(true);
    }
    Ok(account.balance == stated)
}
