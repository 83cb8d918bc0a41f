//! What can be chosen, and what it does.

use super::{PlacedTable, csv, folder, new_rows};
use crate::tools::{SampleTable, npy};
use lion_table::Column;
use lion_tsne::Map;

#[test]
fn options_do_what_they_say() {
    let folder = folder();
    let place = |args: &str| {
        let summary = folder.json(&format!("place m.lion new.csv -o p.csv {args}"));
        (summary, PlacedTable::read(&folder, "p.csv"))
    };
    let places = |placed: &PlacedTable| (placed.floats("x"), placed.floats("y"));
    let (plain, plain_rows) = place("");
    assert_eq!((&plain["local"], &plain["verdict"]), (&"energy".into(), &"calibrated".into()));

    let (narrow, rows) = place("--verdict paper --radius 10%");
    assert!(narrow["r_x"].as_f64() < plain["r_x"].as_f64());
    assert_eq!((&narrow["verdict"], &narrow["alpha"]), (&"paper".into(), &().into()));
    assert!(rows.count("outlier") > plain_rows.count("outlier"));
    assert_eq!(place("--radius 0.75").0["r_x"], 0.75);
    assert_eq!(place("--verdict paper --radius 2000").1.count("outlier"), 0);
    let (many, rows) = place("--alpha 98%");
    assert_eq!(many["alpha"], 0.98);
    let strange = |rows: &PlacedTable| rows.count("outlier") + rows.count("beside-outlier");
    assert!(strange(&rows) > strange(&plain_rows), "{:?}", rows.floats("score"));
    let said: Vec<bool> = rows.floats("score").iter().map(|score| *score <= 0.98).collect();
    let called = rows.texts("verdict").into_iter().map(|verdict| verdict.ends_with("outlier"));
    // Rows that equal one of the map are exact, whatever their score.
    assert_eq!(said[20..], called.collect::<Vec<_>>()[20..]);
    let (spared, few) = place("--alpha 98% --fdr 30%");
    assert_eq!(spared["fdr"], 0.3);
    assert!(strange(&few) < strange(&rows) && strange(&few) > 0);

    let (idw, idw_rows) = place("--local idw");
    assert_eq!((&idw["local"], &idw["power"]), (&"idw".into(), &plain["power"]));
    assert_ne!(places(&idw_rows).0[20..40], places(&plain_rows).0[20..40]);
    assert_eq!(places(&idw_rows).0[..20], places(&plain_rows).0[..20]);
    let (weak, weak_rows) = place("--local idw --power 1.5");
    assert_eq!(weak["power"], 1.5);
    assert_ne!(places(&weak_rows), places(&idw_rows));
    let taper = place("--local idw --power 1.5 --taper triangle").1;
    assert_ne!(places(&taper), places(&weak_rows));
    assert_ne!(places(&place("--local idw --power 1.5 --taper trapezoid").1), places(&taper));
    let wide = "--local idw --power 1.5 --radius 300";
    assert_ne!(places(&place(&format!("{wide} --split-clusters")).1), places(&place(wide).1));

    let (far, rows) = place("--r-y 500 --r-close 0.25");
    assert_eq!((&far["r_y"], &far["r_close"]), (&500.0.into(), &0.25.into()));
    let (x, y) = places(&rows);
    assert!((x[40] - x[41]).hypot(y[40] - y[41]) >= 499.0);
    let random = |seed: u64| places(&place(&format!("--outliers random --seed {seed}")).1);
    assert_eq!(random(1), random(1));
    assert!((2..8).any(|seed| random(seed) != random(1)));
    assert_eq!(places(&place("--method lion").1), places(&plain_rows));
}

#[test]
fn strangers_off_the_plane_are_found() {
    let folder = folder();
    folder.json("fit t.csv --id name --label kind --pca 2 -o flat.lion --perplexity 5 --iterations 50");
    // Far from every row, but hardly in the plane of the first two components.
    let map = Map::load(folder.path("flat.lion")).unwrap();
    let pca = map.preprocess().pca().unwrap();
    let row = SampleTable::new().rows[0].map(f32::from);
    let mut away = [1.0f32, -1.0, 1.0, -1.0];
    for c in 0..2 {
        let axis: Vec<f32> = (0..4).map(|d| pca.components().row(c)[d]).collect();
        let along: f32 = axis.iter().zip(&away).map(|(a, b)| a * b).sum();
        away.iter_mut().zip(&axis).for_each(|(value, a)| *value -= along * a);
    }
    let stranger = [0, 1, 2, 3].map(|d| row[d] + 400.0 * away[d]);
    folder.write("off.csv", csv(&[row, stranger]));
    // Of 120 rows the second strangest already has a score of 2/121.
    assert_eq!(folder.json("place flat.lion off.csv -o p.csv --alpha 2%")["outlier"], 1);
    let rows = PlacedTable::read(&folder, "p.csv");
    let Column::F64(shares) = rows.column("off_plane") else { panic!("no shares") };
    assert!(shares[0].unwrap() > 0.0 && shares[1] == Some(0.0), "{shares:?}");
    let paper = "place flat.lion off.csv -o p.csv --verdict paper";
    assert_eq!(folder.json(&format!("{paper} --pca-residual 99.9%"))["outlier"], 1);
    assert_eq!(folder.json(paper)["outlier"], 0);
}

