//! The rows of `--only`.

use super::row::place;

/// `S8` or `S8.15`.
pub(super) fn parse(text: &str) -> Result<String, String> {
    let heading = text.strip_prefix('S').is_some_and(|number| number.parse::<u32>().is_ok());
    if heading || place(text).is_some() {
        Ok(text.to_owned())
    } else {
        Err("expected the number of a heading or a row, such as S8 or S8.15".to_owned())
    }
}

/// True if a row is asked for, or if no row in particular is.
pub(super) fn wants(only: &[String], id: &str) -> bool {
    only.is_empty() || only.iter().any(|only| is_within(id, only))
}

/// True if a row is another, or one of those under it.
pub(super) fn is_within(id: &str, other: &str) -> bool {
    id.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_all_of_its_rows() {
        for (id, only, expected) in [
            ("S8.15", "S8", true),
            ("S8.15", "S8.15", true),
            ("S8.15", "S8.1", false),
            ("S8.1", "S8.15", false),
            ("S81.5", "S8", false),
            ("-", "S8", false),
        ] {
            assert_eq!(wants(&[only.to_owned()], id), expected, "{id} {only}");
        }
        assert!(wants(&[], "-"));
        for (text, accepted) in [("S8", true), ("S8.15", true), ("8", false), ("S", false), ("S8.", false)] {
            assert_eq!(parse(text).is_ok(), accepted, "{text}");
        }
    }
}
