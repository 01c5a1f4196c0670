//! Prints each entry of a statement: the first program of README.md. `cargo run -p bankrail-example-print`

use bankrail::camt052::Document;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = "examples/statement.xml";
    let xml = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    let read = Document::parse(xml).map_err(|error| format!("{file}: {error}"))?;
    for report in &read.document.reports {
        for entry in &report.entries {
            let money = entry
                .signed_money()
                .ok_or("an entry has no sign or currency")?;
            println!("{money:>12}  {}  {}", entry.status, entry.narrative());
        }
    }
    read.findings
        .iter()
        .for_each(|finding| println!("{finding}"));
    Ok(())
}
