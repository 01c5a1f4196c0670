use crate::documents::{answer, entry, three, xml};
use crate::{Folder, run, run_with, shared};

#[test]
fn a_fine_document_has_no_findings() {
    let folder = Folder::new();
    let file = folder.file("r.xml", three());
    assert_eq!(
        run(["statement", "check", &file]).fine(),
        format!("{file}: 1 report, 3 entries, no findings\n")
    );
    run(["statement", "check", "--strict", &file]).fine();
}

#[test]
fn a_finding_has_its_file_line_column_and_element() {
    let folder = Folder::new();
    let wrong = three()
        .replace("<Sts>BOOK", "\n <Sts>DONE")
        .replace("<NbOfNtries>3", "<NbOfNtries>4");
    let file = folder.file("r.xml", &wrong);
    let run = run(["statement", "check", &file]);
    assert_eq!(run.status, 1, "{}", run.err);
    let place = format!(
        "{file}:2:2: /Document/BkToCstmrAcctRpt/Rpt[1]/Ntry[1]/Sts: expected one of BOOK PDNG INFO"
    );
    assert!(
        run.out.lines().any(|line| line.starts_with(&place)),
        "{}",
        run.out
    );
    assert!(
        run.out
            .contains("the summary states 4 entries, the report has 3"),
        "{}",
        run.out
    );
    assert!(run.out.ends_with("4 findings\n"), "{}", run.out);
}

#[test]
fn a_code_that_the_list_does_not_have_is_a_note() {
    let folder = Folder::new();
    let unlisted = three().replace("<SubFmlyCd>DMCT", "<SubFmlyCd>ESDD");
    let file = folder.file("r.xml", unlisted);
    let note = |code, entry| {
        format!(
            "{file}: note: the code {code} of entry {entry} is not in the list of bank transaction codes\n"
        )
    };
    assert_eq!(
        run(["statement", "check", &file]).fine(),
        [
            note("PMNT/RCDT/ESDD", 1),
            note("PMNT/ICDT/ESDD", 2),
            format!("{file}: 1 report, 3 entries, no findings, 2 notes\n"),
        ]
        .concat()
    );
}

#[test]
fn places_in_a_json_answer_are_those_of_its_payload() {
    let wrong = three().replacen("<Sts>BOOK", "<Sts>DONE", 1);
    let run = run_with(
        ["statement", "check", "-"],
        answer(&wrong, false).as_bytes(),
    );
    assert_eq!(run.status, 1);
    assert!(
        run.out.starts_with("standard input (payload):1:"),
        "{}",
        run.out
    );
}

#[test]
fn an_answer_about_another_account_than_its_document_is_found() {
    let other = answer(&three(), false).replacen("011222814766538", "999", 1);
    let run = run_with(["statement", "check", "-"], other.as_bytes());
    assert_eq!(run.status, 1);
    let line = "standard input: expected the account of the answer, 999, found 011222814766538";
    assert!(run.out.lines().any(|found| found == line), "{}", run.out);
    run_with(
        ["statement", "check", "-"],
        answer(&three(), false).as_bytes(),
    )
    .fine();
}

#[test]
fn all_files_are_checked_and_a_refused_one_fails() {
    let folder = Folder::new();
    let (bad, good) = (
        folder.file("bad.xml", "<Document>"),
        folder.file("good.xml", three()),
    );
    let found = run(["statement", "check", &bad, &good]);
    assert_eq!(found.status, 1);
    assert!(
        found
            .out
            .contains("good.xml: 1 report, 3 entries, no findings"),
        "{}",
        found.out
    );
    assert!(
        found.err.starts_with(&format!("bankrail: {bad}:1:1:")),
        "{}",
        found.err
    );
    let line = run(["statement", "check", &text(&folder, "none.xml")]).failed(2);
    assert!(
        line.contains("none.xml: cannot be read: No such file")
            && line.contains("; check the name"),
        "{line}"
    );
}

fn text(folder: &Folder, name: &str) -> String {
    crate::text(&folder.path(name))
}

#[test]
fn an_entry_that_cannot_be_read_is_a_finding_and_the_rest_is_checked() {
    let wrong = xml([entry("1.00"), entry("2.00")]).replacen(">1.00</Amt>", ">one</Amt>", 1);
    let run = run_with(["statement", "check", "-"], wrong.as_bytes());
    assert_eq!(run.status, 1);
    assert!(run.out.contains("Rpt[1]/Ntry[1]/Amt"), "{}", run.out);
    assert!(run.out.contains("1 entry"), "{}", run.out);
}

#[test]
fn the_samples_are_judged_as_before() {
    let Some(samples) = shared() else { return };
    for (name, status, line) in [
        (
            "01-intraday-5-entries.xml",
            0,
            "1 report, 5 entries, no findings",
        ),
        (
            "03-summary-disagrees.xml",
            1,
            "1 report, 1 entry, 6 findings",
        ),
        (
            "10-intraday-17-entries.xml",
            0,
            "6 reports, 17 entries, no findings",
        ),
    ] {
        let found = run(["statement", "check", samples.join(name).to_str().unwrap()]);
        assert_eq!(found.status, status, "{name}");
        assert!(found.out.contains(line), "{}", found.out);
    }
    let line = run([
        "statement",
        "check",
        samples.join("05-not-well-formed.xml").to_str().unwrap(),
    ])
    .failed(1);
    assert!(line.contains(":1:866: "), "{line}");
}
