use crate::documents::{answer, entry, three, xml};
use crate::{Folder, run, run_with, shared};
use serde_json::{Value, json};

#[test]
fn a_report_is_a_table_with_balances_sums_and_totals() {
    let folder = Folder::new();
    let out = run(["statement", "show", &folder.file("r.xml", three())]).fine();
    for expected in [
        "account    011222814766538 in AUD",
        "created    2021-07-29T17:10:05.1750344+10:00 (2021-07-29 07:10:05 UTC)",
        "balance    +1245500.00 AUD  ITAV/Current  2021-07-29",
        "2021-07-29  2021-07-29  +25.00 AUD       25.00  BOOK    PMNT/RCDT/DMCT  JANE CITIZEN   \
         rent 👍 (AcctSvcrRef REF-1)",
        "2021-07-29  2021-07-29  -12.50 AUD       12.50  BOOK    PMNT/ICDT/DMCT  Power & Light  (EndToEndId E2E-1)",
        "totals     2 credits: 25.75; 1 debit: -12.50; net 13.25 AUD",
        "code       PMNT/ICDT/DMCT  Payments / Issued Credit Transfers / Domestic Credit Transfer",
        "code       PMNT/RCDT/DMCT  Payments / Received Credit Transfers / Domestic Credit Transfer",
    ] {
        assert!(
            out.lines().any(|line| line == expected),
            "{expected}\n{out}"
        );
    }
}

#[test]
fn columns_are_aligned_by_what_the_terminal_shows() {
    let names = [
        "👩\u{200d}👩\u{200d}👧",
        "漢字",
        "e\u{301}e\u{301}",
        "abcd",
        "🇦🇺👍🏽",
    ];
    let entries = names.map(|name| entry("1.00").debtor(name).narrative("end"));
    let out = run_with(["statement", "show", "-"], xml(entries).as_bytes()).fine();
    let rows: Vec<&str> = out.lines().filter(|line| line.ends_with("end")).collect();
    assert_eq!(rows.len(), names.len());
    let width = |row: &str| {
        use unicode_segmentation::UnicodeSegmentation as _;
        row.graphemes(true)
            .map(unicode_width::UnicodeWidthStr::width)
            .sum::<usize>()
    };
    assert!(rows.iter().all(|row| width(row) == width(rows[0])), "{out}");
    assert!(names.iter().all(|name| out.contains(name)), "{out}");
}

#[test]
fn nothing_of_a_document_moves_the_cursor() {
    let text = "\u{9b}31mred\u{85}next\u{202e}desrever\ttab";
    let out = run_with(
        ["statement", "show", "-"],
        xml([entry("1.00").narrative(text)]).as_bytes(),
    )
    .fine();
    assert!(
        out.contains("\\u{9b}31mred\\u{85}next\\u{202e}desrever tab"),
        "{out}"
    );
    assert!(!out.chars().any(|c| c.is_control() && c != '\n'), "{out:?}");
}

#[test]
fn the_answer_of_the_endpoint_is_read_too() {
    let out = run_with(
        ["statement", "show", "-"],
        answer(&three(), false).as_bytes(),
    )
    .fine();
    assert!(
        out.contains("request key 0b7c2f6e-8a1d-41eb-8dcd-0242ac130003"),
        "{out}"
    );
    assert!(out.contains("JANE CITIZEN"), "{out}");
    let error = br#"{"requestKey":"0b7c2f6e-8a1d-41eb-8dcd-0242ac130003",
        "error":{"statusCode":"EC20001","title":"Account Id: '0' not found"}}"#;
    let line = run_with(["statement", "show", "-"], error).failed(1);
    assert!(
        line.contains("EC20001: Account Id: '0' not found"),
        "{line}"
    );
}

#[test]
fn findings_and_batches_are_shown_where_they_are() {
    let Some(samples) = shared() else { return };
    let file = samples.join("09-batches-32-transactions.xml");
    let out = run(["statement", "show", file.to_str().unwrap()]).fine();
    assert_eq!(
        out.lines().filter(|line| line.starts_with('└')).count(),
        23,
        "{out}"
    );
    assert!(out.contains("8 findings"), "{out}");
}

