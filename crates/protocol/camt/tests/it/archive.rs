//! Archives: of Python's zipfile and gzip, of Info-ZIP, of the crate zip, and by hand.

use bankrail_camt::report::StreamItem;
use bankrail_camt::{
    AnyReader, Archive, ArchiveError, ArchiveLimits, ReadErrorKind, ReadOptions, Version,
};
use base64::Engine as _;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, BufRead, Cursor, Read, Seek, SeekFrom, Write as _};
use zip::write::{SimpleFileOptions, ZipWriter};

/// An archive made by Python's zipfile: a directory, deflated and stored documents, one as gzip, a
/// PDF, an MT940, a document that is cut off, and a name that nobody should print.
const PYTHON: &str = include_str!("archives/python.zip.base64");
/// A file made by Python's gzip.
const PYTHON_GZIP: &str = include_str!("archives/python.xml.gz.base64");
/// An archive made by Info-ZIP 3.0: an encrypted document, and one in clear.
const INFO_ZIP: &str = include_str!("archives/infozip.zip.base64");

fn decoded(base64: &str) -> Vec<u8> {
    let base64: String = base64.split_whitespace().collect();
    let engine = base64::engine::general_purpose::STANDARD;
    engine.decode(base64).unwrap()
}

/// Returns a document about an account with one entry.
fn document(account: &str) -> String {
    let schema = crate::family::Schema {
        message: 52,
        version: 6,
    };
    let xml = crate::documents::document(schema);
    let (before, rest) = xml.split_once("<Acct>").unwrap();
    let (_, after) = rest.split_once("</Acct>").unwrap();
    format!("{before}<Acct><Id><Othr><Id>{account}</Id></Othr></Id></Acct>{after}")
}

fn zip_of<'a>(members: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(&content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(content).unwrap();
    gzip.finish().unwrap()
}

/// Returns the content of a document: a line for each entry with the account before it, and one for
/// an error.
fn lines(content: impl BufRead) -> Vec<String> {
    let mut account = String::new();
    let mut lines = Vec::new();
    for item in AnyReader::new(content, ReadOptions::default()) {
        match item {
            Ok(StreamItem::Start(report)) => {
                account = report.account.id.as_str().unwrap_or_default().to_owned();
            }
            Ok(StreamItem::Entry(entry)) => {
                lines.push(format!("{account} {}", entry.amount.value()))
            }
            Ok(_) => {}
            Err(error) => lines.push(error.kind().to_string()),
        }
    }
    lines
}

/// Returns the name of each member, and its lines or why it is not read. An error of the archive
/// ends it.
fn read(source: impl Read + Seek, limits: ArchiveLimits) -> Vec<(String, Vec<String>)> {
    let mut archive = match Archive::new(source, limits) {
        Ok(archive) => archive,
        Err(error) => return vec![("archive".to_owned(), vec![error.to_string()])],
    };
    let mut members = Vec::new();
    loop {
        match archive.next_member() {
            Ok(None) => break,
            Ok(Some(member)) => members.push((
                member.name,
                member
                    .content
                    .map_or_else(|error| vec![error.to_string()], lines),
            )),
            Err(error) => {
                members.push(("archive".to_owned(), vec![error.to_string()]));
                break;
            }
        }
    }
    let after = archive.next_member().unwrap();
    assert!(after.is_none(), "{after:?}");
    drop(after);
    members
}

fn read_all(bytes: Vec<u8>) -> Vec<(String, Vec<String>)> {
    read(Cursor::new(bytes), ArchiveLimits::default())
}

/// Returns the error that ends the archive, or the only member's.
fn error(bytes: Vec<u8>, limits: ArchiveLimits) -> ArchiveError {
    let mut archive = match Archive::new(Cursor::new(bytes), limits) {
        Ok(archive) => archive,
        Err(error) => return error,
    };
    loop {
        match archive.next_member() {
            Err(error) => return error,
            Ok(member) => {
                let read = member.expect("an error").content;
                let read = read.and_then(|mut content| {
                    io::copy(&mut content, &mut io::sink()).map_err(ArchiveError::from)
                });
                if let Err(error) = read {
                    return error;
                }
            }
        }
    }
}

