//! scratch
use lion_tsne::*;
use std::time::Instant;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let x = lion_bench::matrix(a[1].as_ref()).unwrap();
    let mut fit = Fit { pca: PcaChoice::None, threads: std::env::var("T").map(|t| t.parse().unwrap()).unwrap_or(2), ..Fit::default() };
    for o in &a[2..] {
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
}
