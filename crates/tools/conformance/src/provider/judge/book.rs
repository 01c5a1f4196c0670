//! Bookings that the judge invents and orders, and the statement that shows them (Specification:
//! "Statement payload", "Request statement").

use super::checks::{ABSENT, combined, expect};
use super::statement::ask;
use super::xml::{REPORT, amount, child, children, read, text};
use super::{ProviderJudge, Statement, Statements};
use crate::hook::Hook;
use crate::invented::Invented;
use crate::row::Verdict;
use bankrail_values::{Currency, Decimal, parse_decimal};
use roxmltree::Node;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tokio::time::sleep;

/// The number of requests for a statement while bookings are missing, and of the pauses that
/// divide the longest time for an answer.
const ATTEMPTS: usize = 3;
const PAUSES: u32 = 15;

const ROWS: [(&str, &str); 7] = [
    (
        "S6.24",
        "each booking that was ordered is one entry, and two that are alike are two",
    ),
    (
        "S6.25",
        "a booking that was ordered has its direction and the currency of the account",
    ),
    (
        "S6.25",
        "a booking that was ordered has the decimals of its currency",
    ),
    (
        "S6.33",
        "the text of a booking that was ordered is there to the character, emoji too",
    ),
    (
        "S19.15",
        "a fast payment that was ordered has its text and the name of the other party",
    ),
    (
        "S19.17",
        "a fast payment that was ordered has neither with includeNarrative false",
    ),
    (
        "S6.17",
        "a balance has the direction that bookings that were ordered show",
    ),
];

/// Orders bookings on each account with a whole statement, and puts the statement with them in its
/// place.
pub(super) async fn judge(judge: &mut ProviderJudge, statements: &mut Statements) {
    if !ROWS
        .iter()
        .any(|(id, title)| judge.wanted.has_row(id, title))
    {
        return;
    }
    let Some(hook) = judge.book.clone() else {
        let unseen = Verdict::not_seen("--book lets the judge order bookings");
        return judge.same_rows(ROWS, &unseen);
    };
    let whole = statements.found.iter_mut().filter(|found| !found.more);
    let mut whole: Vec<_> = whole.collect();
    // One account of each currency comes before the second of any.
    let mut currencies = BTreeSet::new();
    whole.sort_by_cached_key(|found| !currencies.insert(Facts::of(&found.payload).currency));
    // Each statement is asked for twice.
    let left = judge.statements.left();
    let affordable = (left.saturating_sub(statements.kept) / 2).max(1);
    let left_out = whole.len().saturating_sub(affordable);
    let mut unjudged = match (whole.len(), left_out) {
        (0, _) => Some(Verdict::not_seen("no statement has one page")),
        (_, 0) => None,
        (_, 1) => Some(Verdict::not_run(
            "--budget: the statements do not last for 1 account",
        )),
        _ => Some(Verdict::NotRun(format!(
            "--budget: the statements do not last for {left_out} accounts"
        ))),
    };
    let mut found: [Vec<(String, Verdict)>; ROWS.len()] = Default::default();
    // Bookings hide what a statement has wrong without them, such as its sums without entries.
    let mut before = Vec::new();
    for statement in whole.into_iter().take(affordable) {
        before.push(statement.clone());
        match ordered(judge, &hook, statement).await {
            Ok(rows) => found
                .iter_mut()
                .zip(rows)
                .for_each(|(all, row)| all.extend(row)),
            Err(verdict) => unjudged = Some(verdict),
        }
    }
    statements.before = before;
    let unseen = Verdict::not_seen("no booking that was ordered is in the statement");
    let verdicts = found.map(|found| match (combined(found, &unseen), &unjudged) {
        (Verdict::Passed | Verdict::NotSeen(_), Some(unjudged)) => unjudged.clone(),
        (verdict, _) => verdict,
    });
    judge.rows(ROWS, verdicts);
}

