//! The shown parts of an entry, and of each of its transactions.

use bankrail::camt052::{
    AccountId, Balance, BankTransactionCode, DateOrDateTime, Direction, Entry, EntryLine,
};
use bankrail::values::Decimal;
use serde::{Deserialize, Serialize};

/// The titles of a row's columns. The balance has a separate title.
pub(crate) const TITLES: [&str; 7] = [
    "Booked",
    "Value date",
    "Amount",
    "Balance",
    "Status",
    "Code",
    "Counterparty",
];

/// An entry or a transaction in columns. All texts are the document's, unescaped.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Row {
    pub(crate) booked: String,
    pub(crate) value_date: String,
    pub(crate) status: String,
    /// With its sign; `None` for an unknown direction, or a transaction without an amount.
    #[serde(skip)]
    pub(crate) signed: Option<Decimal>,
    /// As written, with the sign, `±` where that is unknown; empty without one.
    pub(crate) amount: String,
    pub(crate) currency: String,
    pub(crate) code: String,
    pub(crate) counterparty: String,
    /// All of the entry and of its transactions.
    pub(crate) references: Vec<Reference>,
    pub(crate) narrative: String,
}

/// A reference, such as `AcctSvcrRef`.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Reference {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl Row {
    pub(crate) fn of(entry: &Entry) -> Self {
        Self {
            booked: date(entry.booking_date.as_ref()),
            value_date: date(entry.value_date.as_ref()),
            status: format!(
                "{}{}",
                entry.status,
                if entry.reversal == Some(true) {
                    " reversal"
                } else {
                    ""
                }
            ),
            signed: entry.signed_amount(),
            amount: signed(entry.amount.value(), &entry.direction),
            currency: text(entry.amount.currency()),
            code: entry
                .bank_transaction_code
                .as_ref()
                .map(code)
                .unwrap_or_default(),
            counterparty: text(entry.counterparty_name()),
            references: owned(entry.references()),
            narrative: entry.narrative(),
        }
    }

    /// Makes the row of one of several transactions of an entry.
    fn of_line(line: &EntryLine<'_>) -> Self {
        let amount = line.amount();
        Self {
            signed: line.signed_amount(),
            amount: amount
                .map(|amount| signed(amount.value(), line.direction()))
                .unwrap_or_default(),
            currency: text(amount.and_then(|amount| amount.currency())),
            counterparty: text(line.counterparty().and_then(|party| party.name.as_ref())),
            references: line
                .transaction
                .map(|transaction| owned(transaction.references()))
                .unwrap_or_default(),
            narrative: line.narrative(),
            ..Self::default()
        }
    }

    /// References as `NAME VALUE`, separated by commas.
    pub(crate) fn reference_text(&self) -> String {
        let each: Vec<String> = self
            .references
            .iter()
            .map(|of| format!("{} {}", of.name, of.value))
            .collect();
        each.join(", ")
    }

    /// The texts under the [`TITLES`], with the balance after the entry.
    pub(crate) fn cells(&self, balance: Option<Decimal>) -> [String; TITLES.len()] {
        let amount = format!("{} {}", self.amount, self.currency);
        let [booked, value_date, status, code, counterparty] = [
            &self.booked,
            &self.value_date,
            &self.status,
            &self.code,
            &self.counterparty,
        ]
        .map(String::clone);
        [
            booked,
            value_date,
            amount,
            text(balance),
            status,
            code,
            counterparty,
        ]
    }
}

/// The transactions of an entry that has several.
pub(crate) fn parts(entry: &Entry) -> impl Iterator<Item = Row> + '_ {
    let several = entry.transactions().nth(1).is_some();
    entry
        .lines()
        .filter(move |_| several)
        .map(|line| Row::of_line(&line))
}

fn owned<'a>(references: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Reference> {
    references
        .map(|(name, value)| Reference {
            name: name.to_owned(),
            value: value.to_owned(),
        })
        .collect()
}

fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

pub(crate) fn date(date: Option<&DateOrDateTime>) -> String {
    text(date)
}

/// The kind of a balance, its amount and its day.
pub(crate) fn balance(balance: &Balance) -> [String; 3] {
    let sub_kind = balance
        .kind
        .sub_kind
        .as_ref()
        .map_or_else(String::new, |kind| format!("/{kind}"));
    let (amount, currency) = (
        signed(balance.amount.value(), &balance.direction),
        text(balance.amount.currency()),
    );
    [
        format!("{}{sub_kind}", balance.kind.code),
        format!("{amount} {currency}"),
        date(balance.date.as_ref()),
    ]
}

/// `+5.00`, `-5.00`, or `±5.00` for an unknown direction.
pub(crate) fn signed(value: Decimal, direction: &Direction) -> String {
    let sign = match direction {
        Direction::Credit => '+',
        Direction::Debit => '-',
        _ => '±',
    };
    format!("{sign}{value}")
}

/// `PMNT/RCDT/DMCT`, or the bank's own code.
pub(crate) fn code(code: &BankTransactionCode) -> String {
    let domain = code.domain.as_ref().map(|domain| {
        format!(
            "{}/{}/{}",
            domain.code, domain.family.code, domain.family.sub_family
        )
    });
    let own = code.proprietary.as_ref().map(|own| own.code.to_string());
    [domain, own]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

/// The text of an account's identification.
pub(crate) fn account_text(id: &AccountId) -> &str {
    id.as_str().unwrap_or_default()
}

/// The counterparty's account of the first transaction that names one.
pub(crate) fn counterparty_account(entry: &Entry) -> &str {
    let account = entry.lines().find_map(|line| line.counterparty_account());
    account
        .map(|account| account_text(&account.id))
        .unwrap_or_default()
}

/// Number and issuer of the virtual account that a credit was paid to.
pub(crate) fn virtual_account(entry: &Entry) -> Option<(&str, &str)> {
    let credit = entry.direction == Direction::Credit;
    let parties = entry
        .transactions()
        .filter(|_| credit)
        .filter_map(|transaction| transaction.parties.as_ref());
    let mut accounts = parties.filter_map(|parties| parties.creditor_account.as_ref());
    accounts.find_map(|account| match &account.id {
        AccountId::Other(other) => Some((
            other.id.as_str(),
            other.issuer.as_ref().map_or("", |issuer| issuer.as_str()),
        )),
        _ => None,
    })
}
