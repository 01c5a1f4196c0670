//! The messages of the family and their schemas.

use arbitrary::Unstructured;
use bankrail_camt::{
    AnyDocument, Finding, Mode, Parsed, ReadError, ReadOptions, Version, WriteOptions,
    notification, report, statement,
};
use bankrail_iso20022::__private::{Invent, Message, SchemaType, invented};
use std::path::PathBuf;

/// The messages of the family by number.
pub(crate) const MESSAGES: [u16; 3] = [52, 53, 54];
/// The known versions.
pub(crate) const VERSIONS: std::ops::RangeInclusive<u8> = 2..=8;

/// One schema of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Schema {
    pub(crate) message: u16,
    pub(crate) version: u8,
}

/// All 21 schemas.
pub(crate) fn all() -> impl Iterator<Item = Schema> {
    let of = |message| VERSIONS.map(move |version| Schema { message, version });
    MESSAGES.into_iter().flat_map(of)
}

impl Schema {
    pub(crate) fn name(self) -> String {
        format!("camt.0{}.001.{:02}", self.message, self.version)
    }

    pub(crate) fn namespace(self) -> String {
        format!("urn:iso:std:iso:20022:tech:xsd:{}", self.name())
    }

    /// Returns the file of the schema; `None` when the shared data is not here.
    pub(crate) fn file(self) -> Option<PathBuf> {
        let folder = shared("schema")?;
        let name = format!("{}.xsd", self.name());
        let own = folder.join(&name);
        let file = if own.exists() {
            own
        } else {
            folder.join("family").join(name)
        };
        assert!(file.exists(), "{} is missing", file.display());
        Some(file)
    }

    /// Returns the type of the message in the model.
    pub(crate) fn root(self) -> SchemaType {
        // Imported only here, because a node has a method `check`, too.
        use bankrail_iso20022::__private::Node;
        match self.message {
            52 => report::Document::schema_type(),
            53 => statement::Document::schema_type(),
            _ => notification::Document::schema_type(),
        }
    }

    /// Returns a document made from a number, always the same.
    pub(crate) fn invent(self, seed: u64) -> String {
        let bytes = bytes(seed, 200 + usize::try_from(seed % 7).unwrap() * 250);
        match self.message {
            52 => self.written::<report::Document>(&bytes),
            53 => self.written::<statement::Document>(&bytes),
            _ => self.written::<notification::Document>(&bytes),
        }
    }

    fn written<M: Message + Invent>(self, bytes: &[u8]) -> String {
        let version = Version::new(self.version);
        let document: M = invented(&mut Unstructured::new(bytes), version).unwrap();
        let xml = bankrail_iso20022::__private::to_xml(
            &document,
            &WriteOptions::default().schema_valid(true),
        );
        xml.unwrap_or_else(|error| panic!("{}: {error}\n{document:#?}", self.name()))
    }
}

/// Bytes made from a number, always the same.
pub(crate) fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    })
    .take(length)
    .collect()
}

/// Returns options that refuse every violation of the schema.
pub(crate) fn strict() -> ReadOptions {
    ReadOptions::default().mode(Mode::Strict)
}

pub(crate) fn read(xml: &str) -> Result<Parsed<AnyDocument>, ReadError> {
    AnyDocument::parse(xml)
}

/// Writes a document as it was read.
pub(crate) fn write(document: &AnyDocument) -> String {
    match document {
        AnyDocument::Report(document) => document.to_xml(),
        AnyDocument::Statement(document) => document.to_xml(),
        AnyDocument::Notification(document) => document.to_xml(),
        other => panic!("{other:?}"),
    }
    .unwrap()
}

pub(crate) fn check(document: &AnyDocument) -> Vec<Finding> {
    match document {
        AnyDocument::Report(document) => document.check(),
        AnyDocument::Statement(document) => document.check(),
        AnyDocument::Notification(document) => document.check(),
        other => panic!("{other:?}"),
    }
}

/// Returns a folder of data that is not part of the project; `None` when `BANKRAIL_SHARED` does not
/// say where it is.
fn shared(folder: &str) -> Option<PathBuf> {
    let Some(root) = std::env::var_os("BANKRAIL_SHARED") else {
        println!("BANKRAIL_SHARED not set: skipped");
        return None;
    };
    let path = PathBuf::from(root).join(folder);
    assert!(path.exists(), "{} is missing", path.display());
    Some(path)
}