#[test]
fn what_is_no_report_is_named_and_has_no_entries_line() {
    for (bytes, words) in [
        (&b""[..], "found nothing"),
        (
            b"PK\x03\x04\x14\x00\x08\x08",
            "expected a readable ZIP archive",
        ),
        (b"<html><body>Login</body></html>", "found an HTML page"),
        (b":20:STARTUMS\r\n:25:1/2\r\n", "found an MT940"),
        (
            b"{1:F01AAAABB99AXXX0000000000}",
            "a SWIFT message such as MT940",
        ),
        (b"Date;Amount\r\n", "separated values (CSV)"),
        (
            b"<Envelope><Body>PD94bWwgdmVyc2lvbj0nMS4wJz8+</Body></Envelope>",
            "put each document into a file of its own",
        ),
    ] {
        for command in ["show", "check", "csv"] {
            let ran = run_with(["statement", command, "-"], bytes);
            let text = ran.out + &ran.err;
            assert!(text.contains(words), "{command}: {text}");
            assert!(!text.contains("no entries"), "{command}: {text}");
        }
    }
}

#[test]
fn a_payload_is_text_whatever_encoding_it_declares() {
    let xml = xml([entry("1.00").debtor("Jörg Weiß")]);
    for encoding in ["ISO-8859-1", "utf-16"] {
        let xml = xml.replace("UTF-8", encoding);
        assert!(xml.contains(encoding), "{xml}");
        let ran = run_with(["statement", "show", "-"], answer(&xml, false).as_bytes());
        let text = ran.out + &ran.err;
        assert!(text.contains("Jörg Weiß"), "{text}");
        assert!(text.contains("as the encoding of a text"), "{text}");
    }
}

#[test]
fn a_transaction_is_shown_with_its_own_amount_currency_sign_and_reference() {
    let out = run_with(["statement", "show", "-"], crate::csv::batch().as_bytes()).fine();
    let words = |start: &str| {
        let line = out.lines().find(|line| line.contains(start));
        let words = line
            .unwrap_or_else(|| panic!("{start}\n{out}"))
            .split_whitespace();
        words.collect::<Vec<_>>().join(" ")
    };
    assert!(
        words("S-1").starts_with("2021-07-29 2021-07-29 -100.00 AUD -100.00 BOOK"),
        "{out}"
    );
    assert_eq!(
        words("-60.00"),
        "└ -60.00 EUR Shop (for Maker) (EndToEndId E2E-1)"
    );
    assert_eq!(
        words("+0.50"),
        "└ +0.50 AUD Landlord AC04 / account closed (EndToEndId E2E-2)"
    );
}

#[test]
fn reports_entries_and_findings_are_lines_of_json() {
    let batch = crate::csv::batch().replacen("<Sts>BOOK", "<Sts>DONE", 1);
    let out = run_with(["statement", "show", "--json", "-"], batch.as_bytes()).fine();
    let lines: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let report = &lines[0];
    assert_eq!(report["account"], "011222814766538");
    assert_eq!(report["message"], "camt.052.001.06");
    assert_eq!(
        report["balances"][0],
        json!({ "kind": "ITAV/Current", "amount": "+1245500.00", "currency": "AUD", "date": "2021-07-29" })
    );
    let finding = lines.iter().find(|line| !line["finding"].is_null());
    assert!(
        finding.unwrap()["element"]
            .as_str()
            .unwrap()
            .ends_with("/Sts")
    );
    let entry = lines.iter().find(|line| line["number"] == 1).unwrap();
    assert_eq!(
        (&entry["amount"], &entry["status"]),
        (&json!("-100.00"), &json!("DONE"))
    );
    let parts = entry["transactions"].as_array().unwrap();
    let amounts = parts.iter().map(|part| part["amount"].as_str().unwrap());
    assert!(
        amounts.eq(["-60.00", "+0.50"]
            .into_iter()
            .chain(parts.iter().skip(2).map(|_| ""))),
        "{entry:#}"
    );
}
