//! Writes pictures of made-up maps into a folder, for the browser test and for the eye:
//! `cargo run --release -p lion-report --example pages -- some/folder`

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use lion_report::{
    CardColumn, CardKind, ColourChoice, Mark, Morph, MorphChange, Placed, Scatter, Within, html, png, svg,
};

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
#[derive(Default)]
struct PageMap {
    points: Vec<f32>,
    ids: Vec<String>,
    labels: Vec<String>,
}

fn make(n: usize, dims: usize, names: &[String]) -> PageMap {
    let mut random = PageRandom(n as u64);
    let clusters = names.len();
    let mut made = PageMap::default();
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
    rows: PageMap,
    marks: Vec<Mark>,
    groups: Vec<Option<u64>>,
    scores: Vec<f64>,
}

impl New {
    fn push(&mut self, point: &[f32], mark: Mark, label: &str, group: Option<u64>, score: f64) {
        self.rows.ids.push(format!("new-{:05}", self.marks.len()));
        self.rows.points.extend(point);
        self.rows.labels.push(label.to_owned());
        self.marks.push(mark);
        self.groups.push(group);
        self.scores.push(score);
    }

    fn placed(&self) -> Placed<'_> {
        let placed = Placed::new(&self.rows.points, &self.marks).ids(&self.rows.ids);
        placed.groups(&self.groups).scores(&self.scores)
    }

    fn labelled(&self) -> Placed<'_> {
        self.placed().labels(&self.rows.labels)
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
    write(folder, "placed", &map.title("New rows in a map of digits").placed(new.labelled()))?;
    write(folder, "unlabelled", &map.title("New rows without labels").placed(new.placed()))?;
    let map = Scatter::new(2, &made.points);
    write(folder, "bare", &map.title("No labels at all").placed(Placed::new(&new.rows.points, &new.marks)))?;

    let years: Vec<String> =
        made.points.chunks(2).map(|p| format!("{:.1}", 1990.0 + p[0] / 4.0 + p[1] / 9.0)).collect();
    let map = Scatter::new(2, &made.points).title("New rows on a scale").labels(&years);
    let few = place(&PageMap { labels: years.clone(), points: made.points.clone(), ids: made.ids }, 2, 40, 2);
    write(folder, "placed-years", &map.placed(few.labelled()))?;

    let made = make(5000, 3, digits);
    let new = place(&made, 3, 400, 12);
    let map = Scatter::new(3, &made.points).title("New rows in space").ids(&made.ids).labels(&made.labels);
    write(folder, "placed-space", &map.placed(new.labelled()))?;

    let made = make(60_000, 2, digits);
    for (name, inside, outliers) in [("ten-thousand", 10_000, 60), ("crowd", 100_000, 600)] {
        let new = place(&made, 2, inside, outliers);
        let map = Scatter::new(2, &made.points).title("New rows in a large map").labels(&made.labels);
        write(folder, name, &map.placed(new.labelled()))?;
    }
    Ok(())
}

/// Rows of a block of a card's column.
const BLOCK_ROWS: usize = 256;
/// A red dot as PNG, of 2 x 2 pixels.
const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82";

