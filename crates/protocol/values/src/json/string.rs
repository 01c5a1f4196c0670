//! Scanning and unescaping JSON strings.

use super::error::JsonErrorKind;

/// Returns the number of bytes before the first quotation mark, backslash or control character.
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    // Most texts are short, so the first piece often suffices.
    let Some((start, mut rest)) = bytes.split_first_chunk::<PIECE>() else {
        return plain_words(bytes);
    };
    let mut length = plain_words(start);
    if length < PIECE {
        return length;
    }
    while let Some((piece, after)) = rest.split_first_chunk::<PIECE>() {
        if piece
            .iter()
            .fold(0, |found, byte| found | u8::from(is_special(*byte)))
            != 0
        {
            break;
        }
        (length, rest) = (length + PIECE, after);
    }
    length + plain_words(rest)
}

const PIECE: usize = 32;

fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// Returns the same as [`plain_length`], looking at eight bytes at a time.
fn plain_words(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    // Sets the highest bit of each zero byte of `word`, and perhaps of bytes after the first zero
    // byte.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
    let (mut length, mut rest) = (0, bytes);
    while let Some((chunk, after)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let found = zeros(word ^ (ONES * u64::from(b'"')))
            | zeros(word ^ (ONES * u64::from(b'\\')))
            | control;
        let marks = found & HIGH;
        if marks != 0 {
            return length + usize::try_from(marks.trailing_zeros() / 8).unwrap_or(0);
        }
        (length, rest) = (length + 8, after);
    }
    length + rest.iter().take_while(|byte| !is_special(**byte)).count()
}

/// Replaces the escapes in the text between the quotation marks. Without `out`, the escapes are
/// only checked. With `replace`, half of a surrogate pair is read as U+FFFD. The offset of an error
/// is counted from the start of `inner`.
pub(super) fn unescape(
    inner: &str,
    mut out: Option<&mut String>,
    replace: bool,
) -> Result<(), (JsonErrorKind, usize)> {
    let mut rest = inner;
    while let Some((plain, after)) = rest.split_once('\\') {
        let at = inner.len() - after.len() - 1;
        let (character, length) = match escape(after) {
            // Replaces only this half, because an escape after it stands for itself.
            Err(JsonErrorKind::UnpairedSurrogate) if replace => (char::REPLACEMENT_CHARACTER, 5),
            other => other.map_err(|fault| (fault, at))?,
        };
        if let Some(out) = &mut out {
            out.push_str(plain);
            out.push(character);
        }
        rest = after.get(length..).unwrap_or_default();
    }
    if let Some(out) = out {
        out.push_str(rest);
    }
    Ok(())
}

/// Returns the character of the escape whose backslash is before `text`, and the number of bytes of
/// `text` that belong to it.
fn escape(text: &str) -> Result<(char, usize), JsonErrorKind> {
    let simple = match text.as_bytes().first() {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(text),
        _ => {
            return Err(JsonErrorKind::Syntax {
                expected: "a JSON escape",
            });
        }
    };
    Ok((simple, 1))
}

fn unicode_escape(text: &str) -> Result<(char, usize), JsonErrorKind> {
    let first = hex_digits(text.get(1..))?;
    if let Some(character) = char::from_u32(first) {
        return Ok((character, 5));
    }
    let second = text.get(5..).and_then(|after| after.strip_prefix("\\u"));
    let Some(second) = second.filter(|_| first < 0xDC00) else {
        return Err(JsonErrorKind::UnpairedSurrogate);
    };
    let second = hex_digits(Some(second))?;
    if !(0xDC00..0xE000).contains(&second) {
        return Err(JsonErrorKind::UnpairedSurrogate);
    }
    let character = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    Ok((
        char::from_u32(character).expect("a surrogate pair is a character"),
        11,
    ))
}

fn hex_digits(text: Option<&str>) -> Result<u32, JsonErrorKind> {
    let digits = text
        .and_then(|text| text.get(..4))
        .filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    number.ok_or(JsonErrorKind::Syntax {
        expected: "four hexadecimal digits",
    })
}
