//! `#[derive(Code)]`: a closed list of codes, from an enum with a variant for each.

use crate::arguments::Arguments;
use crate::schema::{Name, no_generics, private};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Ident, Result};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    no_generics(input)?;
    let Data::Enum(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "expected an enum"));
    };
    let mut own = Arguments::of(&input.attrs, "code", input.ident.span())?;
    let schema = own
        .text_value("type")?
        .ok_or_else(|| Error::new(own.span, "expected the type in the schema: `type = \"…\"`"))?;
    own.finish("`type`")?;
    let (mut codes, mut other) = (Vec::<(Ident, Name)>::new(), None);
    for variant in &data.variants {
        let mut arguments = Arguments::of(&variant.attrs, "code", variant.ident.span())?;
        if arguments.flag("other")? {
            arguments.finish("`other` alone")?;
            other = Some(variant.ident.clone());
            continue;
        }
        let code = Name::take(&mut arguments, "`#[code(\"CRDT\")]`")?;
        arguments.finish("a code or `other`")?;
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new(
                variant.ident.span(),
                "expected a variant without content, because a code says it all",
            ));
        }
        if let Some((twin, _)) = codes.iter().find(|(_, known)| *known == code) {
            return Err(code.twice(twin));
        }
        codes.push((variant.ident.clone(), code));
    }
    let other = other.ok_or_else(|| {
        Error::new(
            input.ident.span(),
            "expected a variant for other codes: `#[code(other)] Other(UnknownCode)`",
        )
    })?;
    let private = private();
    let ident = &input.ident;
    let variants: Vec<_> = codes.iter().map(|(variant, _)| variant).collect();
    let texts: Vec<_> = codes.iter().map(|(_, code)| code).collect();
    Ok(quote! {
        impl #ident {
            const CODES: &'static [&'static str] = &[#(#texts),*];

            /// Returns the code.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    #(Self::#variants => #texts,)*
                    Self::#other(code) => code.as_str(),
                }
            }

            /// Returns the value of a code; a code that the schema does not have is kept as it is.
            #[must_use]
            pub fn from_code(code: &str) -> Self {
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

        #[cfg(feature = "serde")]
        impl serde::Serialize for #ident {
            fn serialize<S: serde::Serializer>(
                &self, out: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                out.serialize_str(self.as_str())
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for #ident {
            fn deserialize<D: serde::Deserializer<'de>>(
                from: D,
            ) -> ::core::result::Result<Self, D::Error> {
                Ok(Self::from_code(&::std::borrow::Cow::<'de, str>::deserialize(from)?))
            }
        }

        ::bankrail_iso20022::__simple_nodes! { [] #ident }

        #[doc(hidden)]
        impl #private::Simple for #ident {
            fn parse(text: &str) -> ::core::result::Result<Self, #private::Unreadable> {
                Ok(Self::from_code(text))
            }

            fn append(&self, out: &mut #private::Output<'_>) {
                match self {
                    // Codes of a schema need no escape; an unknown one may be any text.
                    #(Self::#variants => out.raw(#texts),)*
                    Self::#other(code) => out.text(code.as_str()),
                }
            }

            fn schema_type() -> #private::SchemaType {
                #private::SchemaType {
                    name: #schema,
                    ..#private::SchemaType::simple::<Self>(Self::CODES)
                }
            }

            fn fault(&self) -> ::core::option::Option<#private::Fault> {
                match self {
                    Self::#other(_) => Some(#private::Fault::Code { known: Self::CODES }),
                    _ => None,
                }
            }
        }

        #[cfg(feature = "arbitrary")]
        #[doc(hidden)]
        impl #private::Invent for #ident {
            fn invent(from: &mut #private::Unstructured<'_>) -> #private::Invented<Self> {
                from.choose(Self::CODES).map(|code| Self::from_code(code))
            }
        }
    })
}
