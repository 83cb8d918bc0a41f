//! `--method`: places by other methods than LION, beside LION's verdicts.

use super::{PlacedTable, folder, many_rows};
use crate::tools::{Finished, Folder, SampleTable, npy};
use lion_evaluate::{Baseline, Epsilon, Kernel};
use lion_table::ReadOptions;
use lion_tsne::{Map, Matrix, ignore};

const METHODS: [&str; 21] = [
    "idw",
    "rbf-multiquadric",
    "rbf-gaussian",
    "rbf-inverse-multiquadric",
    "rbf-linear",
    "rbf-cubic",
    "rbf-quintic",
    "rbf-thin-plate",
    "kernelized",
    "gd-closest",
    "gd-closest-sigma",
    "gd-closest-ee",
    "gd-closest-sigma-ee",
    "gd-random",
    "gd-random-sigma",
    "gd-random-ee",
    "gd-random-sigma-ee",
    "nn-1x500-tanh",
    "opentsne-median",
    "opentsne-weighted",
    "fixed-point",
];

fn place(folder: &Folder, args: &str) -> (serde_json::Value, PlacedTable) {
    let summary = folder.json(&format!("place m.lion new.csv -o p.csv {args}"));
    (summary, PlacedTable::read(folder, "p.csv"))
}

fn places(placed: &PlacedTable) -> Vec<[f32; 2]> {
    let (x, y) = (placed.floats("x"), placed.floats("y"));
    x.into_iter().zip(y).map(|(x, y)| [x as f32, y as f32]).collect()
}

/// What the library gives for the same rows.
fn by_the_library(folder: &Folder, baseline: Baseline) -> Vec<[f32; 2]> {
    let map = Map::load(folder.path("m.lion")).unwrap();
    let table = lion_table::read(&folder.path("new.csv"), &ReadOptions::default()).unwrap();
    let rows = Matrix::new(table.rows, table.cols, table.data).unwrap();
    let places = baseline.build(&map, 0, &mut ignore).unwrap().place(&rows).unwrap();
    (0..places.rows()).map(|i| [places.row(i)[0], places.row(i)[1]]).collect()
}

#[test]
fn every_method_places_and_lion_judges() {
    let folder = folder();
    let (lion, judged) = place(&folder, "");
    assert_eq!(lion["method"], "lion");
    for method in METHODS {
        let (summary, placed) = place(&folder, &format!("--method {method}"));
        let name = summary["method"].as_str().unwrap();
        assert_eq!(name.split(' ').next(), Some(method));
        let phases: Vec<&String> = summary["phases"].as_object().unwrap().keys().collect();
        assert_eq!(phases, ["build", "load", "outliers", "place", "write"]);
        for column in ["id", "verdict", "score", "off_plane", "nearest_id", "nearest_distance", "neighbours"]
        {
            assert_eq!(placed.column(column), judged.column(column), "{method}, {column}");
        }
        assert!(placed.groups().iter().all(Option::is_none), "{method}");
        assert_eq!((&summary["outlier"], &summary["groups"]), (&3.into(), &0.into()), "{method}");
        assert_ne!(places(&placed)[20..], places(&judged)[20..], "{method}");
        // Interpolation leaves the map's own rows where they were; the others need not.
        let interpolates = ["idw", "rbf", "kernelized"].iter().any(|kind| method.starts_with(kind));
        for (found, own) in places(&placed)[..20].iter().zip(&places(&judged)[..20]) {
            let away = (found[0] - own[0]).hypot(found[1] - own[1]);
            assert!(away < 1e-2 || !interpolates, "{method}: {found:?} for {own:?}");
        }
    }
}