/// Judges the bookings of one account, for each row, or returns the reason why it could not.
async fn ordered(
    judge: &mut ProviderJudge,
    hook: &Hook,
    statement: &mut Statement,
) -> Result<[Vec<(String, Verdict)>; ROWS.len()], Verdict> {
    let before = Facts::of(&statement.payload);
    // Invents the bookings from the seed, so that a run can be repeated with the same ones.
    let bookings = made_up(&Invented::new(judge.seed), &before.currency);
    for booking in &bookings {
        let order = booking.order(&statement.account);
        let done = hook.order(&judge.client, judge.timeout, &order).await;
        done.map_err(|why| Verdict::NotRun(format!("--book: {why}")))?;
    }
    let mut now = shown(judge, &statement.account, true).await?;
    // A booking may appear in the statement with a delay.
    for _ in 1..ATTEMPTS {
        if bookings
            .iter()
            .all(|one| one.is_once(&bookings, &before, &Facts::of(&now.payload)))
        {
            break;
        }
        sleep(judge.timeout / PAUSES).await;
        now = shown(judge, &statement.account, true).await?;
    }
    let after = Facts::of(&now.payload);
    let hidden = Facts::of(&shown(judge, &statement.account, false).await?.payload);
    let place = std::mem::take(&mut statement.place);
    // The following rows, such as those about sums, see the bookings as well.
    *statement = Statement { place, ..now };
    let at = |booking: &Booking| format!("{}, entry of {}", statement.place, booking.amount);
    let once = bookings.iter().map(|booking| {
        let value = booking.value();
        let expected = booking.expected(&bookings, &before);
        let found = after.count(value);
        let verdict = Verdict::when(found == expected, || {
            format!("expected {expected} entries, found {found}")
        });
        (at(booking), verdict)
    });
    let each = |facts: &Facts, check: Check| -> Vec<_> {
        // Searches for the last entry, because an earlier booking may have the same amount.
        let entry = |booking: &Booking| {
            let mut entries = facts.entries.iter().rev();
            entries.find(|entry| entry.value() == Some(booking.value()))
        };
        let seen = bookings.iter().filter_map(|one| Some((one, entry(one)?)));
        seen.map(|(booking, entry)| (at(booking), check(booking, entry, &after.currency)))
            .collect()
    };
    Ok([
        once.collect(),
        each(&after, |booking, entry, currency| {
            let expected = format!("{} {currency}", booking.direction());
            let found = format!("{} {}", entry.direction, entry.currency);
            expect(expected == found, &expected, Some(&found))
        }),
        each(&after, |booking, entry, _| {
            let [expected, found] =
                [&booking.amount, &entry.amount].map(|amount| decimals_of(amount));
            if expected == found {
                return Verdict::Passed;
            }
            // The specification demands a decimal, and leaves the number of digits open.
            Verdict::Noted(format!("expected {expected} decimals, found {found}"))
        }),
        each(&after, |booking, entry, _| {
            // Only fast payments must show their text.
            if entry.narrative.is_empty() && !booking.is_fast() {
                return ABSENT;
            }
            Verdict::when(entry.narrative == booking.narrative, || {
                differing(&booking.narrative, &entry.narrative)
            })
        }),
        each(&after, |booking, entry, _| {
            let right = entry.party == booking.party && !entry.narrative.is_empty();
            booking.if_fast(right, "the name and a text, found none or others")
        }),
        each(&hidden, |booking, entry, _| {
            let right = !entry.has_parties && entry.narrative.is_empty();
            booking.if_fast(right, "neither RltdPties nor Ustrd, found one")
        }),
        vec![(statement.place.clone(), moved(&bookings, &before, &after))],
    ])
}

/// Wrong if the balances before and after the bookings fit them only with another direction of one
/// of the two. Balances that do not fit at all may have other reasons.
fn moved(bookings: &[Booking], before: &Facts, after: &Facts) -> Verdict {
    let signed = bookings.iter().map(|booking| match booking.direction() {
        "CRDT" => booking.value(),
        _ => -booking.value(),
    });
    let net: Decimal = signed.sum();
    let (before, after) = (before.balance, after.balance);
    let turned = [before + after, -before - after, before - after];
    if after - before == net {
        Verdict::Passed
    } else if turned.contains(&net) {
        Verdict::failed("expected DBIT for an overdraft and CRDT otherwise, found the other")
    } else {
        ABSENT
    }
}

