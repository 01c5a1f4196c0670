//! Generates a JSON object from a struct.

use super::{Names, documentation};
use crate::arguments::Arguments;
use crate::schema::inner;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{DataStruct, DeriveInput, Error, Expr, Field, Fields, Ident, LitStr, Result, Type};

/// The kind of a member, which decides how it is read, written and checked: each kind has a
/// function in `crate::json::{read, write, check}`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A mandatory value, which `new` takes.
    Required,
    /// A mandatory value with one possible content, the default of its type, which `new` sets.
    Fixed,
    /// An optional value: `Option<…>`.
    Optional,
    /// An `Option<…>` that is required by default: `new` takes the value, and its absence is a
    /// finding.
    Expected,
    /// A member of an amendment: `Amended<…>`.
    Amended,
}

impl Kind {
    fn function(self) -> Ident {
        let name = match self {
            Self::Required => "required",
            Self::Fixed => "fixed",
            Self::Optional => "optional",
            Self::Expected => "expected",
            Self::Amended => "amended",
        };
        format_ident!("{name}")
    }
}

struct Member<'a> {
    kind: Kind,
    field: &'a Ident,
    /// The type of the value, without the `Option` or `Amended` around it.
    of: &'a Type,
    name: LitStr,
    bound: TokenStream,
    documentation: String,
}

