use crate::documents::{entry, three, xml};
use crate::{Folder, run, run_with};

/// The cells of each row, read as RFC 4180 says.
fn rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match (c, quoted) {
            ('"', true) if characters.peek() == Some(&'"') => cell.push(characters.next().unwrap()),
            ('"', _) => quoted = !quoted,
            (',', false) => row.push(std::mem::take(&mut cell)),
            ('\r', false) => {
                assert_eq!(characters.next(), Some('\n'));
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            (c, _) => cell.push(c),
        }
    }
    assert!(row.is_empty() && cell.is_empty() && !quoted);
    rows
}

#[test]
fn each_entry_is_a_row_with_a_signed_amount() {
    let rows = rows(&run_with(["statement", "csv", "-"], three().as_bytes()).fine());
    let column = |name: &str| rows[0].iter().position(|column| column == name).unwrap();
    let values = |name: &str| {
        rows[1..]
            .iter()
            .map(|row| row[column(name)].as_str())
            .collect::<Vec<_>>()
    };
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    assert_eq!(values("amount"), ["25.00", "-12.50", "0.75"]);
    assert_eq!(values("direction"), ["CRDT", "DBIT", "CRDT"]);
    assert_eq!(values("number"), ["1", "2", "3"]);
    assert_eq!(
        values("counterparty"),
        ["JANE CITIZEN", "Power & Light", ""]
    );
    assert_eq!(values("narrative"), ["rent 👍", "", ""]);
    assert_eq!(
        values("references"),
        ["AcctSvcrRef=REF-1", "EndToEndId=E2E-1", ""]
    );
    assert_eq!(values("currency"), ["AUD"; 3]);
    assert_eq!(values("account"), [crate::documents::ACCOUNT; 3]);
}

#[test]
fn every_column_is_documented() {
    let help = run(["statement", "csv", "--help"]).fine();
    for column in &rows(&run_with(["statement", "csv", "-"], three().as_bytes()).fine())[0] {
        assert!(help.contains(column.as_str()), "{column}\n{help}");
    }
}

#[test]
fn no_text_is_a_formula_and_amounts_are_numbers() {
    let texts = [
        "=1+1",
        "+61 2",
        "-cmd",
        "@SUM(A1)",
        "\tx",
        "\n=1",
        "＝1",
        "a,b\"c\nd",
    ];
    let entries = texts.map(|text| entry("-1.00").narrative(text).creditor(text.trim()));
    let rows = rows(&run_with(["statement", "csv", "-"], xml(entries).as_bytes()).fine());
    for (row, text) in rows[1..].iter().zip(texts) {
        let guarded = if text.starts_with('a') {
            text.to_owned()
        } else {
            format!("'{text}")
        };
        assert_eq!(row.last().unwrap(), &guarded);
        assert!(row.contains(&"-1.00".to_owned()));
        assert!(
            !row.iter()
                .any(|cell| cell != "-1.00" && cell.starts_with(['=', '+', '-', '@', '\t'])),
            "{row:?}"
        );
    }
}

#[test]
fn the_delimiter_can_be_another() {
    let folder = Folder::new();
    let file = folder.file("r.xml", three());
    assert!(
        run(["statement", "csv", "--delimiter", ";", &file])
            .fine()
            .starts_with("file;account;")
    );
    assert!(
        run(["statement", "csv", "--delimiter", "tab", &file])
            .fine()
            .starts_with("file\taccount\t")
    );
    assert_eq!(
        run(["statement", "csv", "--delimiter", "-", &file]).status,
        2
    );
}

#[test]
fn an_entry_without_a_row_is_said() {
    let wrong = xml([entry("1.00"), entry("2.00")]).replacen(">1.00</Amt>", ">one</Amt>", 1);
    let run = run_with(["statement", "csv", "-"], wrong.as_bytes());
    assert_eq!((run.status, rows(&run.out).len()), (1, 2));
    assert!(run.err.contains("the entry has no row"), "{}", run.err);
}