/// A check of the entry of a booking in an account of this currency.
type Check = fn(&Booking, &Entry, &str) -> Verdict;

/// The whole statement, with its narrative or without.
async fn shown(
    judge: &mut ProviderJudge,
    account: &str,
    narrative: bool,
) -> Result<Statement, Verdict> {
    let got = ask(
        judge,
        &json!({ "accountId": account, "includeNarrative": narrative }),
    )
    .await;
    let statement = got.map_err(|error| Verdict::NotRun(error.to_string()))??;
    if statement.more {
        Err(Verdict::not_seen("the statement has several pages"))
    } else {
        Ok(statement)
    }
}

fn decimals_of(amount: &str) -> usize {
    amount
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len())
}

/// A booking to order.
#[derive(Clone)]
struct Booking {
    kind: &'static str,
    amount: String,
    narrative: String,
    party: String,
}

impl Booking {
    fn direction(&self) -> &'static str {
        if self.kind.ends_with("_in") {
            "CRDT"
        } else {
            "DBIT"
        }
    }

    fn is_fast(&self) -> bool {
        self.kind.starts_with("fast")
    }

    fn value(&self) -> Decimal {
        parse_decimal(&self.amount).unwrap_or_default()
    }

    /// The verdict on a fast payment.
    fn if_fast(&self, right: bool, expected: &str) -> Verdict {
        if !self.is_fast() {
            return ABSENT;
        }
        Verdict::when(right, || format!("expected for a {} {expected}", self.kind))
    }

    /// Returns the number of entries with the booking's amount that must exist.
    fn expected(&self, bookings: &[Self], before: &Facts) -> usize {
        let alike = bookings
            .iter()
            .filter(|other| other.value() == self.value());
        before.count(self.value()) + alike.count()
    }

    fn is_once(&self, bookings: &[Self], before: &Facts, after: &Facts) -> bool {
        after.count(self.value()) == self.expected(bookings, before)
    }

    fn order(&self, account: &str) -> Value {
        json!({
            "account": account,
            "amount": self.amount,
            "kind": self.kind,
            "narrative": self.narrative,
            "counterparty": self.party,
        })
    }
}

/// Invents bookings with rare amounts: small and large ones, fast payments and others, and two
/// equal ones.
fn made_up(invented: &Invented, currency: &str) -> Vec<Booking> {
    let units = Currency::parse(currency)
        .ok()
        .and_then(|currency| currency.minor_units());
    let decimals = units.map_or(2, usize::from);
    let booking = |kind, most: u64, text: &str| {
        let (whole, part) = (
            most + invented.number() % most,
            invented.number().to_string(),
        );
        // The last digit is not zero, so that it is not lost where an amount is a JSON number.
        let part = part.get(..decimals.saturating_sub(1)).unwrap_or_default();
        let amount = if decimals == 0 {
            whole.to_string()
        } else {
            format!("{whole}.{part}7")
        };
        let number = invented.number() >> 48;
        Booking {
            kind,
            amount,
            narrative: format!("{text} {number}"),
            party: format!("Jarrah & Sons {number}"),
        }
    };
    let twin = booking("transfer_in", 500, "two that are alike");
    vec![
        booking(
            "fast_payment_in",
            1_000,
            "👩\u{200d}👩\u{200d}👧 新年快樂 <rent & power> \"4\"",
        ),
        booking("fast_payment_out", 1_000, "“quoted” 👍🏽 café"),
        booking("transfer_in", 5_000_000, "a large one"),
        booking("transfer_out", 50, "a small one"),
        twin.clone(),
        twin,
    ]
}

/// The facts of a statement, as written.
#[derive(Default)]
struct Facts {
    currency: String,
    entries: Vec<Entry>,
    /// The balance, negative for a debit, and zero if there is no balance.
    balance: Decimal,
}

struct Entry {
    amount: String,
    currency: String,
    direction: String,
    narrative: String,
    /// The debtor of a credit, the creditor of a debit.
    party: String,
    has_parties: bool,
}

