//! Bytes changed at random are refused or mean the same, and any map comes back.

use super::support::*;
use lion_tsne::map::{MapParts, Provenance};
use lion_tsne::preprocess::Preprocess;
use lion_tsne::{Map, Matrix, Metric, PcaChoice};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_file_with_changed_bytes_is_refused_or_the_same(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let map = full();
        let mut bytes = map.to_bytes().unwrap();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(read) = Map::from_bytes(&bytes) {
            prop_assert!(read == map);
        }
    }

    #[test]
    fn a_file_with_a_flipped_bit_in_its_header_is_refused_or_the_same(at in 0usize..1200, bit in 0u8..8) {
        let map = full();
        let mut bytes = map.to_bytes().unwrap();
        bytes[at] ^= 1 << bit;
        if let Ok(read) = Map::from_bytes(&bytes) {
            prop_assert!(read == map);
        }
    }

    #[test]
    fn a_file_cut_or_grown_is_refused(at in any::<prop::sample::Index>(), grow in any::<bool>()) {
        let mut bytes = full().to_bytes().unwrap();
        let at = at.index(bytes.len());
        if grow { bytes.insert(at, bytes[at]) } else { bytes.truncate(at) }
        // A space more in the header would be no other map, but its length says otherwise.
        prop_assert!(Map::from_bytes(&bytes).is_err());
    }

    #[test]
    fn forged_tensors_never_panic(
        which in any::<prop::sample::Index>(),
        shape in prop::collection::vec(0usize..9, 0..4),
        data in prop::collection::vec(any::<u8>(), 0..80),
        dtype in prop::sample::select(vec!["F32", "F64", "U32", "U64", "U8", "BOOL", "F4"]),
    ) {
        let mut forged = Forged::new(&full());
        let names: Vec<String> = forged.tensors.keys().cloned().collect();
        let bits = shape.iter().product::<usize>() * match dtype { "F32" | "U32" => 32, "F64" | "U64" => 64, "F4" => 4, _ => 8 };
        let data: Vec<u8> = data.into_iter().cycle().chain(std::iter::repeat(0)).take(bits / 8).collect();
        forged.tensors.insert(names[which.index(names.len())].clone(), (dtype.into(), shape, data));
        // Whatever is read must be usable throughout.
        if let Ok(map) = Map::from_bytes(&forged.bytes()) {
            for i in 0..map.rows() {
                prop_assert!(map.place(i).iter().all(|v| v.is_finite()) && map.id(i).len() < 100);
                prop_assert!(map.labels().is_none_or(|labels| labels.get(i).len() < 100));
            }
        }
    }

    #[test]
    fn any_map_comes_back(
        rows in 1usize..20, cols in 1usize..6, dims in 1usize..4,
        values in prop::collection::vec(-1e15f32..1e15, 1..40),
        texts in prop::collection::vec(".{0,6}", 20), with_ids in any::<bool>(), with_labels in any::<bool>(),
        kl in prop::option::of(any::<f64>().prop_filter("finite", |v| v.is_finite())),
    ) {
        let fill = |rows: usize, cols: usize| {
            Matrix::new(rows, cols, values.iter().cycle().take(rows * cols).copied().collect()).unwrap()
        };
        let (preprocess, x) = Preprocess::fit(fill(rows, cols), Metric::Euclidean, PcaChoice::None, 0).unwrap();
        let map = Map::new(MapParts {
            preprocess, x, y: fill(rows, dims), place_of: None,
            ids: with_ids.then(|| (0..rows).map(|i| format!("{i}:{}", texts[i])).collect()),
            labels: with_labels.then(|| texts[..rows].to_vec()),
            provenance: Provenance { kl, ..provenance() }, lion: None,
        }).unwrap();
        prop_assert!(Map::from_bytes(&map.to_bytes().unwrap()).unwrap() == map);
    }
}