#[test]
fn flags_reach_the_methods() {
    let folder = folder();
    let by = |args: &str| {
        let (summary, placed) = place(&folder, args);
        (summary["method"].as_str().unwrap().to_owned(), places(&placed))
    };
    let power = folder.json("info m.lion")["power"].as_f64().unwrap();
    let expect = |args: &str, baseline: Baseline| {
        assert_eq!(by(args), (baseline.to_string(), by_the_library(&folder, baseline)), "{args}");
    };
    expect("--method idw", Baseline::Idw { power });
    expect("--method idw --power 3", Baseline::Idw { power: 3.0 });
    let (kernel, edges) = (Kernel::Multiquadric, Epsilon::Edges);
    expect("--method rbf-multiquadric", Baseline::Rbf { kernel, epsilon: Epsilon::MeanDistance });
    expect(
        "--method rbf-multiquadric --epsilon mean",
        Baseline::Rbf { kernel, epsilon: Epsilon::MeanDistance },
    );
    expect("--method rbf-multiquadric --epsilon edges", Baseline::Rbf { kernel, epsilon: edges });
    expect("--method kernelized", Baseline::Kernelized { width: 0.25 });
    expect("--method kernelized --kernel-width 0.05", Baseline::Kernelized { width: 0.05 });
}

#[test]
fn outlier_control_leaves_strangers_to_lion() {
    let folder = folder();
    let (_, lion) = place(&folder, "");
    let (_, plain) = place(&folder, "--method rbf-linear");
    let (summary, controlled) = place(&folder, "--method rbf-linear --outlier-control");
    assert_eq!((&summary["method"], &summary["groups"]), (&"rbf-linear".into(), &2.into()));
    assert_eq!(controlled.groups(), lion.groups());
    let verdicts = controlled.texts("verdict");
    assert_eq!(verdicts, lion.texts("verdict"));
    let (lions, methods, found) = (places(&lion), places(&plain), places(&controlled));
    for (row, verdict) in verdicts.iter().enumerate() {
        let expected = if *verdict == "interpolated" { methods[row] } else { lions[row] };
        assert_eq!(found[row], expected, "row {row}, {verdict}");
    }
    assert!(verdicts.contains(&"interpolated") && verdicts.contains(&"outlier"));
}

#[test]
fn one_pass_in_batches_equals_all_at_once() {
    let folder = folder();
    let values = many_rows(9000);
    folder.write("many.npy", npy(9000, 4, &values));
    let map = Map::load(folder.path("m.lion")).unwrap();
    let baseline = Baseline::Rbf { kernel: Kernel::Cubic, epsilon: Epsilon::MeanDistance };
    let whole = baseline.build(&map, 0, &mut ignore).unwrap().place(&Matrix::new(9000, 4, values).unwrap());
    let whole = whole.unwrap();
    for args in ["--threads 1", "--threads 3 --outlier-control"] {
        folder.json(&format!("place m.lion many.npy --method rbf-cubic -o p.parquet {args}"));
        let placed = PlacedTable::read(&folder, "p.parquet");
        let (found, verdicts) = (places(&placed), placed.texts("verdict"));
        assert_eq!(found.len(), 9000);
        for (row, found) in found.iter().enumerate() {
            if !args.contains("control") || verdicts[row] == "interpolated" {
                assert_eq!(&found[..], whole.row(row), "row {row} with {args}");
            }
        }
        let outliers = verdicts.iter().filter(|verdict| **verdict == "outlier").count();
        let grouped = placed.groups().iter().filter(|group| group.is_some()).count();
        assert_eq!(grouped, if args.contains("control") { outliers } else { 0 });
    }
}

#[test]
fn places_in_space_have_three_coordinates() {
    let folder = folder();
    folder.json("fit t.csv --id name --label kind --dims 3 -o space.lion --perplexity 5 --iterations 50");
    folder.json("place space.lion new.csv --method kernelized -o p.npy");
    let placed = lion_table::read(&folder.path("p.npy"), &ReadOptions::default()).unwrap();
    let map = Map::load(folder.path("space.lion")).unwrap();
    for row in 0..20 {
        let near = placed.row(row).unwrap().iter().zip(map.place(row)).all(|(a, b)| (a - b).abs() < 1e-2);
        assert!(near, "row {row}");
    }
}

