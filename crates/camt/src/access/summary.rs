//! Counts and sums over entries.

use crate::{CountAndSum, CountSumAndNet, Direction, Entry, NetAmount, Summary};
use bankrail_iso20022::{NonNegativeDecimal, PlainDecimal};
use bankrail_values::Decimal;

/// The summary of entries: counts, sums and net, zeros when there are none. Beside entries, a sum of zero has the
/// decimals of the sum of all.
///
/// `None` when a sum has more digits than the schema allows, or an entry is neither credit nor debit.
#[must_use]
pub fn summary_of(entries: &[Entry]) -> Option<Summary> {
    summary_of_amounts(entries.iter().map(|entry| (&entry.direction, entry.amount.value())))
}

/// The summary of entries of which only directions and amounts are known, as [`summary_of`] makes it.
#[must_use]
pub fn summary_of_amounts<'a>(amounts: impl IntoIterator<Item = (&'a Direction, Decimal)>) -> Option<Summary> {
    let mut credits = Total::default();
    let mut debits = Total::default();
    for (direction, amount) in amounts {
        match direction {
            Direction::Credit => credits.add(amount)?,
            Direction::Debit => debits.add(amount)?,
            Direction::Other(_) => return None,
        }
    }
    let net = credits.sum.checked_sub(debits.sum)?;
    let sum = credits.sum.checked_add(debits.sum)?;
    for total in [&mut credits, &mut debits] {
        // A sum of no entries has the decimals of the sum of all: 0.00 beside 219.50.
        if total.count == 0 {
            total.sum.rescale(sum.scale());
        }
    }
    let direction = if net.is_sign_negative() && !net.is_zero() { Direction::Debit } else { Direction::Credit };
    let all = CountSumAndNet {
        entries: Some((credits.count + debits.count).into()),
        sum: Some(PlainDecimal::new(sum).ok()?),
        net: Some(NetAmount::new(NonNegativeDecimal::new(net.abs()).ok()?, direction)),
        ..CountSumAndNet::default()
    };
    Some(Summary {
        all: Some(all),
        credits: Some(credits.into_part()?),
        debits: Some(debits.into_part()?),
        ..Summary::default()
    })
}

/// A running count and sum.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Total {
    pub(crate) count: u64,
    pub(crate) sum: Decimal,
}

impl Total {
    pub(crate) fn add(&mut self, value: Decimal) -> Option<()> {
        // Count also when the sum is out of range.
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
