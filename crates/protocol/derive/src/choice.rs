//! `#[derive(Choice)]`: one of several elements, from an enum with a variant for each.

use crate::arguments::Arguments;
use crate::schema::{
    Name, Versions, cfg_arbitrary, cfg_serde, no_generics, private, schema_type, tag, version,
};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Ident, LitStr, Result, Type};

/// An enum with `#[derive(Choice)]`.
struct Choice {
    ident: Ident,
    schema: LitStr,
    /// True if the alternatives are a code of a list and a proprietary text, which get accessors.
    code_or_proprietary: bool,
    /// The last version whose schema has the content of the first alternative in place of the
    /// choice; 0 if there is none.
    bare_until: u8,
    /// True if tolerant reading, too, refuses a document without any of the alternatives.
    is_demanded: bool,
    alternatives: Vec<Alternative>,
    /// The variant for none of the alternatives.
    unknown: Ident,
}

struct Alternative {
    ident: Ident,
    content: Type,
    name: Name,
    versions: Versions,
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let choice = Choice::parse(input)?;
    let (node, invent, serde) = (choice.node(), choice.invent(), choice.serde());
    let accessors = choice.code_or_proprietary.then(|| choice.accessors());
    Ok(quote! {
        const _: () = {
            #node
            #invent
            #serde
        };
        #accessors
    })
}

impl Choice {
    fn parse(input: &DeriveInput) -> Result<Self> {
        no_generics(input)?;
        let Data::Enum(data) = &input.data else {
            return Err(Error::new(
                input.ident.span(),
                "expected an enum; a struct derives `Element`",
            ));
        };
        let mut own = Arguments::of(&input.attrs, "element", input.ident.span())?;
        let schema = schema_type(&mut own)?;
        let code_or_proprietary = own.flag("code_or_proprietary")?;
        let bare_until = version(&mut own, "bare_until")?;
        let is_demanded = own.flag("demanded")?;
        own.finish("`type`, `code_or_proprietary`, `bare_until` or `demanded`")?;
        let (mut alternatives, mut unknown) = (Vec::<Alternative>::new(), None);
        for variant in &data.variants {
            let mut arguments = Arguments::of(&variant.attrs, "element", variant.ident.span())?;
            if arguments.flag("unknown")? {
                arguments.finish("`unknown` alone")?;
                unknown = Some(variant.ident.clone());
                continue;
            }
            let name = Name::take(&mut arguments, "`#[element(\"Nm\")]`")?;
            let versions = Versions::take(&mut arguments)?;
            arguments.finish("a name, `since`, `until` or `unknown`")?;
            let is_twin =
                |other: &&Alternative| other.name == name && other.versions.meet(versions);
            if let Some(twin) = alternatives.iter().find(is_twin) {
                return Err(name.twice(&twin.ident));
            }
            let mut contents = variant.fields.iter();
            let (Fields::Unnamed(_), Some(content), None) =
                (&variant.fields, contents.next(), contents.next())
            else {
                return Err(Error::new(
                    variant.ident.span(),
                    format!(
                        "expected the content of the element: `{}(…)`",
                        variant.ident
                    ),
                ));
            };
            alternatives.push(Alternative {
                ident: variant.ident.clone(),
                content: content.ty.clone(),
                name,
                versions,
            });
        }
        let unknown = unknown.ok_or_else(|| {
            Error::new(
                input.ident.span(),
                "expected a variant for none of the alternatives: `#[element(unknown)] Unknown`",
            )
        })?;
        Ok(Self {
            ident: input.ident.clone(),
            schema,
            code_or_proprietary,
            bare_until: bare_until.unwrap_or_default(),
            is_demanded,
            alternatives,
            unknown,
        })
    }

