//! The rules of the four alias types. Each applies to the whole text; digits are ASCII digits.

/// Returns true for `\+[0-9]{1,3}-[1-9][0-9]{1,29}`.
pub(super) fn telephone(text: &str) -> bool {
    let Some((country, number)) = text.strip_prefix('+').and_then(|rest| rest.split_once('-'))
    else {
        return false;
    };
    digits(country, 1, 3) && digits(number, 2, 30) && !number.starts_with('0')
}

/// Returns true for `[0-9]{9}|[0-9]{11}`.
pub(super) fn business_number(text: &str) -> bool {
    digits(text, 9, 9) || digits(text, 11, 11)
}

/// Returns true for a text in lower case with at most 256 characters, an `@` with characters on
/// both sides, and no white space.
pub(super) fn email(text: &str) -> bool {
    let at_inside = text
        .char_indices()
        .any(|(at, c)| c == '@' && at > 0 && at + 1 < text.len());
    at_inside
        // Counting one character beyond the bound is enough.
        && text.chars().take(257).count() <= 256
        && !text.chars().any(|c| c.is_whitespace() || c.is_uppercase())
}

/// Returns true for a dot-atom (RFC 5322 section 3.2.3) in lower case, an `@`, and a domain of
/// labels with at least one dot.
pub(super) fn email_strict(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else {
        return false;
    };
    let atom = |part: &str| {
        let allowed =
            |b: u8| matches!(b, b'a'..=b'z' | b'0'..=b'9') || b"!#$%&'*+-/=?^_`{|}~".contains(&b);
        !part.is_empty() && part.bytes().all(allowed)
    };
    let label = |part: &str| {
        let allowed = |b: u8| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-');
        (1..=63).contains(&part.len())
            && part.bytes().all(allowed)
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    local.split('.').all(atom) && domain.contains('.') && domain.split('.').all(label)
}

/// Returns true for `[!-@\[-~]([ -@\[-~]{0,254}[!-@\[-~])?`.
pub(super) fn organisation(text: &str) -> bool {
    (1..=256).contains(&text.len())
        && text.bytes().all(|b| matches!(b, b' '..=b'@' | b'['..=b'~'))
        && !text.starts_with(' ')
        && !text.ends_with(' ')
}

/// Returns true for at least two words of letters or digits.
pub(super) fn has_two_words(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .nth(1)
        .is_some()
}

fn digits(text: &str, min: usize, max: usize) -> bool {
    (min..=max).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::Regex;

    /// Compares a rule with a regular expression.
    fn compare(rule: fn(&str) -> bool, pattern: &str, text: &str) {
        let naive = Regex::new(&format!(r"\A(?:{pattern})\z")).unwrap();
        assert_eq!(rule(text), naive.is_match(text), "{text:?}");
    }

    const TELEPHONE: &str = r"\+[0-9]{1,3}-[1-9][0-9]{1,29}";
    const BUSINESS_NUMBER: &str = r"[0-9]{9}|[0-9]{11}";
    const EMAIL: &str = r"[^\s\p{Lu}]+@[^\s\p{Lu}]+";
    const EMAIL_STRICT: &str = concat!(
        r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@",
        r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+",
    );
    const ORGANISATION: &str = r"[!-@\[-~]|[!-@\[-~][ -@\[-~]{0,254}[!-@\[-~]";

    /// Texts that match, and texts with one character inserted, removed or replaced.
    fn near(pattern: &'static str) -> impl Strategy<Value = String> {
        let odd = prop::sample::select(vec![
            "", " ", "0", "A", "\n", "é", "٣", "-", "@", ".", "+", "\u{a0}", "\0",
        ]);
        (pattern, any::<prop::sample::Index>(), 0_usize..2, odd).prop_map(
            |(text, at, taken, odd)| {
                let mut characters: Vec<char> = text.chars().collect();
                let at = at.index(characters.len() + 1);
                let end = (at + taken).min(characters.len());
                characters.splice(at..end, odd.chars());
                characters.into_iter().collect()
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn telephone_is_its_pattern(near in near(r"\+[0-9]{1,4}-[0-9]{1,31}"), any in ".{0,12}") {
            compare(telephone, TELEPHONE, &near);
            compare(telephone, TELEPHONE, &any);
        }

        #[test]
        fn business_number_is_its_pattern(near in near("[0-9]{8,12}"), any in ".{0,12}") {
            compare(business_number, BUSINESS_NUMBER, &near);
            compare(business_number, BUSINESS_NUMBER, &any);
        }

        #[test]
        fn email_is_its_pattern(near in near("[a-z]{0,3}@[a-z]{0,3}"), any in "[a-zA-Z@ .é\u{a0}Éß]{0,12}") {
            // The rule also refuses symbols in upper case, such as Ⓐ and Ⅰ; the pattern accepts
            // them.
            compare(email, EMAIL, &near);
            compare(email, EMAIL, &any);
        }

        #[test]
        fn strict_email_is_its_pattern(
            near in near(r"[a-z0-9!+]{1,4}(\.[a-z]{1,3})?@[a-z0-9-]{1,4}(\.[a-z0-9-]{1,3}){0,2}"),
            any in ".{0,12}",
        ) {
            compare(email_strict, EMAIL_STRICT, &near);
            compare(email_strict, EMAIL_STRICT, &any);
        }

        #[test]
        fn organisation_is_its_pattern(near in near("[a-z0-9 -@]{0,6}"), any in ".{0,12}", long in "[a-z ]{250,260}") {
            for text in [near, any, long] {
                compare(organisation, ORGANISATION, &text);
            }
        }
    }

    #[test]
    fn bounds_are_counted_in_characters() {
        let email_of = |length: usize| format!("{}@b", "é".repeat(length - 2));
        assert!(email(&email_of(256)) && !email(&email_of(257)));
        assert!(email("a@b@c") && !email_strict("a@b@c.d"));
        assert!(!email("@b") && !email("a@") && !email("@") && email("@@@"));
        assert!(
            telephone(&format!("+1-1{}", "0".repeat(29)))
                && !telephone(&format!("+1-1{}", "0".repeat(30)))
        );
        assert!(
            email_strict(&format!("a@{}.au", "b".repeat(63)))
                && !email_strict(&format!("a@{}.au", "b".repeat(64)))
        );
    }
}
