//! Writes many mutants into one source, so that it is compiled once: `a < b` becomes
//! `(if ::bankrail_chosen_mutant::is(7) { a > b } else { a < b })`.
//!
//! Standard input is JSON: the changes, each of some bytes of a file. The files are changed in
//! place. Standard output is JSON: where each mutant and the expression that holds it stand now, so
//! that what does not compile can be left out. Changes outside of expressions that run (constants,
//! types) are not in it: they cannot be chosen at run time. A function that holds a mutant is no
//! `const fn` any more, and is named with it in case a constant needs it.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::error::Error;
use std::ops::Range;
use std::{fs, io};

use serde::{Deserialize, Serialize};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, Signature, Stmt};

/// The maximum length of an expression that is written once more for each mutant.
const MOST_BYTES: usize = 6000;

#[derive(Deserialize)]
struct Change {
    number: usize,
    file: String,
    from: usize,
    to: usize,
    text: String,
    /// The bytes are the whole body of a function, and the text the value that it returns instead.
    is_body: bool,
}

#[derive(Serialize)]
struct Written {
    number: usize,
    file: String,
    mutant: Range<usize>,
    /// With all its mutants.
    expression: Range<usize>,
    const_fn: Option<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let changes: Vec<Change> = serde_json::from_reader(io::stdin().lock())?;
    let mut files: BTreeMap<&str, Vec<&Change>> = BTreeMap::new();
    for change in &changes {
        files.entry(&change.file).or_default().push(change);
    }
    let mut written = Vec::new();
    for (file, changes) in files {
        let source = fs::read_to_string(file)?;
        let (text, places) =
            rewritten(&source, &changes).map_err(|error| format!("{file}: {error}"))?;
        fs::write(file, text)?;
        written.extend(places.into_iter().map(|place| Written {
            file: file.to_owned(),
            ..place
        }));
    }
    serde_json::to_writer(io::stdout().lock(), &written)?;
    Ok(())
}

fn rewritten(source: &str, changes: &[&Change]) -> syn::Result<(String, Vec<Written>)> {
    let mut found = Found::default();
    found.visit_file(&syn::parse_file(source)?);
    let mut sites: BTreeMap<_, (Site, Vec<&Change>)> = BTreeMap::new();
    for change in changes {
        if let Some(site) = found.site(change) {
            // At the same place the larger comes first.
            let key = (site.range.start, usize::MAX - site.range.end, site.kind);
            sites
                .entry(key)
                .or_insert((site, Vec::new()))
                .1
                .push(change);
        }
    }
    let left_out = sites
        .values()
        .filter_map(|(site, _)| Some(site.const_fn.as_ref()?.token.clone()))
        .collect();
    let mut out = Out {
        source,
        text: String::new(),
        places: Vec::new(),
        copied: 0,
        left_out,
    };
    let mut open: Vec<(Site, usize, usize)> = Vec::new();
    for (site, changes) in sites.into_values() {
        while let Some(closed) = open.pop_if(|(outer, ..)| outer.range.end <= site.range.start) {
            out.close(closed);
        }
        out.copy_to(site.range.start);
        let (start, first) = (out.text.len(), out.places.len());
        out.open(&site, &changes);
        open.push((site, start, first));
    }
    while let Some(closed) = open.pop() {
        out.close(closed);
    }
    out.copy_to(source.len());
    Ok((out.text, out.places))
}

struct Out<'a> {
    source: &'a str,
    text: String,
    places: Vec<Written>,
    /// The length of the source that stands in the text.
    copied: usize,
    /// The words `const` of functions.
    left_out: Vec<Range<usize>>,
}

impl Out<'_> {
    fn copy_to(&mut self, end: usize) {
        for word in &self.left_out {
            if self.copied <= word.start && word.end <= end {
                self.text.push_str(&self.source[self.copied..word.start]);
                self.copied = word.end;
            }
        }
        self.text.push_str(&self.source[self.copied..end]);
        self.copied = end;
    }

    fn open(&mut self, site: &Site, changes: &[&Change]) {
        let whole = site.range.clone();
        self.text
            .push_str(if site.kind == Kind::Value { "(" } else { "" });
        for change in changes {
            self.text.push_str(&format!(
                "if ::bankrail_chosen_mutant::is({}) {{ ",
                change.number
            ));
            let start = self.text.len();
            if site.kind == Kind::Body {
                self.text.push_str(&format!("return {};", change.text));
            } else {
                let (before, after) = (
                    &self.source[whole.start..change.from],
                    &self.source[change.to..whole.end],
                );
                self.text.extend([before, &change.text, after]);
            }
            self.places.push(Written {
                number: change.number,
                file: String::new(),
                mutant: start..self.text.len(),
                expression: 0..0, // not known yet
                const_fn: site.const_fn.as_ref().map(|of| of.name.clone()),
            });
            self.text.push_str(if site.kind == Kind::Body {
                " } "
            } else {
                " } else "
            });
        }
        self.text
            .push_str(if site.kind == Kind::Body { "" } else { "{ " });
    }

    fn close(&mut self, (site, start, first): (Site, usize, usize)) {
        self.copy_to(site.range.end);
        self.text.push_str(match site.kind {
            Kind::Body => "",
            Kind::Value => " })",
            Kind::Statement => " }",
        });
        let end = self.text.len();
        for place in &mut self.places[first..] {
            if place.expression == (0..0) && place.mutant.start >= start {
                place.expression = start..end;
            }
        }
    }
}

