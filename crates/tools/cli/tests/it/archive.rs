//! Archives of statements: each member is read like a separate file.

use crate::documents::{answer, entry, report_of, three};
use crate::{Folder, run, run_with, text};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Cursor, Write as _};
use zip::write::{SimpleFileOptions, ZipWriter};

fn zip_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    for (name, content) in members {
        if name.ends_with('/') {
            zip.add_directory(*name, options).unwrap();
        } else {
            zip.start_file(*name, options).unwrap();
            zip.write_all(content).unwrap();
        }
    }
    zip.finish().unwrap().into_inner()
}

fn gzip(content: &str) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(content.as_bytes()).unwrap();
    gzip.finish().unwrap()
}

fn other() -> String {
    let report = report_of("999001400100101", 17, [entry("3.00")]);
    report.to_xml().unwrap()
}

#[test]
fn the_members_of_an_archive_are_read_as_files_are() {
    let folder = Folder::new();
    let answered = answer(&three(), false);
    let files = [("a.xml", three()), ("b.xml", other()), ("c.json", answered)];
    for (name, content) in &files {
        folder.file(name, content);
    }
    let zip = zip_of(&[
        ("a.xml", files[0].1.as_bytes()),
        ("folder/", b""),
        ("b.xml", &gzip(&files[1].1)),
        ("c.json", files[2].1.as_bytes()),
    ]);
    let zip = folder.file("day.zip", zip);
    let names = ["a.xml", "b.xml", "c.json"].map(|name| text(&folder.path(name)));
    for command in ["show", "check", "csv"] {
        let arguments = ["statement", command];
        let apart = run(arguments
            .iter()
            .copied()
            .chain(names.iter().map(|name| &**name)))
        .fine();
        let apart = apart.replace(&text(&folder.path("")), &format!("{zip}/"));
        let together = run(["statement", command, &zip]).fine();
        assert_eq!(together, apart, "{command}");
    }
    let rows = run(["statement", "csv", &zip]).fine();
    let count = |account: &str| rows.matches(&format!(",{account},")).count();
    assert_eq!(
        [crate::documents::ACCOUNT, "999001400100101"].map(count),
        [6, 1]
    );
    let page = run(["statement", "html", &zip]).fine();
    assert_eq!(page.matches("<section>").count(), 3);
    assert_eq!(page.matches("</section>").count(), 3);
    assert!(page.contains("day.zip/b.xml"));
}

#[test]
fn a_gzip_file_is_read_from_a_file_and_from_a_pipe() {
    let folder = Folder::new();
    let plain = run_with(["statement", "csv", "-"], three().as_bytes()).fine();
    let packed = gzip(&three());
    assert_eq!(run_with(["statement", "csv", "-"], &packed).fine(), plain);
    let file = folder.file("r.xml.gz", packed);
    let named = run(["statement", "csv", &file]).fine();
    assert_eq!(named.replace(&file, "standard input"), plain);
    let zip = zip_of(&[("r.xml", three().as_bytes())]);
    let inside = run_with(["statement", "csv", "-"], &zip).fine();
    let inside = inside.replace("standard input/r.xml", "standard input");
    assert_eq!(inside, plain);
}

#[test]
fn a_member_that_cannot_be_read_is_named_and_the_others_are_read() {
    let folder = Folder::new();
    let cut = three();
    let cut = &cut[..cut.len() - 40];
    let bomb = three().replace("<Rpt>", &format!("<Rpt>{}", " ".repeat(3 << 20)));
    let zip = folder.file(
        "day.zip",
        zip_of(&[
            ("a.pdf", b"%PDF-1.7"),
            ("cut.xml", cut.as_bytes()),
            ("\u{1b}[2J../../evil.xml", b":20:X\n"),
            ("inner.zip", &zip_of(&[("x.xml", three().as_bytes())])),
            ("bomb.xml", bomb.as_bytes()),
            ("error.json", b"{\"errors\":[]}"),
            ("good.xml", other().as_bytes()),
        ]),
    );
    for command in ["show", "check", "csv", "html"] {
        let run = run(["statement", command, &zip]);
        assert_eq!(run.status, 1, "{command}: {}", run.err);
        let lines: Vec<&str> = run.err.lines().collect();
        let expected = [
            ("day.zip/a.pdf", "found a PDF document"),
            ("day.zip/cut.xml", ""),
            ("day.zip/\\u{1b}[2J../../evil.xml", "found an MT940"),
            ("day.zip/inner.zip", "found a ZIP archive"),
            ("day.zip/bomb.xml", "at most 500 times the compressed bytes"),
            ("day.zip/error.json", ""),
        ];
        assert_eq!(lines.len(), expected.len(), "{command}: {}", run.err);
        for (line, (name, what)) in lines.iter().zip(expected) {
            assert!(
                line.contains(name) && line.contains(what),
                "{command}: {line}"
            );
        }
        assert!(
            run.out.contains("999001400100101") || command == "check",
            "{}",
            run.out
        );
        assert!(
            run.out.contains("day.zip/good.xml"),
            "{command}: {}",
            run.out
        );
        assert!(!run.out.contains('\u{1b}') && !run.err.contains('\u{1b}'));
        if command == "html" {
            let count = |tag: &str| run.out.matches(tag).count();
            assert_eq!(count("<section>"), count("</section>"));
            assert_eq!(count("<table"), count("</table>"));
            assert_eq!(
                run.out
                    .matches("The rest of this file cannot be read")
                    .count(),
                5
            );
        }
    }
    assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 1);
}

#[test]
fn an_archive_that_cannot_be_read_is_refused() {
    let folder = Folder::new();
    let mut zip = zip_of(&[("a.xml", three().as_bytes())]);
    zip.truncate(zip.len() - 10);
    let zip = folder.file("cut.zip", zip);
    for command in ["show", "check", "csv", "html"] {
        let error = run(["statement", command, &zip]).failed(1);
        assert!(
            error.contains("cut.zip: expected a readable ZIP archive"),
            "{error}"
        );
    }
    let error = run(["statement", "merge", &zip]).failed(1);
    assert!(error.contains("found a ZIP archive"), "{error}");
}
