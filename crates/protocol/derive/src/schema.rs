//! The parts that the derives of the XML elements share.

use crate::arguments::Arguments;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use std::ops::RangeInclusive;
use syn::spanned::Spanned;
use syn::{
    DeriveInput, Error, Expr, ExprLit, GenericArgument, Ident, Lit, LitStr, PathArguments, Result,
    Type,
};

/// The name of an element, or a code.
pub(crate) struct Name(LitStr);

impl Name {
    /// Takes the bare string of an attribute; `example` shows the attribute.
    pub(crate) fn take(arguments: &mut Arguments, example: &str) -> Result<Self> {
        match arguments.text() {
            None => Err(Error::new(
                arguments.span,
                format!("expected the name in the schema: {example}"),
            )),
            Some(name) if name.value().is_empty() => Err(Error::new(
                name.span(),
                "expected a name, found an empty one",
            )),
            Some(name) => Ok(Self(name)),
        }
    }

    /// Returns the error for a name whose versions overlap with those of an earlier name of the
    /// field.
    pub(crate) fn same_version(&self, twin: &Self) -> Error {
        Error::new(
            self.0.span(),
            format!(
                "expected versions that do not overlap with those of `{}`",
                twin.0.value()
            ),
        )
    }

    /// Returns the error for a name that an earlier field or variant has.
    pub(crate) fn twice(&self, twin: &Ident) -> Error {
        let name = self.0.value();
        Error::new(
            self.0.span(),
            format!("`{name}` is the name of `{twin}` already"),
        )
    }
}

impl From<LitStr> for Name {
    fn from(text: LitStr) -> Self {
        Self(text)
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.0.value() == other.0.value()
    }
}

impl ToTokens for Name {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}

/// Returns the engine's hidden parts. The generated code requires that the crate of a message
/// depends on the engine under the engine's name.
pub(crate) fn private() -> TokenStream {
    quote!(::bankrail_iso20022::__private)
}

/// The first and the last version of the schema that has an element, alternative or code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Versions {
    pub(crate) since: u8,
    pub(crate) until: u8,
}

impl Versions {
    pub(crate) const ALL: Self = Self {
        since: 0,
        until: u8::MAX,
    };

    /// Takes `since` and `until`; without them there is no bound.
    pub(crate) fn take(arguments: &mut Arguments) -> Result<Self> {
        let all = Self::ALL;
        Ok(Self {
            since: version(arguments, "since")?.unwrap_or(all.since),
            until: version(arguments, "until")?.unwrap_or(all.until),
        })
    }

    /// Returns true when the two ranges share a version.
    pub(crate) fn meet(self, other: Self) -> bool {
        self.since <= other.until && other.since <= self.until
    }

    /// Returns an expression that is true if the version of its value is one of these.
    pub(crate) fn hold(self, of: &TokenStream) -> TokenStream {
        let Self { since, until } = self;
        match (since, until) {
            (0, u8::MAX) => quote!(true),
            (0, _) => quote!(#of.version() <= #until),
            (_, u8::MAX) => quote!(#of.version() >= #since),
            _ => quote!((#since..=#until).contains(&#of.version())),
        }
    }
}

/// Returns the tags of an element, assembled at compile time.
pub(crate) fn tag(name: &Name) -> TokenStream {
    let private = private();
    let wire = name.0.value();
    // Makes all spellings of a tag, so that writing a tag is one copy and reading a tag is one
    // comparison.
    let (start, open, close) = (
        format!("<{wire}"),
        format!("<{wire}>"),
        format!("</{wire}>"),
    );
    quote! {
        // A `const` block makes sure that the tag is static and never made at run time.
        &const {
            #private::Tag { wire: #wire, start: #start, open: #open, close: #close }
        }
    }
}

/// Returns the `T` of a type with this name, such as `Option<T>`.
pub(crate) fn inner<'t>(ty: &'t Type, outer: &str) -> Option<&'t Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first()? {
        // Compares only the last segment, because a derive sees names and cannot resolve them.
        GenericArgument::Type(inner) if last.ident == outer => Some(inner),
        _ => None,
    }
}

/// Returns the value of an integer within a range; `expected` is the error for any other
/// expression.
pub(crate) fn integer(value: &Expr, range: RangeInclusive<u32>, expected: &str) -> Result<u32> {
    let number = match value {
        Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) => number.base10_parse().ok(),
        _ => None,
    };
    number
        .filter(|number| range.contains(number))
        .ok_or_else(|| Error::new(value.span(), expected))
}

/// Takes the number of a version, if it is given.
pub(crate) fn version(arguments: &mut Arguments, name: &str) -> Result<Option<u8>> {
    let Some(value) = arguments.value(name)? else {
        return Ok(None);
    };
    let number = integer(
        &value,
        1..=99,
        "expected the number of a version, such as 7",
    )?;
    Ok(u8::try_from(number).ok())
}

/// Takes the name of the type in the schema.
pub(crate) fn schema_type(arguments: &mut Arguments) -> Result<LitStr> {
    let text = "expected the type in the schema: `type = \"…\"`";
    let schema = arguments.text_value("type")?;
    schema.ok_or_else(|| Error::new(arguments.span, text))
}

/// Refuses a type with parameters: the schema has none.
pub(crate) fn no_generics(input: &DeriveInput) -> Result<()> {
    if input.generics.params.is_empty() {
        Ok(())
    } else {
        Err(Error::new(
            input.generics.span(),
            "expected a type without parameters, as the schema has it",
        ))
    }
}

/// Generates serde's traits of a type, for a crate with the feature `serde`, with those that serde
/// derives for its `Members`.
pub(crate) fn cfg_serde(ident: &Ident, members: &TokenStream) -> TokenStream {
    let name = ident.to_string();
    quote! {
        #[cfg(feature = "serde")]
        const _: () = {
            // serde's derive needs attributes at the fields, which a derive cannot add there.
            #[derive(serde::Serialize, serde::Deserialize)]
            // `remote` makes serde read and write the type itself without its fields being copied.
            #[serde(remote = #name, rename = #name, rename_all = "snake_case")]
            #members

            impl serde::Serialize for #ident {
                fn serialize<S: serde::Serializer>(
                    &self, out: S,
                ) -> ::core::result::Result<S::Ok, S::Error> {
                    Members::serialize(self, out)
                }
            }

            impl<'de> serde::Deserialize<'de> for #ident {
                fn deserialize<D: serde::Deserializer<'de>>(
                    from: D,
                ) -> ::core::result::Result<Self, D::Error> {
                    Members::deserialize(from)
                }
            }
        };
    }
}

/// Generates `Invent` for a type with `body`, for a crate with the feature `arbitrary`.
pub(crate) fn cfg_arbitrary(ident: &Ident, body: &TokenStream) -> TokenStream {
    let private = private();
    quote! {
        // The attribute is evaluated in the crate that uses the derive, so that crate needs the
        // feature.
        #[cfg(feature = "arbitrary")]
        #[doc(hidden)]
        impl #private::Invent for #ident {
            fn invent(from: &mut #private::Inventor<'_, '_>) -> #private::Invented<Self> {
                #body
            }
        }

        #[cfg(feature = "arbitrary")]
        impl<'a> #private::arbitrary::Arbitrary<'a> for #ident {
            fn arbitrary(from: &mut #private::Unstructured<'a>) -> #private::Invented<Self> {
                #private::Invent::invent(&mut #private::Inventor::new(from))
            }
        }
    }
}
