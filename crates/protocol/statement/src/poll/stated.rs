//! What pages state about their account, and whether it adds up.

use super::relation::AccountNotice;
use bankrail_camt052::{AccountType, Balance, EntryStatus, Report};
use bankrail_values::json::{JsonObjectWriter, JsonValue};
use bankrail_values::{Date, Decimal};

/// What a page states about its account beside the entries: currency, kind, and booked balances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatedAccount {
    currency: Option<String>,
    kind: Option<String>,
    opening: Option<Decimal>,
    closing: Option<Decimal>,
    /// The sum of the booked entries; `None` if one has no sign or another currency.
    booked: Option<Decimal>,
}

impl StatedAccount {
    /// What a report states. Available balances are left out, because pending entries move them.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        let currency = report.account.currency.as_ref();
        let amount = |balance: &Balance| {
            let same = balance.amount.currency() == currency || currency.is_none();
            balance.signed_amount().filter(|_| same)
        };
        let mut booked = report
            .entries
            .iter()
            .filter(|entry| entry.status == EntryStatus::Booked);
        let sum = booked.try_fold(Decimal::ZERO, |sum, entry| {
            let same = entry
                .amount
                .currency()
                .is_none_or(|own| currency.is_none_or(|currency| own == currency));
            sum.checked_add(entry.signed_amount().filter(|_| same)?)
        });
        Self {
            currency: currency.map(|code| bounded(code.as_str())),
            kind: report
                .account
                .kind
                .as_ref()
                .and_then(AccountType::as_str)
                .map(bounded),
            opening: report.opening_balance().and_then(amount),
            closing: report.closing_balance().and_then(amount),
            booked: sum,
        }
    }
}

/// At most 35 characters, which is the bound of the message: a tolerant reader lets longer texts
/// through.
fn bounded(text: &str) -> String {
    text.chars().take(35).collect()
}

/// What the pages of a walk state together.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    opening: Option<Decimal>,
    closing: Option<Decimal>,
    booked: Decimal,
    /// Whether the pages contradict each other, as when something was booked between two of them.
    unclear: bool,
}

impl Sums {
    pub(super) fn add(&mut self, page: &StatedAccount) {
        for (all, own) in [
            (&mut self.opening, page.opening),
            (&mut self.closing, page.closing),
        ] {
            self.unclear |= all.zip(own).is_some_and(|(all, own)| all != own);
            *all = all.or(own);
        }
        let sum = page
            .booked
            .and_then(|booked| self.booked.checked_add(booked));
        self.unclear |= sum.is_none();
        self.booked = sum.unwrap_or_default();
    }
}

/// What the statement said of the account until now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Books {
    currency: Option<String>,
    kind: Option<String>,
    /// The day of the statement that the rest is about.
    day: Option<Date>,
    /// The balance at the beginning of the day.
    opening: Option<Decimal>,
    /// By how much the last full walk did not add up, and what was said last.
    gap: Decimal,
    said: Decimal,
}

impl Books {
    /// Compares the account of a page with those before.
    pub(super) fn page(&mut self, page: &StatedAccount) -> Vec<AccountNotice> {
        let mut notices = Vec::new();
        let changed = |known: &mut Option<String>, now: &Option<String>| {
            let before = known
                .clone()
                .zip(now.clone())
                .filter(|(before, now)| before != now);
            *known = now.clone().or(known.take());
            before
        };
        if let Some((from, to)) = changed(&mut self.currency, &page.currency) {
            notices.push(AccountNotice::CurrencyChanged { from, to });
            self.day = None;
        }
        if let Some((from, to)) = changed(&mut self.kind, &page.kind) {
            notices.push(AccountNotice::KindChanged { from, to });
        }
        notices
    }

    /// Ends a full walk through the statement of a day.
    pub(super) fn complete(&mut self, sums: &Sums, day: Date) -> Option<AccountNotice> {
        let Sums {
            opening,
            closing: Some(closing),
            booked,
            unclear: false,
        } = *sums
        else {
            return None;
        };
        let moved = closing.checked_sub(booked)?;
        if self.day != Some(day) {
            (self.day, self.opening, self.gap, self.said) =
                (Some(day), None, Decimal::ZERO, Decimal::ZERO);
        }
        let opening = opening.or(self.opening).unwrap_or(moved);
        let difference = moved.checked_sub(opening)?.normalize();
        let confirmed = std::mem::replace(&mut self.gap, difference) == difference;
        self.opening = Some(opening);
        if !confirmed || difference == self.said {
            return None;
        }
        self.said = difference;
        (!difference.is_zero()).then_some(AccountNotice::BalanceGap { difference })
    }

    /// Writes the books as JSON.
    pub(super) fn to_json(&self) -> String {
        let number = |number: Decimal| {
            Some(number)
                .filter(|number| !number.is_zero())
                .map(|number| number.to_string())
        };
        JsonObjectWriter::new()
            .optional_string("currency", self.currency.as_deref())
            .optional_string("kind", self.kind.as_deref())
            .optional_string("day", self.day.map(|day| day.to_string()).as_deref())
            .optional_string(
                "opening",
                self.opening.map(|opening| opening.to_string()).as_deref(),
            )
            .optional_string("gap", number(self.gap).as_deref())
            .optional_string("said", number(self.said).as_deref())
            .finish()
    }

    /// Reads what [`Books::to_json`] wrote.
    pub(super) fn from_json(value: &JsonValue<'_>) -> Option<Self> {
        let JsonValue::Object(object) = value else {
            return None;
        };
        let text = |name| {
            object
                .get(name)
                .map(|value| value.as_str().ok_or(()))
                .transpose()
                .ok()
        };
        let number = |name| {
            text(name)?
                .map(|text| text.parse::<Decimal>().map_err(drop))
                .transpose()
                .ok()
        };
        Some(Self {
            currency: text("currency")?.map(str::to_owned),
            kind: text("kind")?.map(str::to_owned),
            day: text("day")?.map(Date::parse).transpose().ok()?,
            opening: number("opening")?,
            gap: number("gap")?.unwrap_or_default(),
            said: number("said")?.unwrap_or_default(),
        })
    }
}
