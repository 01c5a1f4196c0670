//! Counts and sums over entries.

use crate::{CountAndSum, CountSumAndNet, Direction, Entry, NetAmount, Summary};
use bankrail_iso20022::{NonNegativeDecimal, PlainDecimal};
use bankrail_values::Decimal;

/// Returns the summary of entries: counts, sums and the net amount, all zero without entries. If
/// there are entries, a sum of zero has the decimals of the total sum.
///
/// `None` when a sum has more digits than the schema allows, or an entry is neither credit nor
/// debit.
#[must_use]
pub fn summary_of(entries: &[Entry]) -> Option<Summary> {
    summary_of_amounts(
        entries
            .iter()
            .map(|entry| (&entry.direction, entry.amount.value())),
    )
}

/// Returns the summary of entries of which only directions and amounts are known, like
/// [`summary_of`].
#[must_use]
#[doc(hidden)]
pub fn summary_of_amounts<'a>(
    amounts: impl IntoIterator<Item = (&'a Direction, Decimal)>,
) -> Option<Summary> {
    let mut summary = RunningSummary::new();
    amounts
        .into_iter()
        .for_each(|(direction, amount)| summary.add(direction, amount));
    summary.finish()
}

/// The summary of entries that are not held in memory, like [`summary_of`].
///
/// ```
/// use bankrail_camt::{Direction, RunningSummary};
/// use bankrail_values::Decimal;
/// let mut summary = RunningSummary::new();
/// summary.add(&Direction::Credit, Decimal::new(1250, 2));
/// summary.add(&Direction::Debit, Decimal::new(50, 2));
/// let all = summary.finish().and_then(|summary| summary.all).unwrap();
/// assert_eq!((all.entries.unwrap().as_str(), all.sum.unwrap().to_string()), ("2", "13.00".to_owned()));
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[doc(hidden)]
pub struct RunningSummary {
    credits: Total,
    debits: Total,
    /// True if an entry is neither credit nor debit, or a sum is out of range.
    failed: bool,
}

impl RunningSummary {
    /// Returns the summary of no entries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the direction and the amount of an entry.
    pub fn add(&mut self, direction: &Direction, amount: Decimal) {
        let added = match direction {
            Direction::Credit => self.credits.add(amount),
            Direction::Debit => self.debits.add(amount),
            Direction::Other(_) => None,
        };
        self.failed |= added.is_none();
    }

    /// Returns the summary; `None` when a sum has more digits than the schema allows, or an entry
    /// is neither credit nor debit.
    #[must_use]
    pub fn finish(self) -> Option<Summary> {
        let Self {
            mut credits,
            mut debits,
            failed: false,
        } = self
        else {
            return None;
        };
        let net = credits.sum.checked_sub(debits.sum)?;
        let sum = credits.sum.checked_add(debits.sum)?;
        for total in [&mut credits, &mut debits] {
            // A sum over no entries has the decimals of the total sum: 0.00 with 219.50.
            if total.count == 0 {
                total.sum.rescale(sum.scale());
            }
        }
        let direction = if net.is_sign_negative() && !net.is_zero() {
            Direction::Debit
        } else {
            Direction::Credit
        };
        let all = CountSumAndNet {
            entries: Some((credits.count + debits.count).into()),
            sum: Some(PlainDecimal::new(sum).ok()?),
            net: Some(NetAmount::new(
                NonNegativeDecimal::new(net.abs()).ok()?,
                direction,
            )),
            ..CountSumAndNet::default()
        };
        Some(Summary {
            all: Some(all),
            credits: Some(credits.into_part()?),
            debits: Some(debits.into_part()?),
            ..Summary::default()
        })
    }
}

/// A running count and sum.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Total {
    pub(crate) count: u64,
    pub(crate) sum: Decimal,
}

impl Total {
    pub(crate) fn add(&mut self, value: Decimal) -> Option<()> {
        // Counts even if the sum is out of range.
        self.count += 1;
        self.sum = self.sum.checked_add(value)?;
        Some(())
    }

    fn into_part(self) -> Option<CountAndSum> {
        Some(CountAndSum {
            entries: Some(self.count.into()),
            sum: Some(PlainDecimal::new(self.sum).ok()?),
            ..CountAndSum::default()
        })
    }
}
