//! A foreign implementation reads what is written here, and the other way round.

use crate::invented::{full, numbered, strict};
use crate::payload_table;
use crate::shared::shared;
use crate::tree::assert_same_leaves;
use bankrail_camt052::Document;
use std::process::Command;

/// Invented documents that are handed over.
const INVENTED: u64 = 300;

#[test]
#[ignore = "needs python3 with pyiso20022 and xsdata"]
fn both_read_what_the_other_writes() {
    let folder = std::env::temp_dir().join(format!("camt052-pyiso20022-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut documents = vec![("built.xml".to_owned(), payload_table::full())];
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
            format!("invented-{index}.xml"),
            document.to_xml().unwrap().replace("&#13;", " "),
        )
    }));
    let paths: Vec<_> = documents
        .iter()
        .map(|(name, _)| folder.join(name))
        .collect();
    for (path, (_, xml)) in paths.iter().zip(&documents) {
        std::fs::write(path, xml).unwrap();
    }
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../camt/tests/pyiso20022_rewrite.py"
    );
    let run = Command::new("python3")
        .arg(script)
        .args(&paths)
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    for (path, (name, xml)) in paths.iter().zip(&documents) {
        let again = std::fs::read_to_string(path.with_extension("xml.again")).unwrap();
        assert_same_leaves(name, xml, &again);
        let parsed = Document::parse_with(&again, &strict())
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_same_leaves(name, xml, &parsed.document.to_xml().unwrap());
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
