//! Recognises files that are not XML by their first bytes.

/// The first bytes of a kind of file, in lower case, and its name.
const KINDS: [(&[u8], &str); 14] = [
    (b"pk\x03\x04", "a ZIP archive"),
    (b"pk\x05\x06", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"bzh", "a bzip2 archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"%pdf", "a PDF document"),
    (
        b"\xd0\xcf\x11\xe0",
        "a spreadsheet or another Office document",
    ),
    (b"<!doctype html", "an HTML page"),
    (b"<html", "an HTML page"),
    (b":20:", "an MT940 or MT942 statement"),
    (b"{1:", "a SWIFT message such as MT940"),
    (b"-----begin ", "a PEM or PGP block"),
    (b"pd94bwwg", "Base64, perhaps of XML"),
];

/// Returns the name of the kind of file that begins with these bytes; `None` for XML and for
/// unknown kinds.
pub(super) fn kind(head: &[u8]) -> Option<&'static str> {
    let begin = begin(head);
    // Nearly every document begins like this, and no other kind of file does.
    if let [b'<', b'?' | b'D', ..] = begin {
        return None;
    }
    let is = |kind: &[u8]| {
        begin
            .get(..kind.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(kind))
    };
    if let Some((_, name)) = KINDS.iter().find(|(kind, _)| is(kind)) {
        return Some(name);
    }
    match *begin.first()? {
        b'{' | b'[' => Some("JSON, not the XML in it"),
        b'"' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
            let line = begin.split(|b| *b == b'\n').next()?;
            let separated = line.iter().any(|b| matches!(b, b',' | b';' | b'\t'));
            separated.then_some("separated values (CSV)")
        }
        _ => None,
    }
}

/// Returns the number of bytes that suffice to recognise the kind of a file with this beginning.
pub(super) fn bytes_to_tell(head: &[u8]) -> usize {
    match begin(head) {
        [b'<', b'!', ..] => 24,
        [b'<', ..] => 8,
        _ => 128,
    }
}

/// Returns the bytes after a byte order mark and white space.
fn begin(head: &[u8]) -> &[u8] {
    let marks: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe"];
    let begin = marks.iter().find_map(|mark| head.strip_prefix(*mark));
    begin.unwrap_or(head).trim_ascii_start()
}
