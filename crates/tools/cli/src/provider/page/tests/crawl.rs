//! Every page that a link leads to.

use super::world::{HASHES, SECRETS, World};
use html5gum::{DefaultEmitter, Token, Tokenizer};
use std::collections::{BTreeMap, BTreeSet};

/// Parses a page like a browser: the elements with the names of their attributes, and the addresses
/// of the links.
fn parse(page: &str) -> (Vec<String>, Vec<String>) {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let (mut elements, mut links) = (Vec::new(), Vec::new());
    for token in Tokenizer::new_with_emitter(page, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => {
                let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                let name = text(&tag.name);
                if let Some(href) = tag.attributes.get(&b"href"[..]).filter(|_| name == "a") {
                    links.push(text(href));
                }
                let attributes: Vec<String> = tag.attributes.keys().map(|key| text(key)).collect();
                elements.push(format!("{name} {}", attributes.join(" ")));
            }
            Token::Error(error) => panic!("{error:?} in {page}"),
            Token::Comment(_) => elements.push("comment".to_owned()),
            Token::String(_) | Token::EndTag(_) | Token::Doctype(_) => {}
        }
    }
    (elements, links)
}

/// Returns every page by its address, from the first one on.
async fn crawl(world: &World) -> BTreeMap<String, String> {
    let (mut pages, mut seen) = (BTreeMap::new(), BTreeSet::from(["/".to_owned()]));
    let mut open = vec!["/".to_owned()];
    while let Some(address) = open.pop() {
        let page = world.page(&address).await;
        for link in parse(&page).1 {
            if link != "#main" && seen.insert(link.clone()) {
                assert!(link.starts_with('/') && !link.starts_with("//"), "{link}");
                open.push(link);
            }
        }
        pages.insert(address, page);
        assert!(pages.len() < 200, "{:?}", pages.keys());
    }
    pages
}

#[tokio::test]
async fn every_link_leads_to_a_page_without_secrets() {
    no_secrets(&World::new().await, |_| false).await;
    no_secrets(&World::steered().await, |address| {
        address.starts_with("/outbox/")
    })
    .await;
}

async fn no_secrets(world: &World, has_body: fn(&str) -> bool) {
    world.fill("plain").await;
    let pages = crawl(world).await;
    for view in [
        "/calls?refused=yes",
        "/outbox/1",
        "/outbox?state=dead_letter",
        "/calls?customer=ACME",
        "/endpoints",
    ] {
        assert!(pages.contains_key(view), "{view} {:?}", pages.keys());
    }
    for (address, page) in &pages {
        for secret in SECRETS.iter().chain(&HASHES) {
            assert!(!page.contains(secret), "{address}");
        }
        // These are names of members of the messages.
        assert_eq!(
            page.contains("creation_date_time"),
            has_body(address),
            "{address}"
        );
        let (elements, _) = parse(page);
        let inline = |element: &&String| {
            let mut words = element.split(' ');
            let name = words.next().unwrap();
            [
                "style",
                "iframe",
                "object",
                "embed",
                "base",
                "meta http-equiv",
                "comment",
            ]
            .contains(&name)
                || words.any(|attribute| attribute == "style" || attribute.starts_with("on"))
        };
        assert_eq!(elements.iter().find(inline), None, "{address}");
        assert_eq!(
            elements
                .iter()
                .filter(|element| element.starts_with("script"))
                .count(),
            1,
            "{address}"
        );
        // Landmarks for screen readers.
        for landmark in ["header ", "main ", "footer ", "h1 "] {
            let found = elements
                .iter()
                .filter(|element| element.starts_with(landmark))
                .count();
            assert_eq!(found, 1, "{address} {landmark}");
        }
    }
}

#[tokio::test]
async fn no_element_and_no_attribute_comes_from_what_others_write() {
    const HOSTILE: &str = "</td></bdi>\"'><img src=x onerror=alert(1)><script>&lt;{{1}}";
    let shape = |pages: BTreeMap<String, String>| -> BTreeMap<String, Vec<String>> {
        // Addresses have the texts in them, too.
        let same = |address: String| address.split("gone").next().unwrap().to_owned();
        pages
            .into_iter()
            .map(|(address, page)| (same(address), parse(&page).0))
            .collect()
    };
    let world = World::with_name(HOSTILE).await;
    world.fill(HOSTILE).await;
    let pages = crawl(&world).await;
    let shown = |address: &str| pages[address].contains("&#60;img src=x onerror=alert(1)&#62;");
    assert!(
        shown("/calls") && shown("/endpoints") && shown("/"),
        "{}",
        pages["/calls"]
    );
    let harmless = World::with_name("harmless").await;
    harmless.fill("harmless").await;
    assert_eq!(shape(pages), shape(crawl(&harmless).await));
}

#[tokio::test]
async fn a_provider_without_anything_has_all_views() {
    let world = World::new().await;
    let pages = crawl(&world).await;
    assert!(pages.len() >= 12, "{:?}", pages.keys());
    assert!(
        pages["/"].contains("Nothing needs attention.")
            && pages["/"].contains("No call was refused.")
    );
    assert!(
        pages["/calls"].contains("No calls yet.") && pages["/outbox"].contains("No messages yet.")
    );
    assert!(pages["/calls?refused=yes"].contains("No calls match the filter."));
}
