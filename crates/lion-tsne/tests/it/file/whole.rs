//! What is written comes back, in every way of reading it.

use super::support::*;
use lion_tsne::Map;
use safetensors::SafeTensors;
use std::fs;

#[test]
fn what_is_written_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    for map in [full(), plain()] {
        let path = folder.path().join("m.lion");
        let saved = map.save(&path).unwrap();
        let bytes = fs::read(&path).unwrap();
        assert_eq!(saved.bytes, bytes.len() as u64);
        assert_eq!(map.to_bytes().unwrap(), bytes, "the same map makes the same bytes");
        assert_eq!(map.checksum().unwrap(), saved.checksum);
        assert_eq!(Forged::new(&map).checksum(), saved.checksum);
        let loaded = Map::load(&path).unwrap();
        assert!(loaded == map && Map::from_bytes(&bytes).unwrap() == map);
        assert_eq!(loaded.to_bytes().unwrap(), bytes);
    }
}

#[test]
fn a_loaded_map_answers_as_the_fitted_one_did() {
    let map = Map::from_bytes(&full().to_bytes().unwrap()).unwrap();
    assert_eq!((map.rows(), map.x().rows(), map.dims()), (7, 6, 2));
    assert_eq!(map.place(6), map.place(0));
    assert_eq!(map.place(5), map.y().row(5));
    assert_eq!((map.id(2), map.id(1)), ("läng".into(), "".into()));
    let labels = map.labels().unwrap();
    assert_eq!(labels.names().collect::<Vec<_>>(), ["red", "blue", ""]);
    assert_eq!(labels.codes(), [0, 1, 0, 0, 2, 1, 0]);
    assert_eq!(labels.get(5), "blue");
    assert_eq!(map.provenance(), &provenance());
    let row = [1.0, 2.0, 3.0, 4.0, 5.0];
    assert_eq!(map.preprocess().apply_row(&row).unwrap(), full().preprocess().apply_row(&row).unwrap());
    let plain = Map::from_bytes(&plain().to_bytes().unwrap()).unwrap();
    assert_eq!((plain.rows(), plain.dims(), plain.id(3)), (4, 3, "3".into()));
    assert!(!plain.has_ids() && plain.labels().is_none() && plain.place_of().is_none());
}

#[cfg(target_os = "linux")]
#[test]
fn rows_and_places_stay_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mapped.lion");
    full().save(&path).unwrap();
    let map = Map::load(&path).unwrap();
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let line = maps.lines().find(|line| line.contains("mapped.lion")).expect("the file is mapped");
    let (start, end) = line.split_whitespace().next().unwrap().split_once('-').unwrap();
    let range = usize::from_str_radix(start, 16).unwrap()..usize::from_str_radix(end, 16).unwrap();
    assert!(
        range.contains(&map.x().data().as_ptr().addr()) && range.contains(&map.y().data().as_ptr().addr())
    );
}

#[test]
fn a_mapped_map_outlives_the_replacement_of_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lion");
    full().save(&path).unwrap();
    let old = Map::load(&path).unwrap();
    plain().save(&path).unwrap();
    assert!(old == full() && Map::load(&path).unwrap() == plain());
    drop(fs::remove_file(&path));
    assert!(old == full());
}

#[test]
fn an_unaligned_file_is_read_all_the_same() {
    let (header, data) = Forged::new(&full()).pieces();
    let folder = tempfile::tempdir().unwrap();
    for spaces in 0..8 {
        let path = folder.path().join(spaces.to_string());
        fs::write(&path, assemble(&format!("{header}}}{}", " ".repeat(spaces)), &data)).unwrap();
        assert!(Map::load(&path).unwrap() == full());
    }
}

#[test]
fn additions_of_a_later_lion_are_ignored() {
    let mut forged = Forged::new(&full());
    forged.metadata.insert("note".into(), "hello".into());
    forged.tensors.insert("later.curve".into(), ("F64".into(), vec![1], vec![0; 8]));
    forged.parameters("{\"preprocess\":{", "{\"later\":{\"power\":20.5},\"preprocess\":{\"more\":[1,2],");
    assert!(Map::from_bytes(&forged.bytes()).unwrap() == full());
}

#[test]
fn other_tools_can_read_it() {
    let bytes = full().to_bytes().unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let x = tensors.tensor("x").unwrap();
    assert_eq!(x.shape(), [6, 3]);
    assert_eq!(x.data(), bytemuck::cast_slice::<f32, u8>(full().x().data()));
    for (name, tensor) in tensors.iter() {
        let start = tensor.data().as_ptr().addr() - bytes.as_ptr().addr();
        assert_eq!(start % (tensor.dtype().bitsize() / 8), 0, "{name} is not aligned in the file");
    }
}
