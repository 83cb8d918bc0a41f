//! scratch
use lion_tsne::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let (n, d): (usize, usize) = (a[2].parse().unwrap(), a[3].parse().unwrap());
    let bytes = std::fs::read(&a[1]).unwrap();
    let data: Vec<f32> = bytes[bytes.len() - n * d * 4..].chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    let x = Matrix::new(n, d, data).unwrap();
    let t = std::time::Instant::now();
    let cache = format!("/tmp/nn{n}.bin");
    let nn = if let Ok(b) = std::fs::read(&cache) { let h = b.len() / 2; index::Neighbours { k: 90, indices: b[..h].chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect(), distances2: b[h..].chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect() } } else {
    let index = index::ExactIndex::new(&x);
    let nn = index.nearest_of_all(90, &|_| true).unwrap();
    let mut b: Vec<u8> = bytemuck::cast_slice(&nn.indices).to_vec(); b.extend_from_slice(bytemuck::cast_slice(&nn.distances2)); std::fs::write(&cache, b).unwrap(); nn };
    println!("knn {:?}", t.elapsed());
    let t = std::time::Instant::now();
    let p = affinity::Affinities::new(nn, 30.0);
    println!("affinity {:?} edges {} sum {}", t.elapsed(), p.values.len(), p.values.iter().map(|&v| v as f64).sum::<f64>());
    let s0 = (0..n).map(|i| (x.row(i)[0] as f64).powi(2)).sum::<f64>() / n as f64;
    let sc = (1e-4 / s0.sqrt()) as f32;
    let mut y: Vec<[f32; 2]> = (0..n).map(|i| [x.row(i)[0] * sc, x.row(i)[1] * sc]).collect();
    let t = std::time::Instant::now();
    let lr2: f64 = a.get(4).map(|s| s.parse().unwrap()).unwrap_or(1.0);
    let s = tsne::Schedule { iterations: std::env::var("IT").map(|s| s.parse().unwrap()).unwrap_or(750), exaggeration_iterations: 250, exaggeration: 12.0, learning_rates: [n as f64 / 12.0, n as f64 / lr2], exact: a.len() > 5 };
    let o = tsne::optimise(&p, &mut y, &s, &mut |p| { println!("{} kl {:?} |g| {:?}", p.done, p.kl, p.gradient_norm); std::ops::ControlFlow::Continue(()) });
    println!("{:?} {:?}", t.elapsed(), o);
    std::fs::write("/tmp/y.f32", bytemuck::cast_slice::<[f32; 2], u8>(&y)).unwrap();
}