pub(super) fn derive(input: &DeriveInput, data: &DataStruct) -> Result<TokenStream> {
    let mut arguments = Arguments::of(&input.attrs, "wire", input.ident.span())?;
    let is_message = arguments.flag("message")?;
    arguments.finish("`message`")?;
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new(
            input.ident.span(),
            "expected a struct with named fields, the members of a JSON object",
        ));
    };
    let (mut members, mut extra, mut names) = (Vec::new(), None, Names::default());
    for field in &fields.named {
        match Member::of(field)? {
            Some(member) => {
                names.add(&member.name)?;
                members.push(member);
            }
            None if extra.is_some() => {
                return Err(Error::new(
                    field.span(),
                    "expected one field for unknown members, found a second one",
                ));
            }
            None => extra = field.ident.as_ref(),
        }
    }
    let extra = extra.ok_or_else(|| {
        Error::new(
            input.ident.span(),
            "expected a field for unknown members: `#[wire(extra)] pub extra: ExtraMembers`",
        )
    })?;
    let name = &input.ident;
    let constructor = constructor(name, &members, extra);
    let wire = wire(name, &documentation(&input.attrs), &members, extra);
    let serde = serde_traits(name);
    let message = is_message.then(|| message(name));
    Ok(quote! { #constructor #message #wire #serde })
}

impl<'a> Member<'a> {
    /// Reads the field of a member; `None` for the field of unknown members.
    fn of(field: &'a Field) -> Result<Option<Self>> {
        let ident = field
            .ident
            .as_ref()
            .ok_or_else(|| Error::new(field.span(), "expected a named field"))?;
        let mut arguments = Arguments::of(&field.attrs, "wire", ident.span())?;
        if arguments.flag("extra")? {
            arguments.finish("nothing beside `extra`")?;
            return Ok(None);
        }
        let (expected, fixed) = (arguments.flag("expected")?, arguments.flag("fixed")?);
        let bound = match arguments.value("bound")? {
            None => quote! { ::core::option::Option::None },
            Some(Expr::Path(bound)) if bound.path.get_ident().is_some() => {
                quote! { ::core::option::Option::Some(&crate::json::Bound::#bound) }
            }
            Some(other) => {
                return Err(Error::new(other.span(), "expected the name of a bound"));
            }
        };
        let name = arguments.text();
        arguments.finish("a name, `bound = …`, `expected`, `fixed` or `extra`")?;
        let (kind, of) = match (inner(&field.ty, "Option"), inner(&field.ty, "Amended")) {
            (Some(of), _) if expected => (Kind::Expected, of),
            (Some(of), _) => (Kind::Optional, of),
            (None, Some(of)) => (Kind::Amended, of),
            (None, None) if fixed => (Kind::Fixed, &field.ty),
            (None, None) => (Kind::Required, &field.ty),
        };
        if expected && kind != Kind::Expected {
            let text = "expected an `Option<…>`, because what is `expected` can be absent";
            return Err(Error::new(field.ty.span(), text));
        }
        if fixed && kind != Kind::Fixed {
            let text = "expected the type of a value, because what is `fixed` is always there";
            return Err(Error::new(field.ty.span(), text));
        }
        Ok(Some(Self {
            kind,
            field: ident,
            of,
            name: name.unwrap_or_else(|| LitStr::new(&ident.to_string(), ident.span())),
            bound,
            documentation: documentation(&field.attrs),
        }))
    }

    /// Returns the setter, for a member that `new` does not need.
    fn setter(&self) -> Option<TokenStream> {
        let (field, of, name) = (self.field, self.of, self.name.value());
        match self.kind {
            Kind::Required | Kind::Fixed => None,
            Kind::Optional | Kind::Expected => {
                let documentation = format!("Sets `{name}`.");
                Some(quote! {
                    #[doc = #documentation]
                    #[must_use]
                    // Takes `Into`, so that a caller need not name the type of the member.
                    pub fn #field(mut self, value: impl ::core::convert::Into<#of>) -> Self {
                        self.#field = ::core::option::Option::Some(value.into());
                        self
                    }
                })
            }
            Kind::Amended => {
                let documentation = format!(
                    "Sets `{name}` to a new value or [`Amended::Cleared`](crate::Amended::Cleared)."
                );
                Some(quote! {
                    #[doc = #documentation]
                    #[must_use]
                    pub fn #field(mut self, value: impl ::core::convert::Into<crate::Amended<#of>>) -> Self {
                        self.#field = value.into();
                        self
                    }
                })
            }
        }
    }
}

/// Generates `new` and the setters.
fn constructor(name: &Ident, members: &[Member<'_>], extra: &Ident) -> TokenStream {
    let parameters = members.iter().filter_map(|member| {
        let (field, of) = (member.field, member.of);
        match member.kind {
            Kind::Required => Some(quote! { #field: #of }),
            Kind::Expected => Some(quote! { #field: impl ::core::convert::Into<#of> }),
            Kind::Fixed | Kind::Optional | Kind::Amended => None,
        }
    });
    let values = members.iter().map(|member| {
        let field = member.field;
        match member.kind {
            Kind::Required => quote! { #field },
            Kind::Expected => quote! { #field: ::core::option::Option::Some(#field.into()) },
            _ => quote! { #field: ::core::default::Default::default() },
        }
    });
    let setters = members.iter().filter_map(Member::setter);
    quote! {
        impl #name {
            /// Returns a value with the members that are required, and those that are required by
            /// default.
            #[must_use]
            pub fn new(#(#parameters),*) -> Self {
                Self { #(#values,)* #extra: ::core::default::Default::default() }
            }
            #(#setters)*
        }
    }
}

/// Generates the methods of a whole message: those of the trait as inherent methods, for callers
/// that do not import the trait.
fn message(name: &Ident) -> TokenStream {
    quote! {
        impl #name {
            /// Reads a message.
            ///
            /// # Errors
            /// [`MessageError`](crate::MessageError).
            pub fn from_json(
                json: &[u8],
            ) -> ::core::result::Result<crate::ParsedMessage<Self>, crate::MessageError> {
                <Self as crate::WebhookMessage>::from_json(json)
            }

            /// Writes the message: the specification's names in a stable order, no nulls, unknown
            /// members last.
            #[must_use]
            pub fn to_json(&self) -> ::std::string::String {
                <Self as crate::WebhookMessage>::to_json(self)
            }

            /// Returns the message if it has no findings. Ends a builder's chain.
            ///
            /// # Errors
            /// [`MessageError::Findings`](crate::MessageError::Findings) with the findings of
            /// `validate`, of any class.
            pub fn checked(self) -> ::core::result::Result<Self, crate::MessageError> {
                match self.validate() {
                    findings if findings.is_empty() => ::core::result::Result::Ok(self),
                    findings => ::core::result::Result::Err(crate::MessageError::Findings { findings }),
                }
            }

            /// Returns the findings of the message: default bounds, unknown codes and members, and
            /// values that contradict each other.
            #[must_use]
            pub fn validate(&self) -> ::std::vec::Vec<crate::MessageFinding> {
                <Self as crate::WebhookMessage>::validate(self)
            }
        }
    }
}

fn wire(name: &Ident, about: &str, members: &[Member<'_>], extra: &Ident) -> TokenStream {
    let fields: Vec<_> = members.iter().map(|member| member.field).collect();
    // Fields may have the names of parameters.
    let locals: Vec<_> = fields
        .iter()
        .map(|field| format_ident!("read_{field}"))
        .collect();
    let names: Vec<_> = members.iter().map(|member| &member.name).collect();
    let bounds: Vec<_> = members.iter().map(|member| &member.bound).collect();
    let kinds: Vec<_> = members
        .iter()
        .map(|member| member.kind.function())
        .collect();
    let described = members.iter().map(|member| {
        let (name, of, bound) = (&member.name, member.of, &member.bound);
        let (about, required) = (
            &member.documentation,
            matches!(member.kind, Kind::Required | Kind::Fixed),
        );
        let mut schema = quote! { <#of as crate::json::Wire>::schema(#bound, schemas) };
        if member.kind == Kind::Amended {
            let marks = quote! { <#of as crate::amended::Clearable>::MARKS };
            schema = quote! { crate::json::schema::amended(#schema, #marks) };
        }
        quote! {
            crate::json::schema::Member {
                name: #name,
                required: #required,
                description: #about,
                schema: #schema,
            }
        }
    });
    let type_name = LitStr::new(&name.to_string(), name.span());
    quote! {
        impl crate::json::Wire for #name {
            fn read(
                value: &::bankrail_values::json::JsonValue<'_>,
                at: &mut crate::json::Context,
            ) -> ::core::result::Result<Self, crate::error::MessageError> {
                let object = crate::json::object(value, at)?;
                #(
                    // Where the context collects mistakes, reading goes on, so that all are
                    // reported at once.
                    let read = crate::json::read::#kinds(object, #names, at);
                    let #locals = at.go_on(read)?;
                )*
                let extra = crate::json::ExtraMembers::keep(object, &[#(#names),*]);
                if !(true #(&& #locals.is_some())*) {
                    // The members that were read are checked all the same, as there is no object to
                    // check.
                    #( if let ::core::option::Option::Some(member) = &#locals {
                        crate::json::check::#kinds(member, #names, #bounds, at);
                    } )*
                    extra.check(at);
                }
                ::core::result::Result::Ok(Self {
                    #( #fields: #locals.ok_or_else(|| at.last_refusal())?, )*
                    #extra: extra,
                })
            }

            fn write(&self, out: &mut crate::json::Output) {
                out.object(|object| {
                    #( crate::json::write::#kinds(&self.#fields, #names, object); )*
                    self.#extra.write(object);
                });
            }

            fn check(
                &self,
                _bound: ::core::option::Option<&crate::json::Bound>,
                at: &mut crate::json::Context,
            ) {
                #( crate::json::check::#kinds(&self.#fields, #names, #bounds, at); )*
                self.#extra.check(at);
            }

            fn schema(
                _: ::core::option::Option<&crate::json::Bound>,
                schemas: &mut crate::json::Schemas,
            ) -> ::serde_json::Value {
                schemas.object(#type_name, #about, |schemas| ::std::vec![#(#described),*])
            }
        }
    }
}

/// Adds serde's traits, by the reader and the writer of the type.
fn serde_traits(name: &Ident) -> TokenStream {
    quote! {
        #[cfg(feature = "serde")]
        impl ::serde::Serialize for #name {
            fn serialize<S: ::serde::Serializer>(&self, out: S) -> ::core::result::Result<S::Ok, S::Error> {
                crate::json::serde::serialize(self, out)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> ::serde::Deserialize<'de> for #name {
            fn deserialize<D: ::serde::Deserializer<'de>>(from: D) -> ::core::result::Result<Self, D::Error> {
                crate::json::serde::deserialize(from)
            }
        }
    }
}
