#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        clippy::iter_over_hash_type
    )
)]

mod arguments;
mod choice;
mod code;
mod element;
mod message;
mod schema;
mod wire;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Derives a sequence of elements from a struct; `bankrail-iso20022` has the attributes.
#[proc_macro_derive(Element, attributes(element))]
pub fn derive_element(input: TokenStream) -> TokenStream {
    expanded(input, element::derive)
}

/// Derives a choice between elements from an enum; `bankrail-iso20022` has the attributes.
#[proc_macro_derive(Choice, attributes(element))]
pub fn derive_choice(input: TokenStream) -> TokenStream {
    expanded(input, choice::derive)
}

/// Derives a list of codes from an enum; `bankrail-iso20022` has the attributes.
#[proc_macro_derive(Code, attributes(code))]
pub fn derive_code(input: TokenStream) -> TokenStream {
    expanded(input, code::derive)
}

/// Derives a whole message from the struct of its sequence; `bankrail-iso20022` has the attributes.
#[proc_macro_derive(Message, attributes(element, message))]
pub fn derive_message(input: TokenStream) -> TokenStream {
    expanded(input, message::derive)
}

/// Derives an object of JSON from a struct of its members, with `new` and the setters; or an open
/// list of codes from an enum.
#[proc_macro_derive(Wire, attributes(wire))]
pub fn derive_wire(input: TokenStream) -> TokenStream {
    expanded(input, wire::derive)
}

/// Returns the output of a derive, or the error at the place of the mistake.
fn expanded(
    input: TokenStream,
    derive: fn(&DeriveInput) -> syn::Result<proc_macro2::TokenStream>,
) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    derive(&input)
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
