use crate::documents::{answer, entry, three, xml};
use crate::{Folder, run, run_with};
use html5gum::{DefaultEmitter, Token, Tokenizer};
use sha2::Digest as _;

const HOSTILE: [&str; 6] = [
    "</script><img src=x onerror=alert(1)>",
    "</style><script>alert(1)</script>",
    "\"><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
    "<!--<script>",
    "&lt;img&gt; &#60;b&#62; ]]> {{1}} ${1} \u{202e}",
];

/// Returns the elements with the names of their attributes, and all text, as a browser reads a
/// page.
fn parse(page: &str) -> (Vec<String>, String) {
    let mut emitter = DefaultEmitter::default();
    // Switches states like a browser within scripts, styles and titles.
    emitter.naively_switch_states(true);
    let (mut elements, mut texts) = (Vec::new(), String::new());
    for token in Tokenizer::new_with_emitter(page, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => {
                let name = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                let attributes: Vec<String> = tag.attributes.keys().map(|key| name(key)).collect();
                elements.push(format!("{} {}", name(&tag.name), attributes.join(" ")));
            }
            Token::String(text) => texts.push_str(std::str::from_utf8(&text).unwrap()),
            Token::Comment(_) => elements.push("comment".to_owned()),
            Token::Error(error) => panic!("{error:?}"),
            Token::EndTag(_) | Token::Doctype(_) => {}
        }
    }
    (elements, texts)
}

fn page_of(texts: [&str; 6]) -> String {
    let entries = texts.map(|text| {
        entry("1.00")
            .debtor(text)
            .narrative(text)
            .end_to_end_id(text.get(..6).unwrap())
            .reference("kind", "x")
    });
    // A finding quotes the document, too.
    let document = xml(entries).replacen("<Sts>BOOK</Sts>", "<Sts>&lt;img src=x&gt;</Sts>", 1);
    run_with(["statement", "html", "-"], document.as_bytes()).fine()
}

#[test]
fn no_element_and_no_attribute_comes_from_the_document() {
    let (elements, texts) = parse(&page_of(HOSTILE));
    let (harmless, _) = parse(&page_of(["harmless"; 6]));
    assert_eq!(elements, harmless);
    for text in &HOSTILE[..5] {
        assert!(texts.contains(text), "{text}");
    }
    let loads = [
        " src", " href", " on", " style", " action", "iframe", "link ", "object", "comment", "img",
        "svg",
    ];
    assert!(
        !elements
            .iter()
            .any(|element| loads.iter().any(|load| element.contains(load))),
        "{elements:?}"
    );
}

#[test]
fn codes_have_their_names() {
    let page = run_with(["statement", "html", "-"], three().as_bytes()).fine();
    let names = "Payments / Received Credit Transfers / Domestic Credit Transfer";
    assert_eq!(page.matches(names).count(), 2, "{page}");
}

#[test]
fn names_of_files_are_texts_too() {
    let folder = Folder::new();
    let file = folder.file("<img src=x onerror=alert(1)>.xml", three());
    let page = run(["statement", "html", &file]).fine();
    assert!(
        !parse(&page)
            .0
            .iter()
            .any(|element| element.starts_with("img"))
    );
    assert!(page.contains("&#60;img src=x"));
}

#[test]
fn folders_are_not_in_the_page() {
    let folder = Folder::new();
    let file = folder.file("monday.xml", three().replacen("<Sts>BOOK", "<Sts>DONE", 1));
    let page = run(["statement", "html", &file]).fine();
    assert!(
        page.contains("<title>Account report monday.xml</title>"),
        "{page}"
    );
    assert!(page.contains("<bdi>monday.xml</bdi>") && page.contains("<bdi>monday.xml:"));
    assert!(!page.contains(&file), "{page}");
}

#[test]
fn booked_and_pending_entries_stand_apart_with_sums_of_their_own() {
    let document = xml([
        entry("10.00").narrative("from Adelaide"),
        entry("2.00").narrative("from Brisbane"),
        entry("30.00").narrative("from Canberra"),
    ]);
    let (first, rest) = document.split_at(document.find("Adelaide").unwrap());
    let document = format!("{first}{}", rest.replacen("<Sts>BOOK", "<Sts>PDNG", 1));
    let page = run_with(["statement", "html", "-"], document.as_bytes()).fine();
    let found = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}\n{page}"));
    let order = [
        "<h3>Booked</h3>",
        "from Adelaide",
        "from Canberra",
        "2 credits: 40.00",
        "<h3>Pending</h3>",
        "from Brisbane",
        "1 credit: 2.00",
    ];
    assert!(order.map(found).is_sorted(), "{page}");
    assert!(!page.contains("Neither booked"));
}

