//! `#[derive(Message)]`: a whole message, from the struct of the sequence in the document element.

use crate::arguments::Arguments;
use crate::element::{Field, Sequence};
use crate::schema::{Name, inner, integer, private, tag, version};
use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{DeriveInput, Error, Expr, Ident, Path, Result};

/// The parts of a message that its sequence of elements does not state.
struct Message {
    sequence: Sequence,
    namespace: Expr,
    root: Name,
    /// The oldest and the newest known version.
    versions: Option<[u8; 2]>,
    depth: u32,
    /// The field before the groups.
    header: Ident,
    /// The field with the elements that hold the units.
    groups: Ident,
    /// The type of the units.
    unit: Path,
    unit_name: Name,
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    // The derive `Element` reports the mistakes in the sequence itself.
    let Ok(sequence) = Sequence::parse(input) else {
        return Ok(TokenStream::new());
    };
    let message = Message::parse(input, sequence)?;
    let (names, methods) = (message.names()?, message.methods());
    Ok(quote!(#names #methods))
}

impl Message {
    fn parse(input: &DeriveInput, sequence: Sequence) -> Result<Self> {
        let mut own = Arguments::of(&input.attrs, "message", input.ident.span())?;
        let depth = value(&mut own, "depth")?;
        let versions = version(&mut own, "oldest")?.zip(version(&mut own, "newest")?);
        let message = Self {
            sequence,
            versions: versions.map(|(oldest, newest)| [oldest, newest]),
            namespace: value(&mut own, "namespace")?,
            root: text(&mut own, "root")?,
            depth: integer(
                &depth,
                1..=u32::MAX,
                "expected the maximum nesting of elements",
            )?,
            header: ident(&mut own, "header")?,
            groups: ident(&mut own, "groups")?,
            unit: path(&mut own, "unit")?,
            unit_name: text(&mut own, "unit_name")?,
        };
        // Called last, because every argument that has not been taken by now is unknown.
        own.finish(
            "`namespace`, `oldest`, `newest`, `root`, `depth`, `header`, `groups`, `unit` or `unit_name`",
        )?;
        Ok(message)
    }

    /// Returns the field of a name, and the type in its `Option` or `Vec`.
    fn field(&self, name: &Ident, outer: &str) -> Result<(&Field, &syn::Type)> {
        self.sequence
            .fields
            .iter()
            .find(|field| field.ident == *name)
            .and_then(|field| Some((field, inner(&field.ty, outer)?)))
            .ok_or_else(|| {
                Error::new(
                    name.span(),
                    format!("expected a field of the type `{outer}<…>`"),
                )
            })
    }

    /// Generates the names and types that the readers and the writer need.
    fn names(&self) -> Result<TokenStream> {
        let private = private();
        let (_, header_type) = self.field(&self.header, "Option")?;
        let (group, group_type) = self.field(&self.groups, "Vec")?;
        let Some(group) = group.newest().map(|form| &form.name) else {
            return Ok(TokenStream::new());
        };
        let versions = match self.versions {
            Some([oldest, newest]) => quote!(Some([#oldest, #newest])),
            None => quote!(None),
        };
        let (version, set_version) = match &self.sequence.version {
            Some(version) => (quote!(self.#version), quote!(self.#version = version;)),
            None => (
                quote!(::core::default::Default::default()),
                quote!(let _ = version;),
            ),
        };
        let Self {
            sequence: Sequence { ident, .. },
            namespace,
            root,
            header,
            unit,
            unit_name,
            ..
        } = self;
        let depth = usize::try_from(self.depth)
            .map_err(|_| Error::new(ident.span(), "the depth is too large"))?;
        let (root_tag, unit_tag) = (tag(root), tag(unit_name));
        Ok(quote! {
            // The implementation is hidden from the documentation, because only the engine uses it.
            #[doc(hidden)]
            impl #private::Message for #ident {
                type Header = #header_type;
                type Group = #group_type;
                type Unit = #unit;
                const SHAPE: &'static #private::Shape = &#private::Shape {
                    namespace: #namespace,
                    versions: #versions,
                    root: &[#private::Field {
                        wire: #root, min: 1, max: 1, since: 0, until: u8::MAX, as_of: 0,
                    }],
                    group: #group,
                    unit: #unit_name,
                    depth: #depth,
                };
                const ROOT: &'static #private::Tag = #root_tag;
                const UNIT: &'static #private::Tag = #unit_tag;

                fn version(&self) -> #private::Version {
                    #version
                }

                fn set_version(&mut self, version: #private::Version) {
                    #set_version
                }

                fn header(
                    slots: &<Self as #private::Record>::Slots,
                ) -> Option<&Self::Header> {
                    slots.#header.as_ref()
                }
            }
        })
    }

    /// Generates the methods of a document as inherent ones, so that no trait needs to be in scope.
    fn methods(&self) -> TokenStream {
        let private = private();
        let ident = &self.sequence.ident;
        // A message without versions needs no conversion.
        let to_version = self.sequence.version.is_some().then(|| {
            quote! {
                /// Returns the document in another version. The findings name the parts that the
                /// version does not have or cannot hold, which are left out (`UnknownElement`,
                /// `UnknownAttribute`, `UnexpectedText`), and whatever else its schema refuses,
                /// which stays: parts that it demands, values that it does not allow. Without a
                /// finding of the schema, nothing is lost. Paths are those in the new document.
                ///
                /// # Errors
                /// `WriteError::Character`; `WriteError::Unfaithful` when the other document
                /// cannot be read, because the version is unknown or a part is missing that the
                /// model cannot do without.
                pub fn to_version(
                    &self, version: #private::Version,
                ) -> Result<#private::Parsed<Self>, #private::WriteError> {
                    #private::to_version(self, version)
                }
            }
        });
        quote! {
            impl #ident {
                #to_version

                /// Reads a document tolerantly: from text, whose declared encoding is ignored, or
                /// from bytes, which are decoded by the encoding that they declare.
                ///
                /// # Errors
                /// `ReadError` when the document is malformed or of another message, or when a
                /// part that the model cannot do without cannot be read.
                pub fn parse(
                    xml: impl #private::Source,
                ) -> Result<#private::Parsed<Self>, #private::ReadError> {
                    Self::parse_with(xml, &#private::ReadOptions::default())
                }

                /// Reads a document, from text or bytes.
                ///
                /// # Errors
                /// As [`parse`](Self::parse); also for what the options refuse.
                pub fn parse_with(
                    xml: impl #private::Source, options: &#private::ReadOptions,
                ) -> Result<#private::Parsed<Self>, #private::ReadError> {
                    Self::parse_bytes(xml.as_ref(), &#private::options_for(&xml, options))
                }

                // This function is not generic, so that it is compiled once and not in each crate
                // that reads.
                fn parse_bytes(
                    xml: &[u8], options: &#private::ReadOptions,
                ) -> Result<#private::Parsed<Self>, #private::ReadError> {
                    #private::parse(xml, options)
                }

                /// Reads a document from a source; the whole document is in memory afterwards. The
                /// message's stream reads one part after the other.
                ///
                /// # Errors
                /// As [`parse_with`](Self::parse_with); also an error of the source.
                pub fn read_with(
                    source: impl ::std::io::BufRead,
                    options: &#private::ReadOptions,
                ) -> Result<#private::Parsed<Self>, #private::ReadError> {
                    #private::read(source, options)
                }

                /// Returns the findings that strict reading of the written document would report,
                /// with kind and path and without a position. `FindingKind::is_schema`
                /// distinguishes those that the schema refuses from broken rules beyond the schema:
                /// counts, sums, currencies, check digits.
                ///
                /// A document with parts beyond the schema is written and read again for this.
                ///
                /// Without a finding of the schema, [`to_xml`](Self::to_xml) gives a schema-valid
                /// document.
                #[must_use]
                pub fn check(&self) -> Vec<#private::Finding> {
                    #private::check(self)
                }

                /// Returns the first finding of the schema among those of [`check`](Self::check);
                /// `None` when [`to_xml`](Self::to_xml) gives a schema-valid document. The rules
                /// beyond the schema are not checked, which takes less time.
                #[must_use]
                pub fn check_schema(&self) -> Option<#private::Finding> {
                    #private::check_schema(self)
                }

