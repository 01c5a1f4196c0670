//! Walks from page to page, and their checkpoints.

use bankrail_statement::{
    Checkpoint, CheckpointError, Cursor, EntryIdentity, EntryKey, PageWalk, ReceivedNextPage, Step,
    WalkError,
};

fn more(cursor: &str) -> ReceivedNextPage {
    ReceivedNextPage::At {
        cursor: Cursor::parse(cursor).unwrap(),
    }
}

fn coffee() -> EntryIdentity {
    EntryIdentity::by_content(EntryKey::from([7; 32]), None)
}

#[test]
fn ends_and_dead_ends() {
    let mut walk = PageWalk::new();
    for (pages, cursor) in [(0, "a"), (1, "b")] {
        assert_eq!(walk.pages(), pages);
        assert_eq!(
            walk.receive(&more(cursor), &[]).stored(),
            Ok(Step::Fetch(Cursor::parse(cursor).unwrap()))
        );
    }
    assert_eq!(walk.pages(), 2);
    assert_eq!(
        walk.clone().receive(&ReceivedNextPage::None, &[]).stored(),
        Ok(Step::Done)
    );
    assert_eq!(
        walk.clone()
            .receive(&ReceivedNextPage::WithoutCursor, &[])
            .stored(),
        Err(WalkError::MoreWithoutCursor)
    );
    for again in ["a", "b"] {
        assert_eq!(
            walk.clone().receive(&more(again), &[]).stored(),
            Err(WalkError::RepeatedCursor { page: 3 })
        );
    }
    let mut short = PageWalk::new().max_pages(2);
    assert!(short.receive(&more("a"), &[]).stored().is_ok());
    assert_eq!(
        short.receive(&more("b"), &[]).stored(),
        Err(WalkError::TooManyPages { limit: 2 })
    );
    assert_eq!(short.cursor().unwrap().as_str(), "a");
}

#[test]
fn a_page_that_is_not_stored_is_not_counted() {
    let mut walk = PageWalk::new();
    for _ in 0..2 {
        let pending = walk.receive(&more("a"), &[coffee(), coffee()]);
        let occurrences: Vec<u32> = pending
            .entries()
            .iter()
            .map(|entry| entry.occurrence)
            .collect();
        assert_eq!(occurrences, [1, 2]);
        drop(pending);
    }
    assert!(walk.receive(&more("a"), &[coffee()]).stored().is_ok());
    assert_eq!(
        walk.receive(&more("b"), &[coffee()]).entries()[0].occurrence,
        2
    );
}

#[test]
fn a_walk_goes_on_from_its_checkpoint() {
    let mut walk = PageWalk::new();
    let kept = walk
        .receive(&more("a"), &[coffee()])
        .checkpoint()
        .unwrap()
        .to_json();
    let checkpoint = Checkpoint::from_json(&kept).unwrap();
    assert_eq!(checkpoint.to_json(), kept);
    let mut resumed = PageWalk::resume(checkpoint);
    assert_eq!(resumed.cursor().unwrap().as_str(), "a");
    let pending = resumed.receive(&more("a"), &[coffee()]);
    assert_eq!(pending.entries()[0].occurrence, 2);
    assert_eq!(pending.stored(), Err(WalkError::RepeatedCursor { page: 1 }));
    assert!(
        walk.receive(&ReceivedNextPage::None, &[])
            .checkpoint()
            .is_none()
    );
}

#[test]
fn other_texts_are_no_checkpoint() {
    let key = "0".repeat(64);
    let text = |version: u8, cursor: &str, key: &str| {
        format!(r#"{{"version":{version},"cursor":"{cursor}","counts":[["{key}",1]]}}"#)
    };
    assert!(Checkpoint::from_json(&text(1, "a", &key)).is_ok());
    let short = "0".repeat(62);
    for bad in [
        text(2, "a", &key),
        text(1, "", &key),
        text(1, "a", &short),
        text(1, "a", &key.replace('0', "g")),
    ] {
        assert!(
            matches!(Checkpoint::from_json(&bad), Err(CheckpointError { .. })),
            "{bad}"
        );
    }
    assert!(Checkpoint::from_json("").is_err());
}
