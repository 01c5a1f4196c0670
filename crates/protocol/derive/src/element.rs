//! `#[derive(Element)]`: a sequence of elements, from a struct with a field for each.

use crate::arguments::Arguments;
use crate::schema::{
    Name, Versions, cfg_arbitrary, cfg_serde, inner, integer, no_generics, private, schema_type,
    tag, version,
};
use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, LitStr, Path, Result, Type};

/// A struct with `#[derive(Element)]`.
pub(crate) struct Sequence {
    pub(crate) ident: Ident,
    schema: LitStr,
    rule: Option<Path>,
    pub(crate) fields: Vec<Field>,
    extras: Ident,
    /// The field with the version of the document.
    pub(crate) version: Option<Ident>,
}

/// A field that stands for an element.
pub(crate) struct Field {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// The type of one element.
    item: Type,
    /// The forms of the element, at most one for each version of the schema.
    forms: Vec<Form>,
}

/// The name and the cardinality of an element in some versions of the schema.
pub(crate) struct Form {
    pub(crate) name: Name,
    cardinality: Cardinality,
    min: u32,
    max: TokenStream,
    versions: Versions,
    /// The older version that the content is written in; 0 if there is none.
    as_of: u8,
}

/// The part of a cardinality that the Rust type of a field shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cardinality {
    /// `T`: exactly one.
    One,
    /// A `Vec<T>` with `min = 1`: one or more.
    Some,
    /// An `Option<T>` or `Vec<T>`: none is allowed; with `soft` only in tolerant reading.
    Any,
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    Ok(Sequence::parse(input)?.expand())
}

impl Sequence {
    pub(crate) fn parse(input: &DeriveInput) -> Result<Self> {
        no_generics(input)?;
        let Data::Struct(data) = &input.data else {
            return Err(Error::new(
                input.ident.span(),
                "expected a struct; an enum derives `Choice` or `Code`",
            ));
        };
        let Fields::Named(named) = &data.fields else {
            return Err(Error::new(data.fields.span(), "expected fields with names"));
        };
        let mut own = Arguments::of(&input.attrs, "element", input.ident.span())?;
        let schema = schema_type(&mut own)?;
        let rule = match own.value("rule")? {
            None => None,
            Some(syn::Expr::Path(rule)) => Some(rule.path),
            Some(other) => return Err(Error::new(other.span(), "expected the path of a function")),
        };
        own.finish("`type` or `rule`")?;
        let (mut fields, mut extras, mut version) = (Vec::<Field>::new(), None, None);
        for field in &named.named {
            let Some(ident) = &field.ident else { continue };
            let mut arguments = Arguments::first(&field.attrs, "element", ident.span())?;
            if arguments.flag("extras")? {
                arguments.finish("`extras` alone")?;
                extras = Some(ident.clone());
                continue;
            }
            if arguments.flag("version")? {
                arguments.finish("`version` alone")?;
                version = Some(ident.clone());
                continue;
            }
            let field = Field::parse(ident, &field.ty, &field.attrs)?;
            for form in &field.forms {
                let is_twin = |other: &&Field| other.forms.iter().any(|twin| form.meets(twin));
                if let Some(twin) = fields.iter().find(is_twin) {
                    return Err(form.name.twice(&twin.ident));
                }
            }
            fields.push(field);
        }
        let extras = extras.ok_or_else(|| {
            Error::new(
                input.ident.span(),
                "expected a field for the parts beyond the schema: \
                 `#[element(extras)] pub extras: Extras`",
            )
        })?;
        Ok(Self {
            ident: input.ident.clone(),
            schema,
            rule,
            fields,
            extras,
            version,
        })
    }

    /// Returns the forms of all fields.
    fn forms(&self) -> impl Iterator<Item = (&Field, &Form)> {
        self.fields
            .iter()
            .flat_map(|field| field.forms.iter().map(move |form| (field, form)))
    }

    fn expand(&self) -> TokenStream {
        let (constructor, record, node) = (self.constructor(), self.record(), self.node());
        let (invent, serde) = (self.invent(), self.serde());
        quote! {
            #constructor
            // The code is in a constant, so that the `Slots` of different types do not conflict.
            const _: () = {
                #record
                #node
                #invent
                #serde
            };
        }
    }

