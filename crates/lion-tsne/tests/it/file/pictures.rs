//! Pictures of rows: drawn, kept, and refused where they do not fit.

use super::support::*;
use lion_tsne::map::Image;
use lion_tsne::{Map, Matrix};

const IMAGE: Image = Image { width: 2, height: 1, channels: 1 };

/// The rows of `plain`: 0, 1 to 6, 7.
fn rows() -> Matrix {
    Matrix::new(4, 2, (0..8).map(|i| i as f32).collect()).unwrap()
}

fn drawn() -> Map {
    plain().with_pictures(IMAGE, &rows()).unwrap()
}

#[test]
fn values_become_bytes_from_the_least_to_the_greatest() {
    let map = drawn();
    assert_eq!(map.image(), Some(IMAGE));
    let pictures: Vec<&[u8]> = (0..4).filter_map(|row| map.picture(row)).collect();
    assert_eq!(pictures, [[0, 36], [73, 109], [146, 182], [219, 255]]);
    assert_eq!((map.picture(4), map.picture(usize::MAX)), (None, None));
    // New rows are drawn alike; beyond the range they are black or white.
    assert_eq!(map.as_picture(&[3.5, 7.0]), Some(vec![128, 255]));
    assert_eq!(map.as_picture(&[-100.0, 100.0]), Some(vec![0, 255]));
    assert_eq!(map.as_picture(&[1.0]), None);
    assert_eq!((plain().image(), plain().picture(0), plain().as_picture(&[1.0, 2.0])), (None, None, None));
    let flat = plain().with_pictures(IMAGE, &Matrix::new(4, 2, vec![5.0; 8]).unwrap()).unwrap();
    assert_eq!(flat.picture(0), Some(&[0, 0][..]));
}

#[test]
fn pictures_are_kept_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.lion");
    let map = drawn();
    let saved = map.save(&path).unwrap();
    assert_eq!(saved.checksum, map.checksum().unwrap());
    assert_eq!(Forged::new(&map).checksum(), saved.checksum);
    let (loaded, copied) = (Map::load(&path).unwrap(), Map::from_bytes(&map.to_bytes().unwrap()).unwrap());
    for again in [loaded, copied] {
        assert!(again == map && again != plain());
        assert_eq!((again.image(), again.picture(3)), (Some(IMAGE), Some(&[219, 255][..])));
        assert_eq!(again.as_picture(&[3.5, 7.0]), map.as_picture(&[3.5, 7.0]));
        assert_eq!(again.with_places(Matrix::zeros(4, 2)).unwrap().picture(1), map.picture(1));
    }
}

/// A file of before there were pictures is one without their names.
#[test]
fn files_without_pictures_load_and_stay_as_they_were() {
    let bytes = plain().to_bytes().unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("pictures"));
    let map = Map::from_bytes(&bytes).unwrap();
    assert_eq!((map.image(), map.to_bytes().unwrap()), (None, bytes));
}

#[test]
fn pictures_that_do_not_fit() {
    let sentence = |image: Image, rows: &Matrix| plain().with_pictures(image, rows).unwrap_err().to_string();
    let wide = Image { width: 28, height: 28, channels: 1 };
    assert_eq!(sentence(wide, &rows()), "image 28x28 has 784 values, but the rows have 2 columns");
    let odd = Image { width: 1, height: 1, channels: 2 };
    let wanted = "must be WIDTHxHEIGHT, or WIDTHxHEIGHTx3 for colours, each at least 1";
    assert_eq!(sentence(odd, &rows()), format!("image {wanted}"));
    let few = Matrix::new(3, 2, vec![1.0; 6]).unwrap();
    assert_eq!(sentence(IMAGE, &few), "the map has 4 rows, and pictures of 3 were given");
    for text in ["", "28", "28x", "0x5", "2x2x2", "axb", "1x2x3x4", "99999999999x99999999999x4294967297"] {
        let error = text.parse::<Image>().unwrap_err().to_string();
        assert_eq!(error, format!("image must be WIDTHxHEIGHT or WIDTHxHEIGHTx3, e.g. 28x28, not {text:?}"));
    }
    assert_eq!("32x16x3".parse::<Image>().unwrap().to_string(), "32x16x3");
}

#[test]
fn files_whose_pictures_do_not_fit() {
    let refused = |forge: &dyn Fn(&mut Forged)| {
        let mut forged = Forged::new(&drawn());
        forge(&mut forged);
        refusal(&forged.bytes())
    };
    let invalid = |problem: &str| format!("the map is not valid, {problem}: {AGAIN}");
    let gone = refused(&|forged| _ = forged.tensors.remove("pictures"));
    assert_eq!(gone, invalid("it has no tensor `pictures`"));
    let few = refused(&|forged| *forged.tensor("pictures") = ("U8".into(), vec![3, 2], vec![0; 6]));
    assert_eq!(few, invalid("4 rows of 2 values need as many bytes of pictures, not 6"));
    let wide = refused(&|forged| forged.parameters("\"width\":2", "\"width\":3"));
    assert_eq!(wide, invalid("image 3x1 has 3 values, but the rows have 2 columns"));
    let range = refused(&|forged| forged.parameters("\"low\":0.0", "\"low\":9.0"));
    assert_eq!(range, invalid("the pictures have no range of values"));
}
