use crate::documents::{entry, three, xml};
use crate::{Folder, run, run_with, text};
use bankrail::values::Decimal;

/// Reads the cells of each row by RFC 4180.
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

/// Returns the cells of a column.
fn values<'a>(rows: &'a [Vec<String>], name: &str) -> Vec<&'a str> {
    let column = rows[0].iter().position(|column| column == name).unwrap();
    rows[1..].iter().map(|row| row[column].as_str()).collect()
}

#[test]
fn each_entry_is_a_row_with_a_signed_amount() {
    let rows = rows(&run_with(["statement", "csv", "-"], three().as_bytes()).fine());
    let values = |name| values(&rows, name);
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
    let (received, issued) = ("Received Credit Transfers", "Issued Credit Transfers");
    assert_eq!(
        values("code_names"),
        [received, issued, received]
            .map(|family| format!("Payments / {family} / Domestic Credit Transfer"))
    );
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
    let narratives = values(&rows, "narrative");
    for ((row, narrative), text) in rows[1..].iter().zip(narratives).zip(texts) {
        let guarded = if text.starts_with('a') {
            text.to_owned()
        } else {
            format!("'{text}")
        };
        assert_eq!(narrative, guarded);
        assert!(row.contains(&"-1.00".to_owned()));
        assert!(
            !row.iter()
                .any(|cell| cell != "-1.00" && cell.starts_with(['=', '+', '-', '@', '\t'])),
            "{row:?}"
        );
    }
}