    /// Generates `new` with the mandatory parts.
    fn constructor(&self) -> TokenStream {
        let (ident, extras) = (&self.ident, &self.extras);
        let version = self.version.iter();
        let is_mandatory = |field: &&Field| field.is_mandatory();
        // Soft parts are left out of `new`: their type is an `Option`, so the compiler cannot
        // demand them.
        let (mandatory, rest): (Vec<_>, Vec<_>) = self.fields.iter().partition(is_mandatory);
        let parameters = mandatory
            .iter()
            .map(|Field { ident, ty, .. }| quote!(#ident: #ty));
        let given = mandatory.iter().map(|field| &field.ident);
        let empty = rest.iter().map(|field| &field.ident);
        let body = quote! {
            Self {
                #(#given,)*
                #(#empty: ::core::default::Default::default(),)*
                #(#version: ::core::default::Default::default(),)*
                #extras: ::core::default::Default::default(),
            }
        };
        // A `new` without parameters makes the default value; with parameters there is no such
        // value.
        if mandatory.is_empty() {
            return quote! {
                impl #ident {
                    /// Makes a value with no part set; none is mandatory.
                    #[must_use]
                    pub fn new() -> Self {
                        #body
                    }
                }

                impl ::core::default::Default for #ident {
                    fn default() -> Self {
                        Self::new()
                    }
                }
            };
        }
        quote! {
            impl #ident {
                /// Makes a value with the mandatory parts; the others are set afterwards.
                #[must_use]
                pub fn new(#(#parameters),*) -> Self {
                    #body
                }
            }
        }
    }

    /// Generates the trait `Record`, with which the sequence is read element by element.
    fn record(&self) -> TokenStream {
        let private = private();
        let (ident, extras) = (&self.ident, &self.extras);
        let version = self.version.iter();
        let names: Vec<_> = self.fields.iter().map(|field| &field.ident).collect();
        let slots = self.fields.iter().map(Field::slot);
        let finished = self.fields.iter().map(Field::finished);
        let tables: Vec<_> = self.forms().map(|(_, form)| form.table()).collect();
        let tags = self.forms().map(|(_, form)| tag(&form.name));
        let of_forms: Vec<_> = self.forms().map(|(field, _)| &field.ident).collect();
        // A list can lose an element that cannot be read; the end of the sequence checks if too few
        // are left.
        let may_miss = self
            .forms()
            .map(|(_, form)| form.cardinality != Cardinality::One);
        let indices: Vec<usize> = (0..tables.len()).collect();
        quote! {
            /// The elements read so far.
            #[derive(Clone, Default)]
            #[allow(missing_debug_implementations, unnameable_types, unreachable_pub)]
            pub struct Slots { #(pub #names: #slots),* }

            #[doc(hidden)]
            impl #private::Record for #ident {
                type Slots = Slots;
                const FIELDS: &'static [#private::Field] = &[#(#tables),*];

                fn take(
                    slots: &mut Slots, index: usize, from: &mut #private::Cursor<'_>,
                ) -> ::core::result::Result<(), #private::Halt> {
                    // The fields differ in type, so each index needs its own arm.
                    match index {
                        #(#indices => from.take(&mut slots.#of_forms, #tables, #may_miss),)*
                        _ => Ok(()),
                    }
                }

                // The tag is passed as a constant, because comparing a constant takes a few
                // instructions.
                fn take_ahead(
                    slots: &mut Slots, index: usize, ahead: #private::Ahead,
                    from: &mut #private::Cursor<'_>,
                ) -> ::core::result::Result<bool, #private::Halt> {
                    match index {
                        #(#indices => #private::Slot::fill_ahead(
                            &mut slots.#of_forms, #tables, #tags, ahead, from,
                        ),)*
                        _ => Ok(false),
                    }
                }

                fn finish(
                    slots: Slots, from: &mut #private::Cursor<'_>,
                ) -> ::core::result::Result<Self, #private::Halt> {
                    Ok(Self {
                        #(#names: #finished,)*
                        #(#version: from.version(),)*
                        #extras: from.extras(),
                    })
                }

                fn extras(&self) -> &#private::Extras {
                    &self.#extras
                }

                fn extras_mut(&mut self) -> &mut #private::Extras {
                    &mut self.#extras
                }
            }
        }
    }

    /// Generates the trait `Node`, with which the sequence is read, written and checked as the
    /// content of an element.
    fn node(&self) -> TokenStream {
        let private = private();
        let (ident, schema, extras) = (&self.ident, &self.schema, &self.extras);
        let names: Vec<_> = self.fields.iter().map(|field| &field.ident).collect();
        let items = self.forms().map(|(field, _)| &field.item);
        let tables = self.forms().map(|(_, form)| form.table());
        let rows: Vec<_> = self.fields.iter().map(Field::rows).collect();
        let scanned: Vec<_> = self.fields.iter().map(Field::scanned).collect();
        let written = self.fields.iter().map(|field| {
            field.written(|ident, tag| quote!(#private::write_field(&self.#ident, #tag, out);))
        });
        let written_kept = self.fields.iter().map(|field| {
            field.written(
                |ident, tag| quote!(#private::write_field_kept(&self.#ident, #tag, out, kept);),
            )
        });
        // Only whole messages have a version, and no message is read by scanning alone.
        let scan = if self.version.is_some() {
            quote! {
                let _ = from;
                Err(#private::NotPlain)
            }
        } else {
            quote! {
                // White space after the start tag. Each element skips the white space that follows
                // it.
                from.gap();
                Ok(Self {
                    #(#names: #scanned,)*
                    #extras: ::core::default::Default::default(),
                })
            }
        };
        let settle = self.rule.as_ref().map(|rule| {
            quote! {
                fn settle(&self, to: &mut dyn #private::Watch) {
                    #rule(self, to);
                }
            }
        });
        // Applies the same rule as `settle`, so that checking a model reports the same as reading
        // it.
        let check_rule = self.rule.as_ref().map(|rule| {
            quote! {
                if to.asks_rules() {
                    #rule(self, to);
                }
            }
        });
        quote! {
            impl #ident {
                // This function is separate from `write`, which is inlined where the tag is a
                // constant, and which would copy all of this code.
                fn write_content(&self, out: &mut #private::Output<'_>) {
                    #(#written)*
                }

                // This function is separate and cold, because nearly no document has parts beyond
                // the schema.
                #[cold]
                fn write_content_kept(
                    &self, out: &mut #private::Output<'_>, kept: #private::KeptParts<'_>,
                ) {
                    #(#written_kept)*
                }
            }

            #[doc(hidden)]
            impl #private::Node for #ident {
                fn read(
                    from: &mut #private::Cursor<'_>,
                ) -> ::core::result::Result<Self, #private::Halt> {
                    from.record()
                }

                fn scan(
                    from: &mut #private::Scanner<'_>,
                ) -> ::core::result::Result<Self, #private::NotPlain> {
                    #scan
                }

                #settle

                #[inline(always)]
                fn write(
                    &self, tag: &'static #private::Tag, out: &mut #private::Output<'_>,
                    _: #private::KeptParts<'_>,
                ) {
                    if self.#extras.is_empty() {
                        out.open(tag);
                        self.write_content(out);
                        out.close(tag);
                    } else {
                        self.#extras.with(|kept| #private::write_kept(tag, out, kept, |out| {
                            self.write_content_kept(out, kept);
                        }));
                    }
                }

                fn is_plain(&self, version: u8) -> bool {
                    self.#extras.is_empty()
                        #(&& #private::is_plain_field(&self.#names, #rows, version))*
                }

                fn schema_type() -> #private::SchemaType {
                    #private::SchemaType {
                        name: #schema,
                        is_choice: false,
                        bare_until: 0,
                        elements: &[#((#tables, <#items as #private::Node>::schema_type)),*],
                        ..#private::SchemaType::simple::<Self>(&[])
                    }
                }

                fn check(&self, to: &mut #private::Checker) {
                    to.extras(&self.#extras);
                    #(#private::check_field(&self.#names, #rows, to);)*
                    #check_rule
                }
            }
        }
    }

    /// Generates invented values, for a crate with the feature `arbitrary`.
    fn invent(&self) -> TokenStream {
        let (ident, extras) = (&self.ident, &self.extras);
        let version = self.version.iter();
        let names = self.fields.iter().map(|field| &field.ident);
        let invented = self.fields.iter().map(Field::invented);
        cfg_arbitrary(
            ident,
            &quote! {
                // A sequence without fields would leave the parameter unused.
                let _ = &from;
                Ok(Self {
                    #(#names: #invented,)*
                    #(#version: from.version(),)*
                    #extras: ::core::default::Default::default(),
                })
            },
        )
    }

    /// Generates serde's traits, for a crate with the feature `serde`: by serde's derive, without
    /// absent parts.
    fn serde(&self) -> TokenStream {
        let private = private();
        let (ident, extras) = (&self.ident, &self.extras);
        let fields = self.fields.iter().map(|field| {
            let (ident, ty) = (&field.ident, &field.ty);
            let skip = match inner(ty, "Option") {
                _ if field.is_mandatory() => None,
                Some(_) => Some("::core::option::Option::is_none"),
                None => Some("::std::vec::Vec::is_empty"),
            };
            let skip = skip.map(|skip| quote!(#[serde(default, skip_serializing_if = #skip)]));
            quote!(#skip #ident: #ty)
        });
        let is_empty = format!("{}::Extras::is_empty", quote!(#private));
        let is_default = format!("{}::Version::is_default", quote!(#private));
        let version = self.version.iter();
        cfg_serde(
            ident,
            &quote! {
                struct Members {
                    #(
                        #[serde(default, skip_serializing_if = #is_default)]
                        #version: #private::Version,
                    )*
                    #(#fields,)*
                    #[serde(default, skip_serializing_if = #is_empty)]
                    #extras: #private::Extras,
                }
            },
        )
    }
}

impl Field {
    fn parse(ident: &Ident, ty: &Type, attributes: &[Attribute]) -> Result<Self> {
        let mut forms: Vec<Form> = Vec::new();
        for arguments in Arguments::each(attributes, "element", ident.span())? {
            let form = Form::parse(ty, arguments)?;
            if let Some(twin) = forms.iter().find(|twin| twin.versions.meet(form.versions)) {
                return Err(form.name.same_version(&twin.name));
            }
            forms.push(form);
        }
        let item = inner(ty, "Option").or(inner(ty, "Vec")).unwrap_or(ty);
        Ok(Self {
            ident: ident.clone(),
            ty: ty.clone(),
            item: item.clone(),
            forms,
        })
    }

    /// Returns the one form of an element that is the same in all versions.
    fn undated(&self) -> Option<&Form> {
        match &self.forms[..] {
            [form] if form.versions == Versions::ALL => Some(form),
            _ => None,
        }
    }

    /// Returns the form of the newest version.
    pub(crate) fn newest(&self) -> Option<&Form> {
        self.forms.last()
    }

    /// Returns true for a field that `new` demands: because no version of the sequence lacks it.
    fn is_mandatory(&self) -> bool {
        self.undated()
            .is_some_and(|form| form.min > 0 && inner(&self.ty, "Option").is_none())
    }

    /// Returns the place of the field while the sequence is read.
    fn slot(&self) -> TokenStream {
        let ty = &self.ty;
        match self.undated().map(|form| form.cardinality) {
            Some(Cardinality::One) => quote!(::core::option::Option<#ty>),
            _ => quote!(#ty),
        }
    }

    /// Returns the rows of the table of fields.
    fn rows(&self) -> TokenStream {
        let rows = self.forms.iter().map(Form::table);
        quote!(const { &[#(#rows),*] })
    }

    /// Returns the field's content at the end of the sequence.
    fn finished(&self) -> TokenStream {
        let ident = &self.ident;
        match self.undated() {
            Some(Form {
                name,
                cardinality: Cardinality::One,
                ..
            }) => quote!(from.one(slots.#ident, #name)?),
            Some(Form {
                name,
                cardinality: Cardinality::Some,
                ..
            }) => quote!(from.some(slots.#ident, #name)?),
            _ => {
                let rows = self.rows();
                quote!(from.field(slots.#ident, #rows)?)
            }
        }
    }

    /// Returns the field's content as the fast reader reads it.
    fn scanned(&self) -> TokenStream {
        if let Some(form) = self.undated()
            && form.cardinality == Cardinality::One
        {
            let tag = tag(&form.name);
            return quote!(from.one(#tag)?);
        }
        // Forms of one name are read in one place, because content is copied where two branches
        // join.
        let forms = self.forms.chunk_by(|one, next| one.name == next.name);
        let read = forms.map(|forms| {
            let tag = forms.first().map(|form| tag(&form.name));
            let rows = forms.iter().map(Form::table);
            let held = forms.iter().map(|form| form.versions.hold(&quote!(from)));
            quote!(if #(#held)||* { from.field(#tag, &[#(#rows),*])? } else)
        });
        quote!(#(#read)* { ::core::default::Default::default() })
    }

    /// Returns the code that writes the field, made from the code that writes it with a given tag.
    fn written(&self, write: impl Fn(&Ident, TokenStream) -> TokenStream) -> TokenStream {
        let write = |form: &Form| {
            let (write, as_of) = (write(&self.ident, tag(&form.name)), form.as_of);
            match as_of {
                0 => write,
                _ => quote!(out.as_of(#as_of, |out| { #write });),
            }
        };
        // One name in all versions needs no choice; the checker refuses what a version lacks.
        if let Some(newest) = self.newest()
            && self
                .forms
                .iter()
                .all(|form| form.name == newest.name && form.as_of == newest.as_of)
        {
            return write(newest);
        }
        let forms = self.forms.iter().map(|form| {
            let (held, write) = (form.versions.hold(&quote!(out)), write(form));
            quote!(if #held { #write })
        });
        quote!(#(#forms)*)
    }

    /// Returns invented content of the field.
    fn invented(&self) -> TokenStream {
        let private = private();
        if let Some(form) = self.undated() {
            let table = form.table();
            return quote!(#private::InventField::invent_field(from, #table)?);
        }
        let rows = self.rows();
        quote!(from.field(#rows)?)
    }
}

impl Form {
    fn parse(ty: &Type, mut arguments: Arguments) -> Result<Self> {
        let name = Name::take(&mut arguments, "`#[element(\"Nm\")]`")?;
        let soft = arguments.flag("soft")?;
        let versions = Versions::take(&mut arguments)?;
        let (min, max) = (arguments.value("min")?, arguments.value("max")?);
        let as_of = version(&mut arguments, "as_of")?;
        let span = arguments.span;
        arguments.finish("`soft`, `min`, `max`, `since`, `until` or `as_of`")?;
        let (option, list) = (inner(ty, "Option"), inner(ty, "Vec"));
        if soft && option.is_none() && (list.is_none() || min.is_none()) {
            return Err(Error::new(
                ty.span(),
                "expected `Option<…>`, or `Vec<…>` with `min`, because a `soft` element may be missing",
            ));
        }
        if versions != Versions::ALL && option.is_none() && list.is_none() {
            return Err(Error::new(
                span,
                "expected an `Option<…>` or a `Vec<…>`, because not all versions have the element",
            ));
        }
        if let Some(bound) = min.as_ref().or(max.as_ref())
            && list.is_none()
        {
            return Err(Error::new(
                bound.span(),
                "expected a `Vec<…>`, because only a list has `min` and `max`",
            ));
        }
        let private = private();
        let (cardinality, min, max) = match (option, list) {
            (Some(_), _) => (Cardinality::Any, u32::from(soft), quote!(1)),
            (_, Some(_)) => {
                let least = match &min {
                    None => 0,
                    Some(min) => integer(min, 1..=1, "expected `min = 1`, or no `min` for none")?,
                };
                let most = match &max {
                    None => quote!(#private::MANY),
                    Some(max) => {
                        // A list may have room for one in some versions, but not in all.
                        let (least, expected) = if versions == Versions::ALL {
                            (2, "expected a `max` of at least 2")
                        } else {
                            (1, "expected a `max` of at least 1")
                        };
                        let most = integer(max, least..=u32::MAX - 1, expected)?;
                        quote!(#most)
                    }
                };
                let kind = if soft || least == 0 {
                    Cardinality::Any
                } else {
                    Cardinality::Some
                };
                (kind, least, most)
            }
            (None, None) => (Cardinality::One, 1, quote!(1)),
        };
        Ok(Self {
            name,
            cardinality,
            min,
            max,
            versions,
            as_of: as_of.unwrap_or_default(),
        })
    }

    /// Returns true when a version has an element of the same name.
    fn meets(&self, other: &Self) -> bool {
        self.name == other.name && self.versions.meet(other.versions)
    }

    /// Returns the row of the table of fields.
    fn table(&self) -> TokenStream {
        let private = private();
        let Self {
            name,
            min,
            max,
            as_of,
            ..
        } = self;
        let Versions { since, until } = self.versions;
        quote! {
            #private::Field {
                wire: #name, min: #min, max: #max, since: #since, until: #until, as_of: #as_of,
            }
        }
    }
}
