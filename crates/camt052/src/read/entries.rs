//! Entries one after the other, in memory bounded by the largest.
