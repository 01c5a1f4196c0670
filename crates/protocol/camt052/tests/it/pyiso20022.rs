//! A foreign implementation reads what is written here, and the other way round.

use crate::invented::{full, numbered, strict};
use crate::payload_table;
use crate::shared::shared;
use crate::tree::assert_same_leaves;
use crate::validators::rewritten;
use bankrail_camt052::Document;

/// Invented documents that are handed over.
const INVENTED: u64 = 300;

#[test]
#[ignore = "needs python3 with pyiso20022 and xsdata"]
fn both_read_what_the_other_writes() {
    let mut documents = vec![("built".to_owned(), payload_table::full())];
    if let Some(samples) = shared("samples") {
        for file in std::fs::read_dir(samples).unwrap() {
            let path = file.unwrap().path();
            let Ok(parsed) = std::fs::read(&path)
                .map_err(drop)
                .and_then(|xml| Document::parse(xml).map_err(drop))
            else {
                continue;
            };
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            documents.push((name, parsed.document.to_xml().unwrap()));
        }
        assert!(documents.len() > 8, "{} documents", documents.len());
    }
    let invented = (0..INVENTED)
        .map(numbered)
        .chain((0..8).map(full))
        .enumerate();
    documents.extend(invented.map(|(index, document)| {
        // The other side writes a carriage return as it is, which the next reader takes for a line
        // feed.
        (
            format!("invented-{index}"),
            document.to_xml().unwrap().replace("&#13;", " "),
        )
    }));
    for ((name, xml), again) in documents.iter().zip(rewritten(&documents)) {
        assert_same_leaves(name, xml, &again);
        let parsed = Document::parse_with(&again, &strict())
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_same_leaves(name, xml, &parsed.document.to_xml().unwrap());
    }
}
