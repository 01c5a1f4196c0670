//! A table for terminals, in bounded memory.

use super::super::row::{Row, TITLES, parts};
use crate::failure::Failure;
use crate::output::{Output, Style};
use crate::text::{cut, pad_left, pad_right, shown, width};
use bankrail::camt052::{Account, Entry};
use bankrail::values::Decimal;

/// The number of rows that decide the widths of columns. Further rows are printed as they are read.
const MEASURED: usize = 1000;
/// The least width of the narrative before other columns are left out.
const NARRATIVE: usize = 30;
/// The columns of numbers, which end where the column does: amount and balance.
const NUMBERS: [usize; 2] = [2, 3];

/// The texts under the [`TITLES`], then narrative and references.
type Cells = [String; COLUMNS];

const COLUMNS: usize = TITLES.len() + 1;

/// A table that is printed once it is known how wide its columns are.
pub(super) struct Table {
    titles: Cells,
    rows: Vec<Cells>,
    /// `None` while rows are collected.
    widths: Option<[usize; COLUMNS]>,
    /// The columns of the terminal, if lines are to fit.
    fit: Option<usize>,
    empty: bool,
}

impl Table {
    pub(super) fn new(wide: bool, output: &Output) -> Self {
        let fit = output.columns().filter(|_| !wide);
        let [
            booked,
            value_date,
            amount,
            balance,
            status,
            code,
            counterparty,
        ] = TITLES;
        let narrative = "Narrative and references";
        let titles = [
            booked,
            value_date,
            amount,
            balance,
            status,
            code,
            counterparty,
            narrative,
        ]
        .map(str::to_owned);
        Self {
            titles,
            rows: Vec::new(),
            widths: None,
            fit,
            empty: true,
        }
    }

    pub(super) fn begin(&mut self, balance: &str) {
        self.titles[3] = balance.to_owned();
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
        if self.rows.len() < MEASURED {
            Ok(())
        } else {
            self.print_collected(output)
        }
    }

    /// True when the report has had no entry.
    pub(super) fn is_empty(&self) -> bool {
        self.empty
    }

    /// Prints what has been collected.
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
        // The counterparty leaves room for the narrative.
        if self.fit.is_some() {
            widths[6] = widths[6].min(24);
            widths[5] = widths[5].min(20);
        }
        if let Some(columns) = self.fit {
            hide(&mut widths, columns);
        }
        self.print(&self.titles, &widths, Some(Style::Dim), output)?;
        for row in std::mem::take(&mut self.rows) {
            self.print(&row, &widths, None, output)?;
        }
        self.widths = Some(widths);
        Ok(())
    }

    fn print(
        &self,
        cells: &[String],
        widths: &[usize],
        style: Option<Style>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let mut line = String::new();
        for (index, (cell, &columns)) in cells.iter().zip(widths).enumerate() {
            // A column that is left out.
            if columns == 0 {
                continue;
            }
            if index > 0 {
                line.push_str("  ");
            }
            let text = if self.fit.is_some() {
                cut(cell, columns)
            } else {
                cell.as_str().into()
            };
            if NUMBERS.contains(&index) {
                // An amount is never cut.
                pad_left(cell, columns, &mut line);
            } else {
                pad_right(&text, columns, &mut line);
            }
        }
        let line = line.trim_end();
        let line = self.fit.map_or(line.into(), |columns| cut(line, columns));
        match style {
            Some(style) => output.line(output.paint(style, &line)),
            None => output.line(line),
        }
    }
}

/// Leaves out what one can do without, until the narrative has room: value date, status, sum so
/// far.
fn hide(widths: &mut [usize; COLUMNS], columns: usize) {
    for hidden in [1, 4, 3] {
        let taken: usize = widths
            .iter()
            .take(COLUMNS - 1)
            .filter(|width| **width > 0)
            .map(|width| width + 2)
            .sum();
        match widths.get_mut(hidden) {
            Some(width) if taken + NARRATIVE > columns => *width = 0,
            _ => break,
        }
    }
}

fn cells(row: &Row, balance: Option<Decimal>) -> Cells {
    let references = row.reference_text();
    let narrative = match (row.narrative.as_str(), references.is_empty()) {
        (narrative, true) => narrative.to_owned(),
        ("", false) => format!("({references})"),
        (narrative, false) => format!("{narrative} ({references})"),
    };
    let [
        booked,
        value_date,
        amount,
        balance,
        status,
        code,
        counterparty,
    ] = row.cells(balance);
    [
        booked,
        value_date,
        amount,
        balance,
        status,
        code,
        counterparty,
        narrative,
    ]
    .map(|cell| shown(cell.trim()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_left_out_one_by_one_until_the_narrative_fits() {
        let wanted = [10, 10, 10, 10, 6, 14, 24, 50];
        for (columns, hidden) in [
            (300, &[][..]),
            (128, &[]),
            (127, &[1]),
            (115, &[1, 4]),
            (107, &[1, 4, 3]),
            (40, &[1, 4, 3]),
        ] {
            let mut widths = wanted;
            hide(&mut widths, columns);
            let left_out: Vec<usize> = (0..COLUMNS).filter(|index| widths[*index] == 0).collect();
            let mut hidden = hidden.to_vec();
            hidden.sort_unstable();
            assert_eq!(left_out, hidden, "{columns}");
        }
    }
}