                /// Returns the document as compact XML in UTF-8, with the XML declaration.
                ///
                /// # Errors
                /// `WriteError::Invalid` when a mandatory part is missing, `WriteError::Character`,
                /// `WriteError::Unfaithful`.
                pub fn to_xml(&self) -> Result<String, #private::WriteError> {
                    self.to_xml_with(&#private::WriteOptions::default())
                }

                /// Returns the document as XML.
                ///
                /// # Errors
                /// As [`to_xml`](Self::to_xml).
                pub fn to_xml_with(
                    &self, options: &#private::WriteOptions,
                ) -> Result<String, #private::WriteError> {
                    #private::to_xml(self, options)
                }

                /// Writes the document as XML in pieces of about 64 kB.
                ///
                /// # Errors
                /// As [`to_xml`](Self::to_xml): `Invalid` and `Unfaithful` before anything is
                /// written, `Character` when part of the document may have been written.
                /// `WriteError::Io` when the destination fails.
                pub fn write_to(
                    &self,
                    sink: &mut dyn ::std::io::Write,
                    options: &#private::WriteOptions,
                ) -> Result<(), #private::WriteError> {
                    #private::write_to(self, sink, options)
                }

                /// Appends the document to a JSON text as a string literal, quotes included. The
                /// XML exists only in its escaped form.
                ///
                /// # Errors
                /// As [`to_xml`](Self::to_xml); `json` is then unchanged.
                pub fn write_json_string(
                    &self, json: &mut String,
                ) -> Result<(), #private::WriteError> {
                    #private::write_json_string(self, json)
                }

                /// Appends the document to a JSON text as the content of a string literal, without
                /// the quotes.
                ///
                /// # Errors
                /// As [`to_xml`](Self::to_xml); `json` is then unchanged.
                pub fn append_json_content(
                    &self, json: &mut String,
                ) -> Result<(), #private::WriteError> {
                    #private::append_json_content(self, json)
                }
            }
        }
    }
}

fn value(arguments: &mut Arguments, key: &str) -> Result<Expr> {
    arguments
        .value(key)?
        .ok_or_else(|| Error::new(arguments.span, format!("expected `{key} = …`")))
}

fn text(arguments: &mut Arguments, key: &str) -> Result<Name> {
    let text = arguments.text_value(key)?;
    text.map(Name::from)
        .ok_or_else(|| Error::new(arguments.span, format!("expected `{key} = \"…\"`")))
}

fn path(arguments: &mut Arguments, key: &str) -> Result<Path> {
    match value(arguments, key)? {
        Expr::Path(path) => Ok(path.path),
        other => Err(Error::new(other.span(), "expected a name")),
    }
}

fn ident(arguments: &mut Arguments, key: &str) -> Result<Ident> {
    let path = path(arguments, key)?;
    path.get_ident()
        .cloned()
        .ok_or_else(|| Error::new(path.span(), "expected the name of a field"))
}
