//! `#[derive(Wire)]`: for objects and codes of JSON messages.
//!
//! The code made here names items of the crate that uses the derive, `bankrail-webhook`: the trait
//! `crate::json::Wire` and the functions for each kind of member, which do the actual work.

mod codes;
mod object;

use proc_macro2::{Span, TokenStream};
use std::collections::HashMap;
use syn::{Attribute, Data, DeriveInput, Error, Expr, ExprLit, Lit, LitStr, Meta, Result};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    match &input.data {
        Data::Struct(data) => object::derive(input, data),
        Data::Enum(data) => codes::derive(input, data),
        Data::Union(_) => Err(Error::new(
            input.ident.span(),
            "expected a struct of members or an enum of codes",
        )),
    }
}

/// Returns the text of a documentation comment in one line.
fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
                Expr::Lit(ExprLit {
                    lit: Lit::Str(text),
                    ..
                }) => Some(text.value()),
                _ => None,
            },
            _ => None,
        });
    lines.collect()
}

/// The names that are taken so far in an object or a list.
#[derive(Default)]
struct Names(HashMap<String, Span>);

impl Names {
    /// Refuses a name that another field or variant has.
    fn add(&mut self, name: &LitStr) -> Result<()> {
        match self.0.insert(name.value(), name.span()) {
            None => Ok(()),
            Some(_) => Err(Error::new(
                name.span(),
                format!("expected another name, found `{}` twice", name.value()),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::derive;

    /// Runs the derive on a type, and returns the error and the piece of source that it points at.
    fn mistake(source: &str) -> (String, String) {
        let input = syn::parse_str(source).expect("Rust");
        let error = derive(&input).expect_err("a mistake");
        let at = error.span().source_text().expect("a place in the source");
        (at, error.to_string())
    }

    #[test]
    fn a_mistake_in_an_object_is_reported_at_the_field() {
        for (source, at, error) in [
            (
                "struct A { #[wire(optional)] pub b: String, #[wire(extra)] pub extra: ExtraMembers }",
                "optional",
                "expected a name, `bound = …`, `expected`, `fixed` or `extra`, found `optional`",
            ),
            (
                r#"struct A { pub b: String, #[wire("b")] pub c: String, #[wire(extra)] pub extra: E }"#,
                "\"b\"",
                "expected another name, found `b` twice",
            ),
            (
                r#"struct A { #[wire("b", "c")] pub d: String, #[wire(extra)] pub extra: E }"#,
                "\"c\"",
                "expected one name, found a second one",
            ),
            (
                "struct A { pub b: String }",
                "A",
                "expected a field for unknown members: `#[wire(extra)] pub extra: ExtraMembers`",
            ),
            (
                "struct A { #[wire(expected)] pub b: String, #[wire(extra)] pub extra: E }",
                "String",
                "expected an `Option<…>`, because what is `expected` can be absent",
            ),
            (
                "struct A { #[wire(fixed)] pub b: Option<String>, #[wire(extra)] pub extra: E }",
                "Option<String>",
                "expected the type of a value, because what is `fixed` is always there",
            ),
            (
                "struct A { #[wire(bound = 35)] pub b: String, #[wire(extra)] pub extra: E }",
                "35",
                "expected the name of a bound",
            ),
            (
                "struct A { #[wire(bound)] pub b: String, #[wire(extra)] pub extra: E }",
                "bound",
                "expected a value: `bound = …`",
            ),
            (
                "struct A(String);",
                "A",
                "expected a struct with named fields, the members of a JSON object",
            ),
        ] {
            assert_eq!(
                mistake(source),
                (at.to_owned(), error.to_owned()),
                "{source}"
            );
        }
    }

    #[test]
    fn a_mistake_in_a_list_of_codes_is_reported_at_the_variant() {
        for (source, at, error) in [
            (
                "enum A { B, Unknown(UnknownCode) }",
                "B",
                "expected the variant's code: `#[wire(\"…\")]`",
            ),
            (
                r#"enum A { #[wire("X")] B, #[wire("X")] C, Unknown(UnknownCode) }"#,
                "\"X\"",
                "expected another name, found `X` twice",
            ),
            (
                r#"enum A { #[wire("X")] B }"#,
                "A",
                "expected a variant for codes that this version does not know: `Unknown(UnknownCode)`",
            ),
            (
                r#"#[wire(rule = "X")] enum A { Unknown(UnknownCode) }"#,
                "\"X\"",
                "expected the name of a rule",
            ),
        ] {
            assert_eq!(
                mistake(source),
                (at.to_owned(), error.to_owned()),
                "{source}"
            );
        }
    }
}
