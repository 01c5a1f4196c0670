#![doc = include_str!("../README.md")]

mod arguments;
mod wire;

use proc_macro::TokenStream;

/// Makes reader, writer, check and schema of a JSON object from a struct of its members, with `new`
/// and the setters; and those of a list of codes from an enum.
#[proc_macro_derive(Wire, attributes(wire))]
pub fn wire(input: TokenStream) -> TokenStream {
    wire::derive(input.into()).into()
}
