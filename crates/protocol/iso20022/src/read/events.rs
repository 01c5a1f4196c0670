//! The events of a document: start tags with their declarations and attributes, end tags and
//! character data, with places and within limits.

mod ahead;
mod capture;
mod cursor;
mod document;
mod memory;

pub(crate) use capture::is_one_element;
pub(crate) use cursor::Child;
pub use cursor::{Ahead, Cursor, CursorOver};

use super::ReadLimits;
use super::attributes::{self, Attribute, malformed, occurs_twice, repeated};
use super::decode::{count, token_limit};
use super::error::{Halt, LimitKind, ReadErrorKind};
use super::namespaces::{Namespaces, XML, XMLNS};
use super::tokens::{Mark, Tokens};
use crate::finding::{Position, shown};
use crate::xml::{is_blank, is_plain_name, is_qualified_name, push_lines};
use quick_xml::errors::IllFormedError;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;

/// The events of a document, with what is needed to understand them: namespaces in scope, depth,
/// place, the last start tag.
struct EventsOver<T: ?Sized> {
    limits: ReadLimits,
    namespaces: Namespaces,
    /// The last start tag.
    tag: StartTag,
    /// The attributes of that tag that have not been taken, without declarations.
    attributes: Vec<Attribute<'static>>,
    /// White space at the beginning of the text being gathered; it counts only if other text
    /// follows.
    blank: String,
    /// The encoding that the document declares, if it is not UTF-8.
    declared: Option<Box<str>>,
    /// True if the last start tag was that of an empty element, whose end is the next event.
    empty: bool,
    /// The number of open elements.
    depth: usize,
    /// The number of open elements around the document.
    wrappers: usize,
    /// True after the start tag of a root has been read.
    begun: bool,
    /// The use of the limits since the start of the innermost element that is counted separately.
    used: Used,
    /// The bytes of memory that the document has taken so far.
    held: u64,
    /// The place where the current event starts.
    mark: Mark,
    tokens: T,
}

/// The events of any source of tokens.
type Events<'t> = EventsOver<dyn Tokens + 't>;

/// The use of the limits that is counted separately for units, groups and the message.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    /// The number of elements begun.
    elements: usize,
    /// The number of bytes kept beyond the schema.
    kept: usize,
}

impl Used {
    /// The use at the start of a document, whose start tag has been read.
    const DOCUMENT: Self = Self {
        elements: 1,
        kept: 0,
    };
}

/// A start tag as written: name and attributes.
#[derive(Debug, Default)]
struct StartTag {
    text: String,
    /// The length of the name in bytes.
    name: usize,
    /// The length of the name's prefix in bytes; `None` without a colon.
    prefix: Option<usize>,
}

impl StartTag {
    #[inline]
    fn set(&mut self, tag: &BytesStart<'_>) {
        self.text.clear();
        self.text.push_str(tag);
        self.name = tag.name().as_ref().len();
        // Names are short, so a loop over the bytes is faster than a search routine.
        self.prefix = self.name().bytes().position(|b| b == b':');
    }

    /// Returns name and attributes.
    fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the name with its prefix.
    #[inline]
    fn name(&self) -> &str {
        self.text.get(..self.name).unwrap_or_default()
    }

    /// Returns the part of the name before the first colon.
    #[inline]
    fn prefix(&self) -> Option<&str> {
        self.text.get(..self.prefix?)
    }

    /// Returns the part of the name after the first colon, or the whole name.
    #[inline]
    fn local_name(&self) -> &str {
        self.text
            .get(self.prefix.map_or(0, |prefix| prefix + 1)..self.name)
            .unwrap_or_default()
    }

    /// Returns everything after the name.
    #[inline]
    fn attributes(&self) -> &str {
        self.text.get(self.name..).unwrap_or_default()
    }
}

/// An event in the content of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// A start tag; `Events::open` has to follow.
    Start,
    /// An end tag, or the end of an empty element; `Events::close` has to follow.
    End,
    /// Character data, which has been appended, or a comment or processing instruction.
    Content,
}

impl<T: Tokens> EventsOver<T> {
    fn new(tokens: T, limits: ReadLimits, namespace: impl Into<Cow<'static, str>>) -> Self {
        Self {
            limits,
            namespaces: Namespaces::new(namespace),
            tag: StartTag::default(),
            attributes: Vec::new(),
            blank: String::new(),
            declared: None,
            empty: false,
            depth: 0,
            wrappers: 0,
            begun: false,
            used: Used::default(),
            held: 0,
            mark: Mark::default(),
            tokens,
        }
    }
}

