//! The live map as a service.
//!
//! The nouns:
//! - [`Service`]: a live map that is kept in a file. Work goes in by [`Service::submit`] and comes back as a [`Receipt`]
//!   once it is on disk, or as a [`Refused`].
//! - [`Feed`]: the latest events, written out once and shared by all who listen. [`Service::next`] goes on from any event
//!   that is kept, from memory or from the store.
//! - [`View`]: all points as they are now, for readers; it never changes and costs the writer next to nothing.
//! - [`StoredEvents`]: the events, points and versions of a store, read while a service may be writing to it.
//! - [`Recording`]: a history with its maps, as one page that needs no server.
//! - [`app`]: the service over HTTP, as routes; [`serve`] answers them at a [`Listener`], as [`HttpConfig`] says.
//!   [`maps_app`] has several maps, each with a service of its own.
//! - [`MapVersion`]: the map is one of several versions: [`Service::update`] makes the next one of the map and its points.
//! - [`watch`]: calls a [`Webhook`] when one of the [`Rules`] is broken.
//!
//! Work is applied by one thread, in the order in which it came; all that waits is one transaction. Nothing is told to
//! anybody before it is on disk.

mod alerts;
mod batch;
pub mod changes;
mod compare;
mod export;
mod feed;
mod http;
mod listen;
mod logs;
mod map_version;
mod metrics;
mod notes;
mod plain_columns;
mod queue;
mod recording;
mod service;
mod settings;
mod stop;
mod store;
mod switch;
mod updates;
mod view;
mod work;
mod writer;

/// Routes, as [`app`] and [`maps_app`] make them.
pub use axum::Router;

pub use alerts::{Rules, Webhook, watch};
pub use compare::{
    ClusterChange, CompareRefused, Comparison, ListedPoint, ListedPoints, Stretch, StretchCounts,
};
pub use export::{Logged, Moment, StoredEvents};
pub use feed::{EventRange, Feed, FeedBatch};
pub use http::{Hosts, HttpConfig, Role, Tokens, app, check_map_names, maps_app};
#[cfg(unix)]
pub use listen::UnixSocket;
pub use listen::{Listener, Tls, serve};
pub use logs::{LogFormat, start_log};
pub use map_version::MapVersion;
pub use notes::{Notes, Notice, Titled};
pub use recording::{RecordedStep, Recording};
pub use service::{Missed, Service, Stats};
pub use settings::{Clock, Retain, Settings, UpdateWhen, seconds_of};
pub use stop::Stop;
pub use store::{PointRecord, StoreError, SwitchRecord, VersionRecord, Versions, is_version_file};
pub use updates::{UpdateRefused, UpdateRequest, UpdateState, UpdateStatus, update_when};
pub use view::{GroupView, View};
pub use work::{Receipt, Refused, Work};
