//! The grammar that all attributes share: a list of strings, flags and `key = expression`.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, ExprLit, Ident, Lit, LitStr, Result, Token};

/// The arguments of an attribute. A caller takes the arguments that it knows;
/// [`finish`](Self::finish) refuses the others.
pub(crate) struct Arguments {
    /// The place of the attribute, for errors about missing arguments.
    pub(crate) span: Span,
    all: Vec<Argument>,
}

struct Argument {
    key: Key,
    value: Option<Expr>,
}

enum Key {
    /// A bare string, such as the name of an element.
    Text(LitStr),
    /// A flag, or the key of a value.
    Name(Ident),
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(LitStr) {
            return Ok(Self {
                key: Key::Text(input.parse()?),
                value: None,
            });
        }
        // Accepts keywords of Rust as keys, such as `type`.
        let name = input.call(<Ident as syn::ext::IdentExt>::parse_any)?;
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Self {
            key: Key::Name(name),
            value,
        })
    }
}

impl Arguments {
    /// Reads the arguments of the attributes of this name, of which there may be several.
    pub(crate) fn of(attributes: &[Attribute], name: &str, place: Span) -> Result<Self> {
        let mut found = Self {
            span: place,
            all: Vec::new(),
        };
        for one in Self::each(attributes, name, place)? {
            found.span = one.span;
            found.all.extend(one.all);
        }
        Ok(found)
    }

    /// Reads the arguments of the first attribute of this name.
    pub(crate) fn first(attributes: &[Attribute], name: &str, place: Span) -> Result<Self> {
        Ok(Self::each(attributes, name, place)?.swap_remove(0))
    }

    /// Reads the arguments of each attribute of this name; if there is none, returns empty
    /// arguments.
    pub(crate) fn each(attributes: &[Attribute], name: &str, place: Span) -> Result<Vec<Self>> {
        let mut found = Vec::new();
        for attribute in attributes
            .iter()
            .filter(|attribute| attribute.path().is_ident(name))
        {
            let all = attribute
                .parse_args_with(syn::punctuated::Punctuated::<_, Token![,]>::parse_terminated)?;
            found.push(Self {
                // An error about a missing argument points at the attribute, or at the type or
                // field if there is no attribute.
                span: attribute.span(),
                all: all.into_iter().collect(),
            });
        }
        if found.is_empty() {
            let all = Vec::new();
            found.push(Self { span: place, all });
        }
        Ok(found)
    }

    /// Takes the bare string, if there is one.
    pub(crate) fn text(&mut self) -> Option<LitStr> {
        let at = self
            .all
            .iter()
            .position(|argument| matches!(argument.key, Key::Text(_)))?;
        match self.all.remove(at).key {
            Key::Text(text) => Some(text),
            Key::Name(_) => None,
        }
    }

    /// Takes a flag, and returns true if it is set.
    pub(crate) fn flag(&mut self, name: &str) -> Result<bool> {
        match self.take(name)? {
            None => Ok(false),
            Some((_, None)) => Ok(true),
            Some((key, Some(_))) => Err(Error::new(key.span(), format!("`{name}` takes no value"))),
        }
    }

    /// Takes the value of a key, if it is given.
    pub(crate) fn value(&mut self, name: &str) -> Result<Option<Expr>> {
        match self.take(name)? {
            None => Ok(None),
            Some((_, Some(value))) => Ok(Some(value)),
            Some((key, None)) => Err(Error::new(
                key.span(),
                format!("expected a value: `{name} = …`"),
            )),
        }
    }

    /// Takes the value of a key that must be a string, if it is given.
    pub(crate) fn text_value(&mut self, name: &str) -> Result<Option<LitStr>> {
        match self.value(name)? {
            None => Ok(None),
            Some(Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            })) => Ok(Some(text)),
            Some(other) => Err(Error::new(other.span(), "expected a string")),
        }
    }

    /// Refuses arguments that nobody took; `known` lists those that the attribute has.
    pub(crate) fn finish(self, known: &str) -> Result<()> {
        let Some(left) = self.all.first() else {
            return Ok(());
        };
        Err(match &left.key {
            Key::Text(text) => Error::new(text.span(), "expected one name, found a second one"),
            Key::Name(name) => Error::new(name.span(), format!("expected {known}, found `{name}`")),
        })
    }

    fn take(&mut self, name: &str) -> Result<Option<(Ident, Option<Expr>)>> {
        let is_it = |argument: &Argument| matches!(&argument.key, Key::Name(key) if key == name);
        let Some(at) = self.all.iter().position(is_it) else {
            return Ok(None);
        };
        let Argument { key, value } = self.all.remove(at);
        // Searches after the first match was removed, so that any further match is a repetition.
        if let Some(again) = self.all.iter().find(|argument| is_it(argument)) {
            let Key::Name(again) = &again.key else {
                return Ok(None);
            };
            return Err(Error::new(
                again.span(),
                format!("`{name}` stands here twice"),
            ));
        }
        match key {
            Key::Name(key) => Ok(Some((key, value))),
            Key::Text(_) => Ok(None),
        }
    }
}