#[test]
fn the_balance_after_an_entry_is_there_if_the_document_has_one_to_begin_with() {
    let document = three();
    let column = "data-label=\"Balance\"";
    let page = run_with(["statement", "html", "-"], document.as_bytes()).fine();
    assert!(
        !page.contains(column) && !page.contains("Sum so far"),
        "{page}"
    );
    let opening = "<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy=\"AUD\">100.00</Amt>\
                   <CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2021-07-29</Dt></Dt></Bal><Bal>";
    let document = document.replacen("<Bal>", opening, 1);
    let page = run_with(["statement", "html", "-"], document.as_bytes()).fine();
    assert_eq!(page.matches(column).count(), 3, "{page}");
}

#[test]
fn the_policy_allows_the_pages_own_script_and_style_only() {
    let page = run_with(["statement", "html", "-"], three().as_bytes()).fine();
    let inside = |name: &str| {
        let (_, rest) = page.split_once(&format!("<{name}>")).unwrap();
        let (content, rest) = rest.split_once(&format!("</{name}>")).unwrap();
        assert!(!rest.contains(&format!("<{name}")), "one {name}");
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(content))
    };
    let policy = format!(
        "content=\"default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; \
         form-action 'none'\"",
        inside("script"),
        inside("style"),
    );
    assert!(page.contains(&policy), "{policy}");
    // The policy must precede everything that it governs.
    assert!(page.find("Content-Security-Policy") < page.find("<style>"));
}

#[test]
fn balances_entries_sums_and_findings_are_in_the_page() {
    let wrong = three()
        .replacen("<Sts>BOOK", "<Sts>DONE", 1)
        .replace("<NbOfNtries>3", "<NbOfNtries>4");
    let page = run_with(["statement", "html", "-"], answer(&wrong, false).as_bytes()).fine();
    for expected in [
        "+1,245,500.00 AUD",
        "<h2>Account <bdi>011222814766538</bdi>, <bdi>2021-07-29</bdi></h2>",
        "<bdi>2021-07-29 17:10:05 +10:00 (2021-07-29 07:10:05 UTC",
        "JANE CITIZEN",
        "Power &#38; Light",
        "rent 👍",
        "data-amount=\"-12.50\" data-currency=\"AUD\"",
        "<h3>Booked</h3>",
        "1 credit: 0.75; 1 debit: -12.50; net -11.75 AUD",
        "<h3>Neither booked nor pending</h3>",
        "1 credit: 25.00; 0 debits: 0; net 25.00 AUD",
        "Account <bdi>011222814766538</bdi></td></tr>",
        "the summary states 4 entries, the report has 3",
        "request key <bdi>0b7c2f6e",
    ] {
        assert!(page.contains(expected), "{expected}\n{page}");
    }
    let row = page
        .lines()
        .find(|line| line.contains("JANE CITIZEN"))
        .unwrap();
    assert!(
        row.starts_with("<tr class=\"e found\"") && row.contains("Ntry[1]/Sts: expected one of"),
        "{row}"
    );
    let other = page
        .lines()
        .find(|line| line.contains("Power &#38; Light"))
        .unwrap();
    assert!(other.starts_with("<tr class=\"e\""), "{other}");
}

#[test]
fn a_page_is_written_whole_or_not_at_all() {
    let folder = Folder::new();
    let (good, bad) = (
        folder.file("good.xml", three()),
        folder.file("bad.xml", "<Document>"),
    );
    let to = crate::text(&folder.path("page.html"));
    run(["statement", "html", &good, "-o", &to]).fine();
    let page = std::fs::read_to_string(&to).unwrap();
    assert!(page.ends_with("</html>\n"));
    run(["statement", "html", &good, &bad, "-o", &to]).failed(1);
    assert_eq!(std::fs::read_to_string(&to).unwrap(), page);
    assert_eq!(
        std::fs::read_dir(folder.path("")).unwrap().count(),
        3,
        "nothing else is left"
    );
}

#[test]
fn the_page_numbers_transactions_and_has_their_own_amounts_parties_and_reasons() {
    let page = run_with(["statement", "html", "-"], crate::csv::batch().as_bytes()).fine();
    let start = page.find("<ol>").unwrap();
    let list = &page[start..page.find("</ol>").unwrap()];
    for part in [
        "-60.00 EUR Shop (for Maker)",
        "E2E-1",
        "+0.50 AUD Landlord",
        "AC04",
        "account closed",
        "E2E-2",
    ] {
        assert!(list.contains(part), "{part}\n{list}");
    }
    assert_eq!(list.matches("<li>").count(), 2);
    assert!(
        page.contains("data-amount=\"-100.00\" data-currency=\"AUD\""),
        "{page}"
    );
}
