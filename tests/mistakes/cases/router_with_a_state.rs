//! A router of one's own is served before it has its state.
//! says: a `Router` with a state becomes a `Router<()>` by `with_state`
use axum::Router;
use bankrail::http::serve::Server;
use std::future::pending;

async fn serve(server: Server<Router<String>>) {
    server.run(pending()).await;
}

fn main() {}
