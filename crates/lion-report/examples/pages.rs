//! Writes pictures of made-up maps into a folder, for the browser test and for the eye:
//! `cargo run --release -p lion-report --example pages -- some/folder`

use std::path::Path;
use std::time::Instant;

use lion_report::{Mark, Placed, Scatter, html, png, svg};

/// A small generator, so that the example needs no dependency and always draws the same.
struct PageRandom(u64);

impl PageRandom {
    fn uniform(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1_u64 << 24) as f32
    }

    /// Close to a normal: the sum of twelve uniforms.
    fn normal(&mut self) -> f32 {
        (0..12).map(|_| self.uniform()).sum::<f32>() - 6.0
    }
}

/// A made-up map: clusters of different shape around a sunflower of centres.
struct PageMap {
    points: Vec<f32>,
    ids: Vec<String>,
    labels: Vec<String>,
}

fn make(n: usize, dims: usize, names: &[String]) -> PageMap {
    let mut random = PageRandom(n as u64);
    let clusters = names.len();
    let mut made = PageMap { points: Vec::new(), ids: Vec::new(), labels: Vec::new() };
    for row in 0..n {
        // Cluster k is about 1/(k+4) as large as it might be, so that the counts differ.
        let cluster = (random.uniform().powf(1.3) * clusters as f32) as usize % clusters;
        let turn = cluster as f32 * 2.399_963;
        let reach = 12.0 * (cluster as f32 + 0.5).sqrt();
        let lift = 14.0 * ((cluster * 7 % clusters) as f32 / clusters as f32 - 0.5);
        let centre = [reach * turn.cos(), reach * turn.sin(), lift * 3.0];
        let bend = random.normal();
        let stretch = 3.0 + 3.0 * ((cluster * 5) % 3) as f32;
        for (axis, middle) in centre.iter().enumerate().take(dims) {
            let along = if axis == cluster % dims { bend * stretch } else { bend * bend * 1.5 };
            made.points.push(middle + along * 0.8 + 2.0 * random.normal());
        }
        made.ids.push(format!("row-{row:05}"));
        made.labels.push(names[cluster].clone());
    }
    made
}

/// Rows placed into a made-up map.
#[derive(Default)]
struct New {
    points: Vec<f32>,
    marks: Vec<Mark>,
    ids: Vec<String>,
    labels: Vec<String>,
    groups: Vec<Option<u64>>,
    scores: Vec<f64>,
}

impl New {
    fn push(&mut self, point: &[f32], mark: Mark, label: &str, group: Option<u64>, score: f64) {
        self.ids.push(format!("new-{:05}", self.marks.len()));
        self.points.extend(point);
        self.marks.push(mark);
        self.labels.push(label.to_owned());
        self.groups.push(group);
        self.scores.push(score);
    }

    fn placed(&self) -> Placed<'_> {
        Placed::new(&self.points, &self.marks).ids(&self.ids).groups(&self.groups).scores(&self.scores)
    }
}

/// New rows among those of a map, a few exactly on one, and `outliers` groups of one, two or three around it, with
/// some beside an outlier of the map.
fn place(made: &PageMap, dims: usize, inside: usize, outliers: usize) -> New {
    let mut random = PageRandom(7);
    let rows = made.ids.len();
    let mut new = New::default();
    for k in 0..inside {
        let row = (random.uniform() * rows as f32) as usize % rows;
        let mark = if k % 50 == 49 { Mark::Exact } else { Mark::Interpolated };
        let spread = if mark == Mark::Exact { 0.0 } else { 0.7 };
        let near: Vec<f32> =
            made.points[row * dims..][..dims].iter().map(|value| value + spread * random.normal()).collect();
        new.push(&near, mark, &made.labels[row], None, f64::from(random.uniform()));
    }
    let reach = made.points.iter().map(|value| value.abs()).fold(0.0, f32::max);
    for group in 0..outliers {
        let turn = group as f32 * 2.399_963;
        let far = reach * (1.08 + 0.1 * (group % 3) as f32);
        let middle = [far * turn.cos(), far * turn.sin(), reach * (random.uniform() - 0.5)];
        for _ in 0..1 + group % 3 {
            let near: Vec<f32> =
                middle[..dims].iter().map(|value| value + 0.012 * reach * random.normal()).collect();
            new.push(
                &near,
                Mark::Outlier,
                "noise",
                Some(group as u64 + 1),
                0.0005 * f64::from(random.uniform()),
            );
        }
        if group % 4 == 3 {
            let near: Vec<f32> = middle[..dims].iter().map(|value| 0.82 * value).collect();
            new.push(&near, Mark::BesideOutlier, &made.labels[0], None, 0.004);
        }
    }
    new
}

fn names(of: &[&str]) -> Vec<String> {
    of.iter().map(|name| name.to_string()).collect()
}

fn write(folder: &Path, name: &str, map: &Scatter) -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let picture = png(map, 1600)?;
    let png_time = start.elapsed();
    let figure = svg(map)?;
    let svg_time = start.elapsed() - png_time;
    let page = html(map)?;
    let html_time = start.elapsed() - png_time - svg_time;
    println!(
        "{name:<12} png {:>5} kB {png_time:>7.0?}   svg {:>5} kB {svg_time:>7.0?}   html {:>6} kB {html_time:>7.0?}",
        picture.len() / 1000,
        figure.len() / 1000,
        page.len() / 1000
    );
    std::fs::write(folder.join(format!("{name}.png")), picture)?;
    std::fs::write(folder.join(format!("{name}.svg")), figure)?;
    Ok(std::fs::write(folder.join(format!("{name}.html")), page)?)
}

