//! `bankrail provider`: the program as a separate process, over HTTPS on loopback.

mod bank;
mod commands;
mod control;
mod made;
mod receiver;
mod sent;
mod served;
