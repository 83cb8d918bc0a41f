//! One test for each kind of file that is whole, with a right checksum, and still no map.

use super::support::*;
use lion_tsne::landmarks::SampledFrom;
use lion_tsne::map::MapParts;
use lion_tsne::{Fit, Map, Matrix, PcaChoice, ignore};

#[test]
fn an_unknown_version() {
    let version = |version: &str| refused(|f| drop(f.metadata.insert("version".into(), version.into())));
    assert_eq!(
        version("3"),
        "the map is of version 3, and this build reads versions up to 2: update lion, or make the map again"
    );
    for never in ["0", "-1", "one", ""] {
        assert_eq!(
            version(never),
            format!("the map is of version {never:?}, which there never was: {AGAIN}")
        );
    }
}

#[test]
fn a_missing_tensor() {
    for name in [
        "x",
        "y",
        "pca.mean",
        "pca.components",
        "pca.variances",
        "ids.bytes",
        "labels.offsets",
        "labels.bytes",
    ] {
        let sentence = refused(|f| drop(f.tensors.remove(name)));
        assert_eq!(sentence, format!("the map is not valid, it has no tensor `{name}`: {AGAIN}"));
    }
}

#[test]
fn a_tensor_of_the_wrong_type_or_dimension() {
    let sentence = refused(|f| f.tensor("y").0 = "I32".into());
    assert_eq!(sentence, format!("the map is not valid, tensor `y` is I32, and must be F32: {AGAIN}"));
    let sentence = refused(|f| f.tensor("y").1 = vec![12]);
    assert_eq!(sentence, format!("the map is not valid, tensor `y` must have two dimensions: {AGAIN}"));
    let sentence = refused(|f| f.tensor("place_of").1 = vec![1, 7]);
    assert_eq!(sentence, format!("the map is not valid, tensor `place_of` must have one dimension: {AGAIN}"));
    let sentence = refused(|f| f.tensor("kl_history").1 = vec![4, 1]);
    assert_eq!(sentence, format!("the map is not valid, tensor `kl_history` must have two columns: {AGAIN}"));
    let sentence = refused(|f| f.tensor("kl_history").2[..8].copy_from_slice(&0.5f64.to_le_bytes()));
    assert_eq!(
        sentence,
        format!("the map is not valid, tensor `kl_history` has a broken iteration: {AGAIN}")
    );
}

#[test]
fn parts_that_do_not_agree() {
    let invalid = |forge: fn(&mut Forged)| {
        let sentence = refused(forge);
        let problem = sentence.strip_prefix("the map is not valid, ").and_then(|s| s.strip_suffix(AGAIN));
        problem.unwrap_or_else(|| panic!("{sentence}")).trim_end_matches(": ").to_string()
    };
    assert_eq!(invalid(|f| f.tensor("y").1 = vec![4, 3]), "there are 6 rows but 4 places");
    assert_eq!(invalid(|f| f.tensor("x").1 = vec![9, 2]), "there are 9 rows but 6 places");
    assert_eq!(invalid(|f| f.tensor("x").1 = vec![18, 1]), "there are 18 rows but 6 places");
    let narrow = invalid(|f| {
        f.tensor("x").1 = vec![6, 1];
        f.tensor("x").2.truncate(24);
    });
    assert_eq!(narrow, "the rows have 1 columns, but the preprocessing gives 3");
    let four = invalid(|f| {
        f.tensor("y").1 = vec![6, 4];
        f.tensor("y").2 = vec![0; 96];
    });
    assert_eq!(four, "the places have 4 dimensions, and must have 1 to 3");
    let none = invalid(|f| {
        *f.tensor("x") = ("F32".into(), vec![0, 3], vec![]);
        *f.tensor("y") = ("F32".into(), vec![0, 2], vec![]);
    });
    assert_eq!(none, "a map needs at least one row");
    let endless = invalid(|f| {
        *f.tensor("x") = ("F32".into(), vec![1 << 40, 0], vec![]);
        *f.tensor("y") = ("F32".into(), vec![1 << 40, 0], vec![]);
        f.tensors.remove("place_of");
    });
    assert_eq!(endless, "a map holds at most 4294967295 rows, not 1099511627776");
    let nan = invalid(|f| f.tensor("y").2[12..16].copy_from_slice(&f32::NAN.to_le_bytes()));
    assert_eq!(nan, "y is NaN in row 1, column 1, and must be finite");
    let infinite = invalid(|f| f.tensor("x").2[..4].copy_from_slice(&f32::NEG_INFINITY.to_le_bytes()));
    assert_eq!(infinite, "x is -inf in row 0, column 0, and must be finite");
    let beyond = invalid(|f| f.tensor("place_of").2[8] = 6);
    assert_eq!(beyond, "row 2 has a place beyond the 6 there are");
    assert_eq!(
        invalid(|f| f.tensor("pca.mean").2[3] = 0xff),
        "the PCA has a mean or component that is not finite"
    );
    assert_eq!(
        invalid(|f| f.tensor("pca.variances").2[7] = 0xff),
        "the PCA has a variance that is negative or not finite"
    );
    let width = invalid(|f| f.parameters("\"input_dims\":5", "\"input_dims\":6"));
    assert_eq!(width, "the PCA takes 5 columns, but the preprocessing 6");
    let zero = invalid(|f| {
        *f.tensor("pca.components") = ("F32".into(), vec![1 << 50, 0], vec![]);
    });
    assert_eq!(zero, "the PCA has no components");
}

