//! The events of a store, read while a service may be writing to it.
