//! `#[derive(Code)]`: a closed list of codes, from an enum with a variant for each.

use crate::arguments::Arguments;
use crate::schema::{Name, Versions, no_generics, private, schema_type, version};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Error, Fields, Ident, Result};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    no_generics(input)?;
    let Data::Enum(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "expected an enum"));
    };
    let mut own = Arguments::of(&input.attrs, "code", input.ident.span())?;
    let schema = schema_type(&mut own)?;
    let open_since = version(&mut own, "open_since")?.unwrap_or(u8::MAX);
    own.finish("`type` or `open_since`")?;
    let private = private();
    let (mut codes, mut other) = (Vec::<(Ident, Name, Versions)>::new(), None);
    for variant in &data.variants {
        let mut arguments = Arguments::of(&variant.attrs, "code", variant.ident.span())?;
        if arguments.flag("other")? {
            arguments.finish("`other` alone")?;
            other = Some(variant.ident.clone());
            continue;
        }
        let code = Name::take(&mut arguments, "`#[code(\"CRDT\")]`")?;
        let versions = Versions::take(&mut arguments)?;
        arguments.finish("a code, `since`, `until` or `other`")?;
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
    // A list that is open since some version accepts any text of 1 to 4 characters from then on.
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
    let unknown_code = quote!(#private::UnknownCode);
    let spelling = spelling(ident, &variants, &texts, &other, &unknown_code);
    Ok(quote! {
        impl #ident {
            const CODES: &'static [&'static str] = &[#(#texts),*];
        }

        #spelling

        ::bankrail_iso20022::__simple_nodes! { [] #ident }

        #[doc(hidden)]
        impl #private::Simple for #ident {
            #[inline]
            fn parse(text: &str) -> ::core::result::Result<Self, #private::Unreadable> {
                Ok(Self::from(text))
            }

            fn append(&self, out: &mut #private::Output<'_>) {
                match self {
                    // Codes of a schema need no escape; an unknown code may be any text.
                    #(Self::#variants => out.raw(#texts),)*
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
                #invent_open
                let codes: ::std::vec::Vec<_> =
                    Self::CODES.iter().copied().filter(is_of).collect();
                from.choose(&codes).map(|code| Self::from(*code))
            }
        }
    })
}

/// Generates how a list of codes is spelled: as a text, and with serde (for a crate with the
/// feature `serde`) as the same text.
pub(crate) fn spelling(
    ident: &Ident,
    variants: &[&Ident],
    codes: &[impl ToTokens],
    other: &Ident,
    unknown_code: &TokenStream,
) -> TokenStream {
    quote! {
        impl #ident {
            /// Returns the code.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    #(Self::#variants => #codes,)*
                    Self::#other(code) => code.as_str(),
                }
            }
        }

        /// A code that is not listed is kept as it is.
        impl ::core::convert::From<&str> for #ident {
            fn from(code: &str) -> Self {
                match code {
                    #(#codes => Self::#variants,)*
                    // Kept, so that what has a newer code can be read and written back unchanged.
                    _ => Self::#other(#unknown_code::unlisted(code)),
                }
            }
        }

        impl ::core::fmt::Display for #ident {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                out.write_str(self.as_str())
            }
        }

        #[cfg(feature = "serde")]
        impl ::serde::Serialize for #ident {
            fn serialize<S: ::serde::Serializer>(
                &self, out: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                out.serialize_str(self.as_str())
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> ::serde::Deserialize<'de> for #ident {
            fn deserialize<D: ::serde::Deserializer<'de>>(
                from: D,
            ) -> ::core::result::Result<Self, D::Error> {
                let code: ::std::borrow::Cow<'de, str> = ::serde::Deserialize::deserialize(from)?;
                Ok(Self::from(&*code))
            }
        }
    }
}
