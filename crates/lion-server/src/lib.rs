//! The live map as a service.
//!
//! The nouns:
//! - [`Service`]: a live map that is kept in a file. Work goes in by [`Service::submit`] and comes back as a [`Receipt`]
//!   once it is on disk, or as a [`Refused`].
//! - [`Feed`]: the latest events, written out once and shared by all who listen. [`Service::next`] goes on from any event
//!   that is kept, from memory or from the store.
//! - [`View`]: all points as they are now, for readers; it never changes and costs the writer next to nothing.
//! - [`StoredEvents`]: the events of a store, read while a service may be writing to it.
//! - [`app`]: the service over HTTP, as routes; [`serve`] answers them at a port, as [`HttpConfig`] says.
//! - [`watch`]: calls a [`Webhook`] when one of the [`Rules`] is broken.
//!
//! Work is applied by one thread, in the order in which it came; all that waits is one transaction. Nothing is told to
//! anybody before it is on disk.

mod alerts;
mod batch;
pub mod changes;
mod export;
mod feed;
mod http;
mod listen;
mod logs;
mod metrics;
mod queue;
mod service;
mod settings;
mod stop;
mod store;
mod view;
mod work;
mod writer;

pub use alerts::{Rules, Webhook, watch};
pub use export::{Logged, StoredEvents};
pub use feed::{EventRange, Feed, FeedBatch};
pub use http::{Hosts, HttpConfig, Token, app};
pub use listen::serve;
pub use logs::{LogFormat, start_log};
pub use service::{Missed, Service, Stats};
pub use settings::{Retain, Settings};
pub use stop::Stop;
pub use store::{PointRecord, StoreError};
pub use view::{GroupView, View};
pub use work::{Receipt, Refused, Work};
