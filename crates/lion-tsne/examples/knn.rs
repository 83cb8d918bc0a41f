//! scratch
use lion_tsne::*;
use std::time::Instant;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let (n, d): (usize, usize) = (a[2].parse().unwrap(), a[3].parse().unwrap());
    let bytes = std::fs::read(&a[1]).unwrap();
    let data: Vec<f32> = bytes[bytes.len() - n * d * 4..].chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    let x = Matrix::new(n, d, data).unwrap();
    let mut fit = Fit { pca: PcaChoice::None, threads: 2, ..Fit::default() };
    for o in &a[4..] {
        match o.as_str() { "exact" => fit.method = Method::Exact, "bh" => fit.method = Method::BarnesHut, "fft" => fit.method = Method::Fft, "ivf" => fit.search = Search::Approximate, "3" => fit.dims = 3, "spectral" => fit.init = Init::Spectral, "random" => fit.init = Init::Random, s => fit.iterations = s.parse().unwrap() }
    }
    let t = Instant::now();
    let mut last = Stage::Preprocess;
    let map = fit.run(x, &mut |p: &Progress| {
        if p.stage != last { println!("{:?} {}", t.elapsed(), p.stage); last = p.stage; }
        if let Some(n) = p.note { println!("  {n}"); }
        if p.done % 250 == 0 { if let Some(kl) = p.kl { println!("{:?} {} kl {kl} |g| {:?}", t.elapsed(), p.done, p.gradient_norm); } }
        std::ops::ControlFlow::Continue(())
    }).unwrap();
    println!("{:?} kl {:?}", t.elapsed(), map.provenance().kl);
    map.save("/tmp/m.lion").unwrap();
}
