//! `bankrail provider book`.

use super::folder::Folders;
use crate::failure::{Failure, causes};
use crate::input;
use crate::output::Output;
use crate::text::{counted, shown};
use bankrail::bank::{Booked, Booking, BookingKind, SqliteLedger};
use bankrail::statement::AccountId;
use bankrail::values::{Clock as _, Date, Money, SystemClock, parse_decimal};
use clap::Args;

#[derive(Args, Debug)]
pub(super) struct Book {
    /// The account
    #[arg(required_unless_present = "csv", requires = "amount")]
    pub(super) account: Option<AccountId>,
    /// The amount in the account's currency, more than zero; the kind decides whether it is a
    /// credit or a debit
    pub(super) amount: Option<String>,
    /// What happened: fast_payment_in, transfer_out, fee and so on; a wrong name prints them all
    #[arg(long, default_value = "fast_payment_in")]
    pub(super) kind: BookingKind,
    /// The booking day; today in UTC without it
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(super) day: Option<Date>,
    /// The bank's reference, under which it is booked once
    #[arg(long)]
    pub(super) reference: Option<String>,
    /// The remittance text
    #[arg(long, value_name = "TEXT")]
    pub(super) narrative: Option<String>,
    /// The other party's name
    #[arg(long, value_name = "NAME")]
    pub(super) counterparty: Option<String>,
    /// The virtual account that a credit is for
    #[arg(long, value_name = "NUMBER")]
    pub(super) virtual_account: Option<String>,
    /// Reverse an earlier booking of this kind
    #[arg(long)]
    pub(super) reversal: bool,
    /// Book the rows of this file, all of them or none; - for standard input
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "account", "amount", "kind", "day", "reference", "narrative", "counterparty", "virtual_account", "reversal",
        ]
    )]
    pub(super) csv: Option<String>,
}

/// The most bytes of a CSV file.
const MOST: usize = 256 << 20;

pub(super) async fn run(
    book: &Book,
    folders: &Folders,
    output: &mut Output,
) -> Result<(), Failure> {
    let ledger = SqliteLedger::new(folders.store()?);
    if let Some(path) = &book.csv {
        // Whole first: the ledger is locked while it takes rows, and a pipe may be slow.
        let rows = input::read(path, MOST)?;
        let loaded = ledger.load_csv(std::io::Cursor::new(rows)).await;
        let loaded = loaded.map_err(|error| {
            input::refused(path, &error, "nothing was booked; correct the file")
        })?;
        let booked = counted(loaded.booked, "entry", "entries");
        return output.line(format_args!(
            "{booked} booked, {} booked before",
            loaded.already
        ));
    }
    let (account, booked, day, balance) = book_one(book, &ledger, SystemClock.now().date()).await?;
    let account = shown(account.as_str()).into_owned();
    match booked {
        Booked::Known(number) => {
            output.line(format_args!("booked before as entry {number} of {account}"))?
        }
        Booked::New(number) => output.line(format_args!(
            "booked as entry {number} of {account} on {day}"
        ))?,
        _ => output.line("booked")?,
    }
    output.line(format_args!("balance {balance}"))
}

/// Books one entry. Returns its account, what became of it, its day, and the balance.
pub(super) async fn book_one<'a>(
    book: &'a Book,
    ledger: &SqliteLedger,
    today: Date,
) -> Result<(&'a AccountId, Booked, Date, Money), Failure> {
    let (Some(account), Some(amount)) = (&book.account, &book.amount) else {
        return Err(Failure::refused(
            "expected an account and an amount, found none",
            "see bankrail provider book --help",
        ));
    };
    let failed =
        |error: &dyn std::error::Error| Failure::refused(causes(error), "nothing was booked");
    let balance = ledger
        .balance(account)
        .await
        .map_err(|error| failed(&error))?;
    let Some(balance) = balance else {
        return Err(Failure::refused(
            "expected an account that the provider has, found another",
            "bankrail provider customers list prints the accounts",
        ));
    };
    let amount = parse_decimal(amount).map_err(|error| failed(&error))?;
    let day = book.day.unwrap_or(today);
    let mut booking = Booking::new(book.kind, Money::new(amount, balance.currency()), day);
    if let Some(text) = &book.reference {
        booking = booking.reference(text);
    }
    if let Some(text) = &book.narrative {
        booking = booking.narrative(text);
    }
    if let Some(name) = &book.counterparty {
        booking = booking.counterparty(name);
    }
    if let Some(number) = &book.virtual_account {
        booking = booking.virtual_account(number);
    }
    if book.reversal {
        booking = booking.reversal();
    }
    let booked = ledger
        .book(account, &booking)
        .await
        .map_err(|error| failed(&error))?;
    let balance = ledger
        .balance(account)
        .await
        .map_err(|error| failed(&error))?
        .unwrap_or(balance);
    Ok((account, booked, day, balance))
}
