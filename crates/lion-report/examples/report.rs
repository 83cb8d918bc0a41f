//! Writes a report with made-up numbers into a folder, with every kind of block and figure there is, for the browser test
//! and for the eye: `cargo run --release -p lion-report --example report -- some/folder`

use std::error::Error;
use std::path::Path;

use lion_report::{
    Axis, Chart, Claim, ClaimVerdict, Document, DocumentBlock, Head, Heat, ImageCell, ImageRow, Images,
    Landing, LandingPoint, Mark, Picture, Placed, ReportCell, ReportRow, ReportTable, Result, Scatter,
    Series, Stroke, Tone, panel,
};

/// A small generator, so that the example needs no dependency and always draws the same.
struct ReportRandom(u64);

impl ReportRandom {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Close to a normal: the sum of twelve uniforms.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// Names and the spread of their places, about as the methods behave: how far off they land, and how far away strangers.
const METHODS: [(&str, f64, f64); 6] = [
    ("RBF, multiquadric", 9.0, 0.4),
    ("IDW, p = 20", 1.2, 0.6),
    ("Descent from the closest", 1.6, 1.1),
    ("Network 2 x 500", 6.0, 0.9),
    ("Kernelized, K = 0.25", 2.5, 0.5),
    ("LION, 100 %", 0.8, 1.4),
];

/// A made-up map of ten classes.
struct ReportMap {
    points: Vec<f32>,
    labels: Vec<String>,
}

fn make(n: usize) -> ReportMap {
    let mut random = ReportRandom(n as u64);
    let mut made = ReportMap { points: Vec::new(), labels: Vec::new() };
    for _ in 0..n {
        let class = (random.uniform() * 10.0) as usize;
        let (turn, reach) = (class as f64 * 2.399_963, 14.0 * (class as f64 + 0.6).sqrt());
        let bend = random.normal();
        made.points.push((reach * turn.cos() + bend * 4.0 + 1.6 * random.normal()) as f32);
        made.points.push((reach * turn.sin() + bend * bend * 1.6 + 1.6 * random.normal()) as f32);
        made.labels.push(class.to_string());
    }
    made
}

fn axis(label: &str) -> Axis {
    Axis { label: label.to_owned(), log: false, range: None }
}

fn log_axis(label: &str) -> Axis {
    Axis { log: true, ..axis(label) }
}

fn series(name: &str, style: Stroke, points: Vec<[f64; 2]>) -> Series {
    Series { name: name.to_owned(), points, style, reference: false }
}

fn reference(name: &str, points: Vec<[f64; 2]>) -> Series {
    Series { reference: true, ..series(name, Stroke::Dashed, points) }
}

/// A seven-segment digit with soft edges, shifted a little, on 28 x 28 pixels.
fn digit(which: usize, random: &mut ReportRandom) -> Vec<f32> {
    const LIT: [&str; 10] =
        ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg"];
    let (left, top, slant) =
        (9.0 + 2.0 * random.uniform(), 5.0 + 2.0 * random.uniform(), 0.3 * random.uniform());
    let ends = |segment: char| match segment {
        'a' => [[0.0, 0.0], [9.0, 0.0]],
        'b' => [[9.0, 0.0], [9.0, 8.0]],
        'c' => [[9.0, 8.0], [9.0, 16.0]],
        'd' => [[0.0, 16.0], [9.0, 16.0]],
        'e' => [[0.0, 8.0], [0.0, 16.0]],
        'f' => [[0.0, 0.0], [0.0, 8.0]],
        _ => [[0.0, 8.0], [9.0, 8.0]],
    };
    let ink = |x: f64, y: f64| {
        let near = LIT[which].chars().map(|segment| {
            let [[ax, ay], [bx, by]] = ends(segment);
            let (px, py) = (x - left - slant * (16.0 - (y - top)), y - top);
            let along = ((px - ax) * (bx - ax) + (py - ay) * (by - ay))
                / ((bx - ax) * (bx - ax) + (by - ay) * (by - ay));
            let along = along.clamp(0.0, 1.0);
            (px - ax - along * (bx - ax)).hypot(py - ay - along * (by - ay))
        });
        (2.2 - near.fold(f64::INFINITY, f64::min)).clamp(0.0, 1.0) as f32
    };
    (0..28 * 28).map(|at| ink(f64::from(at % 28), f64::from(at / 28))).collect()
}

/// A digit as the mean of several that are not all the same.
fn mean_digit(which: usize, blur: f64, random: &mut ReportRandom) -> Vec<f32> {
    let mut mean = vec![0.0; 28 * 28];
    for _ in 0..10 {
        let other = random.uniform() < blur;
        let seen = if other { (random.uniform() * 10.0) as usize } else { which };
        mean.iter_mut().zip(digit(seen, random)).for_each(|(sum, value)| *sum += value / 10.0);
    }
    mean
}

fn idw_in_one_dimension() -> Result<Picture> {
    let known = [[10.0, 10.0], [20.0, 40.0], [30.0, 1.0], [40.0, 50.0]];
    let at = |x: f64, power: f64| {
        let weight = |known: &[f64; 2]| (x - known[0]).abs().powf(-power);
        match known.iter().find(|known| known[0] == x) {
            Some(known) => known[1],
            None => {
                known.iter().map(|known| weight(known) * known[1]).sum::<f64>()
                    / known.iter().map(weight).sum::<f64>()
            }
        }
    };
    let one = |power: f64| {
        let line = (0..=500).map(|step| f64::from(step) / 10.0).map(|x| [x, at(x, power)]).collect();
        let chart = Chart {
            title: format!("p = {power}"),
            x: axis("x"),
            y: axis("y"),
            series: vec![
                series("", Stroke::Line, line),
                Series { reference: true, ..series("", Stroke::Points, known.to_vec()) },
            ],
            notes: vec![],
        };
        chart.picture()
    };
    panel("Inverse distance weighting in one dimension", &[one(0.2)?, one(2.0)?, one(20.0)?], 3)
}

/// Accuracy against the power, whole or a part of it.
fn power_chart(title: &str, range: Option<[f64; 2]>) -> Result<Picture> {
    let line = |top: f64, slow: f64| {
        (1..=100)
            .map(|p| [f64::from(p), top * (1.0 - (-f64::from(p) / slow).exp()) - 0.004 * f64::from(p)])
            .collect()
    };
    let chart = Chart {
        title: title.to_owned(),
        x: Axis { range: Some([0.0, 100.0]), ..axis("power p") },
        y: Axis { range, ..axis("accuracy, %") },
        series: vec![
            reference("baseline", vec![[0.0, 87.59], [100.0, 87.59]]),
            series("90th percentile", Stroke::Line, line(86.9, 1.7)),
            series("95th percentile", Stroke::Line, line(87.6, 2.1)),
            series("99th percentile", Stroke::Line, line(88.1, 2.5)),
            series("100th percentile", Stroke::Line, line(88.3, 3.1)),
            series("all rows (IDW)", Stroke::Dashed, line(88.4, 5.5)),
        ],
        notes: vec![],
    };
    chart.picture()
}

fn cross_validation() -> Result<Picture> {
    let line = |best: f64, floor: f64| {
        (2..=80)
            .map(f64::from)
            .map(|p| [p / 2.0, floor * (1.0 + 0.6 * (p / 2.0 / best).ln().powi(2))])
            .collect()
    };
    let names = ["90 %", "95 %", "99 %", "100 %"];
    let lines = names
        .iter()
        .zip([(13.8, 21.0), (16.5, 24.0), (21.1, 27.0), (26.6, 31.0)])
        .map(|(name, (best, floor))| series(&format!("r_x at {name}"), Stroke::Line, line(best, floor)));
    let chart = Chart {
        title: "Cross-validation of the power".to_owned(),
        x: axis("power p"),
        y: log_axis("mean squared distance"),
        series: lines.collect(),
        notes: vec!["Each curve is the mean over all training rows, every row left out in turn.".to_owned()],
    };
    chart.picture()
}

/// Time per row against N: more lines than can be named at their ends, some ending early, one that never began.
fn times() -> Result<Picture> {
    let sizes = [250.0, 500.0, 1000.0, 2500.0, 5000.0, 10_000.0, 20_000.0, 60_000.0_f64];
    let line = |base: f64, power: f64, most: f64| {
        sizes.map(|n| [n, if n <= most { base * (n / 250.0).powf(power) } else { f64::NAN }]).to_vec()
    };
    let chart = Chart {
        title: "Time to place one row".to_owned(),
        x: log_axis("rows in the map, N"),
        y: log_axis("seconds per row"),
        series: vec![
            series("LION", Stroke::LineAndPoints, line(2.1e-5, 0.35, 1e9)),
            series("IDW", Stroke::LineAndPoints, line(1.2e-5, 1.0, 1e9)),
            series("RBF, multiquadric", Stroke::LineAndPoints, line(1.5e-5, 1.05, 10_000.0)),
            series("Descent, close start", Stroke::LineAndPoints, line(2.4e-3, 1.15, 20_000.0)),
            series("Descent, random start", Stroke::LineAndPoints, line(3.1e-3, 1.15, 20_000.0)),
            series("Network 2 x 250", Stroke::LineAndPoints, line(1.1e-6, 0.01, 1e9)),
            series("Network 2 x 500", Stroke::LineAndPoints, line(2.6e-6, 0.01, 1e9)),
            series("Kernelized", Stroke::LineAndPoints, line(1.4e-5, 1.02, 1e9)),
            series("Parametric", Stroke::LineAndPoints, line(7.5e-6, 0.02, 1e9)),
            series("openTSNE's way", Stroke::LineAndPoints, line(3.0e-4, 0.2, 1e9)),
            series("Fixed point", Stroke::LineAndPoints, vec![]),
            reference("proportional to N", line(4e-6, 1.0, 1e9)),
        ],
        notes: vec!["Each time is the median of five.".to_owned()],
    };
    chart.picture()
}

fn kernel_width() -> Result<Picture> {
    let mut random = ReportRandom(11);
    let cloud = (0..300).map(|_| {
        let x = random.uniform() * 2.0;
        [x, 2.0 + 4.0 * x * (-x).exp() + 0.4 * random.normal()]
    });
    let cloud = cloud.collect();
    let curve = |f: &dyn Fn(f64) -> f64| (1..=80).map(|k| f64::from(k) / 40.0).map(|k| [k, f(k)]).collect();
    let accuracy = Chart {
        title: "Accuracy".to_owned(),
        x: axis("K"),
        y: axis("accuracy, %"),
        series: vec![
            series("kernelized", Stroke::Line, curve(&|k| 88.0 - 60.0 * (k * k) / (0.4 + k * k))),
            reference("baseline", vec![[0.0, 87.59], [2.0, 87.59]]),
        ],
        notes: vec![],
    };
    let distance = Chart {
        title: "Distance of the outliers".to_owned(),
        x: axis("K"),
        y: axis("distance to the nearest row"),
        series: vec![
            series("one outlier", Stroke::Points, cloud),
            series("mean", Stroke::Line, curve(&|k| 2.0 + 4.0 * k * (-k).exp())),
        ],
        notes: vec![],
    };
    panel("Kernelized t-SNE by the width of its kernel", &[accuracy.picture()?, distance.picture()?], 2)
}

fn grid_search() -> Result<Picture> {
    let mut random = ReportRandom(5);
    let one = |layers: usize, random: &mut ReportRandom| {
        let widths = [50, 100, 250, 500, 1000];
        let rows = [0.0, 0.1, 0.25, 0.5].map(|dropout| format!("dropout {dropout}"));
        let value = |row: usize, column: usize, random: &mut ReportRandom| {
            let diverged = layers == 3 && row == 0 && column == 4;
            let loss =
                9.0 + 2.5 * (row as f64 - 1.0).powi(2) + 14.0 / (column as f64 + 1.0) + random.uniform();
            (!diverged).then_some(loss / (layers as f64).sqrt())
        };
        let values = (0..4).map(|row| (0..5).map(|column| value(row, column, random)).collect()).collect();
        Heat {
            title: format!("{layers} hidden layer{}", if layers == 1 { "" } else { "s" }),
            rows: rows.to_vec(),
            columns: widths.map(|width| width.to_string()).to_vec(),
            values,
            unit: "validation loss".to_owned(),
            low_is_good: true,
        }
    };
    Heat::together("Grid search of the networks", &[1, 2, 3].map(|layers| one(layers, &mut random)), 2)
}

fn first_digits() -> Result<Picture> {
    let mut random = ReportRandom(3);
    let mut row = |heading: &str| ImageRow {
        heading: heading.to_owned(),
        cells: (0..10)
            .map(|at| ImageCell { pixels: digit(at * 7 % 10, &mut random), caption: format!("{}", at + 1) })
            .collect(),
    };
    let rows = vec![row("Test digit"), row("Nearest row of the map")];
    Images { title: "The first ten test digits".to_owned(), width: 28, height: 28, rows }.picture()
}

fn mean_neighbours() -> Result<Picture> {
    let mut random = ReportRandom(4);
    let rows = METHODS.map(|(name, off, _)| ImageRow {
        heading: name.to_owned(),
        cells: (0..10)
            .map(|at| ImageCell {
                pixels: mean_digit(at * 7 % 10, off / 14.0, &mut random),
                caption: String::new(),
            })
            .collect(),
    });
    Images {
        title: "The mean image of the ten nearest neighbours in the map".to_owned(),
        width: 28,
        height: 28,
        rows: rows.to_vec(),
    }
    .picture()
}

fn noise_images() -> Result<Picture> {
    let mut random = ReportRandom(8);
    let cells = (0..30)
        .map(|_| ImageCell {
            pixels: (0..784).map(|_| random.uniform() as f32).collect(),
            caption: String::new(),
        })
        .collect();
    let rows = vec![ImageRow { heading: String::new(), cells }];
    Images { title: "The first thirty images of noise".to_owned(), width: 28, height: 28, rows }.picture()
}

/// Where ten rows land by each method: near where they are expected, or, as strangers, somewhere.
fn landings(made: &ReportMap, strangers: bool) -> Result<Picture> {
    let mut random = ReportRandom(if strangers { 21 } else { 20 });
    let mut pictures = Vec::new();
    for (name, off, far) in METHODS {
        let landed = (0..10).map(|at| {
            let row = at * 211 + 17;
            let home = [made.points[2 * row], made.points[2 * row + 1]];
            let outlier = strangers && name.starts_with("LION");
            let place = if strangers {
                let turn = random.uniform() * std::f64::consts::TAU;
                let reach = if at == 3 && off > 8.0 { 400.0 } else { 45.0 * far * random.uniform().max(0.2) };
                let reach = if outlier { 58.0 + f64::from(at as u8) } else { reach };
                [reach * turn.cos(), reach * turn.sin()]
            } else {
                home.map(|value| f64::from(value) + off * random.normal())
            };
            LandingPoint {
                name: (at + 1).to_string(),
                at: place.map(|value| value as f32),
                expected: (!strangers).then_some(home),
                outlier,
            }
        });
        let landing = Landing {
            title: name.to_owned(),
            map: &made.points,
            labels: &made.labels,
            landed: landed.collect(),
        };
        pictures.push(landing.picture()?);
    }
    let title =
        if strangers { "Where the first ten strangers land" } else { "Where the first ten test digits land" };
    panel(title, &pictures, 3)
}

/// A map of so many points that they are an image in the picture.
fn large_landing() -> Result<Picture> {
    let made = make(60_000);
    let landed = (0..10).map(|at| LandingPoint {
        name: (at + 1).to_string(),
        at: [made.points[40 * at] + 0.5, made.points[40 * at + 1] - 0.5],
        expected: None,
        outlier: at == 9,
    });
    Landing {
        title: "60,000 rows".to_owned(),
        map: &made.points,
        labels: &made.labels,
        landed: landed.collect(),
    }
    .picture()
}

fn map(made: &ReportMap) -> Result<Picture> {
    Picture::map(&Scatter::new(2, &made.points).title("The map").labels(&made.labels))
}

fn map_with_outliers(made: &ReportMap) -> Result<Picture> {
    let mut random = ReportRandom(31);
    let count = 40;
    let places: Vec<f32> = (0..count)
        .flat_map(|at| {
            let (turn, reach) = (f64::from(at) * 2.399_963, 62.0 + 6.0 * random.uniform());
            [(reach * turn.cos()) as f32, (reach * turn.sin()) as f32]
        })
        .collect();
    let marks = vec![Mark::Outlier; count as usize];
    let placed = Placed::new(&places, &marks);
    Picture::map(
        &Scatter::new(2, &made.points).title("Outliers placed at once").labels(&made.labels).placed(placed),
    )
}

/// Every method, with what was published beside what was measured.
fn comparison() -> ReportTable {
    let head = |text: &str, title: &str, group: &str| Head {
        text: text.to_owned(),
        title: title.to_owned(),
        numeric: !group.is_empty(),
        group: group.to_owned(),
    };
    let mut columns = vec![head("method", "", "")];
    for group in ["accuracy, %", "distance percentile", "outlier percentile"] {
        columns.push(head("paper", "The figure that was published.", group));
        columns.push(head("here", "What was measured here, with its standard error.", group));
        columns.push(head("difference", "Here less paper.", group));
    }
    columns.push(head("build", "Time to get ready to place rows.", "time"));
    columns.push(head("per row", "Time to place one row, the median of five.", "time"));

    let published = [
        ("Baseline", 87.59, f64::NAN, f64::NAN, "–", "–"),
        ("RBF, multiquadric", 73.84, 53.5, 78.8, "1.3 s", "0.4 ms"),
        ("RBF, Gaussian", 73.78, 55.1, 84.8, "1.2 s", "0.4 ms"),
        ("IDW, p = 1", 8.92, 65.9, 55.7, "0 s", "90 µs"),
        ("IDW, p = 20", 87.88, 4.8, 72.4, "0 s", "90 µs"),
        ("IDW, p = 40", 87.96, 1.9, 75.8, "0 s", "90 µs"),
        ("Descent from the closest", 87.81, 11.0, 97.0, "0.2 s", "31 ms"),
        ("Descent from a random place", 33.35, 76.4, 98.0, "0.2 s", "35 ms"),
        ("Network 2 x 250", 78.33, 43.5, 83.1, "2.4 min", "1.2 µs"),
        ("Network 2 x 500", 78.71, 42.4, 81.5, "6.1 min", "2.9 µs"),
        ("Kernelized, K = 0.25", 86.47, 10.6, 84.9, "0.3 s", "110 µs"),
        ("LION, r_x at 90 %", 86.42, 7.4, 100.0, "0.9 s", "24 µs"),
        ("LION, r_x at 100 %", 87.87, 3.2, 100.0, "0.9 s", "27 µs"),
    ];
    let mut random = ReportRandom(77);
    let cell = |text: String, tone| ReportCell { text, tone };
    let rows = published.map(|(name, accuracy, percentile, outliers, build, row)| {
        let mut cells = vec![cell(name.to_owned(), Tone::Plain)];
        for (paper, error, better) in [(accuracy, 0.9, 1.0), (percentile, 0.8, -1.0), (outliers, 0.4, 1.0)] {
            if paper.is_nan() {
                cells.extend(["–", "–", ""].map(|text| cell(text.to_owned(), Tone::Faint)));
                continue;
            }
            let here = (paper + 1.4 * random.normal()).clamp(0.0, 100.0);
            let tone = match (here - paper) * better {
                d if d > 2.0 * error => Tone::Good,
                d if d < -2.0 * error => Tone::Bad,
                _ => Tone::Plain,
            };
            cells.push(cell(format!("{paper:.1}"), Tone::Faint));
            cells.push(cell(format!("{here:.1} ± {error}"), Tone::Plain));
            cells.push(cell(format!("{:+.1}", here - paper).replace('-', "−"), tone));
        }
        cells.extend([build, row].map(|text| cell(text.to_owned(), Tone::Plain)));
        ReportRow { cells, emphasis: name.starts_with("LION") }
    });
    ReportTable {
        caption: "Every method on 1000 digits that are close to a row of the map, and on 1000 strangers."
            .to_owned(),
        head: columns,
        rows: rows.to_vec(),
        notes: vec![
            "A difference of more than two standard errors is marked: ▲ better than published, ▼ worse."
                .to_owned(),
        ],
    }
}

fn machine() -> ReportTable {
    let head = |text: &str| Head {
        text: text.to_owned(),
        title: String::new(),
        numeric: false,
        group: String::new(),
    };
    let row = |name: &str, value: &str| ReportRow {
        cells: [name, value].map(|text| ReportCell { text: text.to_owned(), tone: Tone::Plain }).to_vec(),
        emphasis: false,
    };
    ReportTable {
        caption: "What made this report.".to_owned(),
        head: vec![head("what"), head("value")],
        rows: vec![
            row("version", "0.1.0"),
            row("seed", "42"),
            row("processor", "2 cores, AVX-512"),
            row("duration", "12 min 31 s"),
        ],
        notes: vec![],
    }
}

fn claims() -> Vec<Claim> {
    let claim = |verdict, text: &str, evidence: &str| Claim {
        verdict,
        text: text.to_owned(),
        evidence: evidence.to_owned(),
    };
    vec![
        claim(
            ClaimVerdict::Holds,
            "LION and IDW tie for the best accuracy.",
            "87.9 ± 0.9 % and 88.0 ± 0.9 %; the next is descent from the closest row with 87.8 ± 0.9 %.",
        ),
        claim(
            ClaimVerdict::Holds,
            "Only LION keeps every outlier at percentile 100.",
            "100.0 at all four radii; the nearest of the others reaches 98.6.",
        ),
        claim(
            ClaimVerdict::DoesNot,
            "Networks are 10 to 20 points less accurate.",
            "78.9 ± 1.1 %, which is 9.0 points less: a little better than published.",
        ),
        claim(ClaimVerdict::NotTested, "The same holds for 60000 rows.", ""),
    ]
}

fn heading(level: u8, id: &str, text: &str) -> DocumentBlock {
    DocumentBlock::Heading { level, text: text.to_owned(), id: id.to_owned() }
}

fn figure(name: &str, picture: Picture, caption: &str) -> DocumentBlock {
    let alt = format!("{caption} The numbers are in the text.");
    DocumentBlock::Figure { name: name.to_owned(), picture, caption: caption.to_owned(), alt }
}

fn document() -> Result<Document> {
    let made = make(2500);
    let text = |text: &str| DocumentBlock::Text(text.to_owned());
    let blocks = vec![
        DocumentBlock::Note(
            "Made-up numbers: this report shows what a report looks like, and nothing else.".to_owned(),
        ),
        text(
            "Each method is given a finished map of 2500 digits and places rows into it that it has not seen. What follows says how well, how fast, and what becomes of rows that belong nowhere.",
        ),
        heading(2, "claims", "What holds"),
        DocumentBlock::Claims(claims()),
        heading(2, "comparison", "All methods"),
        text(
            "Accuracy is the share of the ten nearest neighbours in the map that have the label of the new row.",
        ),
        DocumentBlock::Table(comparison()),
        heading(2, "map", "The map"),
        figure("map", map(&made)?, "2500 digits, perplexity 30."),
        figure(
            "outliers-at-once",
            map_with_outliers(&made)?,
            "Forty strangers placed at once, each in a cell of its own.",
        ),
        heading(2, "close", "Digits that are close to a row"),
        heading(3, "first-ten", "The first ten"),
        figure(
            "first-digits",
            first_digits()?,
            "The first ten test digits, and the row that each is closest to.",
        ),
        figure(
            "landings",
            landings(&made, false)?,
            "Where each of the ten lands, with a line to the place of its nearest row.",
        ),
        figure(
            "mean-neighbours",
            mean_neighbours()?,
            "The mean image of the ten nearest neighbours, by method.",
        ),
        heading(3, "power", "The power"),
        figure(
            "idw",
            idw_in_one_dimension()?,
            "The larger the power, the more the nearest point alone decides.",
        ),
        figure(
            "cross-validation",
            cross_validation()?,
            "The power that each radius asks for is where its curve is lowest.",
        ),
        figure(
            "power-accuracy",
            panel(
                "Power and accuracy",
                &[
                    power_chart("Whole", Some([0.0, 100.0]))?,
                    power_chart("The upper end", Some([84.0, 89.0]))?,
                ],
                2,
            )?,
            "Accuracy against the power, for four radii and for all rows.",
        ),
        heading(3, "kernel", "The width of the kernel"),
        figure(
            "kernel",
            kernel_width()?,
            "A narrow kernel is accurate; a wide one keeps strangers apart. No width does both.",
        ),
        heading(3, "grid", "The grid search"),
        figure(
            "grid-search",
            grid_search()?,
            "Bright is good; the best has a frame. The empty cell diverged.",
        ),
        heading(2, "strangers", "Strangers"),
        DocumentBlock::List(vec![
            "Noise: every pixel is drawn evenly from 0 to 1.".to_owned(),
            "A class that was held out of the map.".to_owned(),
            "Images of another kind.".to_owned(),
        ]),
        figure("noise", noise_images()?, "The first thirty images of noise."),
        figure(
            "stranger-landings",
            landings(&made, true)?,
            "Where the first ten land: only the last method says that it does not know them.",
        ),
        heading(2, "size", "Size and time"),
        figure(
            "times",
            times()?,
            "Time per row against the rows in the map. A line ends where memory or patience does.",
        ),
        figure("large", large_landing()?, "Ten of 10,000 test digits in a map of 60,000."),
        heading(2, "how", "How this was made"),
        DocumentBlock::Table(machine()),
    ];
    Ok(Document {
        title: "Placing new rows into a finished map".to_owned(),
        subtitle: "2500 digits, 30 principal components, perplexity 30; 1000 + 1000 test rows".to_owned(),
        blocks,
    })
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("say in which folder to write the report")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let report = document()?;
    let page = report.html()?;
    println!("report.html {} kB", page.len() / 1000);
    std::fs::write(folder.join("report.html"), page)?;
    for block in &report.blocks {
        let DocumentBlock::Figure { name, picture, .. } = block else { continue };
        let (svg, png) = (picture.svg(), picture.png()?);
        println!("{name:<18} svg {:>5} kB   png {:>5} kB", svg.len() / 1000, png.len() / 1000);
        std::fs::write(folder.join(format!("{name}.svg")), svg)?;
        std::fs::write(folder.join(format!("{name}.png")), png)?;
    }
    Ok(())
}