#[derive(Clone, PartialEq)]
struct Site {
    range: Range<usize>,
    kind: Kind,
    const_fn: Option<ConstFn>,
}

#[derive(Clone, PartialEq)]
struct ConstFn {
    token: Range<usize>,
    name: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// The statements of a function.
    Body,
    /// An expression that is put in parentheses.
    Value,
    /// An expression that ends in a brace, as does the one that takes its place.
    Statement,
}

/// The functions and expressions of a file that run.
#[derive(Default)]
struct Found {
    bodies: Vec<Site>,
    expressions: Vec<Site>,
    /// The function that is being read.
    const_fn: Option<ConstFn>,
}

impl Found {
    fn site(&self, change: &Change) -> Option<Site> {
        let holds = |site: &&Site| site.range.start <= change.from && change.to <= site.range.end;
        let among = if change.is_body {
            &self.bodies
        } else {
            &self.expressions
        };
        let smallest = among
            .iter()
            .filter(holds)
            .min_by_key(|site| site.range.len())?;
        (change.is_body || smallest.range.len() <= MOST_BYTES).then(|| smallest.clone())
    }

    fn function(&mut self, signature: &Signature, body: &Block) {
        let token = signature.constness.map(|token| token.span().byte_range());
        let const_fn = token.map(|token| ConstFn {
            token,
            name: signature.ident.to_string(),
        });
        let outer = std::mem::replace(&mut self.const_fn, const_fn);
        // The type that such a function returns is found from its body.
        let hides = matches!(&signature.output, syn::ReturnType::Type(_, of) if matches!(**of, syn::Type::ImplTrait(_)));
        if !hides && let (Some(first), Some(last)) = (body.stmts.first(), body.stmts.last()) {
            let range = first.span().byte_range().start..last.span().byte_range().end;
            self.bodies.push(Site {
                range,
                kind: Kind::Body,
                const_fn: self.const_fn.clone(),
            });
        }
        self.visit_block(body);
        self.const_fn = outer;
    }

    fn add(&mut self, expression: &Expr, kind: Kind) {
        let plain = !matches!(
            expression,
            Expr::Block(_)
                | Expr::Let(_)
                | Expr::Path(_)
                | Expr::Field(_)
                | Expr::Index(_)
                | Expr::Reference(_)
                | Expr::Closure(_)
                | Expr::Const(_)
                | Expr::Async(_)
                | Expr::Unsafe(_)
                | Expr::Verbatim(_)
                | Expr::Range(_)
        ) && !matches!(expression, Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)));
        if plain && !has_let(expression) && !has_attributes(expression) {
            let ends_in_brace = matches!(
                expression,
                Expr::If(_) | Expr::Match(_) | Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_)
            );
            let kind = if ends_in_brace { Kind::Statement } else { kind };
            let (range, const_fn) = (expression.span().byte_range(), self.const_fn.clone());
            self.expressions.push(Site {
                range,
                kind,
                const_fn,
            });
        }
    }
}

/// True for a chain of conditions with `let`, which binds names for the following code.
fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

fn has_attributes(expression: &Expr) -> bool {
    let of: &[Attribute] = match expression {
        Expr::Array(of) => &of.attrs,
        Expr::Match(of) => &of.attrs,
        Expr::If(of) => &of.attrs,
        Expr::MethodCall(of) => &of.attrs,
        Expr::Call(of) => &of.attrs,
        Expr::Cast(of) => &of.attrs,
        _ => &[],
    };
    !of.is_empty()
}

impl<'ast> Visit<'ast> for Found {
    fn visit_expr(&mut self, expression: &'ast Expr) {
        match expression {
            Expr::Const(_) => return,
            // The length is a constant.
            Expr::Repeat(repeat) => {
                self.add(expression, Kind::Value);
                return self.visit_expr(&repeat.expr);
            }
            // The block after `else` is no separate expression.
            Expr::If(conditional) => {
                self.add(expression, Kind::Statement);
                self.visit_expr(&conditional.cond);
                self.visit_block(&conditional.then_branch);
                if let Some((_, otherwise)) = &conditional.else_branch {
                    let known = self.expressions.len();
                    self.visit_expr(otherwise);
                    let range = otherwise.span().byte_range();
                    if self
                        .expressions
                        .get(known)
                        .is_some_and(|site| site.range == range)
                    {
                        self.expressions.remove(known);
                    }
                }
                return;
            }
            _ => self.add(expression, Kind::Value),
        }
        visit::visit_expr(self, expression);
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        let known = self.expressions.len();
        visit::visit_stmt(self, statement);
        // Parentheses would need a semicolon.
        if let Stmt::Expr(expression, None) = statement
            && let Some(site) = self.expressions.get_mut(known)
            && site.range == expression.span().byte_range()
        {
            site.kind = Kind::Statement;
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.sig, body);
        }
    }

    // Items that are evaluated when they are compiled, or not at all.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_variant(&mut self, _: &'ast syn::Variant) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}
