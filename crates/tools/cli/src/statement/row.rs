//! The shown parts of an entry, and of each of its transactions.

use bankrail::camt052::{
    Account, AccountIdentification, Balance, BankTransactionCode, BankTransactionDomain,
    DateOrDateTime, Direction, Entry, EntryLine,
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
    /// The party behind the counterparty, unless it is the counterparty.
    #[serde(default)]
    pub(crate) ultimate: String,
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
    pub(crate) fn of(entry: &Entry, account: Option<&Account>) -> Self {
        let mut lines = entry.lines_on(account);
        let line = lines.find(|line| line.counterparty_name().is_some());
        let (counterparty, ultimate) = line.as_ref().map(parties).unwrap_or_default();
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
            counterparty,
            ultimate,
            references: owned(entry.references()),
            narrative: entry.narrative(),
        }
    }

    /// Makes the row of one of several transactions of an entry, without what the entry has in
    /// common.
    pub(crate) fn of_line(line: &EntryLine<'_>) -> Self {
        let amount = line.amount();
        let (counterparty, ultimate) = parties(line);
        Self {
            signed: line.signed_amount(),
            amount: amount
                .map(|amount| signed(amount.value(), line.direction()))
                .unwrap_or_default(),
            currency: text(amount.and_then(|amount| amount.currency())),
            counterparty,
            ultimate,
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

    /// The counterparty and the party behind it.
    pub(crate) fn parties(&self) -> String {
        if self.ultimate.is_empty() {
            self.counterparty.clone()
        } else {
            format!("{} (for {})", self.counterparty, self.ultimate)
        }
    }

    /// The texts under the [`TITLES`], with the balance after the entry.
    pub(crate) fn cells(&self, balance: Option<Decimal>) -> [String; TITLES.len()] {
        let amount = format!("{} {}", self.amount, self.currency);
        let [booked, value_date, status, code] =
            [&self.booked, &self.value_date, &self.status, &self.code].map(String::clone);
        [
            booked,
            value_date,
            amount,
            text(balance),
            status,
            code,
            self.parties(),
        ]
    }
}

/// The names of the counterparty and of the party behind it.
fn parties(line: &EntryLine<'_>) -> (String, String) {
    let counterparty = line.counterparty_name().unwrap_or_default().to_owned();
    let ultimate = line.ultimate_counterparty();
    let mut ultimate = text(ultimate.and_then(|party| party.name.as_ref()));
    if ultimate == counterparty {
        ultimate.clear();
    }
    (counterparty, ultimate)
}

/// The transactions of an entry that has several.
pub(crate) fn parts<'a>(
    entry: &'a Entry,
    account: Option<&'a Account>,
) -> impl Iterator<Item = Row> + 'a {
    let several = entry.transactions().nth(1).is_some();
    entry
        .lines_on(account)
        .filter(move |_| several)
        .map(|line| Row::of_line(&line))
}

pub(crate) fn owned<'a>(references: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Reference> {
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
    let domain = code.domain.as_ref().map(domain_text);
    let own = code.proprietary.as_ref().map(|own| own.code.to_string());
    [domain, own]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

/// `PMNT/RCDT/DMCT`.
pub(crate) fn domain_text(domain: &BankTransactionDomain) -> String {
    let family = &domain.family;
    format!("{}/{}/{}", domain.code, family.code, family.sub_family)
}

/// The standard code of an entry.
pub(crate) fn domain(entry: &Entry) -> Option<&BankTransactionDomain> {
    entry.bank_transaction_code.as_ref()?.domain.as_ref()
}

/// `Payments / Received Credit Transfers / Domestic Credit Transfer`: those names of domain, family
/// and sub-family that the standard's list has.
pub(crate) fn code_names(domain: &BankTransactionDomain) -> String {
    let names = [
        domain.name(),
        domain.family_name(),
        domain.sub_family_name(),
    ];
    names.into_iter().flatten().collect::<Vec<_>>().join(" / ")
}

/// The text of an account's identification.
pub(crate) fn account_text(id: &AccountIdentification) -> &str {
    id.as_str().unwrap_or_default()
}

/// Number and issuer of the virtual account that a credit was paid to.
pub(crate) fn virtual_account<'a>(line: &EntryLine<'a>) -> Option<(&'a str, &'a str)> {
    let credit = line.entry.direction == Direction::Credit;
    let account = line.own_account().filter(|_| credit)?.id.other()?;
    let issuer = account.issuer.as_ref().map_or("", |issuer| issuer.as_str());
    Some((account.id.as_str(), issuer))
}