#[test]
fn labels_tell_how_many_land_among_their_own_kind() {
    let folder = folder();
    let accuracy =
        |args: &str| folder.json(&format!("place m.lion {args} -o p.csv"))["accuracy_10nn"].clone();
    let own = accuracy("t.csv --id name --label kind");
    assert!(own.as_f64().unwrap() > 0.95, "{own}");
    folder.write("plain.csv", SampleTable::new().csv());
    folder.write("kinds.txt", SampleTable::new().labels.join("\n"));
    assert_eq!(accuracy("plain.csv --labels kinds.txt"), own);
    folder.write("wrong.txt", "beech\n".repeat(120));
    assert_eq!(accuracy("plain.csv --labels wrong.txt"), 0.0);
    assert_eq!(accuracy("plain.csv"), serde_json::Value::Null);
    let words = folder.lion("place m.lion t.csv --id name --label kind -o p.csv").stdout;
    assert!(words.contains("accuracy"), "{words}");
}

#[test]
fn what_looks_wrong_is_said() {
    let folder = folder();
    let strangers = [[999.0, 0.0, 0.0, 0.0], [0.0, 999.0, 0.0, 0.0], [20.0, 20.0, 20.0, 20.0]];
    folder.write("strange.csv", csv(&strangers));
    let done = folder.lion("place m.lion strange.csv -o p.csv");
    assert_eq!(done.code, Some(0));
    assert!(done.stderr.contains("of 3 rows are outliers"), "{}", done.stderr);
    assert!(done.stderr.contains("of another kind, or scaled differently"), "{}", done.stderr);
    let idle = folder.lion("place m.lion new.csv -o p.csv --power 3");
    assert_eq!(idle.stderr, "note: --power has no effect without --local idw\n");
    assert_eq!(folder.lion("place m.lion new.csv -o p.csv --power 3 --local idw").stderr, "");
}

#[test]
fn columns_are_chosen_and_headers_told() {
    let folder = folder();
    folder.json("place m.lion new.csv -o p.csv");
    let plain = folder.read("p.csv");
    let wide: String = csv(&new_rows())
        .lines()
        .enumerate()
        .map(|(i, line)| format!("{line},{},note\n", if i == 0 { "e".into() } else { i.to_string() }))
        .collect();
    folder.write("wide.csv", wide);
    for args in ["--columns a,b,c,d", "--exclude e,note"] {
        folder.json(&format!("place m.lion wide.csv {args} -o q.csv"));
        assert_eq!(folder.read("q.csv"), plain, "{args}");
    }
    // Numbers that are names after all.
    folder.write("years.csv", csv(&new_rows()).replace("a,b,c,d", "2001,2002,2003,2004"));
    assert_eq!(folder.json("place m.lion years.csv -o q.csv")["rows"], 44);
    folder
        .lion("place m.lion years.csv --header yes -o q.csv")
        .refuses(1, &["years.csv has no column a, which m.lion was fitted to"]);
    let named = "place m.lion years.csv --header yes --columns 2001,2002,2003,2004 -o q.csv";
    assert_eq!(folder.json(named)["rows"], 43);
    assert_eq!(folder.read("q.csv"), plain);
    assert_eq!(folder.json("place m.lion years.csv --header no -o q.csv")["rows"], 44);
    folder.lion("place m.lion new.csv --header no -o q.csv").refuses(1, &["new.csv", "row 0", "\"a\""]);
}

#[test]
fn fit_keeps_the_parameters_of_placing() {
    let folder = folder();
    let fit = |args: &str| {
        folder.json(&format!(
            "fit t.csv --id name --label kind -o n.lion --perplexity 5 --iterations 20 {args}"
        ))
    };
    let plain = fit("");
    for key in ["r_x", "r_y", "r_close", "power"] {
        assert!(plain[key].as_f64().unwrap() > 0.0, "{key}");
    }
    assert!(fit("--radius 50%")["r_x"].as_f64() < plain["r_x"].as_f64());
    let chosen = fit("--radius 12.5 --power 20 --r-y 7 --r-close 1");
    for (key, value) in [("r_x", 12.5), ("power", 20.0), ("r_y", 7.0), ("r_close", 1.0)] {
        assert_eq!(chosen[key], value, "{key}");
    }
    assert_eq!(folder.json("info n.lion")["power"], 20.0);
    let placed = folder.json("place n.lion new.csv -o p.csv");
    assert_eq!((&placed["r_x"], &placed["power"]), (&12.5.into(), &20.0.into()));

    fit("");
    let info = folder.json("info n.lion");
    let curve = info["power_curve"].as_array().unwrap();
    assert!(curve.len() > 5);
    let powers: Vec<f64> = curve.iter().map(|point| point["power"].as_f64().unwrap()).collect();
    assert!(powers.is_sorted() && powers[0] > 0.0 && *powers.last().unwrap() <= 50.0, "{powers:?}");
    let error = |point: &serde_json::Value| point["error"].as_f64().unwrap();
    let least = curve.iter().min_by(|a, b| error(a).total_cmp(&error(b))).unwrap();
    assert_eq!(least["power"], info["power"]);
    let words = folder.lion("info n.lion").stdout;
    for part in ["placing", "r_x", "r_close", "error by power", "least"] {
        assert!(words.contains(part), "{part}: {words}");
    }
}

#[test]
fn maps_made_elsewhere_place_too() {
    let folder = folder();
    folder.write("plain.csv", SampleTable::new().csv());
    folder.write("y.npy", npy(120, 2, &SampleTable::new().values()[..240]));
    folder.json("fit plain.csv --embedding y.npy -o m.lion --radius 95%");
    for local in ["energy", "attraction", "idw"] {
        let summary = folder.json(&format!("place m.lion new.csv --local {local} -o p.csv"));
        assert!(summary["exact"].as_u64().unwrap() >= 20 && summary["outlier"].as_u64().unwrap() >= 3);
    }
}