impl Events<'_> {
    /// Begins a text between elements.
    #[inline]
    fn begin_text(&mut self, text: &mut String) {
        text.clear();
        self.blank.clear();
    }

    /// Reads the next event. Character data is appended to `text`. With `elements_only`, white
    /// space at its beginning is appended only if other text follows it.
    #[inline]
    fn next(&mut self, text: &mut String, elements_only: bool) -> Result<Token, Halt> {
        // An empty element is one tag and two events, so that callers end it like any other.
        if std::mem::take(&mut self.empty) {
            return Ok(Token::End);
        }
        self.advance()?;
        match self.tokens.next() {
            Ok(Event::Start(tag)) => {
                // The event omits the brackets, which count as bytes of the tag.
                let bytes = "<>".len() + tag.len();
                self.tag.set(&tag);
                self.bound(bytes).map(|()| Token::Start)
            }
            Ok(Event::Empty(tag)) => {
                let bytes = "</>".len() + tag.len();
                self.tag.set(&tag);
                self.empty = true;
                self.bound(bytes).map(|()| Token::Start)
            }
            Ok(Event::End(_)) => {
                // The event has only the name, without the white space after it, so the bytes are
                // counted from the offsets.
                let bytes = self.tokens.offset() - self.mark.text;
                self.bound(usize::try_from(bytes).unwrap_or(usize::MAX))
                    .map(|()| Token::End)
            }
            // This is nearly always indentation. It is set aside, so that `text` stays empty and
            // nothing has to be kept.
            Ok(Event::Text(data)) if elements_only && text.is_empty() && is_blank(&data) => {
                // Gathers no more than is needed to refuse a text that is too long together with
                // what follows.
                if self.blank.len() <= self.limits.max_text_bytes {
                    push_lines(&data, &mut self.blank);
                }
                Ok(Token::Content)
            }
            other => {
                let length = other.as_ref().map_or(0, |event| event.len());
                // Checks the length before the content is copied, so that a token over the limit
                // takes no memory twice.
                if length > self.limits.max_token_bytes {
                    return Err(self.halt(token_limit(&self.limits)));
                }
                let begins = text.is_empty();
                let content = take_content(other, text);
                self.content(content)?;
                // A comment adds no text; the white space then stays set aside.
                if begins && elements_only && !text.is_empty() {
                    text.insert_str(0, &self.blank);
                }
                Ok(Token::Content)
            }
        }
    }

    /// Refuses a text that is being gathered when it is too long.
    #[inline]
    fn bound_text(&mut self, text: &str) -> Result<(), Halt> {
        let most = self.limits.max_text_bytes;
        if text.len() > most {
            Err(self.limit(LimitKind::TextBytes, most))
        } else {
            Ok(())
        }
    }

    /// Bounds the length of a token in memory. For an input read in pieces, the source does this.
    #[inline]
    fn bound(&mut self, bytes: usize) -> Result<(), Halt> {
        if bytes > self.limits.max_token_bytes {
            Err(self.halt(token_limit(&self.limits)))
        } else {
            Ok(())
        }
    }

    /// Begins an event.
    #[inline]
    fn advance(&mut self) -> Result<(), Halt> {
        let before = self.mark;
        self.mark = self.tokens.mark();
        let limit = count(self.limits.max_token_bytes);
        if self.mark.text - before.text > limit {
            // The token that is too long began at the last mark, so the error is placed there.
            self.mark = before;
            return Err(self.halt(token_limit(&self.limits)));
        }
        Ok(())
    }

    /// Takes the declarations, attributes and depth of a start tag.
    fn open(&mut self) -> Result<(), Halt> {
        self.depth += 1;
        self.used.elements += 1;
        self.attributes.clear();
        // Limits come first, so that the attributes of a refused element are not read.
        if self.depth > self.limits.max_depth {
            return Err(self.limit(LimitKind::Depth, self.limits.max_depth));
        }
        if self.used.elements > self.limits.max_entry_elements {
            return Err(self.limit(LimitKind::EntryElements, self.limits.max_entry_elements));
        }
        // Only amounts and the document element have attributes, so nearly all tags end here.
        if self.tag.attributes().is_empty() {
            Ok(())
        } else {
            self.read_attributes().map_err(|kind| self.halt(kind))
        }
    }

    /// Binds what the last start tag declares, and keeps its other attributes.
    fn read_attributes(&mut self) -> Result<(), ReadErrorKind> {
        let mut found = Vec::new();
        attributes::parse(
            self.tag.attributes(),
            self.limits.max_attributes,
            &mut found,
        )?;
        // Declarations come first, because an attribute may use a prefix that a later one declares.
        for attribute in &found {
            if let Some(prefix) = attribute.declared_prefix() {
                if let Some(detail) = refused_binding(prefix, &attribute.value) {
                    return Err(malformed(detail));
                }
                self.namespaces.bind(prefix, &attribute.value, self.depth);
            }
        }
        found.retain(|attribute| attribute.declared_prefix().is_none());
        let mut expanded: Vec<(&str, &str)> = Vec::new();
        for attribute in &found {
            // Without a prefix an attribute is in no namespace, even where there is a default one.
            if let Some((prefix, local)) = attribute.name.split_once(':') {
                expanded.push((
                    self.namespaces
                        .get(prefix)
                        .ok_or_else(|| undeclared(prefix))?,
                    local,
                ));
            }
        }
        // Two prefixes may stand for one namespace, so that different names are the same attribute.
        if expanded.len() > 1
            && let Some((_, local)) = repeated(expanded)
        {
            return Err(occurs_twice(local));
        }
        // Copies the attributes, because the next tag overwrites the text that they borrow from.
        self.attributes
            .extend(found.into_iter().map(Attribute::into_owned));
        Ok(())
    }

    /// Takes an end tag.
    #[inline]
    fn close(&mut self) {
        // Called before the depth changes, because bindings are kept under the depth of their
        // element.
        self.namespaces.leave(self.depth);
        self.depth -= 1;
    }

    /// Reads on to the end of the element at a depth.
    fn skip_to_end(&mut self, depth: usize) -> Result<(), Halt> {
        let mut text = String::new();
        while self.depth >= depth {
            text.clear();
            match self.next(&mut text, false)? {
                Token::Start => {
                    self.open()?;
                    // Called for its error only: skipped elements also need valid names and bound
                    // prefixes.
                    self.is_ours()?;
                }
                Token::End => self.close(),
                Token::Content => {}
            }
        }
        Ok(())
    }

    /// Returns the text from a place on, verbatim.
    fn since(&mut self, start: Mark) -> Result<String, Halt> {
        let xml = self.tokens.since(start).map(str::to_owned);
        xml.ok_or_else(|| self.limit(LimitKind::KeptBytes, self.limits.max_kept_bytes))
    }

    /// Remembers the text from here on, so that an element in it can be kept verbatim. The next
    /// call replaces the place.
    #[inline]
    fn remember(&mut self) {
        self.tokens.remember();
    }

    /// Returns true if the document, whose first event has been read, begins with the byte order
    /// mark of UTF-8.
    fn is_marked_utf8(&mut self) -> bool {
        // The mark of UTF-8 has three bytes, that of UTF-16 two.
        self.tokens.position(Mark::default()).offset == 3
    }

    /// Takes the value of an attribute that the schema has.
    fn take_attribute(&mut self, name: &str) -> Option<String> {
        let found = self
            .attributes
            .iter()
            .position(|attribute| attribute.name == name)?;
        Some(self.attributes.remove(found).value.into_owned())
    }

    /// Sets the use of the limits, and returns the previous use.
    fn count_from(&mut self, used: Used) -> Used {
        std::mem::replace(&mut self.used, used)
    }

    /// Counts bytes that are kept beyond the schema.
    fn keep_bytes(&mut self, bytes: usize) -> Result<(), Halt> {
        self.bound_kept(bytes)?;
        self.used.kept += bytes;
        Ok(())
    }

    /// Returns an error if this many more bytes beyond the schema would exceed the limit.
    #[inline]
    fn bound_kept(&mut self, bytes: usize) -> Result<(), Halt> {
        let most = self.limits.max_kept_bytes;
        // A subtraction, because the sum could overflow.
        if bytes > most.saturating_sub(self.used.kept) {
            Err(self.limit(LimitKind::KeptBytes, most))
        } else {
            Ok(())
        }
    }

    /// Returns true when the element just begun is of the message's namespace. The caller must
    /// check the name if the schema does not have it.
    #[inline]
    fn seems_ours(&mut self) -> Result<bool, Halt> {
        let ours = match self.tag.prefix() {
            Some(prefix) => self.namespaces.is_ours(prefix),
            None => Some(self.namespaces.default_is_ours()),
        };
        if ours == Some(true) {
            Ok(true)
        } else {
            self.is_ours()
        }
    }

    /// Returns true when the element just begun is of the message's namespace; an error when its
    /// name is malformed.
    fn is_ours(&mut self) -> Result<bool, Halt> {
        // quick-xml accepts any characters in a name.
        if !is_qualified_name(self.tag.name()) {
            return Err(self.halt(malformed("expected an element name")));
        }
        let Some(prefix) = self.tag.prefix() else {
            return Ok(self.namespaces.default_is_ours());
        };
        let ours = self
            .namespaces
            .is_ours(prefix)
            .ok_or_else(|| undeclared(prefix));
        ours.map_err(|kind| self.halt(kind))
    }

    /// Adds the place to an error in character data.
    fn content(&mut self, content: Result<(), ReadErrorKind>) -> Result<(), Halt> {
        content.map_err(|kind| self.failed(kind))
    }

    /// Returns the error of an event: the error of the input if the input failed, otherwise the
    /// given error.
    #[cold]
    fn failed(&mut self, kind: ReadErrorKind) -> Halt {
        // The parser sees only that the source failed; the source holds the reason and the place.
        match self.tokens.failure() {
            // Places the error where the tag or text starts, independent of how much of it was in
            // memory.
            Some((
                kind @ ReadErrorKind::Limit {
                    limit: LimitKind::TokenBytes,
                    ..
                },
                _,
            )) => return self.halt(kind),
            Some((kind, position)) => return Halt::new(kind, position),
            None => {}
        }
        // A source read in pieces meets this limit before the error; a text in memory must report
        // the same error.
        let end = self.tokens.mark().text;
        if end - self.mark.text > count(self.limits.max_token_bytes) {
            return self.halt(token_limit(&self.limits));
        }
        self.halt(kind)
    }

    /// Makes an error at the current event.
    #[cold]
    fn halt(&mut self, kind: ReadErrorKind) -> Halt {
        let position = self.position(self.mark);
        Halt::new(kind, position)
    }

    /// Returns the error of a bound that is exceeded at the current event.
    #[cold]
    fn limit(&mut self, limit: LimitKind, max: usize) -> Halt {
        self.halt(ReadErrorKind::Limit {
            limit,
            max: count(max),
        })
    }

    /// Returns a place as line, column and byte.
    fn position(&mut self, mark: Mark) -> Position {
        self.tokens.position(mark)
    }
}

