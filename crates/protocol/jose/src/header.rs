//! Strict reading of JOSE headers (RFC 7515 section 4, RFC 7516 section 4).

use crate::{algorithm, base64url};
use bankrail_values::excerpt;
use bankrail_values::json::{self, JsonError, JsonLimits, JsonMember, JsonObject, JsonValue};

/// The values that a header must have, and its maximum length.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HeaderRules {
    /// The exact value of `alg`.
    pub alg: &'static str,
    /// The exact value of `enc`. With `None` the member must be absent.
    pub enc: Option<&'static str>,
    /// Allows `zip` to be `DEF`.
    pub zip: bool,
    /// The maximum length of the decoded header, in bytes.
    pub max_header_bytes: usize,
}

impl HeaderRules {
    /// Returns the rules for a JWS header: `alg` is `RS256`, no `enc`, no `zip`.
    #[must_use]
    pub const fn signature(max_header_bytes: usize) -> Self {
        Self {
            alg: algorithm::SIGNATURE,
            enc: None,
            zip: false,
            max_header_bytes,
        }
    }

    /// Returns the rules for a JWE header: `alg` is `RSA-OAEP`, `enc` is `A256CBC-HS512`, `zip` may
    /// be `DEF` if allowed.
    #[must_use]
    pub const fn encryption(max_header_bytes: usize, zip: bool) -> Self {
        Self {
            alg: algorithm::KEY_ENCRYPTION,
            enc: Some(algorithm::CONTENT_ENCRYPTION),
            zip,
            max_header_bytes,
        }
    }
}

/// A protected header that obeys its [`HeaderRules`].
///
/// Unknown members are ignored, as RFC 7515 section 4 requires, and kept for
/// [`JoseHeader::member_json`].
#[derive(Clone, Debug, PartialEq)]
pub struct JoseHeader {
    members: Vec<HeaderMember>,
}

/// One member of a [`JoseHeader`].
#[derive(Clone, Debug, PartialEq)]
struct HeaderMember {
    name: Box<str>,
    json: Box<str>,
    /// The string value; `None` if the value is of another type.
    text: Option<Box<str>>,
}

/// Members that carry a key or the address of a key. This crate never uses a key from a header, so
/// it refuses a header with such a member.
const KEY_REFERENCES: [&str; 4] = ["jwk", "jku", "x5u", "x5c"];
const TEXTS: [&str; 6] = ["alg", "enc", "kid", "typ", "cty", "zip"];
const LIMITS: JsonLimits = JsonLimits::new().max_depth(8).max_values(64);

impl JoseHeader {
    /// Reads the base64url text of a protected header.
    ///
    /// # Errors
    /// [`JoseHeaderError`] unless it is canonical base64url of one JSON object that obeys `rules`.
    pub fn parse(encoded: &str, rules: &HeaderRules) -> Result<Self, JoseHeaderError> {
        let max_encoded = base64url::encoded_len(rules.max_header_bytes);
        if encoded.len() > max_encoded {
            return Err(JoseHeaderError::TooLong {
                found: encoded.len(),
                max: max_encoded,
            });
        }
        let json = base64url::decode(encoded).map_err(|_| JoseHeaderError::NotBase64url)?;
        Self::from_json(&json, rules)
    }

    /// Reads the decoded text of a protected header.
    ///
    /// # Errors
    /// [`JoseHeaderError`] unless it is one JSON object that obeys `rules`.
    pub fn from_json(json: &[u8], rules: &HeaderRules) -> Result<Self, JoseHeaderError> {
        let members = json::read_object(json, &LIMITS.max_document_bytes(rules.max_header_bytes))
            .map_err(JoseHeaderError::NotObject)?;
        rules.check(&members)?;
        Ok(Self {
            members: members.members().iter().map(HeaderMember::new).collect(),
        })
    }

    /// Returns `kid`, the key ID.
    #[must_use]
    pub fn kid(&self) -> Option<&str> {
        self.member_text("kid")
    }

    /// Returns `typ`, the media type of the whole token.
    #[must_use]
    pub fn typ(&self) -> Option<&str> {
        self.member_text("typ")
    }

    /// Returns `cty`, the media type of the payload.
    #[must_use]
    pub fn cty(&self) -> Option<&str> {
        self.member_text("cty")
    }

    /// Returns true if `zip` is `DEF`: the plain text is DEFLATE data (RFC 7516 section 4.1.3).
    #[must_use]
    pub fn is_deflated(&self) -> bool {
        self.member_text("zip").is_some()
    }

    /// Returns the value of a member that is a string.
    #[must_use]
    pub fn member_text(&self, name: &str) -> Option<&str> {
        self.member(name)?.text.as_deref()
    }

    /// Returns the JSON text of a member, as received.
    #[must_use]
    pub fn member_json(&self, name: &str) -> Option<&str> {
        self.member(name).map(|member| &*member.json)
    }

