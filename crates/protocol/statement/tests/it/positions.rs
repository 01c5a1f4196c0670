//! Positions of pages.

use bankrail_statement::PagePosition;

#[test]
fn positions_are_bounded() {
    let longest = PagePosition::from_bytes(&[0; PagePosition::MAX_LENGTH]).unwrap();
    assert_eq!(
        (longest.as_bytes().len(), longest.as_number()),
        (1024, None)
    );
    assert!(
        PagePosition::from_bytes(&[]).is_none() && PagePosition::from_bytes(&[0; 1025]).is_none()
    );
    assert_eq!(PagePosition::from_number(7).as_number(), Some(7));
}

#[test]
fn a_number_is_eight_bytes_in_their_order() {
    assert_eq!(
        PagePosition::from_number(0x0102_0304).as_bytes(),
        [0, 0, 0, 0, 1, 2, 3, 4]
    );
    assert_eq!(PagePosition::from_bytes(&[7]).unwrap().as_bytes(), [7]);
    assert_eq!(PagePosition::from_bytes(&[0; 7]).unwrap().as_number(), None);
}