/// Adds character data to `text`; comments and processing instructions add nothing.
pub(super) fn take_content(
    event: Result<Event<'_>, quick_xml::Error>,
    text: &mut String,
) -> Result<(), ReadErrorKind> {
    match event {
        Ok(Event::Text(data)) => {
            // XML forbids `]]>` in text (2.4); the search for one byte rules it out in nearly all
            // texts.
            if memchr::memchr(b'>', data.as_bytes()).is_some() && data.contains("]]>") {
                return Err(malformed("expected no ]]> in text"));
            }
            push_lines(&data, text);
            Ok(())
        }
        Ok(Event::CData(data)) => {
            push_lines(&data, text);
            Ok(())
        }
        Ok(Event::GeneralRef(reference)) => {
            text.push(attributes::resolve(&reference)?);
            Ok(())
        }
        Ok(Event::Comment(_)) => Ok(()),
        Ok(Event::PI(instruction)) => check_instruction(instruction.target()),
        Ok(Event::Decl(_)) => Err(malformed(
            "expected the XML declaration at the very beginning",
        )),
        // A document type is refused without being interpreted, so that no entity can expand
        // without bound or name a file.
        Ok(Event::DocType(_)) => Err(ReadErrorKind::DocumentType),
        Ok(Event::Eof) => Err(malformed(
            "expected an end tag, found the end of the document",
        )),
        Ok(Event::Start(_) | Event::Empty(_) | Event::End(_)) => Err(malformed("unexpected tag")),
        Err(error) => Err(not_well_formed(&error)),
    }
}

