//! Writes the lines of account reports as CSV: `dependent-csv FILE...`, to standard output.

use bankrail::camt052::Document;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut rows = csv::Writer::from_writer(std::io::stdout());
    rows.write_record([
        "account",
        "booked",
        "amount",
        "currency",
        "status",
        "counterparty",
        "text",
    ])?;
    for file in std::env::args().skip(1) {
        let xml = std::fs::read(&file).map_err(|error| format!("{file}: {error}"))?;
        let read = Document::parse(xml).map_err(|error| format!("{file}: {error}"))?;
        for report in &read.document.reports {
            let account = report.account.id.to_string();
            for line in report.lines() {
                let money = line
                    .signed_money()
                    .ok_or(format!("{file}: a line has no amount, sign or currency"))?;
                let day = line
                    .entry
                    .booking_date
                    .as_ref()
                    .map(ToString::to_string)
                    .unwrap_or_default();
                let name = line
                    .counterparty()
                    .and_then(|party| party.name.as_ref())
                    .map_or("", |name| name.as_str());
                let (amount, currency) = (money.amount().to_string(), money.currency());
                let status = line.entry.status.to_string();
                rows.write_record([
                    &account,
                    &day,
                    &amount,
                    currency.as_str(),
                    &status,
                    name,
                    &line.narrative(),
                ])?;
            }
        }
        read.findings
            .iter()
            .for_each(|finding| eprintln!("{file}: {finding}"));
    }
    rows.flush()?;
    Ok(())
}
