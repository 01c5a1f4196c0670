//! `#[derive(Code)]`: a closed list of codes, from an enum with a variant for each.

use crate::arguments::Arguments;
use crate::schema::{Name, Versions, no_generics, private, schema_type, version};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Ident, LitStr, Result};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    no_generics(input)?;
    let Data::Enum(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "expected an enum"));
    };
    let mut own = Arguments::of(&input.attrs, "code", input.ident.span())?;
    let schema = schema_type(&mut own)?;
    let open_since = version(&mut own, "open_since")?.unwrap_or(u8::MAX);
    let choice_since = version(&mut own, "choice_since")?.unwrap_or(u8::MAX);
    own.finish("`type`, `open_since` or `choice_since`")?;
    let private = private();
    let (mut codes, mut other) = (Vec::<(Ident, Name, Versions)>::new(), None);
    let mut proprietary = None;
    for variant in &data.variants {
        let mut arguments = Arguments::of(&variant.attrs, "code", variant.ident.span())?;
        if arguments.flag("other")? {
            arguments.finish("`other` alone")?;
            other = Some(variant.ident.clone());
            continue;
        }
        if arguments.flag("proprietary")? {
            arguments.finish("`proprietary` alone")?;
            proprietary = Some(variant.ident.clone());
            continue;
        }
        let code = Name::take(&mut arguments, "`#[code(\"CRDT\")]`")?;
        let versions = Versions::take(&mut arguments)?;
        arguments.finish("a code, `since`, `until`, `proprietary` or `other`")?;
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new(
                variant.ident.span(),
                "expected a variant without content, because the code is all that is written",
            ));
        }
        if let Some((twin, ..)) = codes.iter().find(|(_, known, _)| *known == code) {
            return Err(code.twice(twin));
        }
        codes.push((variant.ident.clone(), code, versions));
    }
    let other = other.ok_or_else(|| {
        Error::new(
            input.ident.span(),
            "expected a variant for other codes: `#[code(other)] Other(UnknownCode)`",
        )
    })?;
    let ident = &input.ident;
    let variants: Vec<_> = codes.iter().map(|(variant, ..)| variant).collect();
    let texts: Vec<_> = codes.iter().map(|(_, code, _)| code).collect();
    let dated = codes
        .iter()
        .filter(|(.., versions)| *versions != Versions::ALL);
    let dated_codes: Vec<_> = dated
        .clone()
        .map(|(_, code, Versions { since, until })| quote!((#code, #since, #until)))
        .collect();
    let dated: Vec<_> = dated
        .map(|(variant, _, Versions { since, until })| {
            quote! {
                Self::#variant if !(#since..=#until).contains(&version) => {
                    Some(#private::Fault::Code { known: Self::CODES })
                }
            }
        })
        .collect();
    // Of no version, or since some version open: any text of 1 to 4 characters.
    let open = (open_since < u8::MAX).then(|| {
        quote! {
            Self::#other(code) if version >= #open_since => {
                #private::Simple::fault(&#private::Text::<4>::new(code.as_str()), version)
            }
        }
    });
    let invent_open = (open_since < u8::MAX).then(|| {
        quote! {
            if version >= #open_since && from.ratio(1, 8)? {
                let code: #private::Text<4> = #private::Invent::invent(from)?;
                return Ok(Self::from(code.as_str()));
            }
        }
    });
    let invent_proprietary = proprietary.iter().map(|variant| {
        quote! {
            if version >= #choice_since && from.ratio(1, 8)? {
                return #private::Invent::invent(from).map(Self::#variant);
            }
        }
    });
    let invent_proprietary = quote!(#(#invent_proprietary)*);
    let node = match &proprietary {
        None => quote!(::bankrail_iso20022::__simple_nodes! { [] #ident }),
        Some(_) => choice_node(ident, &schema),
    };
    let as_str = proprietary
        .iter()
        .map(|variant| quote!(Self::#variant(text) => text.as_str(),));
    let append = proprietary
        .iter()
        .map(|variant| quote!(Self::#variant(text) => out.text(text.as_str()),));
    let serde = serde(ident, proprietary.as_ref());
    let proprietary = proprietary.as_ref().map(|variant| {
        quote! {
            #[doc(hidden)]
            impl #private::CodeChoice for #ident {
                const SINCE: u8 = #choice_since;

                fn from_proprietary(text: #private::Text<35>) -> Self {
                    Self::#variant(text)
                }

                fn proprietary(&self) -> ::core::option::Option<&#private::Text<35>> {
                    match self {
                        Self::#variant(text) => Some(text),
                        _ => None,
                    }
                }
            }
        }
    });
    Ok(quote! {
        impl #ident {
            const CODES: &'static [&'static str] = &[#(#texts),*];

            /// Returns the code.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    #(Self::#variants => #texts,)*
                    #(#as_str)*
                    Self::#other(code) => code.as_str(),
                }
            }
        }

        /// A code that the schema does not have is kept as it is.
        impl ::core::convert::From<&str> for #ident {
            fn from(code: &str) -> Self {
                match code {
                    #(#texts => Self::#variants,)*
                    // Kept, so that a document with a newer code can be read and written back
                    // unchanged.
                    _ => Self::#other(#private::UnknownCode::unlisted(code)),
                }
            }
        }

        impl ::core::fmt::Display for #ident {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                out.write_str(self.as_str())
            }
        }

        #serde

        #node
        #proprietary

        #[doc(hidden)]
        impl #private::Simple for #ident {
            #[inline]
            fn parse(text: &str) -> ::core::result::Result<Self, #private::Unreadable> {
                Ok(Self::from(text))
            }

            fn append(&self, out: &mut #private::Output<'_>) {
                match self {
                    // Codes of a schema need no escape; an unknown one may be any text.
                    #(Self::#variants => out.raw(#texts),)*
                    #(#append)*
                    Self::#other(code) => out.text(code.as_str()),
                }
            }

            fn schema_type() -> #private::SchemaType {
                #private::SchemaType {
                    name: #schema,
                    dated_codes: &[#(#dated_codes),*],
                    open_since: #open_since,
                    ..#private::SchemaType::simple::<Self>(Self::CODES)
                }
            }

            #[inline]
            fn fault(&self, version: u8) -> ::core::option::Option<#private::Fault> {
                let _ = version;
                match self {
                    #(#dated)*
                    #open
                    Self::#other(_) => Some(#private::Fault::Code { known: Self::CODES }),
                    _ => None,
                }
            }
        }

        #[cfg(feature = "arbitrary")]
        #[doc(hidden)]
        impl #private::Invent for #ident {
            fn invent(from: &mut #private::Inventor<'_, '_>) -> #private::Invented<Self> {
                let version = from.version().number();
                let is_of = |code: &&str| {
                    #private::Simple::fault(&Self::from(*code), version).is_none()
                };
                #invent_proprietary
                #invent_open
                let codes: ::std::vec::Vec<_> =
                    Self::CODES.iter().copied().filter(is_of).collect();
                from.choose(&codes).map(|code| Self::from(*code))
            }
        }
    })
}

