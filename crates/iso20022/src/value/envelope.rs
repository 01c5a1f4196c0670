//! The envelope of supplementary data: any one element, kept verbatim.

use crate::check::Checker;
use crate::extra::Kept;
use crate::field::Tag;
use crate::finding::FindingKind;
use crate::node::Node;
use crate::output::Output;
use crate::read::{Cursor, Halt, Limits, Tokens, is_one_element, refused_document};
use crate::scan::{Odd, Scanner};

/// Supplementary data as it stands: one element of any namespace.
///
/// A document of this message that it holds, at any depth, is judged by the schema as any other. Types that foreign elements
/// state of themselves (`xsi:type`) are not judged.
///
/// `SupplementaryDataEnvelope1` of the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Envelope(Box<str>);

impl Envelope {
    /// The markup between the tags of `Envlp`, with the namespace declarations it needs.
    #[must_use]
    pub fn as_xml(&self) -> &str {
        &self.0
    }

    /// Markup that is already well-formed XML; it is written as it is.
    ///
    /// The markup is not checked here but when it is written: a document with markup that would not be read back as it is
    /// is refused ([`WriteError::Unfaithful`](crate::WriteError::Unfaithful)).
    #[must_use]
    pub fn from_unchecked_xml(xml: &str) -> Self {
        Self(xml.into())
    }
}

impl Node for Envelope {
    fn read<T: Tokens>(from: &mut Cursor<T>) -> Result<Self, Halt> {
        from.begin()?;
        let (xml, top, refused) = from.any_content()?;
        if top != (1, false) {
            from.report(FindingKind::Envelope);
        } else if let Some(why) = refused {
            from.report(FindingKind::EnvelopeDocument { why });
        }
        from.leave();
        Ok(Self(xml.into()))
    }

    /// Foreign markup takes events: it is kept with the namespaces it needs.
    fn scan(_: &mut Scanner<'_>) -> Result<Self, Odd> {
        Err(Odd)
    }

    fn write(&self, tag: &'static Tag, out: &mut Output<'_>, kept: Kept<'_>) {
        out.start_leaf(tag);
        kept.attributes(out);
        out.start_end();
        out.markup(&self.0);
        out.close_leaf(tag);
    }

    fn is_plain(&self) -> bool {
        false
    }

    fn is_type(below: &[&str], name: &str) -> bool {
        below.is_empty() && name == "SupplementaryDataEnvelope1"
    }

    fn check(&self, to: &mut Checker) {
        if to.only_missing() {
            return;
        }
        if !is_one_element(&self.0) {
            to.report(FindingKind::Envelope);
        } else if let Some(why) = refused_document(&self.0, Limits::default(), to.shape()) {
            to.report(FindingKind::EnvelopeDocument { why });
        }
    }
}
