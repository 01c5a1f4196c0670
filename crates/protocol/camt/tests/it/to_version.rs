//! Documents of each version in each other version: what both versions can express is kept, and
//! what is lost is reported.

use crate::agreement::changed;
use crate::family::{Schema, VERSIONS, all, strict};
use bankrail_camt::{
    FindingKind, Parsed, ReadOptions, Version, WriteError, notification, report, statement,
};
use bankrail_iso20022::__private::{
    self as engine, Field, Finding, Message, SchemaType, WriteOptions,
};
use std::collections::{BTreeMap, BTreeSet};

/// The elements from the message down to one, each with its number from 0 among those of its name.
/// The names are those of version 08.
type Path = Vec<(String, usize)>;

/// The path of something that is left out, without the numbers that a finding does not state.
type LossPath = Vec<(String, Option<usize>)>;

/// The values of a document with their currencies, and its elements without content.
type Leaves = BTreeMap<Path, String>;

/// Names of older versions and of version 08.
const RENAMED: [(&str, &str); 3] = [
    ("BIC", "BICFI"),
    ("BICOrBEI", "AnyBIC"),
    ("AdmstnZn", "AdmstnZone"),
];

/// Documents of each schema for each version; `BANKRAIL_DOCUMENTS` sets it.
fn count() -> u64 {
    let count = std::env::var("BANKRAIL_DOCUMENTS").ok();
    count.map_or(4, |count| count.parse().unwrap())
}

