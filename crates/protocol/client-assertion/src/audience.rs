//! The audience of an assertion.

use bankrail_values::ValueError;

/// The value of an assertion's `aud`: the address of the token endpoint (Specification: "Client
/// assertion (JWT) the customer builds"). Both sides configure it, and it may differ from the URL
/// of the requests.
///
/// An audience has 1 to 2048 bytes without white space and control characters, and is compared byte
/// for byte.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Audience(Box<str>);

impl Audience {
    /// The maximum number of bytes of an audience.
    pub const MAX_LENGTH: usize = 2048;

    /// Checks an audience.
    ///
    /// # Errors
    /// [`ValueError`] for an empty or longer text and for white space or control characters in it.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let refused = |c: char| c.is_whitespace() || c.is_control();
        if text.is_empty() || text.len() > Self::MAX_LENGTH || text.contains(refused) {
            return Err(ValueError::new(
                "an audience of 1 to 2048 bytes without white space",
                text,
            ));
        }
        Ok(Self(text.into()))
    }
}

bankrail_values::impl_text_value!(Audience, ValueError, Debug, as_str);
