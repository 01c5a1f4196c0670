//! A table for terminals, in bounded memory.

use super::super::{Row, parts, text};
use crate::failure::Failure;
use crate::output::{Output, Style};
use crate::text::{cut, pad_left, pad_right, shown, width};
use bankrail::camt052::{Account, Entry};
use bankrail::values::Decimal;

/// The number of rows that decide the widths of columns. Further rows are printed as they are read.
const MEASURED_ROWS: usize = 1000;
/// The least width of the narrative before other columns are left out.
const MIN_NARRATIVE: usize = 30;
/// The minimum width of the counterparty before that is left out.
const MIN_COUNTERPARTY: usize = 12;
/// The indices of columns that may be left out or cut.
const VALUE_DATE: usize = 1;
const BALANCE: usize = 3;
const CODE: usize = 5;
const COUNTERPARTY: usize = 6;
const NARRATIVE: usize = 7;
/// The columns of numbers, which are aligned to the right.
const NUMBERS: [usize; 2] = [2, BALANCE];

/// The texts of the columns.
type Cells = [String; COLUMNS];

const COLUMNS: usize = 8;

/// The titles of the columns. The balance has another one where it is a sum.
const TITLES: [&str; COLUMNS] = [
    "Booked",
    "Value date",
    "Amount",
    "Balance",
    "Status",
    "Code",
    "Counterparty",
    "Narrative and references",
];

/// A table whose rows are printed when the widths of the columns are known.
pub(super) struct Table {
    titles: Cells,
    rows: Vec<Cells>,
    /// The widths of the columns; `None` while rows are collected.
    widths: Option<[usize; COLUMNS]>,
    /// The width of the terminal in columns, if lines must fit.
    fit: Option<usize>,
    empty: bool,
}

impl Table {
    pub(super) fn new(output: &Output) -> Self {
        let fit = output.columns();
        Self {
            titles: TITLES.map(str::to_owned),
            rows: Vec::new(),
            widths: None,
            fit,
            empty: true,
        }
    }

    pub(super) fn begin(&mut self, balance: &str) {
        self.titles[BALANCE] = balance.to_owned();
        (self.widths, self.empty) = (None, true);
    }

    pub(super) fn entry(
        &mut self,
        entry: &Entry,
        account: Option<&Account>,
        balance: Option<Decimal>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        self.row(cells(&Row::of(entry, account), balance), output)?;
        for part in parts(entry, account) {
            let mut cells = cells(&part, None);
            cells[0].push('└');
            self.row(cells, output)?;
        }
        Ok(())
    }

    fn row(&mut self, cells: Cells, output: &mut Output) -> Result<(), Failure> {
        self.empty = false;
        if let Some(widths) = &self.widths {
            return self.print(&cells, widths, None, output);
        }
        self.rows.push(cells);
        if self.rows.len() < MEASURED_ROWS {
            Ok(())
        } else {
            self.print_collected(output)
        }
    }

    /// Returns true when the report has had no entry.
    pub(super) fn is_empty(&self) -> bool {
        self.empty
    }

    /// Prints the collected rows.
    pub(super) fn finish(&mut self, output: &mut Output) -> Result<(), Failure> {
        if self.empty {
            return output.line("no entries");
        }
        if self.widths.is_none() {
            self.print_collected(output)
        } else {
            Ok(())
        }
    }

    fn print_collected(&mut self, output: &mut Output) -> Result<(), Failure> {
        let mut widths = self.titles.each_ref().map(|title| width(title));
        for row in &self.rows {
            for (most, cell) in widths.iter_mut().zip(row) {
                *most = (*most).max(width(cell));
            }
        }
        // Shortens the counterparty to leave room for the narrative.
        if self.fit.is_some() {
            widths[COUNTERPARTY] = widths[COUNTERPARTY].min(24);
            widths[CODE] = widths[CODE].min(20);
        }
        if let Some(columns) = self.fit {
            fit(&mut widths, columns);
        }
        let mut titles = self.titles.clone();
        if widths[VALUE_DATE] == 0 {
            "Day".clone_into(&mut titles[0]);
        }
        self.print(&titles, &widths, Some(Style::Dim), output)?;
        for row in std::mem::take(&mut self.rows) {
            self.print(&row, &widths, None, output)?;
        }
        self.widths = Some(widths);
        Ok(())
    }

