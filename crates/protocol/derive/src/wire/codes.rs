//! Generates an open list of codes from an enum.

use super::Names;
use crate::arguments::Arguments;
use crate::code::spelling;
use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{DataEnum, DeriveInput, Error, Expr, Fields, Result};

pub(super) fn derive(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    let mut arguments = Arguments::of(&input.attrs, "wire", input.ident.span())?;
    let rule = match arguments.value("rule")? {
        None => quote! { UnknownCode },
        Some(Expr::Path(rule)) if rule.path.get_ident().is_some() => quote! { #rule },
        Some(other) => return Err(Error::new(other.span(), "expected the name of a rule")),
    };
    arguments.finish("`rule = …`")?;
    let (mut known, mut codes, mut unknown) = (Vec::new(), Vec::new(), None);
    let mut names = Names::default();
    for variant in &data.variants {
        let mut arguments = Arguments::of(&variant.attrs, "wire", variant.ident.span())?;
        let code = arguments.text();
        arguments.finish("a code")?;
        match (code, &variant.fields) {
            (Some(code), Fields::Unit) => {
                names.add(&code)?;
                known.push(&variant.ident);
                codes.push(code);
            }
            (None, Fields::Unnamed(fields)) if fields.unnamed.len() == 1 && unknown.is_none() => {
                unknown = Some(&variant.ident);
            }
            (Some(_), fields) => {
                return Err(Error::new(fields.span(), "expected a code without a value"));
            }
            (None, _) => {
                let text = "expected the variant's code: `#[wire(\"…\")]`";
                return Err(Error::new(variant.ident.span(), text));
            }
        }
    }
    let name = &input.ident;
    let unknown = unknown.ok_or_else(|| {
        let text =
            "expected a variant for codes that this version does not know: `Unknown(UnknownCode)`";
        Error::new(name.span(), text)
    })?;
    let texts: Vec<_> = codes.iter().map(|code| code.value()).collect();
    // Formats the text when the derive runs, so that a finding needs no formatting.
    let expected = format!("one of {}", texts.join(" "));
    let unknown_code = quote!(::bankrail_values::UnknownCode);
    let spelling = spelling(name, &known, &codes, unknown, &unknown_code);
    Ok(quote! {
        impl #name {
            /// The known codes.
            pub const KNOWN: &'static [Self] = &[#(Self::#known),*];

            /// Returns false for a code that this version does not know.
            #[must_use]
            pub fn is_known(&self) -> bool {
                !::core::matches!(self, Self::#unknown(_))
            }
        }

        #spelling

        impl crate::json::Wire for #name {
            fn read(
                value: &::bankrail_values::json::JsonValue<'_>,
                at: &mut crate::json::Context,
            ) -> ::core::result::Result<Self, crate::error::MessageError> {
                crate::json::string(value, at).map(Self::from)
            }

            fn write(&self, out: &mut crate::json::Output) {
                out.string(self.as_str());
            }

            fn check(
                &self,
                _bound: ::core::option::Option<&crate::json::Bound>,
                at: &mut crate::json::Context,
            ) {
                if let Self::#unknown(code) = self {
                    crate::json::unknown_code(code, crate::finding::Rule::#rule, #expected, at);
                }
            }

            fn schema(
                _: ::core::option::Option<&crate::json::Bound>,
                _: &mut crate::json::Schemas,
            ) -> ::serde_json::Value {
                crate::json::schema::code(&[#(#codes),*])
            }
        }
    })
}