#[test]
fn each_member_of_an_archive_has_its_own_account_and_its_own_error() {
    let members = read_all(decoded(PYTHON));
    let members: Vec<(&str, Vec<&str>)> = members
        .iter()
        .map(|(name, lines)| (&**name, lines.iter().map(|line| &**line).collect()))
        .collect();
    assert_eq!(members[6].1.len(), 1, "{members:?}");
    assert!(members[6].1[0].starts_with("malformed XML"), "{members:?}");
    assert_eq!(
        [&members[..6], &members[7..]].concat(),
        [
            ("statements/", vec!["expected a file, found a directory"]),
            ("statements/111.xml", vec!["111 1.00"]),
            ("statements/222.xml", vec!["222 2.00"]),
            ("statements/333.xml.gz", vec!["333 3.00"]),
            (
                "letter.pdf",
                vec!["expected an XML document, found a PDF document"]
            ),
            (
                "old.sta",
                vec!["expected an XML document, found an MT940 or MT942 statement"]
            ),
            ("\u{1b}[2Jübung/../555.xml", vec!["555 5.00"]),
        ]
    );
    assert_eq!(members[6].0, "cut.xml");
}

#[test]
fn an_encrypted_member_is_named_and_the_next_one_read() {
    let expected =
        "expected a member that is not encrypted, found an encrypted one; decrypt it first";
    let members = [("777.xml", expected), ("888.xml", "888 7.00")];
    let members = members.map(|(name, line)| (name.to_owned(), vec![line.to_owned()]));
    assert_eq!(read_all(decoded(INFO_ZIP)), members);
}

#[test]
fn a_gzip_file_and_a_plain_document_are_one_member() {
    let plain = document("4711");
    let entries = lines(plain.as_bytes());
    assert_eq!(entries.len(), 3, "{entries:?}");
    let one = |lines: &[&str]| {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        vec![(String::new(), lines)]
    };
    assert_eq!(read_all(decoded(PYTHON_GZIP)), one(&["666 6.00"]));
    assert_eq!(
        read_all(gzip(plain.as_bytes())),
        [(String::new(), entries.clone())]
    );
    assert_eq!(read_all(plain.into_bytes()), [(String::new(), entries)]);
    let nothing = "expected an XML document, found nothing";
    assert_eq!(read_all(Vec::new()), one(&[nothing]));
    assert_eq!(read_all(zip_of([])), []);
}

#[test]
fn the_archive_of_a_day_has_thousands_of_members() {
    let names: Vec<String> = (0..2_000)
        .map(|number| format!("{number:04}.xml"))
        .collect();
    let members = names
        .iter()
        .map(|name| (&**name, document(&name[..4]).into_bytes()));
    let read = read_all(zip_of(members));
    assert_eq!(read.len(), 2_000);
    for ((name, lines), expected) in read.iter().zip(&names) {
        assert_eq!((name, lines.len()), (expected, 3));
        let account = &expected[..4];
        assert!(
            lines.iter().all(|line| line.starts_with(account)),
            "{lines:?}"
        );
    }
}

#[test]
fn an_archive_in_an_archive_is_named_and_not_read() {
    let inner = document("1").into_bytes();
    let members = read_all(zip_of([
        ("a.zip", zip_of([("b.xml", inner.clone())])),
        ("c.gz.gz", gzip(&gzip(&inner))),
        ("d.gz", gzip(&zip_of([("b.xml", inner.clone())]))),
        ("e.xml", inner.clone()),
    ]));
    let found = |what: &str| vec![format!("expected an XML document, found a {what} archive")];
    let [zip, gzips, zipped] = ["ZIP", "gzip", "ZIP"].map(found);
    assert_eq!(
        members,
        [
            ("a.zip".to_owned(), zip),
            ("c.gz.gz".to_owned(), gzips),
            ("d.gz".to_owned(), zipped),
            ("e.xml".to_owned(), lines(&*inner)),
        ]
    );
}

/// A source that gives one byte at a time.
struct Trickle(Cursor<Vec<u8>>);

impl Read for Trickle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(1);
        self.0.read(&mut buffer[..most])
    }
}

