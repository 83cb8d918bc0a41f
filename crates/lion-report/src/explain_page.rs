//! Clusters explained: one page with a card for each beside the map.

use crate::frame::view;
use crate::html::fill;
use crate::text::escape;
use crate::{Error, Result, Scatter, palette};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

const PAGE: &str = include_str!("../assets/explain.html");
const STYLE: &str = concat!(
    include_str!("../assets/theme.css"),
    include_str!("../assets/base.css"),
    include_str!("../assets/explain.css")
);
const SCRIPT: &str = include_str!("../assets/explain.js");
/// A point in no cluster.
const NONE: u16 = u16::MAX;

/// The clusters of a map at one or more levels of detail, and what is to be told of each.
pub struct ExplainPage<'a> {
    /// The points, with title and subtitle.
    pub map: Scatter<'a>,
    /// For each level, the coarsest first, the cluster of each point.
    pub levels: &'a [Vec<Option<u32>>],
    /// A JSON object for each cluster, as `assets/explain.js` reads it: `id`, `name`, `size`, `share`, `columns`,
    /// `keyword_shares`, `typical`, `borders`, and `anchor`, the point where its name goes.
    pub clusters: Vec<Value>,
}

impl ExplainPage<'_> {
    /// The page.
    pub fn html(&self) -> Result<String> {
        self.map.check()?;
        if self.clusters.len() >= usize::from(NONE) {
            return Err(Error::Render(format!("a page shows at most {} clusters", NONE - 1)));
        }
        let flat = view(&self.map);
        let little = |values: &mut dyn Iterator<Item = f32>| {
            STANDARD.encode(values.flat_map(f32::to_le_bytes).collect::<Vec<u8>>())
        };
        let level = |of_point: &Vec<Option<u32>>| {
            let ids = of_point.iter().map(|id| id.map_or(NONE, |id| id as u16));
            STANDARD.encode(ids.flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
        };
        let data = json!({
            "points": little(&mut flat.xy.iter().flatten().copied()),
            "levels": self.levels.iter().map(level).collect::<Vec<_>>(),
            "clusters": self.clusters,
            "colours": palette::CLASSES.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        let data = serde_json::to_string(&data).map_err(|error| Error::Render(error.to_string()))?;
        Ok(fill(
            PAGE,
            &[
                ("title", &escape(self.map.title)),
                ("subtitle", &escape(self.map.subtitle)),
                ("style", STYLE),
                ("script", SCRIPT),
                ("data", &data.replace('<', "\\u003c")),
            ],
        ))
    }
}