    fn print(
        &self,
        cells: &Cells,
        widths: &[usize; COLUMNS],
        style: Option<Style>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let mut line = String::new();
        for (index, (cell, &columns)) in cells.iter().zip(widths).enumerate() {
            // Skips a column that is left out.
            if columns == 0 {
                continue;
            }
            if index > 0 {
                line.push_str("  ");
            }
            // A pending entry has no booking day, so its value date is shown.
            let cell = match (index, cells) {
                (0, [booked, value_date, ..]) if widths[VALUE_DATE] == 0 && booked.is_empty() => {
                    value_date
                }
                _ => cell,
            };
            let text = if self.fit.is_some() {
                cut(cell, columns)
            } else {
                cell.as_str().into()
            };
            if NUMBERS.contains(&index) {
                // Amounts are never cut.
                pad_left(cell, columns, &mut line);
            } else {
                pad_right(&text, columns, &mut line);
            }
        }
        let line = line.trim_end();
        let kept = widths
            .iter()
            .take(COUNTERPARTY)
            .map(|width| width + 2)
            .sum();
        let line = self
            .fit
            .map_or(line.into(), |columns| cut(line, columns.max(kept)));
        match style {
            Some(style) => output.line(output.paint(style, &line)),
            None => output.line(line),
        }
    }
}

/// Fits the columns into the terminal's. Day, amount and status stay, because without them a
/// pending entry looks like a booked one; the narrative is cut last.
fn fit(widths: &mut [usize; COLUMNS], columns: usize) {
    let narrative = widths[NARRATIVE].min(MIN_NARRATIVE);
    let excess = |widths: &[usize; COLUMNS]| {
        let others = widths.iter().take(NARRATIVE).filter(|width| **width > 0);
        (others.map(|width| width + 2).sum::<usize>() + narrative).saturating_sub(columns)
    };
    for hidden in [BALANCE, CODE, VALUE_DATE] {
        if excess(widths) > 0
            && let Some(width) = widths.get_mut(hidden)
        {
            *width = 0;
        }
    }
    let counterparty = widths[COUNTERPARTY].saturating_sub(excess(widths));
    widths[COUNTERPARTY] = if counterparty < MIN_COUNTERPARTY {
        0
    } else {
        counterparty
    };
}

fn cells(row: &Row, balance: Option<Decimal>) -> Cells {
    let references = row.reference_text();
    let narrative = match (row.narrative.as_str(), references.is_empty()) {
        (narrative, true) => narrative.to_owned(),
        ("", false) => format!("({references})"),
        (narrative, false) => format!("{narrative} ({references})"),
    };
    let cells = [
        &row.booked,
        &row.value_date,
        &format!("{} {}", row.amount, row.currency),
        &text(balance),
        &row.status,
        &row.code,
        &row.parties(),
        &narrative,
    ];
    cells.map(|cell| shown(cell.trim()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn day_amount_and_status_stay_and_the_narrative_is_cut_last() {
        for (columns, expected) in [
            (300, [10, 10, 10, 10, 6, 14, 24, 50]),
            (128, [10, 10, 10, 10, 6, 14, 24, 50]),
            (127, [10, 10, 10, 0, 6, 14, 24, 50]),
            (115, [10, 10, 10, 0, 6, 0, 24, 50]),
            (99, [10, 0, 10, 0, 6, 0, 24, 50]),
            (80, [10, 0, 10, 0, 6, 0, 16, 50]),
            (40, [10, 0, 10, 0, 6, 0, 0, 50]),
        ] {
            let mut widths = [10, 10, 10, 10, 6, 14, 24, 50];
            fit(&mut widths, columns);
            assert_eq!(widths, expected, "{columns}");
        }
    }
}
