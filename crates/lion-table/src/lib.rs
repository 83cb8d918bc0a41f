//! Tables in.
