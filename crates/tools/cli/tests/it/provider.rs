//! `bankrail provider`: the program as a process of its own, over HTTPS on loopback.

mod bank;
mod commands;
mod control;
mod made;
mod receiver;
mod sent;
mod served;