#[test]
fn what_has_no_effect_and_what_was_done_is_said() {
    let folder = folder();
    let said = |args: &str| {
        let done = folder.lion(&format!("place m.lion new.csv -o p.csv {args}"));
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        done.stderr
    };
    let note = |flag: &str, why: &str| format!("note: {flag} has no effect {why}\n");
    assert_eq!(said("--method rbf-linear"), "");
    assert_eq!(said("--method idw --power 3"), "");
    assert_eq!(said("--method rbf-linear --outlier-control --r-y 90% --r-close 5% --outliers random"), "");
    let beside = "beside --method rbf-linear";
    for flag in ["--local idw", "--taper triangle", "--split-clusters", "--power 3"] {
        let name = flag.split(' ').next().unwrap();
        assert_eq!(said(&format!("--method rbf-linear {flag}")), note(name, beside));
    }
    for flag in ["--r-y 90%", "--r-close 5%", "--outliers random"] {
        let name = flag.split(' ').next().unwrap();
        assert_eq!(said(&format!("--method rbf-linear {flag}")), note(name, "without --outlier-control"));
    }
    let kernels = "without --method rbf-multiquadric, rbf-gaussian or rbf-inverse-multiquadric";
    assert_eq!(said("--method rbf-linear --epsilon edges"), note("--epsilon", kernels));
    assert_eq!(said("--epsilon edges"), note("--epsilon", kernels));
    assert_eq!(said("--kernel-width 1"), note("--kernel-width", "without --method kernelized"));
    let built_in = "beside --method lion, which has it built in";
    assert_eq!(said("--outlier-control"), note("--outlier-control", built_in));
    // Gaussians as wide as the whole table cannot tell rows apart exactly.
    let ridge = said("--method kernelized --kernel-width 1000");
    assert!(ridge.starts_with("note: kernelized K=1000: its equations are singular to rounding"), "{ridge}");
}

#[test]
fn words_tell_whose_places_and_whose_verdicts() {
    let folder = folder();
    let words = |args: &str| folder.lion(&format!("place m.lion new.csv -o p.csv {args}")).stdout;
    let plain = words("--method kernelized");
    assert!(plain.contains("kernelized K=0.25; the verdicts are LION's: r_x"), "{plain}");
    assert!(plain.contains("strangers, placed like the rest"), "{plain}");
    let controlled = words("--method kernelized --outlier-control");
    assert!(controlled.contains("kernelized K=0.25, outliers by LION; r_x"), "{controlled}");
    assert!(controlled.contains("in 2 groups"), "{controlled}");
}

#[test]
fn accuracy_is_that_of_the_methods_places() {
    let folder = folder();
    let accuracy = |args: &str| {
        let summary = folder.json(&format!("place m.lion {args} -o p.csv"));
        summary["accuracy_10nn"].as_f64().unwrap()
    };
    assert!(accuracy("t.csv --id name --label kind --method kernelized") > 0.95);
    let kinds = SampleTable::new().labels[..40].join("\n") + "\n?\n?\n?\n";
    folder.write("kinds.txt", kinds);
    // With hardly any power, everything is in the middle.
    let idw = |power: &str| accuracy(&format!("new.csv --labels kinds.txt --method idw --power {power}"));
    assert!(idw("0.001") + 0.1 < idw("20"), "{} and {}", idw("0.001"), idw("20"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_the_process_is_kept_to() {
    let folder = Folder::new();
    let row = |i: usize| {
        format!("{},{},{}\n", (i * 37 % 101) as f64 * 0.1, (i * 53 % 97) as f64 * 0.1, i as f64 * 0.001)
    };
    folder.write("many.csv", (0..7000).map(row).collect::<String>());
    folder.write("new.csv", "1,2,3\n");
    let places: String = (0..7000).map(|i| format!("{},{}\n", i % 83, i / 83)).collect();
    folder.write("places.csv", places);
    assert_eq!(folder.lion("fit many.csv --header no --embedding places.csv -o many.lion -q").code, Some(0));
    // The matrix alone is 392 MB.
    let script = "ulimit -v 900000; exec \"$0\" place many.lion new.csv --header no --method rbf-cubic --threads 2 -o x.csv";
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", script, env!("CARGO_BIN_EXE_lion")]).current_dir(folder.path(""));
    let done = Finished::of(limited);
    done.refuses(1, &["rbf-cubic needs", "of memory", "can be had"]);
    assert!(!folder.path("x.csv").exists());
}
