//! The statements: one line for each element of a schema, from which its model, both readers, the
//! writer, the checker and the inventor of test values come.

mod choice;
mod codes;
mod message;
mod record;
