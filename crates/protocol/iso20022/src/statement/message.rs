//! `message!`: a whole message.

/// States a message: the sequence below the document element, as `record!` does, and the names
/// around it.
///
/// ```text
/// message! {
///     /// What it is.
///     Document = "DayBookV01" {
///         /// The elements, as in `record!`.
///         header: 1..1 ~Header = "Hdr",
///         days: 1..* Day = "Day",
///     }
///     namespace: "urn:example:daybook",
///     root: "DayBook",
///     depth: 5,
///     header: header Header,
///     groups: Day = "Day",
///     units: Item = "Itm",
///     /// Reads item after item.
///     stream: ItemReader of StreamItem { DayStart, Item, DayEnd },
/// }
/// ```
///
/// - `namespace`, `root`: the namespace of the message, and its element in the document element
///   `Document`.
/// - `depth`: the maximum nesting of elements.
/// - `header`: the field before the groups, and its type.
/// - `groups`, `units`: the elements that are handed out one by one when the message is streamed.
///   The groups are in the message, the units in a group.
/// - `stream`: the name of the reader, a [`UnitReader`](crate::UnitReader), the name of what it
///   reads, and those of the variants for the start of a group, a unit and the end of a group.
///
/// It makes the document's methods (`parse`, `parse_with`, `read_with`, `check`, `check_schema`,
/// `to_xml`, `to_xml_with`, `write_to`, `write_json_string`, `append_json_content`), the alias
/// `Parsed` and the reader.
#[macro_export]
macro_rules! message {
    (
        $(#[$meta:meta])*
        $Document:ident = $schema:literal { $($fields:tt)* }
        namespace: $namespace:expr,
        root: $root:literal,
        depth: $depth:literal,
        header: $header:ident $Header:ty,
        groups: $Group:ty = $group:literal,
        units: $Unit:ty = $unit:literal,
        $(#[$reader_meta:meta])*
        stream: $Reader:ident of $Part:ident { $Start:ident, $Item:ident, $End:ident },
    ) => {
        $crate::record! { $(#[$meta])* $Document = $schema { $($fields)* } }

        /// A document and what was found in it.
        pub type Parsed = $crate::Parsed<$Document>;

        #[doc(hidden)]
        impl $crate::__private::Message for $Document {
            type Header = $Header;
            type Group = $Group;
            type Unit = $Unit;
            type Part = $Part;
            const GROUP_START: fn(Box<$Group>) -> $Part = $Part::$Start;
            const UNIT_READ: fn(Box<$Unit>) -> $Part = $Part::$Item;
            const GROUP_END: fn(Box<$Group>) -> $Part = $Part::$End;
            const MESSAGE_END: fn(Box<$Document>) -> $Part = $Part::MessageEnd;
            const SHAPE: &'static $crate::__private::Shape = &$crate::__private::Shape {
                namespace: $namespace,
                document: "Document",
                root: &[$crate::__private::Field { wire: $root, min: 1, max: 1 }],
                group: $group,
                unit: $unit,
                depth: $depth,
                message: $crate::__private::type_of::<$Document>(),
                named: |name| {
                    static TYPES: std::sync::OnceLock<$crate::__private::Types> = std::sync::OnceLock::new();
                    TYPES.get_or_init($crate::__private::Types::of::<$Document>).named(name)
                },
            };
            const DOCUMENT: &'static $crate::__private::Tag = $crate::__tag!("Document");
            const ROOT: &'static $crate::__private::Tag = $crate::__tag!($root);
            const UNIT: &'static $crate::__private::Tag = $crate::__tag!($unit);

            fn header(slots: &<Self as $crate::__private::Record>::Slots) -> Option<&$Header> {
                slots.$header.as_ref()
            }
        }

        impl $Document {
            /// Reads a document tolerantly, from text or bytes.
            ///
            /// # Errors
            /// `ReadError` when the document is malformed, of another message, misses a mandatory
            /// part that the model cannot do without, or holds an invalid amount.
            pub fn parse(xml: impl AsRef<[u8]>) -> Result<Parsed, $crate::ReadError> {
                Self::parse_bytes(xml.as_ref(), &$crate::ReadOptions::default())
            }

            /// Reads a document, from text or bytes.
            ///
            /// # Errors
            /// As [`parse`](Self::parse); also what the options refuse.
            pub fn parse_with(
                xml: impl AsRef<[u8]>, options: &$crate::ReadOptions,
            ) -> Result<Parsed, $crate::ReadError> {
                Self::parse_bytes(xml.as_ref(), options)
            }

            // Not generic, so that it is compiled once and not in each crate that reads.
            fn parse_bytes(xml: &[u8], options: &$crate::ReadOptions) -> Result<Parsed, $crate::ReadError> {
                $crate::__private::parse(xml, options)
            }

            /// Reads a document from a source; the whole document is in memory afterwards. The
            /// message's stream reads one part after the other.
            ///
            /// # Errors
            /// As [`parse_with`](Self::parse_with); also an error of the source.
            pub fn read_with(
                source: impl std::io::BufRead,
                options: &$crate::ReadOptions,
            ) -> Result<Parsed, $crate::ReadError> {
                $crate::__private::read(source, options)
            }

            /// Everything that is not as it should be in this document: what strict reading of the
            /// written document reports, kind and path, whether the schema refuses it
            /// (`FindingKind::is_schema`) or a rule beyond the schema is broken: counts, sums,
            /// currencies, check digits. There are no positions.
            ///
            /// A document with parts beyond the schema is written and read again for this.
            ///
            /// Without a finding of the schema, [`to_xml`](Self::to_xml) gives a schema-valid
            /// document.
            #[must_use]
            pub fn check(&self) -> Vec<$crate::Finding> {
                $crate::__private::check(self)
            }

            /// The first finding of the schema among those of [`check`](Self::check); `None` when
            /// [`to_xml`](Self::to_xml) gives a schema-valid document. The rules beyond the schema
            /// are not asked, which takes less time.
            #[must_use]
            pub fn check_schema(&self) -> Option<$crate::Finding> {
                $crate::__private::check_schema(self)
            }

            /// The document as compact XML in UTF-8, with the XML declaration.
            ///
            /// # Errors
            /// `WriteError::Invalid` when a mandatory part is missing, `WriteError::Character`,
            /// `WriteError::Unfaithful`.
            pub fn to_xml(&self) -> Result<String, $crate::WriteError> {
                self.to_xml_with(&$crate::WriteOptions::default())
            }

            /// The document as XML.
            ///
            /// # Errors
            /// As [`to_xml`](Self::to_xml).
            pub fn to_xml_with(&self, options: &$crate::WriteOptions) -> Result<String, $crate::WriteError> {
                $crate::__private::to_xml(self, options)
            }

            /// Writes the document as XML in pieces of some 64 kB.
            ///
            /// # Errors
            /// As [`to_xml`](Self::to_xml): `Invalid` and `Unfaithful` before anything is written,
            /// `Character` when part of the document may have been written. `WriteError::Io` when
            /// the destination fails.
            pub fn write_to(
                &self,
                sink: &mut dyn std::io::Write,
                options: &$crate::WriteOptions,
            ) -> Result<(), $crate::WriteError> {
                $crate::__private::write_to(self, sink, options)
            }

            /// Appends the document to a JSON text as a string literal, quotes included. The XML
            /// exists only in its escaped form.
            ///
            /// # Errors
            /// As [`to_xml`](Self::to_xml); `json` is then as it was.
            pub fn write_json_string(&self, json: &mut String) -> Result<(), $crate::WriteError> {
                $crate::__private::write_json_string(self, json)
            }

            /// Appends the document to a JSON text as the content of a string literal, without the
            /// quotes.
            ///
            /// # Errors
            /// As [`to_xml`](Self::to_xml); `json` is then as it was.
            pub fn append_json_content(&self, json: &mut String) -> Result<(), $crate::WriteError> {
                $crate::__private::append_json_content(self, json)
            }
        }

        $(#[$reader_meta])*
        pub type $Reader<R> = $crate::UnitReader<$Document, R>;

        #[doc = concat!("A part of a document that [`", stringify!($Reader), "`] has read.")]
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $Part {
            #[doc = concat!("`", $group, "` begins: what stands before the first `", $unit, "`.")]
            $Start(Box<$Group>),
            #[doc = concat!("`", $unit, "`.")]
            $Item(Box<$Unit>),
            #[doc = concat!("`", $group, "` ends: all of it but each `", $unit, "`.")]
            $End(Box<$Group>),
            #[doc = concat!("The message ends: all of it but each `", $group, "`.")]
            MessageEnd(Box<$Document>),
        }
    };
}
