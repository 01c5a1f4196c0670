//! Cursors as bytes and as text.

use bankrail_statement::{Cursor, CursorError};

#[test]
fn bytes_and_text() {
    let cursor = Cursor::from_bytes(b"\xff\xfe").unwrap();
    assert_eq!(cursor.as_str(), "//4=");
    assert_eq!(cursor.to_bytes().unwrap(), b"\xff\xfe");
    assert_eq!(
        Cursor::from_bytes(b""),
        Err(CursorError::Length { found: 0 })
    );
    assert!(Cursor::parse(&"A".repeat(4097)).is_err());
    for foreign in ["//4", "__4=", "//5=", "a b", "é"] {
        let kept = Cursor::parse(foreign).unwrap();
        assert_eq!(
            (kept.as_str(), kept.to_bytes()),
            (foreign, Err(CursorError::NotBase64))
        );
    }
}

#[test]
fn a_cursor_has_at_most_4096_bytes_and_is_cut_when_it_is_shown() {
    assert_eq!(Cursor::MAX_LENGTH, 4096);
    let longest = Cursor::parse(&"A".repeat(4096)).unwrap();
    assert_eq!(
        format!("{longest:?}"),
        format!("Cursor(\"{}\"…)", "A".repeat(40))
    );
    assert_eq!(
        Cursor::parse(&"A".repeat(4097)),
        Err(CursorError::Length { found: 4097 })
    );
    assert_eq!(longest.to_string(), longest.as_str());
}
