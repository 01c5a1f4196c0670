//! The style sheet, the script and the icon.

use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

pub(super) const STYLE: &str = "/page.css";
pub(super) const SCRIPT: &str = "/page.js";
pub(super) const ICON: &str = "/icon.svg";

/// Whether a path is that of an asset. They are the same for everybody.
pub(super) fn is_asset(path: &str) -> bool {
    [STYLE, SCRIPT, ICON].contains(&path)
}

pub(super) async fn style() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("page.css"))
}

pub(super) async fn script() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("page.js"))
}

pub(super) async fn icon() -> impl IntoResponse {
    ([(CONTENT_TYPE, "image/svg+xml")], include_str!("icon.svg"))
}
