//! The pictures, from outside: what they show, what they refuse, and that they are always the same.

mod charts;
mod degenerate;
mod morph;
mod pictures;
mod placed;
mod report;

use lion_report::Scatter;

/// Classes in rows far apart, `each` points per class, a little scattered.
pub(crate) struct PixelGrid {
    pub(crate) points: Vec<f32>,
    pub(crate) labels: Vec<String>,
    pub(crate) ids: Vec<String>,
}

impl PixelGrid {
    pub(crate) fn new(dims: usize, classes: usize, each: usize) -> PixelGrid {
        let mut grid = PixelGrid { points: Vec::new(), labels: Vec::new(), ids: Vec::new() };
        for row in 0..classes * each {
            let (class, k) = (row % classes, row / classes);
            let jitter = |axis: usize| ((k * 37 + axis * 61 + class * 13) % 101) as f32 / 50.0 - 1.0;
            let centre = [(class % 5) as f32 * 4.0, (class / 5) as f32 * 4.0, (class % 3) as f32 * 4.0];
            grid.points.extend((0..dims).map(|axis| centre[axis] + jitter(axis)));
            grid.labels.push(format!("class {class}"));
            grid.ids.push(format!("id{row}"));
        }
        grid
    }

    pub(crate) fn scatter(&self, dims: usize) -> Scatter<'_> {
        Scatter::new(dims, &self.points)
            .title("A title")
            .subtitle("and more")
            .labels(&self.labels)
            .ids(&self.ids)
    }
}

/// The page's data, as the page itself will read it.
pub(crate) fn data(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once(r#"<script type="application/json" id="data">"#).expect("the data");
    serde_json::from_str(rest.split_once("</script>").expect("its end").0).expect("JSON")
}