/// Returns the parser's error, with the names in it cut.
fn not_well_formed(error: &quick_xml::Error) -> ReadErrorKind {
    let quick_xml::Error::IllFormed(error) = error else {
        return malformed(&error.to_string());
    };
    let detail = match error {
        IllFormedError::MismatchedEndTag { expected, found } => {
            format!(
                "expected the end tag of {}, found that of {}",
                shown(expected),
                shown(found)
            )
        }
        IllFormedError::UnmatchedEndTag(found) => {
            format!("expected no end tag, found that of {}", shown(found))
        }
        IllFormedError::MissingEndTag(expected) => {
            format!("expected the end tag of {}", shown(expected))
        }
        other => other.to_string(),
    };
    ReadErrorKind::Malformed { detail }
}

fn undeclared(prefix: &str) -> ReadErrorKind {
    ReadErrorKind::Malformed {
        detail: format!("the prefix {} is not declared", shown(prefix)),
    }
}

fn check_instruction(target: &str) -> Result<(), ReadErrorKind> {
    // XML reserves `xml` in any case (2.6), and XML Namespaces forbid the colon (7).
    if is_plain_name(target) && !target.eq_ignore_ascii_case("xml") {
        Ok(())
    } else {
        Err(malformed(
            "expected a processing instruction with a name without a colon, other than xml",
        ))
    }
}

/// Returns the reason why XML Namespaces forbid a declaration, if they do. The prefix is a name
/// without a colon.
fn refused_binding(prefix: &str, namespace: &str) -> Option<&'static str> {
    match (prefix, namespace) {
        ("xml", XML) => None,
        ("xml", _) | (_, XML) => {
            Some("the prefix xml and its namespace cannot be bound to another")
        }
        ("xmlns", _) | (_, XMLNS) => Some("the prefix xmlns cannot be declared"),
        ("", _) => None,
        (_, "") => Some("a prefix other than the default cannot be undeclared"),
        _ => None,
    }
}
