//! The live map: streams of which it is known what should be told, and random ones held to every promise.

mod alarms;
mod clusters;
mod events;
mod outliers;
mod random;
mod refused;
mod support;
mod versions;
mod window;