impl Facts {
    fn of(payload: &str) -> Self {
        let facts = read(payload, REPORT, |report| Self {
            currency: text(report, "Acct/Ccy").unwrap_or_default().to_owned(),
            entries: children(report, "Ntry").map(Entry::of).collect(),
            balance: match (
                amount(text(report, "Bal/Amt")),
                text(report, "Bal/CdtDbtInd"),
            ) {
                (Some(found), Some("DBIT")) => -found,
                (found, _) => found.unwrap_or_default(),
            },
        });
        facts.unwrap_or_default()
    }

    fn count(&self, value: Decimal) -> usize {
        self.entries
            .iter()
            .filter(|entry| entry.value() == Some(value))
            .count()
    }
}

impl Entry {
    fn of(entry: Node<'_, '_>) -> Self {
        let own = |path: &str| text(entry, path).unwrap_or_default().to_owned();
        let direction = own("CdtDbtInd");
        let currency = child(entry, "Amt")
            .and_then(|amount| amount.attribute("Ccy"))
            .unwrap_or_default()
            .to_owned();
        let party = own(if direction == "DBIT" {
            "NtryDtls/TxDtls/RltdPties/Cdtr/Nm"
        } else {
            "NtryDtls/TxDtls/RltdPties/Dbtr/Nm"
        });
        // White space at the ends of a piece belongs to the text.
        let remittance = child(entry, "NtryDtls/TxDtls/RmtInf");
        let pieces = remittance
            .into_iter()
            .flat_map(|found| children(found, "Ustrd"));
        let narrative = pieces.filter_map(|piece| piece.text()).collect();
        let has_parties = child(entry, "NtryDtls/TxDtls/RltdPties").is_some();
        Self {
            amount: own("Amt"),
            currency,
            direction,
            narrative,
            party,
            has_parties,
        }
    }

    fn value(&self) -> Option<Decimal> {
        amount(Some(&self.amount))
    }
}

/// Describes the place where two texts begin to differ.
fn differing(expected: &str, found: &str) -> String {
    let place = expected
        .chars()
        .zip(found.chars())
        .take_while(|(one, other)| one == other)
        .count();
    format!(
        "expected the text that was ordered, found one that differs from character {} on",
        place + 1
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bookings_have_the_decimals_of_their_currency_and_two_are_alike() {
        for (currency, decimals) in [("AUD", 2), ("VND", 0), ("KWD", 3), ("?", 2)] {
            let bookings = made_up(&Invented::new(7), currency);
            for booking in &bookings {
                assert_eq!(decimals_of(&booking.amount), decimals, "{}", booking.amount);
            }
            assert_eq!(bookings[4].order("1"), bookings[5].order("1"));
        }
    }

    #[test]
    fn what_is_lost_or_doubled_is_found() {
        let entry = |booking: &Booking| Entry {
            amount: booking.amount.clone(),
            currency: "AUD".to_owned(),
            direction: booking.direction().to_owned(),
            narrative: booking.narrative.clone(),
            party: booking.party.clone(),
            has_parties: true,
        };
        let bookings = made_up(&Invented::new(7), "AUD");
        let (before, mut after) = (Facts::default(), Facts::default());
        after.entries = bookings.iter().map(entry).collect();
        let once = |after: &Facts| {
            bookings
                .iter()
                .map(|one| one.is_once(&bookings, &before, after))
                .collect::<Vec<_>>()
        };
        assert_eq!(once(&after), [true; 6]);
        // Removes one of the two equal entries.
        after.entries.pop();
        assert_eq!(once(&after), [true, true, true, true, false, false]);
        after.entries.push(entry(&bookings[0]));
        assert!(!once(&after)[0]);
        // Tests an overdraft that is stated as a credit, the same stated as a debit, and a balance
        // that does not change.
        let balanced = |balance: Decimal| Facts {
            balance,
            ..Facts::default()
        };
        let small = &bookings[3..4];
        let after = balanced(Decimal::from(-100) - small[0].value());
        let moves = |before: i64| moved(small, &balanced(before.into()), &after);
        assert!(matches!(moves(100), Verdict::Failed(_)));
        assert_eq!(moves(-100), Verdict::Passed);
        assert_eq!(moves(77), ABSENT);
        assert!(differing("a👍b", "a👍c").ends_with("from character 3 on"));
    }
}