#[test]
fn ids_and_labels_that_are_not_texts() {
    let invalid = |forge: fn(&mut Forged)| refused(forge).replace(&format!(": {AGAIN}"), "");
    let prefix = "the map is not valid, its";
    assert_eq!(invalid(|f| f.tensor("ids.bytes").2[0] = 0xff), format!("{prefix} ids are not valid UTF-8"));
    let offset = |f: &mut Forged, i: usize, to: u64| {
        f.tensor("ids.offsets").2[8 * i..8 * i + 8].copy_from_slice(&to.to_le_bytes());
    };
    let backwards = refused(|f| offset(f, 2, u64::MAX));
    assert_eq!(backwards, format!("{prefix} ids have offsets that run backwards: {AGAIN}"));
    for (i, to) in [(0, 1), (7, 14), (7, u64::MAX)] {
        let sentence = refused(|f| offset(f, i, to));
        assert_eq!(sentence, format!("{prefix} ids have offsets that do not cover their bytes: {AGAIN}"));
    }
    // "a", "", "läng": the third begins at 1, and its second character at 2.
    let sentence = refused(|f| offset(f, 2, 3));
    assert_eq!(sentence, format!("{prefix} ids have an offset inside a character: {AGAIN}"));
    let none = invalid(|f| *f.tensor("ids.offsets") = ("U64".into(), vec![0], vec![]));
    assert_eq!(none, format!("{prefix} ids have offsets that do not cover their bytes"));
    let few = invalid(|f| {
        *f.tensor("ids.offsets") = ("U64".into(), vec![1], vec![0; 8]);
        *f.tensor("ids.bytes") = ("U8".into(), vec![0], vec![]);
    });
    assert_eq!(few, "the map is not valid, there are 7 rows but 0 ids");
    let twice = refused(|f| f.tensor("ids.bytes").2[12] = b'a');
    let sentence = "the map is not valid, the id \"a\" is given to row 0 and to row 4: give each row its own";
    assert_eq!(twice, format!("{sentence}: {AGAIN}"));
    let code = invalid(|f| f.tensor("labels.codes").2[0] = 3);
    assert_eq!(code, format!("{prefix} labels have a code beyond their names"));
    let short = invalid(|f| {
        f.tensor("labels.codes").1 = vec![6];
        f.tensor("labels.codes").2.truncate(24);
    });
    assert_eq!(short, "the map is not valid, there are 7 rows but 6 labels");
    let same = invalid(|f| {
        *f.tensor("labels.bytes") = ("U8".into(), vec![2], b"rr".to_vec());
        let offsets = [0u64, 1, 2, 2];
        f.tensor("labels.offsets").2 = offsets.iter().flat_map(|o| o.to_le_bytes()).collect();
    });
    assert_eq!(same, format!("{prefix} labels have the same name twice"));
}