/// Maps with rows placed into them: with labels and without, flat and in space, and more than anyone needs to see.
fn write_placed(folder: &Path, digits: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let subtitle = "t-SNE, perplexity 30, 750 iterations, KL 1.23";
    let made = make(2500, 2, digits);
    let new = place(&made, 2, 1000, 16);
    let map = Scatter::new(2, &made.points).subtitle(subtitle).ids(&made.ids).labels(&made.labels);
    write(
        folder,
        "placed",
        &map.title("New rows in a map of digits").placed(new.placed().labels(&new.labels)),
    )?;
    write(folder, "unlabelled", &map.title("New rows without labels").placed(new.placed()))?;
    let map = Scatter::new(2, &made.points);
    write(folder, "bare", &map.title("No labels at all").placed(Placed::new(&new.points, &new.marks)))?;

    let years: Vec<String> =
        made.points.chunks(2).map(|p| format!("{:.1}", 1990.0 + p[0] / 4.0 + p[1] / 9.0)).collect();
    let map = Scatter::new(2, &made.points).title("New rows on a scale").labels(&years);
    let few = place(&PageMap { labels: years.clone(), points: made.points.clone(), ids: made.ids }, 2, 40, 2);
    write(folder, "placed-years", &map.placed(few.placed().labels(&few.labels)))?;

    let made = make(5000, 3, digits);
    let new = place(&made, 3, 400, 12);
    let map = Scatter::new(3, &made.points).title("New rows in space").ids(&made.ids).labels(&made.labels);
    write(folder, "placed-space", &map.placed(new.placed().labels(&new.labels)))?;

    let made = make(60_000, 2, digits);
    for (name, inside, outliers) in [("ten-thousand", 10_000, 60), ("crowd", 100_000, 600)] {
        let new = place(&made, 2, inside, outliers);
        let map = Scatter::new(2, &made.points).title("New rows in a large map").labels(&made.labels);
        write(folder, name, &map.placed(new.placed().labels(&new.labels)))?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("say in which folder to write the pictures")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let digits: Vec<String> = (0..10).map(|digit| digit.to_string()).collect();
    let clothes = names(&[
        "T-shirt",
        "Trousers",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ]);

    let made = make(2500, 2, &digits);
    let map = Scatter::new(2, &made.points).title("2500 made-up digits").ids(&made.ids).labels(&made.labels);
    write(folder, "digits", &map.subtitle("t-SNE, perplexity 30, 750 iterations, KL 1.23"))?;

    let made = make(60_000, 2, &clothes);
    let map =
        Scatter::new(2, &made.points).title("60000 made-up clothes").ids(&made.ids).labels(&made.labels);
    write(folder, "clothes", &map.subtitle("t-SNE, perplexity 30, 750 iterations, KL 2.71"))?;

    let made = make(5000, 3, &digits);
    let map = Scatter::new(3, &made.points).title("Digits in space").ids(&made.ids).labels(&made.labels);
    write(folder, "space", &map.subtitle("t-SNE in three dimensions"))?;

    let made = make(4000, 2, &digits);
    let years: Vec<String> =
        made.points.chunks(2).map(|p| format!("{:.1}", 1990.0 + p[0] / 4.0 + p[1] / 9.0)).collect();
    let map = Scatter::new(2, &made.points).title("A map coloured by year").labels(&years);
    write(folder, "years", &map)?;

    let species: Vec<String> = (1..=40).map(|kind| format!("species {kind}")).collect();
    let made = make(12_000, 2, &species);
    let map = Scatter::new(2, &made.points).title("Forty species").ids(&made.ids).labels(&made.labels);
    write(folder, "species", &map)?;

    let made = make(12_000, 2, &species[..20]);
    let map = Scatter::new(2, &made.points).title("Twenty species").ids(&made.ids).labels(&made.labels);
    write(folder, "twenty", &map)?;

    let hostile = names(&[
        "</script><script>alert(1)</script>",
        "\"quoted\" & 'ticked'",
        "two\nlines",
        "日本語 ☃",
        "<!--",
    ]);
    let mut made = make(300, 2, &hostile);
    made.ids.iter_mut().step_by(3).for_each(|id| id.push_str("</script><img src=x onerror=alert(2)>"));
    let map = Scatter::new(2, &made.points).title("</title><script>alert(3)</script>").subtitle("a & b < c");
    write(folder, "hostile", &map.ids(&made.ids).labels(&made.labels))?;

    let made = make(800, 2, &digits);
    write(folder, "plain", &Scatter::new(2, &made.points).title("No labels, no ids"))?;

    let made = make(12, 2, &clothes);
    write(
        folder,
        "few",
        &Scatter::new(2, &made.points).title("A dozen").ids(&made.ids).labels(&made.labels),
    )?;

    write_placed(folder, &digits)?;

    let made = make(1_000_000, 2, &digits);
    write(folder, "million", &Scatter::new(2, &made.points).title("A million points").labels(&made.labels))
}