fn deflated(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// A column of cards in blocks, as docs/format.md has it.
fn blocks(values: &[Option<Vec<u8>>]) -> std::io::Result<Vec<Vec<u8>>> {
    let block = |values: &[Option<Vec<u8>>]| {
        let length = |value: &Option<Vec<u8>>| value.as_ref().map_or(u32::MAX, |value| value.len() as u32);
        let lengths = values.iter().flat_map(|value| length(value).to_le_bytes());
        deflated(&lengths.chain(values.iter().flatten().flatten().copied()).collect::<Vec<u8>>())
    };
    values.chunks(BLOCK_ROWS).map(block).collect()
}

/// Maps whose points have cards: texts with markup in them, links, numbers and images; and as many texts as a large map has.
fn write_cards(folder: &Path, digits: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    for (name, n) in [("cards", 600), ("cards-large", 60_000)] {
        let made = make(n, 2, digits);
        let text =
            |row: usize| (row % 5 != 4).then(|| sentence(row, if n < 1000 { 200 } else { 45 }).into_bytes());
        let title =
            |row: usize| Some(format!("Title {row} </script><img src=x onerror=alert(4)>").into_bytes());
        let link = |row: usize| Some(format!("https://example.org/{row}").into_bytes());
        let address = |row: usize| Some(format!("https://example.org/{row}.png").into_bytes());
        let image = |row: usize| row.is_multiple_of(2).then(|| PIXEL.to_vec());
        let column =
            |value: &dyn Fn(usize) -> Option<Vec<u8>>| blocks(&(0..n).map(value).collect::<Vec<_>>());
        let years: Vec<f64> =
            (0..n).map(|row| if row % 7 == 3 { f64::NAN } else { 1990.5 + (row % 40) as f64 }).collect();
        let numbers = years.chunks(BLOCK_ROWS);
        let numbers = numbers
            .map(|years| deflated(&years.iter().flat_map(|year| year.to_le_bytes()).collect::<Vec<u8>>()));
        let mut packed = vec![
            ("title", CardKind::Text, column(&title)?),
            ("text", CardKind::Text, column(&text)?),
            ("year", CardKind::Number, numbers.collect::<Result<_, _>>()?),
            ("url", CardKind::Text, column(&link)?),
        ];
        if n < 1000 {
            packed.push(("photo", CardKind::Image, column(&image)?));
            packed.push(("poster", CardKind::ImageAddress, column(&address)?));
        }
        let cards: Vec<CardColumn> = packed
            .iter()
            .map(|(name, kind, blocks)| CardColumn {
                name,
                kind: *kind,
                rows: n,
                block_rows: BLOCK_ROWS,
                blocks: blocks.iter().map(Vec::as_slice).collect(),
            })
            .collect();
        let words: Vec<String> =
            years.iter().map(|year| if year.is_nan() { String::new() } else { year.to_string() }).collect();
        let kinds: Vec<String> =
            (0..n).map(|row| ["short", "long", "</script>"][row % 3].to_owned()).collect();
        let choices = [
            ColourChoice { name: "year", labels: &words, placed: None },
            ColourChoice { name: "length", labels: &kinds, placed: None },
        ];
        let map = Scatter::new(2, &made.points).title("A map with cards").ids(&made.ids).labels(&made.labels);
        let map = map.coloured_by("digit").choices(&choices).cards(&cards);
        std::fs::write(folder.join(format!("{name}.html")), html(&map)?)?;
    }
    Ok(())
}

/// So many words that compress as those of a language do.
fn sentence(row: usize, words: usize) -> String {
    const WORDS: [&str; 24] = [
        "map",
        "cluster",
        "neighbour",
        "point",
        "of",
        "the",
        "a",
        "outlier",
        "row",
        "column",
        "distance",
        "and",
        "is",
        "near",
        "far",
        "from",
        "place",
        "new",
        "old",
        "moves",
        "stays",
        "with",
        "without",
        "lion",
    ];
    let mut random = PageRandom(row as u64);
    let mut word = || match random.uniform() {
        // A name that no other text has, here and there.
        share if share < 0.25 => format!("{:x}", random.0 >> 40),
        share => WORDS[(share * 1000.0) as usize % WORDS.len()].to_owned(),
    };
    (0..words).map(|_| word()).collect::<Vec<_>>().join(" ")
}

/// Outliers so far away that they would take most of the picture.
fn write_far(folder: &Path, digits: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let made = make(150, 2, digits);
    let mut new = place(&made, 2, 40, 0);
    let reach = made.points.iter().map(|value| value.abs()).fold(0.0, f32::max);
    for at in 0..40 {
        let (turn, far) = (at as f32 * 2.399_963, reach * (1.5 + at as f32 * 0.1));
        for member in 0..1 + at % 4 {
            let place = [far * turn.cos() + member as f32, far * turn.sin()];
            new.push(&place, Mark::Outlier, "a kind that the map does not have", Some(at as u64), 0.001);
        }
    }
    new.rows.labels.iter_mut().take(5).for_each(|label| *label = "new kind".to_owned());
    let map = Scatter::new(2, &made.points).title("Outliers far away").ids(&made.ids).labels(&made.labels);
    write(folder, "far", &map.placed(new.labelled()))
}

/// A map and another of most of its rows: turned, mirrored and larger, one cluster elsewhere, the first rows gone and
/// the last ones new.
fn write_morph(
    folder: &Path,
    name: &str,
    made: &PageMap,
    dims: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let n = made.ids.len();
    let (sin, cos) = 2.0_f64.sin_cos();
    let matrix = match dims {
        2 => vec![1.5 * cos, 1.5 * sin, 1.5 * sin, -1.5 * cos],
        _ => vec![1.5 * cos, 1.5 * sin, 0.0, 1.5 * sin, -1.5 * cos, 0.0, 0.0, 0.0, 1.5],
    };
    let shift = vec![5.0; dims];
    let mut random = PageRandom(9);
    let strays = &made.labels[0];
    let is_stray: Vec<bool> = made.labels.iter().map(|label| label == strays).collect();
    let to = made.points.chunks_exact(dims).zip(&is_stray).flat_map(|(from, &stray)| {
        let along = |row: usize| -> f64 {
            (0..dims).map(|column| matrix[row * dims + column] * f64::from(from[column])).sum()
        };
        let away = if stray { 45.0 } else { 0.0 };
        (0..dims).map(|d| (along(d) + 5.0 + away) as f32 + random.normal()).collect::<Vec<f32>>()
    });
    let to: Vec<f32> = to.collect();
    let within = |row: usize| match row {
        _ if row < n / 20 => Within::First,
        _ if row >= n - n / 20 => Within::Second,
        _ => Within::Both,
    };
    let within: Vec<Within> = (0..n).map(within).collect();
    let moved: Vec<f64> = is_stray.iter().map(|&stray| if stray { 0.9 } else { 0.015 }).collect();
    let clusters: Vec<Option<u32>> = is_stray.iter().map(|&stray| Some(u32::from(stray))).collect();
    let names = ["all others".to_owned(), strays.clone()];
    let change = |kind: &str, words: &str, clusters| MorphChange {
        kind: kind.to_owned(),
        name: strays.clone(),
        words: words.to_owned(),
        count: "by 0.90 map radii".to_owned(),
        only: None,
        clusters,
    };
    let morph = Morph {
        title: &format!("{name} → {strays}"),
        subtitle: "Half of the rows moved by at most 0.02 map radii",
        names: ["monday", "tuesday"],
        dims,
        from: &made.points,
        to: &to,
        matrix: &matrix,
        shift: &shift,
        within: &within,
        ids: &made.ids,
        labels: Some(&made.labels),
        moved: &moved,
        overlap: &vec![0.8; n],
        cluster_of: [&clusters, &clusters],
        clusters: [&names, &names],
        changes: &[
            MorphChange { only: Some(Within::Second), ..change("Born", "", [vec![], vec![1]]) },
            change("Split", "into two", [vec![1], vec![]]),
            change("Moved", "", [vec![1], vec![1]]),
        ],
    };
    std::fs::write(folder.join(format!("{name}.html")), morph.html()?)?;
    let picture = morph.picture()?;
    std::fs::write(folder.join(format!("{name}.svg")), picture.svg())?;
    Ok(std::fs::write(folder.join(format!("{name}.png")), picture.png()?)?)
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
    write_cards(folder, &digits)?;
    write_far(folder, &digits)?;
    write_morph(folder, "morph", &make(2500, 2, &digits), 2)?;
    write_morph(folder, "morph-space", &make(2000, 3, &digits), 3)?;
    write_morph(folder, "morph-large", &make(60_000, 2, &clothes), 2)?;
    write_morph(folder, "morph-hostile", &make(300, 2, &hostile), 2)?;

    let made = make(1_000_000, 2, &digits);
    write(folder, "million", &Scatter::new(2, &made.points).title("A million points").labels(&made.labels))
}