/// Generates serde's traits, for a crate with the feature `serde`: a code is its text. A
/// proprietary text is a member of that name, because a code may have the same text.
fn serde(ident: &Ident, proprietary: Option<&Ident>) -> TokenStream {
    let private = private();
    let (serialize, deserialize) = match proprietary {
        None => (
            quote!(out.serialize_str(self.as_str())),
            quote!(Ok(Self::from(
                &*::std::borrow::Cow::<'de, str>::deserialize(from)?
            ))),
        ),
        Some(variant) => (
            quote! {
                let members = match self {
                    Self::#variant(proprietary) => Members::Text { proprietary: proprietary.clone() },
                    _ => Members::Code(self.as_str().to_owned()),
                };
                serde::Serialize::serialize(&members, out)
            },
            quote! {
                Ok(match serde::Deserialize::deserialize(from)? {
                    Members::Code(code) => Self::from(code.as_str()),
                    Members::Text { proprietary } => Self::#variant(proprietary),
                })
            },
        ),
    };
    let members = proprietary.map(|_| {
        quote! {
            #[derive(serde::Serialize, serde::Deserialize)]
            #[serde(untagged)]
            enum Members {
                Code(String),
                Text { proprietary: #private::Text<35> },
            }
        }
    });
    quote! {
        #[cfg(feature = "serde")]
        const _: () = {
            #members

            impl serde::Serialize for #ident {
                fn serialize<S: serde::Serializer>(
                    &self, out: S,
                ) -> ::core::result::Result<S::Ok, S::Error> {
                    #serialize
                }
            }

            impl<'de> serde::Deserialize<'de> for #ident {
                fn deserialize<D: serde::Deserializer<'de>>(
                    from: D,
                ) -> ::core::result::Result<Self, D::Error> {
                    #deserialize
                }
            }
        };
    }
}

/// Generates the content of an element that is a choice between a code and a proprietary text in
/// some versions.
fn choice_node(ident: &Ident, schema: &LitStr) -> TokenStream {
    let private = private();
    quote! {
        #[doc(hidden)]
        impl #private::Node for #ident {
            fn read(
                from: &mut #private::Cursor<'_>,
            ) -> ::core::result::Result<Self, #private::Halt> {
                #private::read_code_choice(from)
            }

            #[inline]
            fn scan(
                from: &mut #private::Scanner<'_>,
            ) -> ::core::result::Result<Self, #private::Odd> {
                #private::scan_code_choice(from)
            }

            #[inline(always)]
            fn write(
                &self, tag: &'static #private::Tag, out: &mut #private::Output<'_>,
                kept: #private::Kept<'_>,
            ) {
                #private::write_code_choice(self, tag, out, kept);
            }

            fn is_plain(&self, version: u8) -> bool {
                let is_choice = version >= <Self as #private::CodeChoice>::SINCE;
                is_choice || #private::CodeChoice::proprietary(self).is_none()
            }

            fn check(&self, to: &mut #private::Checker) {
                #private::check_code_choice(self, to);
            }

            fn is_sound_leaf(&self, version: u8) -> bool {
                #private::CodeChoice::proprietary(self).is_none()
                    && #private::is_sound(self, version)
            }

            fn schema_type() -> #private::SchemaType {
                #private::code_choice_type::<Self>(#schema)
            }
        }
    }
}