#[test]
fn a_character_that_a_terminal_or_a_spreadsheet_obeys_is_escaped_in_a_file_too() {
    let folder = Folder::new();
    let texts = [
        (
            "a\u{9b}2J\u{85}b\u{202e}c\u{200f}\td\ne",
            "a\\u{9b}2J\\u{85}b\\u{202e}c\\u{200f}\td\ne",
        ),
        ("\u{feff}=1", "\\u{feff}=1"),
        ("=\u{202e}1", "'=\\u{202e}1"),
        ("👩\u{200d}👩\u{200d}👧 é", "👩\u{200d}👩\u{200d}👧 é"),
    ];
    let entries = texts.map(|(text, _)| entry("1.00").narrative(text));
    let file = folder.file("r.xml", xml(entries));
    let to = text(&folder.path("r.csv"));
    run(["statement", "csv", "-o", &to, &file]).fine();
    let rows = rows(&std::fs::read_to_string(to).unwrap());
    assert_eq!(
        values(&rows, "narrative"),
        texts.map(|(_, expected)| expected)
    );
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

/// Returns a batch in which the entry and its transactions differ in amount, currency, sign, date,
/// parties and reference.
pub(crate) fn batch() -> String {
    let transaction = |currency: &str, amount: &str, direction: &str, id: &str, more: &str| {
        format!(
            "<TxDtls><Refs><EndToEndId>{id}</EndToEndId></Refs><Amt Ccy=\"{currency}\">{amount}</Amt>\
             <CdtDbtInd>{direction}</CdtDbtInd>{more}</TxDtls>"
        )
    };
    let account = |role: &str, id: &str| {
        format!("<{role}Acct><Id><Othr><Id>{id}</Id></Othr></Id></{role}Acct>")
    };
    let first = transaction(
        "EUR",
        "60.00",
        "DBIT",
        "E2E-1",
        &format!(
            "<AmtDtls><CntrValAmt><Amt Ccy=\"AUD\">100.50</Amt></CntrValAmt></AmtDtls><RltdPties>\
             <Cdtr><Nm>Shop</Nm></Cdtr>{}<UltmtCdtr><Nm>Maker</Nm></UltmtCdtr></RltdPties>\
             <RltdDts><IntrBkSttlmDt>2020-01-01</IntrBkSttlmDt></RltdDts>",
            account("Cdtr", "222")
        ),
    );
    let returned = transaction(
        "AUD",
        "0.50",
        "CRDT",
        "E2E-2",
        &format!(
            "<RltdPties><Dbtr><Nm>Own</Nm></Dbtr>{}<Cdtr><Nm>Landlord</Nm></Cdtr>{}</RltdPties>\
             <RtrInf><Rsn><Cd>AC04</Cd></Rsn><AddtlInf>account closed</AddtlInf></RtrInf>",
            account("Dbtr", crate::documents::ACCOUNT),
            account("Cdtr", "333")
        ),
    );
    let details = format!("<NtryDtls>{first}{returned}</NtryDtls>");
    let (before, after) = {
        let xml = xml([entry("-100.00")]);
        let xml = xml.replace("<BkTxCd>", "<AcctSvcrRef>S-1</AcctSvcrRef><BkTxCd>");
        let start = xml
            .find("<NtryDtls>")
            .unwrap_or_else(|| xml.find("</Ntry>").unwrap());
        let end = xml.find("</Ntry>").unwrap();
        (xml[..start].to_owned(), xml[end..].to_owned())
    };
    format!("{before}{details}{after}")
}

/// Returns the rows of a document on standard input.
fn table(arguments: &[&str], xml: &str) -> Vec<Vec<String>> {
    let all = ["statement", "csv"].iter().chain(arguments).chain(&["-"]);
    rows(&run_with(all.copied(), xml.as_bytes()).fine())
}

/// Returns the cells of these columns.
fn read(rows: &[Vec<String>], names: &[&str]) -> Vec<Vec<String>> {
    let places: Vec<_> = names
        .iter()
        .map(|name| rows[0].iter().position(|column| column == name).unwrap())
        .collect();
    rows[1..]
        .iter()
        .map(|row| places.iter().map(|place| row[*place].clone()).collect())
        .collect()
}

fn sum(rows: &[Vec<String>], column: &str) -> Decimal {
    let cells = read(rows, &[column]).concat();
    let amounts = cells.iter().filter(|cell| !cell.is_empty());
    amounts.map(|cell| cell.parse::<Decimal>().unwrap()).sum()
}

#[test]
fn the_sum_over_the_rows_of_transactions_is_that_of_the_entries() {
    // The second transaction states no amount.
    let silent = batch().replacen(
        "<Amt Ccy=\"AUD\">0.50</Amt><CdtDbtInd>CRDT</CdtDbtInd>",
        "",
        1,
    );
    assert_ne!(silent, batch());
    for xml in [batch(), silent, three()] {
        let (whole, lines) = (table(&[], &xml), table(&["--transactions"], &xml));
        let expected = sum(&whole, "amount");
        assert_eq!(sum(&whole, "entry_amount"), expected);
        assert_eq!(sum(&lines, "entry_amount"), expected);
    }
    let lines = table(&["--transactions"], &batch());
    assert_eq!(read(&lines, &["entry_amount"]), [["-100.00"], [""]]);
}

#[test]
fn published_batches_have_a_row_for_each_transaction() {
    let Some(samples) = crate::shared() else {
        return;
    };
    let mut read_files = 0;
    for folder in [samples.clone(), samples.join("reports")] {
        for file in std::fs::read_dir(folder).unwrap() {
            let file = text(&file.unwrap().path());
            let whole = run(["statement", "csv", &file]);
            if !file.ends_with(".xml") || whole.status != 0 {
                continue;
            }
            read_files += 1;
            let whole = rows(&whole.out);
            let lines = rows(&run(["statement", "csv", "--transactions", &file]).fine());
            assert_eq!(sum(&lines, "entry_amount"), sum(&whole, "amount"), "{file}");
            let count = |row: Vec<String>| row[0].parse::<usize>().unwrap().max(1);
            let expected = read(&whole, &["transactions"]).into_iter().map(count).sum();
            assert_eq!(lines.len() - 1, expected, "{file}");
            if file.ends_with("09-batches-32-transactions.xml") {
                assert_eq!((whole.len() - 1, expected), (13, 32));
                let third = read(&lines, &["number", "line", "amount", "entry_amount"]);
                let batch: Vec<_> = third.iter().filter(|row| row[0] == "7").collect();
                assert_eq!(batch.len(), 10);
                assert_eq!(batch[0][3], "1000.00");
                assert!(
                    batch[1..]
                        .iter()
                        .all(|row| row[3].is_empty() && !row[2].is_empty())
                );
                let own: Decimal = batch
                    .iter()
                    .map(|row| row[2].parse::<Decimal>().unwrap())
                    .sum();
                assert_eq!(own.to_string(), "1000.00");
            }
        }
    }
    assert!(read_files >= 9, "{read_files}");
}

#[test]
fn each_transaction_of_a_batch_is_a_row() {
    let money = [
        "number",
        "line",
        "amount",
        "currency",
        "account_amount",
        "direction",
        "transactions",
    ];
    let who = [
        "booked",
        "value_date",
        "status",
        "servicer_reference",
        "end_to_end_id",
        "counterparty",
        "counterparty_account",
        "ultimate_counterparty",
        "narrative",
    ];
    let day = "2021-07-29";
    let whole = table(&[], &batch());
    assert_eq!(
        read(&whole, &money),
        [["1", "", "-100.00", "AUD", "-100.00", "DBIT", "2"]]
    );
    assert_eq!(
        read(&whole, &who),
        [[
            day,
            day,
            "BOOK",
            "S-1",
            "E2E-1",
            "Shop",
            "222",
            "Maker",
            "AC04\naccount closed"
        ]]
    );
    let lines = table(&["--transactions"], &batch());
    assert_eq!(
        read(&lines, &money),
        [
            ["1", "1", "-60.00", "EUR", "-100.50", "DBIT", "2"],
            ["1", "2", "0.50", "AUD", "0.50", "CRDT", "2"],
        ]
    );
    assert_eq!(
        read(&lines, &who),
        [
            [day, day, "BOOK", "S-1", "E2E-1", "Shop", "222", "Maker", ""],
            [
                day,
                day,
                "BOOK",
                "S-1",
                "E2E-2",
                "Landlord",
                "333",
                "",
                "AC04\naccount closed"
            ],
        ]
    );
    // An entry without transactions has a separate row, with line 0.
    let plain = batch()
        .replace("<NtryDtls>", "<X>")
        .replace("</NtryDtls>", "</X>");
    let numbers = read(&table(&["--transactions"], &plain), &["line", "amount"]);
    assert_eq!(numbers, [["0", "-100.00"]]);
}