impl Seek for Trickle {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn a_source_may_give_one_byte_at_a_time() {
    for archive in [PYTHON, PYTHON_GZIP, INFO_ZIP] {
        let bytes = decoded(archive);
        let slow = Trickle(Cursor::new(bytes.clone()));
        assert_eq!(read(slow, ArchiveLimits::default()), read_all(bytes));
    }
}

#[test]
fn no_limit_is_passed_by_a_bomb() {
    let zeros = vec![0; 16 << 20];
    let bomb = zip_of([("zeros.xml", zeros.clone())]);
    assert!(bomb.len() < 100_000, "{}", bomb.len());
    // A gzip file of any size is made of gzip files.
    let gigabyte = gzip(&zeros[..1 << 20]).repeat(1 << 10);
    let nested = zip_of([("zeros.xml.gz", gzip(&zeros))]);
    // Blocks without content decompress to nothing, so only their compressed bytes show their size.
    let empty_blocks = [
        &gzip(b"")[..10],
        &[0, 0, 0, 0xff, 0xff].repeat(8 << 20 >> 2),
    ]
    .concat();
    let silent = zip_of([("nothing.xml.gz", empty_blocks)]);
    let many: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    let many = zip_of(many.iter().map(|name| (&**name, vec![b' '; 1 << 20])));
    let limits = ArchiveLimits::default;
    let any_ratio = || limits().max_ratio(u64::MAX);
    let rows: [(&str, &[u8], ArchiveLimits, &str); 11] = [
        ("zeros", &bomb, limits(), "at most 500 times"),
        (
            "zeros",
            &bomb,
            any_ratio().max_member_bytes(1 << 22),
            "4194304 bytes in a member",
        ),
        (
            "zeros",
            &bomb,
            any_ratio().max_all_bytes(1 << 22),
            "4194304 bytes in all members",
        ),
        (
            "gigabyte",
            &gigabyte,
            limits().max_ratio(5),
            "at most 5 times",
        ),
        (
            "gigabyte",
            &gigabyte,
            any_ratio().max_member_bytes(1 << 22),
            "4194304 bytes in a member",
        ),
        ("nested", &nested, limits(), "at most 500 times"),
        (
            "nested",
            &nested,
            any_ratio().max_member_bytes(1 << 22),
            "4194304 bytes in a member",
        ),
        ("silent", &silent, limits(), "at most 500 times"),
        (
            "many",
            &many,
            any_ratio().max_all_bytes(5 << 20),
            "5242880 bytes in all members",
        ),
        (
            "many",
            &many,
            any_ratio().max_all_bytes((5 << 20) + 1),
            "5242881 bytes in all members",
        ),
        (
            "many",
            &many,
            limits().max_members(19),
            "at most 19 members",
        ),
    ];
    for (name, bytes, limits, expected) in rows {
        let error = error(bytes.to_vec(), limits).to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
    // The same limits, reached exactly.
    let members = read(
        Cursor::new(many),
        any_ratio().max_members(20).max_all_bytes(20 << 20),
    );
    assert_eq!(members.len(), 20);
    assert!(members.iter().all(|(name, _)| name != "archive"));
}

#[test]
fn the_error_of_a_limit_is_found_in_the_error_of_the_reader() {
    let xml = document("1").replace("<Rpt>", &format!("<Rpt>{}", " ".repeat(3 << 20)));
    let bytes = zip_of([
        ("a.xml", xml.into_bytes()),
        ("b.xml", document("2").into_bytes()),
    ]);
    let mut archive = Archive::new(Cursor::new(bytes), ArchiveLimits::default()).unwrap();
    let mut versions = Vec::new();
    while let Some(member) = archive.next_member().unwrap() {
        let mut reader = AnyReader::new(member.content.unwrap(), ReadOptions::default());
        if let Some(error) = reader.find_map(Result::err) {
            let ReadErrorKind::Io(error) = error.kind() else {
                panic!("{error}");
            };
            let inside = error.get_ref().unwrap().downcast_ref();
            let is_ratio = matches!(inside, Some(ArchiveError::Ratio { limit: 500 }));
            assert!(is_ratio, "{error}");
        } else {
            // The next member is read nevertheless.
            versions.push((member.name, reader.version()));
        }
    }
    assert_eq!(versions, [("b.xml".to_owned(), Version::default())]);
}

/// A stored member, as the directory of an archive describes it.
#[derive(Clone)]
struct Described {
    name: Vec<u8>,
    method: u16,
    compressed: u32,
    size: u32,
    offset: u32,
}

/// Returns an archive with one stored member at its beginning, and this directory.
fn by_hand(content: &[u8], directory: &[Described]) -> Vec<u8> {
    let mut crc = flate2::Crc::new();
    crc.update(content);
    let crc = crc.sum().to_le_bytes();
    let fields = |one: &Described| {
        let sizes = [crc, one.compressed.to_le_bytes(), one.size.to_le_bytes()].concat();
        let length = u16::try_from(one.name.len()).unwrap().to_le_bytes();
        let before = [[10, 0], [0, 0], one.method.to_le_bytes(), [0; 2], [0; 2]].concat();
        [&before[..], &sizes, &length, &[0, 0]].concat()
    };
    let mut bytes = [
        b"PK\x03\x04",
        &fields(&directory[0])[..],
        &directory[0].name,
        content,
    ]
    .concat();
    let begin = bytes.len();
    for one in directory {
        bytes.extend([b"PK\x01\x02\x0a\x00", &fields(one)[..], &[0; 10]].concat());
        bytes.extend([&one.offset.to_le_bytes()[..], &one.name].concat());
    }
    let count = u16::try_from(directory.len()).unwrap().to_le_bytes();
    let size = u32::try_from(bytes.len() - begin).unwrap().to_le_bytes();
    let begin = u32::try_from(begin).unwrap().to_le_bytes();
    let end = [&[0; 4][..], &count, &count, &size, &begin, &[0, 0]].concat();
    [&bytes[..], b"PK\x05\x06", &end].concat()
}

fn described(name: &str, content: &[u8]) -> Described {
    let size = u32::try_from(content.len()).unwrap();
    Described {
        name: name.into(),
        method: 0,
        compressed: size,
        size,
        offset: 0,
    }
}

#[test]
fn directories_that_lie_are_refused() {
    let content = document("1").into_bytes();
    let one = described("a.xml", &content);
    assert_eq!(
        read_all(by_hand(&content, std::slice::from_ref(&one))),
        [("a.xml".to_owned(), lines(&*content))]
    );

    let named = |name: String| Described {
        name: name.into(),
        ..one.clone()
    };
    let shared: Vec<Described> = (0..9)
        .map(|number| named(format!("{number}.xml")))
        .collect();
    let huge: Vec<Described> = (10..60)
        .map(|number| named(format!("{number}").repeat(30_000)))
        .collect();
    let plain = by_hand(&content, std::slice::from_ref(&one));
    let (before, end) = plain.split_at(plain.len() - 22);
    let zip64 = [before, b"PK\x06\x07", &[0; 16], end].concat();
    let few = ArchiveLimits::default().max_members(100);
    let all = ArchiveLimits::default();
    let alone = |one: Described| by_hand(&content, &[one]);
    let rows: [(&str, Vec<u8>, ArchiveLimits, &str); 10] = [
        (
            "shared bytes",
            by_hand(&content, &shared),
            all,
            "members that overlap",
        ),
        (
            "one name",
            by_hand(&content, &[one.clone(), one.clone()]),
            all,
            "two with one name",
        ),
        (
            "a huge directory",
            by_hand(&content, &huge),
            few,
            "at most 100 members",
        ),
        ("ZIP64", zip64, all, "found ZIP64"),
        (
            "bytes beyond the end",
            alone(Described {
                compressed: 1 << 30,
                ..one.clone()
            }),
            all,
            "that overlap",
        ),
        (
            "fewer bytes than stated",
            alone(Described {
                size: 10,
                ..one.clone()
            }),
            all,
            "larger than its declared",
        ),
        (
            "cut",
            alone(Described {
                compressed: 10,
                ..one.clone()
            }),
            all,
            "checksum",
        ),
        (
            "a header elsewhere",
            alone(Described {
                offset: 1 << 30,
                ..one.clone()
            }),
            all,
            "found a fault",
        ),
        (
            "another method",
            alone(Described {
                method: 12,
                ..one.clone()
            }),
            all,
            "compression method",
        ),
        (
            "no directory",
            b"PK\x03\x04 and no more".to_vec(),
            all,
            "found a fault",
        ),
    ];
    for (name, bytes, limits, expected) in rows {
        let error = error(bytes, limits).to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
    // The directory states more bytes than there are.
    let liar = alone(Described {
        size: u32::MAX - 1,
        ..one
    });
    assert_eq!(read_all(liar), [("a.xml".to_owned(), lines(&*content))]);
}

#[test]
fn damaged_archives_end_with_an_error_or_without() {
    for archive in [PYTHON, PYTHON_GZIP, INFO_ZIP] {
        let bytes = decoded(archive);
        for place in (0..bytes.len()).step_by(5) {
            read_all(bytes[..place].to_vec());
            let mut bytes = bytes.clone();
            bytes[place] ^= [0x01, 0x80, 0xff][place % 3];
            let members = read_all(bytes);
            assert!(members.len() <= 9, "{members:?}");
        }
    }
}