    /// Generates the choice as the content of an element: read, written and checked.
    fn node(&self) -> TokenStream {
        let private = private();
        let (ident, schema, unknown) = (&self.ident, &self.schema, &self.unknown);
        let variants: Vec<_> = self.alternatives.iter().map(|one| &one.ident).collect();
        let contents: Vec<_> = self.alternatives.iter().map(|one| &one.content).collect();
        let names: Vec<_> = self.alternatives.iter().map(|one| &one.name).collect();
        let tags: Vec<_> = self.alternatives.iter().map(|one| tag(&one.name)).collect();
        let indices: Vec<usize> = (0..variants.len()).collect();
        let tables: Vec<_> = self
            .alternatives
            .iter()
            .map(|one| {
                let Alternative { name, content, .. } = one;
                let Versions { since, until } = one.versions;
                quote! {
                    #private::Field {
                        wire: #name, min: 1, max: <#content as #private::Content>::MAX,
                        since: #since, until: #until, as_of: 0,
                    }
                }
            })
            .collect();
        let sinces = self.alternatives.iter().map(|one| one.versions.since);
        let untils = self.alternatives.iter().map(|one| one.versions.until);
        let held = self.alternatives.iter().map(|one| match one.versions {
            Versions::ALL => quote!(),
            versions => {
                let held = versions.hold(&quote!(from));
                quote!(#held &&)
            }
        });
        let bare_until = self.bare_until;
        // Handles the first alternative alone in the versions that have it in place of the choice.
        let bare = |body: TokenStream, version: TokenStream| {
            (bare_until > 0).then(|| quote!(if #version <= #bare_until { #body }))
        };
        let first = variants.first();
        let read_bare = bare(
            quote!(return #private::Node::read(from).map(Self::#first);),
            quote!(from.schema_version()),
        );
        let scan_bare = bare(
            quote!(return #private::Node::scan(from).map(Self::#first);),
            quote!(from.version()),
        );
        // A proprietary text is kept as a code that the version does not have.
        let texts = if self.code_or_proprietary { 2 } else { 1 };
        let written_bare = variants.iter().take(texts);
        let write_bare = bare(
            quote! {
                #(if let Self::#written_bare(value) = self {
                    return #private::Node::write(value, tag, out, kept);
                })*
            },
            quote!(out.version()),
        );
        let plain_bare = bare(
            quote! {
                return match self {
                    Self::#first(value) => #private::Node::is_plain(value, version),
                    _ => false,
                };
            },
            quote!(version),
        );
        let sound_leaf = bare(
            quote! {
                return match self {
                    Self::#first(value) => #private::Node::is_sound_leaf(value, version),
                    _ => false,
                };
            },
            quote!(version),
        )
        .map(|sound_bare| {
            quote! {
                #[inline]
                fn is_sound_leaf(&self, version: u8) -> bool {
                    #sound_bare
                    false
                }
            }
        });
        let otherwise = if self.is_demanded {
            quote!(None)
        } else {
            quote!(Some(Self::#unknown))
        };
        let check_bare = bare(
            quote! {
                return match self {
                    Self::#first(value) => #private::Node::check(value, to),
                    _ => to.not_bare(FIELDS),
                };
            },
            quote!(to.version()),
        );
        quote! {
            // Only the names matter here: a choice counts the occurrences of its alternative
            // itself.
            const FIELDS: &[#private::Field] =
                &[#(#private::Field {
                    wire: #names, min: 0, max: 1, since: #sinces, until: #untils, as_of: 0,
                }),*];

            impl #ident {
                fn scan_choice(
                    from: &mut #private::Scanner<'_>,
                ) -> ::core::result::Result<Self, #private::NotPlain> {
                    from.gap();
                    // A tag matches as a whole, so that the order of these attempts does not
                    // matter.
                    #(if #held let Some(value) = #private::Alternative::scan_all(from, #tags)? {
                        return Ok(Self::#variants(value));
                    })*
                    // Without an alternative, the reader over events keeps the content and reports
                    // it.
                    Err(#private::NotPlain)
                }

                fn write_content(&self, out: &mut #private::Output<'_>) {
                    match self {
                        #(Self::#variants(value) => #private::write_field(value, #tags, out),)*
                        Self::#unknown => {}
                    }
                }

                #[cold]
                fn write_content_kept(
                    &self, out: &mut #private::Output<'_>, kept: #private::KeptParts<'_>,
                ) {
                    match self {
                        #(Self::#variants(value) => {
                            #private::write_field_kept(value, #tags, out, kept);
                        })*
                        Self::#unknown => {}
                    }
                }
            }

            #[doc(hidden)]
            impl #private::Node for #ident {
                fn read(
                    from: &mut #private::Cursor<'_>,
                ) -> ::core::result::Result<Self, #private::Halt> {
                    #read_bare
                    let mut chosen = None;
                    from.begin()?;
                    while let Some(index) = from.alternative(FIELDS)? {
                        match (&mut chosen, index) {
                            #((None, #indices) => {
                                chosen = Some(Self::#variants(#private::Alternative::first(from)?));
                            })*
                            #((Some(Self::#variants(more)), #indices) => {
                                if !#private::Alternative::more(more, from)? {
                                    from.refuse_repeated(#names)?;
                                }
                            })*
                            _ => from.refuse_second(FIELDS, index)?,
                        }
                    }
                    from.chosen(chosen, FIELDS, #otherwise)
                }

                #[inline]
                fn scan(
                    from: &mut #private::Scanner<'_>,
                ) -> ::core::result::Result<Self, #private::NotPlain> {
                    #scan_bare
                    Self::scan_choice(from)
                }

                #[inline(always)]
                fn write(
                    &self, tag: &'static #private::Tag, out: &mut #private::Output<'_>,
                    kept: #private::KeptParts<'_>,
                ) {
                    #write_bare
                    if kept.is_empty() {
                        out.open(tag);
                        self.write_content(out);
                        out.close(tag);
                    } else {
                        #private::write_kept(tag, out, kept, |out| {
                            self.write_content_kept(out, kept);
                        });
                    }
                }

                fn is_plain(&self, version: u8) -> bool {
                    #plain_bare
                    match self {
                        #(Self::#variants(value) => {
                            #private::is_plain_field(value, &[#tables], version)
                        })*
                        Self::#unknown => false,
                    }
                }

                #sound_leaf

                fn schema_type() -> #private::SchemaType {
                    #private::SchemaType {
                        name: #schema,
                        is_choice: true,
                        bare_until: #bare_until,
                        elements: &[#((
                            #tables,
                            <<#contents as #private::Content>::Item as #private::Node>::schema_type,
                        )),*],
                        ..#private::SchemaType::simple::<Self>(&[])
                    }
                }

                fn check(&self, to: &mut #private::Checker) {
                    #check_bare
                    match self {
                        #(Self::#variants(value) => {
                            #private::check_field(value, const { &[#tables] }, to);
                        })*
                        Self::#unknown => to.no_choice(FIELDS),
                    }
                }
            }
        }
    }

    fn invent(&self) -> TokenStream {
        let private = private();
        let unknown = &self.unknown;
        let variants: Vec<_> = self.alternatives.iter().map(|one| &one.ident).collect();
        let indices = 0..self.alternatives.len();
        let bare = (self.bare_until > 0).then(|| {
            let (bare_until, first) = (self.bare_until, variants.first());
            quote! {
                if from.version().number() <= #bare_until {
                    return #private::Invent::invent(from).map(Self::#first);
                }
            }
        });
        cfg_arbitrary(
            &self.ident,
            &quote! {
                // Never invents `Unknown`, which the schema refuses.
                #bare
                match from.alternative(FIELDS)? {
                    #(#indices => #private::Invent::invent(from).map(Self::#variants),)*
                    _ => Ok(Self::#unknown),
                }
            },
        )
    }

    /// Generates serde's traits, for a crate with the feature `serde`: by serde's derive, with
    /// names in lower case.
    fn serde(&self) -> TokenStream {
        let unknown = &self.unknown;
        let variants = self.alternatives.iter().map(|one| &one.ident);
        let contents = self.alternatives.iter().map(|one| &one.content);
        cfg_serde(
            &self.ident,
            &quote! {
                enum Members {
                    #(#variants(#contents),)*
                    #unknown,
                }
            },
        )
    }

    /// Generates the accessors of a code or a proprietary text.
    fn accessors(&self) -> TokenStream {
        let ident = &self.ident;
        quote! {
            impl #ident {
                /// Returns the code of the list; `None` for a proprietary one.
                #[must_use]
                pub fn code(&self) -> Option<&str> {
                    match self {
                        Self::Code(code) => Some(code.as_str()),
                        _ => None,
                    }
                }

                /// Returns the proprietary text; `None` for a code of the list.
                #[must_use]
                pub fn proprietary(&self) -> Option<&str> {
                    match self {
                        Self::Proprietary(text) => Some(text.as_str()),
                        _ => None,
                    }
                }

                /// Returns the code or the proprietary text; `None` when the document held neither.
                #[must_use]
                pub fn as_str(&self) -> Option<&str> {
                    self.code().or_else(|| self.proprietary())
                }
            }

            impl ::core::fmt::Display for #ident {
                fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    out.write_str(self.as_str().unwrap_or("unknown"))
                }
            }
        }
    }
}