#[test]
fn a_document_is_taken_to_each_version_of_its_message() {
    let mut faults = Vec::new();
    for schema in all() {
        for seed in 0..count() {
            let xml = schema.invent(seed);
            for to in VERSIONS {
                let found = match schema.message {
                    52 => there_and_back::<report::Document>(&xml, schema.version, to),
                    53 => there_and_back::<statement::Document>(&xml, schema.version, to),
                    _ => there_and_back::<notification::Document>(&xml, schema.version, to),
                };
                let place = format!("{} to {to:02}, {seed}", schema.name());
                faults.extend(found.into_iter().map(|fault| format!("{place}: {fault}")));
            }
        }
    }
    faults.truncate(40);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The readable parts of a damaged document are converted to other versions, too.
#[test]
fn what_remains_of_a_damaged_document_is_of_the_version() {
    let mut faults = Vec::new();
    for schema in all() {
        // An element that was kept as markup of one version is read in another, after others.
        for seed in (0..count() * 3).chain([815]) {
            let at = usize::try_from(seed).unwrap();
            let xml = changed(&schema.invent(seed / 3), schema, at);
            for to in VERSIONS {
                let found = match schema.message {
                    52 => damaged_there::<report::Document>(&xml, to),
                    53 => damaged_there::<statement::Document>(&xml, to),
                    _ => damaged_there::<notification::Document>(&xml, to),
                };
                let place = format!("{} to {to:02}, {seed}", schema.name());
                faults.extend(found.into_iter().map(|fault| format!("{place}: {fault}")));
            }
        }
    }
    faults.truncate(40);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn damaged_there<M: Message>(xml: &str, to: u8) -> Vec<String> {
    let tolerant = ReadOptions::default();
    let Ok(parsed) = engine::parse::<M>(xml.as_bytes(), &tolerant) else {
        return Vec::new();
    };
    match engine::to_version(&parsed.document, Version::new(to)) {
        Ok(there) => what_remains(&there, &write(&there.document)),
        Err(WriteError::Unfaithful { why: Some(_) }) => Vec::new(),
        Err(error) => vec![error.to_string()],
    }
}

/// Returns a document of another version of the message, taken to this one.
pub(crate) fn taken(schema: Schema, seed: u64) -> String {
    let versions: Vec<u8> = VERSIONS
        .filter(|version| *version != schema.version)
        .collect();
    let version = versions[usize::try_from(seed).unwrap() % versions.len()];
    let xml = Schema { version, ..schema }.invent(seed);
    match schema.message {
        52 => taken_to::<report::Document>(&xml, schema.version),
        53 => taken_to::<statement::Document>(&xml, schema.version),
        _ => taken_to::<notification::Document>(&xml, schema.version),
    }
}

fn taken_to<M: Message>(xml: &str, to: u8) -> String {
    let document = engine::parse::<M>(xml.as_bytes(), &strict())
        .unwrap()
        .document;
    write(
        &engine::to_version(&document, Version::new(to))
            .unwrap()
            .document,
    )
}

/// Two versions may have different elements under one name. An element that the other version
/// cannot hold is left out completely, without an empty one in its place.
#[test]
fn an_element_of_another_form_is_left_out_and_reported_once() {
    let transaction = |content: &str| {
        format!(
            "<GrpHdr><MsgId>m</MsgId><CreDtTm>2021-07-29T17:10:05Z</CreDtTm></GrpHdr><Rpt><Id>1</Id>\
             <CreDtTm>2021-07-29T17:10:05Z</CreDtTm><Acct><Id><Othr><Id>2</Id></Othr></Id></Acct><Ntry>\
             <Amt Ccy=\"AUD\">1</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BkTxCd></BkTxCd>\
             <NtryDtls><TxDtls>{content}</TxDtls></NtryDtls></Ntry></Rpt>"
        )
    };
    let contact = |content: &str| {
        format!(
            "<GrpHdr><MsgId>m</MsgId><CreDtTm>2021-07-29T17:10:05Z</CreDtTm><MsgRcpt><CtctDtls>{content}\
             </CtctDtls></MsgRcpt></GrpHdr><Rpt><Id>1</Id><CreDtTm>2021-07-29T17:10:05Z</CreDtTm><Acct><Id>\
             <Othr><Id>2</Id></Othr></Id></Acct></Rpt>"
        )
    };
    let other = "<Othr><ChanlTp>x</ChanlTp></Othr>";
    let amounts = "<FaceAmt>1</FaceAmt><AmtsdVal>1</AmtsdVal>";
    let face = format!("<RltdQties><OrgnlAndCurFaceAmt>{amounts}</OrgnlAndCurFaceAmt></RltdQties>");
    let units = "<RltdQties><Qty><Unit>3</Unit></Qty></RltdQties>";
    let own = "<Amt Ccy=\"AUD\">1</Amt><CdtDbtInd>CRDT</CdtDbtInd>";
    let price = "<DealPric><Tp><Yldd>true</Yldd></Tp><Val><Rate>1</Rate></Val></DealPric>";
    let isin = "<ISIN>AU000000BHP4</ISIN>";
    let of = "Rpt[1]/Ntry[1]/NtryDtls[1]/TxDtls[1]";
    let to = "GrpHdr/MsgRcpt/CtctDtls";
    for (from, version, before, after, losses) in [
        (
            8,
            7,
            contact(&other.repeat(2)),
            contact(""),
            vec![format!("{to}/Othr"); 2],
        ),
        (
            7,
            8,
            contact("<Othr>x</Othr>"),
            contact(""),
            vec![format!("{to}/Othr[1]")],
        ),
        (
            3,
            2,
            transaction(&format!("{own}{face}{units}{face}{face}")),
            transaction(units),
            vec![
                format!("{of}/Amt"),
                format!("{of}/CdtDbtInd"),
                format!("{of}/RltdQties[1]"),
                format!("{of}/RltdQties[2]"),
                format!("{of}/RltdQties[2]"),
            ],
        ),
        (
            3,
            2,
            transaction(&format!("{own}<RltdPric>{price}</RltdPric>")),
            transaction(""),
            vec![
                format!("{of}/Amt"),
                format!("{of}/CdtDbtInd"),
                format!("{of}/RltdPric"),
            ],
        ),
        (
            3,
            2,
            transaction(&format!(
                "{own}<FinInstrmId>{isin}<Desc>x</Desc></FinInstrmId>"
            )),
            transaction(&format!("<FinInstrmId>{isin}</FinInstrmId>")),
            vec![
                format!("{of}/Amt"),
                format!("{of}/CdtDbtInd"),
                format!("{of}/FinInstrmId/Desc"),
            ],
        ),
    ] {
        let xml = |version: u8, content: &str| {
            format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Document xmlns=\"\
                 urn:iso:std:iso:20022:tech:xsd:camt.052.001.{version:02}\"><BkToCstmrAcctRpt>{content}\
                 </BkToCstmrAcctRpt></Document>"
            )
        };
        let document = report::Document::parse_with(xml(from, &before), &strict())
            .unwrap()
            .document;
        let there = document.to_version(Version::new(version)).unwrap();
        let found: Vec<_> = there.findings.iter().map(|one| &one.path[27..]).collect();
        assert_eq!(found, losses, "{from} to {version}");
        assert_eq!(there.document.to_xml().unwrap(), xml(version, &after));
    }
}

/// Checks that the remaining parts are valid except for what is reported.
fn what_remains<M: Message>(there: &Parsed<M>, written: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let stays: Vec<&Finding> = there
        .findings
        .iter()
        .filter(|finding| finding.kind.is_schema() && !is_loss(&finding.kind))
        .collect();
    let mut left = engine::check(&there.document);
    left.retain(|finding| finding.kind.is_schema());
    if left.iter().collect::<Vec<_>>() != stays {
        faults.push(format!("left {left:?} for {stays:?}"));
    }
    let read = engine::parse::<M>(written.as_bytes(), &strict());
    if read.is_ok() != stays.is_empty() {
        faults.push(format!("{:?} though left {stays:?}", read.err()));
    }
    let again = engine::to_version(&there.document, there.document.version()).unwrap();
    if again.document != there.document {
        faults.push("not the same in its own version".to_owned());
    }
    faults
}

/// Takes a document to a version and back; returns what is wrong.
fn there_and_back<M: Message>(xml: &str, from: u8, to: u8) -> Vec<String> {
    let document = engine::parse::<M>(xml.as_bytes(), &strict())
        .unwrap()
        .document;
    let there = engine::to_version(&document, Version::new(to)).unwrap();
    let (mut before, written) = (leaves::<M>(xml, from), write(&there.document));
    let mut dropped = Dropped::default();
    for finding in &there.findings {
        // A proprietary status stays, as a code that the version does not have.
        if finding.path.ends_with("/Sts") && finding.kind.name() == "UnknownCode" {
            let path = Dropped::default().path_of::<M>(&finding.path, to);
            let of = |name: &str| {
                let path = path
                    .iter()
                    .map(|(name, index)| (name.clone(), index.unwrap_or_default()));
                path.chain([(name.to_owned(), 0)]).collect::<Path>()
            };
            if let Some(text) = before.remove(&of("Prtry")) {
                before.insert(of("Cd"), text);
            }
        }
    }
    let losses: Vec<(LossPath, &Finding)> = there
        .findings
        .iter()
        .filter(|finding| is_loss(&finding.kind))
        .map(|finding| (dropped.path_of::<M>(&finding.path, to), finding))
        .collect();
    let remaining = leaves::<M>(&written, to);
    let after: Leaves = remaining
        .iter()
        .map(|(path, text)| (dropped.place_before(path), text.clone()))
        .collect();
    let mut faults = Vec::new();

    // No element is new, except elements whose content is lost.
    for (path, text) in &after {
        // A version without agents has an empty party in place of the agent.
        let around = &path[..path.len() - usize::from(path.ends_with(&[("Pty".to_owned(), 0)]))];
        let is_emptied = text.is_empty() && before.keys().any(|old| old.starts_with(around));
        if before.get(path) != Some(text) && !is_emptied {
            faults.push(format!("added {} {text}", shown(path)));
        }
    }
    // What is lost is reported, and the version cannot express it.
    let lost: Vec<&Path> = before
        .keys()
        .filter(|path| !after.contains_key(*path))
        .collect();
    for path in &lost {
        let Some((loss, _)) = losses.iter().find(|(loss, _)| covers(loss, path)) else {
            faults.push(format!("lost without a report: {}", shown(path)));
            continue;
        };
        let around = &path[..loss.len()];
        if can_say::<M>(path, to, before[*path].is_empty()) && is_whole::<M>(&before, around, to) {
            faults.push(format!("lost though {to:02} has it: {}", shown(path)));
        }
    }
    for (loss, finding) in &losses {
        if !lost.iter().any(|path| covers(loss, path)) {
            faults.push(format!("reported and not lost: {finding}"));
        }
    }
    let left = what_remains(&there, &written);
    let is_valid = left.is_empty() && there.findings.iter().all(|one| !one.kind.is_schema());
    faults.extend(left);
    // After the way back, all of this is as it was. An element that became empty may be left out.
    let values = |mut leaves: Leaves| {
        leaves.retain(|_, text| !text.is_empty());
        leaves
    };
    let back = engine::to_version(&there.document, document.version()).unwrap();
    let (again, remaining) = (
        values(leaves::<M>(&write(&back.document), from)),
        values(remaining),
    );
    if again != remaining {
        let differs = |path: &&Path| again.get(*path) != remaining.get(*path);
        let path = again.keys().chain(remaining.keys()).find(differs).unwrap();
        faults.push(format!(
            "not the same there and back: {}, {:?}",
            shown(path),
            back.findings
        ));
    }
    if is_valid && back.document != document {
        faults.push("changed without a report".to_owned());
    }
    faults
}

fn write<M: Message>(document: &M) -> String {
    engine::to_xml(document, &WriteOptions::default().incomplete(true)).unwrap()
}

/// Returns true for a finding of something that is left out.
fn is_loss(kind: &FindingKind) -> bool {
    use FindingKind::{UnexpectedText, UnknownAttribute, UnknownElement};
    matches!(
        kind,
        UnknownElement { .. } | UnknownAttribute { .. } | UnexpectedText { .. }
    )
}

/// Returns true when a loss is that of an element or of one around it. An element that may not
/// repeat in the version is reported without its number.
fn covers(loss: &LossPath, path: &Path) -> bool {
    let is_same = |(loss, path): (&(String, Option<usize>), &(String, usize))| {
        loss.0 == path.0 && loss.1.is_none_or(|index| index == path.1)
    };
    loss.len() <= path.len() && loss.iter().zip(path).all(is_same)
}

fn shown(path: &Path) -> String {
    let steps: Vec<String> = path
        .iter()
        .map(|(name, index)| format!("{name}[{}]", index + 1))
        .collect();
    steps.join("/")
}

/// Elements of lists that were left out as a whole, so that those after them have other numbers.
#[derive(Default)]
struct Dropped(BTreeSet<Path>);

impl Dropped {
    /// Returns the path of a loss, with the numbers of the document before.
    fn path_of<M: Message>(&mut self, text: &str, version: u8) -> LossPath {
        let mut kind = Some((M::schema_type(), version));
        let (mut loss, mut path) = (LossPath::new(), Path::new());
        for part in text.split('/').skip(3) {
            let (name, number) = match part.trim_end_matches(']').split_once('[') {
                Some((name, number)) => (name, Some(number.parse::<usize>().unwrap() - 1)),
                None => (part, None),
            };
            let (parent, version) = kind.unwrap_or_else(|| panic!("{text}"));
            let (steps, inner) = step(parent, version, name);
            path.extend(steps.into_iter().map(|step| (step, 0)));
            // Findings come in the order of the document: all that was left out stood before.
            let number = number.map(|number| number + self.of(&path));
            path.last_mut().unwrap().1 = number.unwrap_or_default();
            loss.extend(
                path[loss.len()..]
                    .iter()
                    .map(|(step, _)| (step.clone(), None)),
            );
            loss.last_mut().unwrap().1 = number;
            kind = inner;
        }
        if loss.last().is_some_and(|(_, number)| number.is_some()) {
            self.0.insert(path);
        }
        loss
    }

    /// Returns how many elements of a list were left out.
    fn of(&self, path: &[(String, usize)]) -> usize {
        let ((name, _), around) = path.split_last().unwrap();
        let is_of = |other: &&Path| {
            other.len() == path.len() && other.starts_with(around) && other[around.len()].0 == *name
        };
        self.0.iter().filter(is_of).count()
    }

    /// Returns the path of a remaining element with its numbers in the document before the
    /// conversion.
    fn place_before(&self, path: &Path) -> Path {
        let mut place = Path::new();
        for (name, index) in path {
            place.push((name.clone(), 0));
            let last = place.len() - 1;
            for _ in 0..=*index {
                while self.0.contains(&place) {
                    place[last].1 += 1;
                }
                place[last].1 += 1;
            }
            place[last].1 -= 1;
        }
        place
    }
}

/// Returns true when an element has all that the schema of a version demands of it.
fn is_whole<M: Message>(before: &Leaves, path: &[(String, usize)], version: u8) -> bool {
    let mut of = Some((M::schema_type(), version));
    for (name, _) in path {
        of = of.and_then(|(kind, version)| child(kind, version, name));
    }
    let Some((kind, version)) = of else {
        return false;
    };
    if kind.elements.is_empty() {
        return before.contains_key(path);
    }
    let mut path = path.to_vec();
    let mut has = |field: &Field| {
        path.push((name_in_08(field.wire).to_owned(), 0));
        let is_there = before.keys().any(|leaf| leaf.starts_with(&path))
            && is_whole::<M>(before, &path, version);
        path.pop();
        is_there
    };
    let fields = kind.elements.iter().map(|(field, _)| field);
    let is_in = |field: &&Field| (field.since..=field.until).contains(&version);
    if kind.bare_until >= version {
        has(&kind.elements[0].0)
    } else if kind.is_choice {
        fields.filter(is_in).any(has)
    } else {
        fields
            .filter(is_in)
            .all(|field| field.min == 0 || has(field))
    }
}

/// Returns the type of a child by its name in version 08, and the version of the type.
fn child(kind: SchemaType, version: u8, name: &str) -> Option<(SchemaType, u8)> {
    let is_bare = kind.bare_until >= version;
    let mut fields = kind
        .elements
        .iter()
        .take(if is_bare { 1 } else { usize::MAX });
    let (field, of) = fields.find(|(field, _)| {
        name_in_08(field.wire) == name
            && (is_bare || (field.since..=field.until).contains(&version))
    })?;
    Some((
        of(),
        if field.as_of == 0 {
            version
        } else {
            field.as_of
        },
    ))
}

/// Returns true when the schema of a version has a value at a path, or an element that has only
/// elements.
fn can_say<M: Message>(path: &Path, version: u8, has_elements: bool) -> bool {
    let mut of = Some((M::schema_type(), version));
    for (name, _) in path {
        of = of.and_then(|(kind, version)| child(kind, version, name));
    }
    of.is_some_and(|(kind, _)| kind.elements.is_empty() != has_elements)
}

fn name_in_08(name: &str) -> &str {
    let renamed = RENAMED.iter().find(|(old, _)| *old == name);
    renamed.map_or(name, |(_, new)| new)
}

/// Goes from an element to a child: the steps in version 08, and the type and version of the child.
fn step(kind: SchemaType, version: u8, name: &str) -> (Vec<String>, Option<(SchemaType, u8)>) {
    if let Some((first, of)) = kind.elements.first()
        && kind.bare_until >= version
        && !kind
            .elements
            .iter()
            .skip(1)
            .any(|(field, _)| field.wire == name)
    {
        // Around the content of the first alternative, version 08 has one element more.
        let (mut steps, inner) = step(of(), version, name);
        steps.insert(0, first.wire.to_owned());
        return (steps, inner);
    }
    let child = kind
        .elements
        .iter()
        .find(|(field, _)| field.wire == name && (field.since..=field.until).contains(&version));
    let inner = child.map(|(field, of)| {
        let version = if field.as_of == 0 {
            version
        } else {
            field.as_of
        };
        (of(), version)
    });
    (vec![name_in_08(name).to_owned()], inner)
}

fn leaves<M: Message>(xml: &str, version: u8) -> Leaves {
    let tree = roxmltree::Document::parse(xml).unwrap();
    let message = tree.root_element().first_element_child().unwrap();
    let mut found = Leaves::new();
    collect(
        message,
        M::schema_type(),
        version,
        &mut Path::new(),
        &mut found,
    );
    found
}

fn collect(
    node: roxmltree::Node<'_, '_>,
    kind: SchemaType,
    version: u8,
    path: &mut Path,
    found: &mut Leaves,
) {
    let first = kind.elements.first().filter(|_| kind.bare_until >= version);
    let is_value = first.map_or(kind, |(_, of)| of()).elements.is_empty();
    if is_value || !node.has_children() {
        let mut path = path.clone();
        path.extend(first.map(|(field, _)| (field.wire.to_owned(), 0)));
        found.insert(path, text(node));
        return;
    }
    let mut counts = BTreeMap::new();
    for child in node.children().filter(|child| child.is_element()) {
        let name = child.tag_name().name();
        let (steps, inner) = step(kind, version, name);
        let Some((inner, version)) = inner else {
            panic!("{name} in {} of {version:02}", kind.name)
        };
        let (depth, index) = (path.len(), counts.entry(name).or_insert(0));
        path.extend(steps.into_iter().map(|step| (step, 0)));
        path.last_mut().unwrap().1 = *index;
        *index += 1;
        collect(child, inner, version, path, found);
        path.truncate(depth);
    }
}

/// Returns the text with the currency; of supplementary data the markup.
fn text(node: roxmltree::Node<'_, '_>) -> String {
    let markup = node.children().find(|child| child.is_element());
    let text = node.text().unwrap_or_default();
    let text = markup.map_or(text, |inner| &node.document().input_text()[inner.range()]);
    format!("{}{text}", node.attribute("Ccy").unwrap_or_default())
}
