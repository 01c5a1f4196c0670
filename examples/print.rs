//! Prints each line of a statement: the first program of README.md. `cargo run --example print`

use bankrail::camt052::Document;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = "examples/statement.xml";
    let xml = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    let read = Document::parse(xml).map_err(|error| format!("{file}: {error}"))?;
    for report in &read.document.reports {
        for line in report.lines() {
            let money = line
                .signed_money()
                .ok_or("a line has no amount, sign or currency")?;
            println!("{money:>12}  {}  {}", line.entry.status, line.narrative());
        }
    }
    read.findings
        .iter()
        .for_each(|finding| println!("{finding}"));
    Ok(())
}
