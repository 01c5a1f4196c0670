//! Removes the prefix from every tag of an element, because the fast reader knows names without prefixes only.

/// Copies an element to `plain` without the prefix, which is given with its colon. `text` begins with the element's
/// start tag, or after it.
///
/// - Returns the length of the element in `text`, in bytes.
/// - `None` when a tag has not the prefix, or the end tag is missing or has white space. Nothing after the end tag is
///   looked at; otherwise reading would take quadratic time.
/// - Where an element of the same name lies within it, the result ends too early and cannot be read.
pub(crate) fn strip(text: &str, prefix: &str, name: &str, plain: &mut String) -> Option<usize> {
    plain.clear();
    let mut rest = text;
    loop {
        let at = memchr::memchr(b'<', rest.as_bytes())?;
        let (before, tag) = rest.split_at_checked(at)?;
        plain.push_str(before);
        let (mark, named) = match tag.as_bytes() {
            [b'<', b'/', ..] => tag.split_at_checked(2)?,
            [b'<', b'!', ..] => {
                let end = if tag.starts_with("<![CDATA[") { "]]>" } else { "-->" };
                let content = tag.strip_prefix("<![CDATA[").or_else(|| tag.strip_prefix("<!--"))?;
                let (_, after) = content.split_once(end)?;
                plain.push_str(tag.get(..tag.len() - after.len())?);
                rest = after;
                continue;
            }
            _ => tag.split_at_checked(1)?,
        };
        plain.push_str(mark);
        rest = named.strip_prefix(prefix)?;
        if mark.len() == 2
            && let Some(after) = rest.strip_prefix(name)
            && after.bytes().next().is_some_and(ends_name)
        {
            let after = after.strip_prefix('>')?;
            plain.push_str(name);
            plain.push('>');
            return Some(text.len() - after.len());
        }
    }
}

/// True for a byte that ends the name in an end tag.
pub(crate) fn ends_name(byte: u8) -> bool {
    matches!(byte, b'>' | b' ' | b'\t' | b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tag_loses_its_prefix_and_text_loses_nothing() {
        let mut plain = String::from("before");
        let text = "<p:a><p:b c=\"p:\">p:é &lt;<![CDATA[<p:b></p:a>]]></p:b><!-- </p:a>]]> --><p:ab/></p:a><p:a>";
        assert_eq!(strip(text, "p:", "a", &mut plain), Some(text.len() - "<p:a>".len()));
        assert_eq!(plain, "<a><b c=\"p:\">p:é &lt;<![CDATA[<p:b></p:a>]]></b><!-- </p:a>]]> --><ab/></a>");
        for odd in [
            "<p:a><b/></p:a>",
            "<p:a><!-- -- ></p:a>",
            "<p:a><!DOCTYPE a></p:a>",
            "<p:a>",
            "<pp:a></p:a>",
            "",
            "<",
            "</",
        ] {
            assert_eq!(strip(odd, "p:", "a", &mut plain), None, "{odd}");
        }
        for odd in ["<p:a></p:a ><p:a></p:a>", "<p:a></p:a\n></p:a>", "<p:a></p:a"] {
            assert_eq!(strip(odd, "p:", "a", &mut plain), None, "{odd}");
        }
    }
}
