//! The style sheet, the script and the icon.

/// The path, the type and the text of each.
pub(super) const ASSETS: [(&str, &str, &str); 3] = [
    (
        "/page.css",
        "text/css; charset=utf-8",
        include_str!("page.css"),
    ),
    (
        "/page.js",
        "text/javascript; charset=utf-8",
        include_str!("page.js"),
    ),
    ("/icon.svg", "image/svg+xml", include_str!("icon.svg")),
];

/// True if a path is that of an asset. Assets are the same for everybody.
pub(super) fn is_asset(path: &str) -> bool {
    ASSETS.iter().any(|(own, ..)| *own == path)
}
