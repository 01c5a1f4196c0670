mod model;

use crate::documents::{answer, entry, report_at, report_of, three};
use crate::{Folder, command, run};
use bankrail::camt052::Document;

fn merged(out: &str) -> Document {
    let parsed = Document::parse(out).unwrap();
    assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
    parsed.document
}

fn amounts(document: &Document) -> Vec<String> {
    let entries = document.reports.iter().flat_map(|report| &report.entries);
    entries
        .map(|entry| entry.signed_amount().unwrap().to_string())
        .collect()
}

#[test]
fn overlapping_statements_are_joined_with_new_totals() {
    let folder = Folder::new();
    let coffee = || entry("-4.50").creditor("Cafe");
    let morning = report_at(9, [entry("25.00").servicer_reference("R1"), coffee()]);
    let noon = report_at(
        12,
        [
            entry("25.00").servicer_reference("R1"),
            coffee(),
            coffee(),
            entry("1.00"),
        ],
    );
    // The newest document comes first.
    let files = [
        folder.file("n.xml", noon.to_xml().unwrap()),
        folder.file("m.xml", morning.to_xml().unwrap()),
    ];
    let run = run(["statement", "merge", &files[0], &files[1]]);
    assert_eq!(run.status, 0, "{}", run.err);
    let document = merged(&run.out);
    assert_eq!(amounts(&document), ["25.00", "-4.50", "-4.50", "1.00"]);
    let created = document
        .group_header
        .as_ref()
        .unwrap()
        .created_at
        .as_ref()
        .unwrap()
        .to_string();
    assert!(created.starts_with("2021-07-29T12"), "{created}");
    assert_ne!(document.reports[0].id, noon.reports[0].id);
    assert_eq!(document.reports[0].balances.len(), 1);
    assert!(
        run.err
            .contains("left out +25.00 of 2021-07-29: the reference R1 came before"),
        "{}",
        run.err
    );
    assert!(
        run.err
            .contains("left out -4.50 of 2021-07-29: the same content came before"),
        "{}",
        run.err
    );
    assert!(
        run.err
            .ends_with("4 entries written, 2 left out as written before\n"),
        "{}",
        run.err
    );
}

#[test]
fn the_pages_of_one_statement_keep_equal_entries() {
    let folder = Folder::new();
    let page = |hour| {
        report_at(
            hour,
            [entry("-4.50"), entry("2.00").servicer_reference("R2")],
        )
        .to_xml()
        .unwrap()
    };
    let [one, two] = [folder.file("1.xml", page(9)), folder.file("2.xml", page(9))];
    assert_eq!(
        amounts(&merged(
            &run(["statement", "merge", "--pages", &one, &two]).fine()
        )),
        ["-4.50", "2.00", "-4.50"]
    );
    // Without the option, the files are two statements that overlap.
    assert_eq!(
        amounts(&merged(&run(["statement", "merge", &one, &two]).fine())),
        ["-4.50", "2.00"]
    );
    // Answers say whether they are continued.
    let [first, last] = [
        folder.file("1.json", answer(&page(9), true)),
        folder.file("2.json", answer(&page(9), false)),
    ];
    assert_eq!(
        amounts(&merged(&run(["statement", "merge", &first, &last]).fine())),
        ["-4.50", "2.00", "-4.50"]
    );
    assert_eq!(
        amounts(&merged(&run(["statement", "merge", &last, &first]).fine())),
        ["-4.50", "2.00"]
    );
}

#[test]
fn nothing_is_merged_that_does_not_belong_together_or_cannot_be_read() {
    let folder = Folder::new();
    let (ours, theirs) = (
        folder.file("a.xml", three()),
        report_of("999", 9, [entry("1.00")]).to_xml().unwrap(),
    );
    let line = run(["statement", "merge", &ours, &folder.file("b.xml", theirs)]).failed(1);
    assert!(
        line.contains("expected the account 011222814766538 in AUD, found 999 in AUD"),
        "{line}"
    );
    let unreadable = folder.file("c.xml", three().replacen(">25.00</Amt>", ">x</Amt>", 1));
    let run = run(["statement", "merge", &ours, &unreadable]);
    assert_eq!((run.status, run.out.as_str()), (1, ""), "{}", run.err);
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_named_and_nothing_is_left() {
    let folder = Folder::new();
    let of = |name: &str, count: usize| {
        let entries = (0..count)
            .map(|number| entry("1.00").narrative(&format!("{number} {}", "x".repeat(100))));
        folder.file(name, report_at(9, entries).to_xml().unwrap())
    };
    let (few, many) = (of("few.xml", 500), of("many.xml", 5000));
    let to = folder.path("all.xml").to_str().unwrap().to_owned();
    // Only files of 50 KiB can be written; a larger file is an error, as on a full disk.
    let shell = "trap '' XFSZ; ulimit -f 100; exec \"$@\"";
    let run = |file: &str| {
        let program = command().get_program().to_owned();
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", shell, "sh"]).arg(program).args([
            "statement",
            "merge",
            file,
            "-o",
            &to,
        ]);
        let output = limited.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 2);
        String::from_utf8(output.stderr).unwrap()
    };
    let cause = "File too large (os error 27); make room or choose another file";
    let expected = format!("bankrail: the output cannot be written: {to}: {cause}\n");
    assert_eq!([run(&few), run(&many)], [expected.clone(), expected]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_program_leaves_nothing() {
    for (signal, status) in [("-INT", 130), ("-TERM", 143)] {
        let folder = Folder::new();
        let (file, to) = (folder.file("a.xml", three()), folder.path("all.xml"));
        let mut program = command();
        program
            .args(["statement", "merge", &file, "-", "-o"])
            .arg(&to);
        // The program waits for the rest of its standard input.
        let mut program = program.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let stdin = program.stdin.take();
        let files = || std::fs::read_dir(folder.path("")).unwrap().count();
        while files() == 1 {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let id = program.id().to_string();
        assert!(
            std::process::Command::new("kill")
                .args([signal, &id])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(program.wait().unwrap().code(), Some(status));
        assert_eq!(files(), 1);
        drop(stdin);
    }
}
