//! PEM blocks (RFC 7468).
//!
//! Reading is more lenient than RFC 7468: any line width and text around the block are accepted, as
//! in key files that were sent by e-mail. Writing follows RFC 7468.

use super::KeyError;
use bankrail_values::excerpt;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

/// The maximum number of bytes of a key or certificate.
pub(super) const MAX_LEN: usize = 64 * 1024;

/// The label of a certificate.
pub(super) const CERTIFICATE: &str = "CERTIFICATE";

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// Returns the label and contents of the only PEM block in `text` with a label that fits the use,
/// or of the first one of a chain of certificates. Blocks with other labels are not read: many
/// files hold a private key beside its certificate. If no label fits, the first block is returned.
pub(super) fn decode(
    text: &str,
    fits: impl Fn(&str) -> bool,
) -> Result<(&str, Zeroizing<Vec<u8>>), KeyError> {
    if text.len() > MAX_LEN {
        return Err(KeyError::TooLong {
            found: text.len(),
            max: MAX_LEN,
        });
    }
    let refused = |reason| KeyError::NotPem { reason };
    let blocks: Option<Vec<(&str, &str)>> = text
        .split(BEGIN)
        .skip(1)
        .map(|block| {
            block
                .split_once(DASHES)
                .filter(|(label, _)| label.len() <= 64 && !label.contains(['\n', '\r']))
        })
        .collect();
    let blocks = blocks.ok_or(refused("an unfinished BEGIN line"))?;
    let fitting: Vec<_> = blocks.iter().filter(|(label, _)| fits(label)).collect();
    // A chain of certificates starts with the one whose key is meant (RFC 8446 section 4.4.2).
    if fitting.len() > 1 && fitting.iter().any(|(label, _)| *label != CERTIFICATE) {
        return Err(refused("more than one block"));
    }
    let (label, rest) = *fitting
        .into_iter()
        .chain(&blocks)
        .next()
        .ok_or(refused("no BEGIN line"))?;
    if label == "ENCRYPTED PRIVATE KEY" || rest.contains("Proc-Type:") {
        return Err(KeyError::Encrypted);
    }
    let (body, rest) = rest.split_once(END).ok_or(refused("no END line"))?;
    if !rest
        .strip_prefix(label)
        .is_some_and(|rest| rest.starts_with(DASHES))
    {
        return Err(refused("an END line that does not match its BEGIN line"));
    }
    // Allocates all the room at once: growth would leave copies of the key behind.
    let mut characters = Zeroizing::new(Vec::with_capacity(body.len()));
    characters.extend(body.bytes().filter(|byte| !byte.is_ascii_whitespace()));
    let bytes = STANDARD.decode(&*characters).map_err(|_| {
        refused(if body.contains("\\n") {
            "line breaks written as \\n; write real ones"
        } else {
            "contents that are not base64"
        })
    })?;
    Ok((label, Zeroizing::new(bytes)))
}

/// Returns the error for a block whose label is not the expected one.
pub(super) fn unexpected(label: &str, expected: &'static str) -> KeyError {
    KeyError::UnexpectedLabel {
        expected,
        found: excerpt(label),
    }
}

/// Writes one block with lines of 64 characters.
pub(super) fn encode(label: &str, der: &[u8]) -> Zeroizing<String> {
    let characters = Zeroizing::new(STANDARD.encode(der));
    // Has room for a line end after each 64 characters and for both labels, so that the text never
    // grows.
    let mut text = Zeroizing::new(String::with_capacity(
        characters.len() + characters.len() / 64 + 128,
    ));
    text.extend([BEGIN, label, DASHES, "\n"]);
    let mut rest = characters.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at_checked(64).unwrap_or((rest, ""));
        text.extend([line, "\n"]);
        rest = after;
    }
    text.extend([END, label, DASHES, "\n"]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_survive_the_round_trip() {
        for length in [1, 47, 48, 49, 1000, 0] {
            let der = vec![0xa5; length];
            let text = encode("PUBLIC KEY", &der);
            assert!(text.lines().all(|line| line.len() <= 64));
            let (label, read) = decode(&text, |_| true).unwrap();
            assert_eq!((label, &**read), ("PUBLIC KEY", &*der));
        }
    }

    #[test]
    fn line_width_line_ends_and_text_around_do_not_matter() {
        for text in [
            "-----BEGIN X-----\nAAAA\n-----END X-----",
            "-----BEGIN X-----\r\nAA\r\nAA\r\n-----END X-----\r\n",
            "Bag Attributes\n  name: x\n-----BEGIN X-----\nAAAA\n-----END X-----\nbye",
            "-----BEGIN X-----AAAA-----END X-----",
        ] {
            assert_eq!(&**decode(text, |_| true).unwrap().1, [0, 0, 0], "{text}");
        }
    }

    #[test]
    fn broken_blocks_are_refused() {
        for text in [
            "",
            "AAAA",
            "-----BEGIN X",
            "-----BEGIN X-----\nAAAA",
            "-----BEGIN X\n-----\nAAAA\n-----END X\n-----",
            "-----BEGIN X-----\nAAAA\n-----END Y-----",
            "-----BEGIN X-----\nAAA\n-----END X-----",
            "-----BEGIN X-----\nA*AA\n-----END X-----",
            "-----BEGIN X-----\nAAAA\n-----END X-----\n-----BEGIN X-----\nAAAA\n-----END X-----",
        ] {
            assert!(
                matches!(decode(text, |_| true), Err(KeyError::NotPem { .. })),
                "{text}"
            );
        }
        for text in [
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAAA\n\
             -----END RSA PRIVATE KEY-----",
        ] {
            assert!(
                matches!(decode(text, |_| true), Err(KeyError::Encrypted)),
                "{text}"
            );
        }
        let block = "-----BEGIN X-----\nAAAA\n-----END X-----";
        let padded = |length: usize| format!("{block}{}", " ".repeat(length - block.len()));
        assert!(decode(&padded(64 * 1024), |_| true).is_ok());
        assert!(matches!(
            decode(&padded(64 * 1024 + 1), |_| true),
            Err(KeyError::TooLong {
                found: 65_537,
                max: 65_536
            })
        ));
        for (length, accepted) in [(64, true), (65, false)] {
            let label = "L".repeat(length);
            let block = format!("-----BEGIN {label}-----\nAAAA\n-----END {label}-----");
            assert_eq!(decode(&block, |_| true).is_ok(), accepted, "{length}");
        }
    }
}
