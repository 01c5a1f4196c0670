//! The facts that pages state about their account, and the check that they add up.

use super::relation::AccountNotice;
use crate::stored::{optional_text, text};
use bankrail_camt052::{AccountType, Balance, EntryStatus, Report};
use bankrail_values::{Date, Decimal};
use serde::{Deserialize, Serialize};

/// The account's currency, kind and booked balances on a page.
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
    /// Reads the facts from a report. Available balances are left out, because pending entries
    /// change them.
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
            .filter(|entry| entry.status == EntryStatus::BOOKED);
        let sum = booked.try_fold(Decimal::ZERO, |sum, entry| {
            let same = entry
                .amount
                .currency()
                .is_none_or(|own| currency.is_none_or(|currency| own == currency));
            // A single amount without a sign, or in another currency, makes the sum unknown.
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

/// Cuts a text to 35 characters, the bound of the message, because a tolerant reader also accepts
/// longer texts.
fn bounded(text: &str) -> String {
    text.chars().take(35).collect()
}

/// The balances and the sum of all pages of a walk.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    opening: Option<Decimal>,
    closing: Option<Decimal>,
    booked: Decimal,
    /// True if the pages contradict each other, as when an entry was booked between two of them.
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

/// The account's last currency, kind and balances.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Books {
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// The day of the statement that the rest is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    day: Option<Date>,
    /// The balance at the beginning of the day.
    #[serde(
        default,
        with = "optional_text",
        skip_serializing_if = "Option::is_none"
    )]
    opening: Option<Decimal>,
    /// The difference in the balances and entries of the last full walk.
    #[serde(default, with = "text", skip_serializing_if = "Decimal::is_zero")]
    gap: Decimal,
    /// The difference in the last notice.
    #[serde(default, with = "text", skip_serializing_if = "Decimal::is_zero")]
    said: Decimal,
}

impl Books {
    /// Compares the account of a page with that of earlier pages.
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
            // Balances in another currency cannot be compared with those before.
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
        // An entry that is booked during a walk causes a gap once, so only a repeated gap counts.
        let confirmed = std::mem::replace(&mut self.gap, difference) == difference;
        self.opening = Some(opening);
        if !confirmed || difference == self.said {
            return None;
        }
        self.said = difference;
        (!difference.is_zero()).then_some(AccountNotice::BalanceGap { difference })
    }
}
