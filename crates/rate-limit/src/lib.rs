//! Exact fixed-window and sliding-window rate limits, several windows charged as one decision