#[test]
fn parameters_that_cannot_be_read() {
    let sentence = refused(|f| drop(f.metadata.remove("parameters")));
    assert_eq!(sentence, format!("the map is not valid, it has no parameters: {AGAIN}"));
    let deep = "[".repeat(100_000);
    let bomb = format!("{{\"preprocess\":{}", "{\"a\":".repeat(50_000));
    for parameters in ["", "{}", "null", "[1", &deep, &bomb] {
        let sentence = refused(|f| drop(f.metadata.insert("parameters".into(), parameters.into())));
        assert!(sentence.starts_with("the map is not valid, its parameters cannot be read ("), "{sentence}");
    }
    for (from, to) in [
        ("\"cosine\"", "\"manhattan\""),
        ("\"seed\":", "\"seed\":1,\"seed\":"),
        ("30.0", "1e999"),
        ("30.0", "null"),
    ] {
        let sentence = refused(|f| f.parameters(from, to));
        assert!(sentence.starts_with("the map is not valid, its parameters cannot be read ("), "{sentence}");
    }
}

#[test]
fn radii_and_a_power_that_cannot_be() {
    let fit = Fit { pca: PcaChoice::None, ..Fit::default() };
    let x = Matrix::new(30, 2, (0..60).map(|i| (i * i % 47) as f32).collect()).unwrap();
    let forged = Forged::new(&fit.adopt(x.clone(), x, &mut ignore).unwrap());
    for name in ["r_x", "r_y", "r_close", "power"] {
        let mut forged = forged.clone();
        let parameters = forged.metadata["parameters"].clone();
        let at = parameters.find(&format!("\"{name}\":")).unwrap();
        let end = at + parameters[at..].find([',', '}']).unwrap();
        forged.parameters(&parameters[at..end], &format!("\"{name}\":-1.0"));
        assert_eq!(
            refusal(&forged.bytes()),
            format!(
                "the map is not valid, the parameters of placing have a radius or power that cannot be: {AGAIN}"
            )
        );
    }
    for number in 0..2 {
        let mut forged = forged.clone();
        forged.tensor("lion.power_curve").2[8 * number..][..8].copy_from_slice(&f64::INFINITY.to_le_bytes());
        assert_eq!(
            refusal(&forged.bytes()),
            format!(
                "the map is not valid, the parameters of placing have a curve that is not finite: {AGAIN}"
            )
        );
    }
}

#[test]
fn parts_are_checked_before_they_are_a_map() {
    let refused = |change: fn(&mut MapParts)| {
        let mut parts = parts();
        change(&mut parts);
        Map::new(parts).unwrap_err().to_string()
    };
    assert_eq!(refused(|p| p.ids.as_mut().unwrap().truncate(3)), "there are 7 rows but 3 ids");
    assert_eq!(refused(|p| p.labels.as_mut().unwrap().truncate(3)), "there are 7 rows but 3 labels");
    assert_eq!(
        refused(|p| p.ids.as_mut().unwrap()[6] = "日本".into()),
        "the id \"日本\" is given to row 3 and to row 6: give each row its own"
    );
    assert_eq!(
        refused(|p| p.provenance.learning_rate = f64::NAN),
        "a parameter or KL divergence of the map is not finite"
    );
    assert_eq!(
        refused(|p| {
            let (rows, uncovered, judged) = (6, 0, 0);
            let (stratified, covering, uncovered_error) = (false, 0, 0);
            let from = SampledFrom { rows, stratified, covering, uncovered, uncovered_error, judged };
            p.provenance.sampled_from = Some(from);
        }),
        "the map has more rows than it was sampled from"
    );
    assert_eq!(refused(|p| p.y.data_mut()[1] = f32::NAN), "y is NaN in row 0, column 1, and must be finite");
}

/// Finite values of any size pass a checksum, and their squares would not.
#[test]
fn values_that_no_map_has() {
    for (name, value, at_most) in [
        ("x", 3e38f32, "4.472"),
        ("y", -1.9e19, "1e15"),
        ("pca.mean", 3e38, "1e15"),
        ("pca.components", 1e20, "2e0"),
    ] {
        let sentence = refused(|f| f.tensor(name).2[..4].copy_from_slice(&value.to_le_bytes()));
        let expected = format!(
            "the map is not valid, {name} is {value:e} in row 0, column 0, and no map has values beyond {at_most}"
        );
        assert!(sentence.starts_with(&expected), "{sentence}");
    }
}
