//! Bookings that the judge makes up and orders, and the statement that shows them (Specification:
//! "Statement payload", "Request statement").

use super::Judge;
use super::statement::{Statement, Statements, ask};
use super::xml::{REPORT, amount, child, children, read, text};
use crate::hook::Hook;
use crate::invented::Invented;
use crate::row::Verdict;
use bankrail_values::{Currency, Decimal, parse_decimal};
use roxmltree::Node;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

/// When the statement is asked for again while bookings are missing, and how often it is asked for.
const PAUSE: Duration = Duration::from_secs(2);
const ATTEMPTS: usize = 3;

const ROWS: [(&str, &str); 6] = [
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
];

/// Orders bookings on the first account with a whole statement, and puts the statement with them in
/// its place.
pub(super) async fn judge(judge: &mut Judge, statements: &mut Statements) {
    if !ROWS.iter().any(|(id, title)| judge.wants_row(id, title)) {
        return;
    }
    let verdicts = match (
        statements
            .found
            .iter_mut()
            .find(|statement| !statement.more),
        judge.book.clone(),
    ) {
        (_, None) => Err(Verdict::NotSeen(
            "--book lets the judge order bookings".to_owned(),
        )),
        (None, _) => Err(Verdict::NotSeen("no statement has one page".to_owned())),
        (Some(first), Some(hook)) => ordered(judge, &hook, first).await,
    };
    let verdicts = verdicts.unwrap_or_else(|verdict| [(); ROWS.len()].map(|()| verdict.clone()));
    judge.rows(ROWS, verdicts);
}

/// The verdicts, or why there are none.
async fn ordered(
    judge: &mut Judge,
    hook: &Hook,
    statement: &mut Statement,
) -> Result<[Verdict; ROWS.len()], Verdict> {
    let before = Facts::of(&statement.payload);
    // From the seed, so that a run can be repeated with the same bookings.
    let bookings = made_up(&Invented::new(judge.seed), &before.currency);
    for booking in &bookings {
        let done = hook
            .order(&judge.client, &booking.order(&statement.account))
            .await;
        done.map_err(|why| Verdict::NotRun(format!("--book: {why}")))?;
    }
    let mut now = shown(judge, &statement.account, true).await?;
    // A booking may be in the statement only a moment after it was ordered.
    for _ in 1..ATTEMPTS {
        if once(&bookings, &before, &Facts::of(&now.payload)) == Verdict::Passed {
            break;
        }
        sleep(PAUSE).await;
        now = shown(judge, &statement.account, true).await?;
    }
    let after = Facts::of(&now.payload);
    let hidden = shown(judge, &statement.account, false)
        .await
        .map(|hidden| Facts::of(&hidden.payload));
    let place = std::mem::take(&mut statement.place);
    // The rows that follow see the bookings too, those about sums among them.
    *statement = Statement { place, ..now };
    let direction = each(&bookings, &after, |booking, entry| {
        let (expected, found) = (
            (booking.direction(), &*after.currency),
            (&*entry.direction, &*entry.currency),
        );
        (expected != found).then(|| {
            format!(
                "expected {} {}, found {} {}",
                expected.0, expected.1, found.0, found.1
            )
        })
    });
    let decimals = each(&bookings, &after, |booking, entry| {
        let [expected, found] = [&booking.amount, &entry.amount].map(|amount| decimals_of(amount));
        (expected != found).then(|| format!("expected {expected} decimals, found {found}"))
    });
    // Only fast payments need to show their text.
    let text = each(&bookings, &after, |booking, entry| {
        let right = entry.narrative == booking.narrative
            || (entry.narrative.is_empty() && !booking.is_fast());
        (!right).then(|| differing(&booking.narrative, &entry.narrative))
    });
    let parties = each(&bookings, &after, |booking, entry| {
        let right =
            !booking.is_fast() || (entry.party == booking.party && !entry.narrative.is_empty());
        (!right).then(|| {
            format!(
                "expected the name and a text beside a {}, found none or others",
                booking.kind
            )
        })
    });
    let neither = |booking: &Booking, entry: &Entry| {
        let shown = booking.is_fast() && (entry.has_parties || !entry.narrative.is_empty());
        shown.then(|| "expected neither RltdPties nor Ustrd, found one".to_owned())
    };
    Ok([
        once(&bookings, &before, &after),
        direction,
        match decimals {
            // The specification demands a decimal, and leaves the number of digits open.
            Verdict::Failed(why) => Verdict::Noted(why),
            verdict => verdict,
        },
        text,
        parties,
        hidden.map_or_else(
            |verdict| verdict,
            |hidden| each(&bookings, &hidden, neither),
        ),
    ])
}

/// The whole statement, with its narrative or without.
async fn shown(judge: &mut Judge, account: &str, narrative: bool) -> Result<Statement, Verdict> {
    let got = ask(
        judge,
        &json!({ "accountId": account, "includeNarrative": narrative }),
    )
    .await;
    let statement = got.map_err(|error| Verdict::NotRun(error.to_string()))??;
    let several = || Verdict::NotSeen("the statement has several pages".to_owned());
    if statement.more {
        Err(several())
    } else {
        Ok(statement)
    }
}

fn decimals_of(amount: &str) -> usize {
    amount
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len())
}

/// A booking, as it is ordered.
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

/// Bookings with amounts that hardly any other entry has: small and large ones, fast payments and
/// others, two alike.
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
        // The last digit is no zero, so that it is not lost by a number that is one.
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

/// The members of a statement, as written.
#[derive(Default)]
struct Facts {
    currency: String,
    entries: Vec<Entry>,
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
        // White space at the ends of a piece is a part of the text.
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

fn once(bookings: &[Booking], before: &Facts, after: &Facts) -> Verdict {
    for booking in bookings {
        let value = booking.value();
        let expected = before.count(value)
            + bookings
                .iter()
                .filter(|other| other.value() == value)
                .count();
        let found = after.count(value);
        if found != expected {
            let amount = &booking.amount;
            return Verdict::Failed(format!(
                "expected {expected} entries of {amount}, found {found}"
            ));
        }
    }
    Verdict::Passed
}

/// The first thing that is wrong about an entry of a booking.
fn each(
    bookings: &[Booking],
    facts: &Facts,
    wrong: impl Fn(&Booking, &Entry) -> Option<String>,
) -> Verdict {
    let mut seen = false;
    for booking in bookings {
        let Some(entry) = facts
            .entries
            .iter()
            // The last one, because an earlier booking may have the same amount.
            .rfind(|entry| entry.value() == Some(booking.value()))
        else {
            continue;
        };
        seen = true;
        if let Some(why) = wrong(booking, entry) {
            return Verdict::Failed(format!("entry of {}: {why}", booking.amount));
        }
    }
    if seen {
        Verdict::Passed
    } else {
        Verdict::NotSeen("no booking that was ordered is in the statement".to_owned())
    }
}

/// Where two texts begin to differ.
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
    fn what_is_lost_doubled_or_changed_is_found() {
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
        assert_eq!(once(&bookings, &before, &after), Verdict::Passed);
        assert_eq!(each(&bookings, &after, |_, _| None), Verdict::Passed);
        after.entries.pop();
        assert!(matches!(
            once(&bookings, &before, &after),
            Verdict::Failed(_)
        ));
        assert!(matches!(
            each(&bookings, &before, |_, _| None),
            Verdict::NotSeen(_)
        ));
        assert!(differing("a👍b", "a👍c").ends_with("from character 3 on"));
    }
}
