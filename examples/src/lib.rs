//! Programs that show bankrail at work.
