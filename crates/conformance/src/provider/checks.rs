//! Checks that are made on each of several statements, and are one row each.

use super::judge::{Judge, differs};
use crate::row::Verdict;

/// What a check found.
pub(super) enum Found {
    Right,
    /// The specification allows it, and it is not what is usual.
    Unusual(String),
    Wrong(String),
}

impl Found {
    /// Wrong for this reason, if there is one.
    pub(super) fn of(result: Result<(), String>) -> Self {
        result.map_or_else(Self::Wrong, |()| Self::Right)
    }

    /// Right if this holds.
    pub(super) fn when(holds: bool, expected: &str, found: Option<&str>) -> Self {
        if holds { Self::Right } else { Self::Wrong(differs(expected, found)) }
    }

    /// A text that must be there, and is usually this one.
    pub(super) fn usually(usual: &str, found: Option<&str>) -> Self {
        match found {
            Some(found) if found == usual => Self::Right,
            Some(found) if !found.trim().is_empty() => Self::Unusual(differs(usual, Some(found))),
            _ => Self::Wrong(differs(usual, found)),
        }
    }
}

/// The rows of one kind.
pub(super) struct Checks {
    rows: Vec<Check>,
}

struct Check {
    id: &'static str,
    title: &'static str,
    seen: bool,
    unusual: Option<String>,
    wrong: Option<String>,
}

impl Checks {
    pub(super) fn new(rows: &[(&'static str, &'static str)]) -> Self {
        let new =
            |(id, title): &(&'static str, &'static str)| Check { id, title, seen: false, unusual: None, wrong: None };
        Self { rows: rows.iter().map(new).collect() }
    }

    /// Enters what was found at a place, such as `statement 2`. The first of each kind is reported.
    pub(super) fn enter(&mut self, id: &str, place: &str, found: Found) {
        let row = self.rows.iter_mut().find(|row| row.id == id);
        let row = row.expect("a check is among the rows that were named");
        row.seen = true;
        match found {
            Found::Right => {}
            Found::Unusual(what) => drop(row.unusual.get_or_insert(format!("{place}: {what}"))),
            Found::Wrong(what) => drop(row.wrong.get_or_insert(format!("{place}: {what}"))),
        }
    }

    /// Adds the rows. What was never checked was not seen, for this reason.
    pub(super) fn rows(self, judge: &mut Judge, unseen: &Verdict) {
        for row in self.rows {
            let verdict = match (row.wrong, row.unusual, row.seen) {
                (Some(what), _, _) => Verdict::Failed(what),
                (None, Some(what), _) => Verdict::Noted(what),
                (None, None, true) => Verdict::Passed,
                (None, None, false) => unseen.clone(),
            };
            judge.row(row.id, row.title, verdict);
        }
    }
}