    fn member(&self, name: &str) -> Option<&HeaderMember> {
        self.members.iter().find(|member| *member.name == *name)
    }
}

impl HeaderMember {
    fn new(member: &JsonMember<'_>) -> Self {
        let text = member.value().as_str().map(Into::into);
        Self {
            name: member.name().into(),
            json: member.json().into(),
            text,
        }
    }
}

impl HeaderRules {
    fn check(&self, members: &JsonObject<'_>) -> Result<(), JoseHeaderError> {
        // `crit` and `b64` change the meaning of a token, and the others name its sender's key.
        for name in ["crit", "b64"].into_iter().chain(KEY_REFERENCES) {
            if members.get(name).is_some() {
                return Err(JoseHeaderError::Refused { name });
            }
        }
        for name in TEXTS {
            if members
                .get(name)
                .is_some_and(|value| value.as_str().is_none())
            {
                return Err(JoseHeaderError::NotText { name });
            }
        }
        // The receiver chooses the algorithms: a token that chose them could choose weak ones.
        expect(members, "alg", Some(self.alg))?;
        expect(members, "enc", self.enc)?;
        match (members.get("zip").and_then(JsonValue::as_str), self.zip) {
            (None, _) | (Some("DEF"), true) => Ok(()),
            (Some(_), false) => Err(JoseHeaderError::Refused { name: "zip" }),
            (Some(found), true) => Err(JoseHeaderError::unsupported("zip", "DEF", found)),
        }
    }
}

fn expect(
    members: &JsonObject<'_>,
    name: &'static str,
    expected: Option<&'static str>,
) -> Result<(), JoseHeaderError> {
    match (members.get(name).and_then(JsonValue::as_str), expected) {
        (None, None) => Ok(()),
        (Some(_), None) => Err(JoseHeaderError::Refused { name }),
        (None, Some(_)) => Err(JoseHeaderError::Missing { name }),
        (Some(found), Some(expected)) if found == expected => Ok(()),
        (Some(found), Some(expected)) => Err(JoseHeaderError::unsupported(name, expected, found)),
    }
}

/// Compares two media types. Case and a leading `application/` are ignored (RFC 7515 sections 4.1.9
/// and 4.1.10).
#[must_use]
pub fn is_media_type(found: &str, expected: &str) -> bool {
    fn bare(text: &str) -> &str {
        match text.split_at_checked("application/".len()) {
            Some((prefix, rest))
                if prefix.eq_ignore_ascii_case("application/") && !rest.contains('/') =>
            {
                rest
            }
            _ => text,
        }
    }
    bare(found).eq_ignore_ascii_case(bare(expected))
}

/// A protected header that is refused. The error may hold text from the sender: log the error, and
/// do not send it back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoseHeaderError {
    /// The encoded header is longer than allowed.
    #[error("expected a header of at most {max} characters, found {found}")]
    TooLong {
        /// The number of characters found.
        found: usize,
        /// The maximum number of characters.
        max: usize,
    },
    /// The header is not canonical base64url.
    #[error("expected a header in canonical base64url without padding")]
    NotBase64url,
    /// The header is not one JSON object without duplicate members.
    #[error("the header is not acceptable JSON: {0}")]
    NotObject(JsonError),
    /// A required member is absent.
    #[error("expected a header member {name:?}, found none")]
    Missing {
        /// The member.
        name: &'static str,
    },
    /// A member that must be a string has another type.
    #[error("expected text as header member {name:?}")]
    NotText {
        /// The member.
        name: &'static str,
    },
    /// A member that this profile never accepts.
    #[error("header member {name:?} is not accepted")]
    Refused {
        /// The member.
        name: &'static str,
    },
    /// A member has a value other than the profile's.
    #[error("expected {expected:?} as header member {name:?}, found {found}")]
    Unsupported {
        /// The member.
        name: &'static str,
        /// The only value accepted.
        expected: &'static str,
        /// The value found, cut and escaped.
        found: String,
    },
}

impl JoseHeaderError {
    /// Returns the name of the member that is refused, if it is one of the profile's.
    #[must_use]
    pub fn member(&self) -> Option<&'static str> {
        match self {
            Self::Missing { name }
            | Self::NotText { name }
            | Self::Refused { name }
            | Self::Unsupported { name, .. } => Some(name),
            Self::TooLong { .. } | Self::NotBase64url | Self::NotObject(_) => None,
        }
    }

    /// Returns [`JoseHeaderError::Unsupported`] with the value found, cut and escaped.
    #[must_use]
    pub fn unsupported(name: &'static str, expected: &'static str, found: &str) -> Self {
        Self::Unsupported {
            name,
            expected,
            found: excerpt(found),
        }
    }
}
