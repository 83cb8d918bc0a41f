//! Streams whose truth is known, and what a live map tells of them.

mod digits;
mod run;
mod world;

pub use digits::DigitRows;

use anyhow::Result;
use run::{AlarmStream, AlarmTally, run};
use std::sync::Arc;
use world::{World, WorldSource};

/// Rows a second: one in five seconds, one a minute, ... a thousand.
pub const RATES: [f64; 5] = [1.0 / 60.0, 0.2, 1.0, 50.0, 1000.0];
/// Ordinary rows before something happens.
const BEFORE: usize = 2000;

/// How much is tried.
pub struct AlarmBench {
    /// Streams of each kind.
    pub seeds: u64,
    /// Rows of an ordinary stream.
    pub ordinary: usize,
    /// Rows of a map.
    pub rows: usize,
    /// Rows a second.
    pub rates: Vec<f64>,
}

impl AlarmBench {
    /// False alarms on ordinary streams, each with a map of its own.
    pub fn ordinary(&self) -> Result<()> {
        println!(
            "| ordinary rows from the source of the map | rows a second | outliers | forming | stale | cluster-stale | vanishing | excess |"
        );
        println!("|---|---|---|---|---|---|---|---|");
        // Many rows are tried at one rate alone: the rate changes nothing.
        let rates = if self.ordinary > 20_000 { vec![50.0] } else { self.rates.clone() };
        for source in WorldSource::ALL {
            for &rate in &rates {
                let mut tally = AlarmTally::default();
                for seed in 0..self.seeds {
                    let world = World::new(source, self.rows, seed)?;
                    let mut rows = world.stream(seed + 1000);
                    tally.add(&run(
                        &world.lion,
                        AlarmStream::of((0..self.ordinary).map(|_| (rows.ordinary(), false)), rate),
                    )?);
                }
                println!(
                    "{}",
                    tally.false_alarms(&format!("{source}, {} x {}", self.seeds, self.ordinary), rate)
                );
            }
        }
        Ok(())
    }

    /// New clusters of some share of the stream.
    pub fn clusters(&self) -> Result<()> {
        println!(
            "| a new cluster | rows a second | found | members needed: median, most | told as | other alarms |\n|---|---|---|---|---|---|"
        );
        for source in WorldSource::ALL {
            for share in [0.01, 0.05, 0.2] {
                for &rate in &self.rates {
                    let mut tally = AlarmTally::default();
                    for seed in 0..self.seeds {
                        let world = World::new(source, self.rows, seed)?;
                        let mut rows = world.stream(seed + 2000);
                        let after = (60.0 / share) as usize;
                        let stream = (0..BEFORE + after).map(|i| {
                            let new = i >= BEFORE && rows.chance(share);
                            (if new { rows.new_cluster() } else { rows.ordinary() }, new)
                        });
                        tally.add(&run(&world.lion, AlarmStream::of(stream, rate))?);
                    }
                    println!(
                        "{}",
                        tally.found(
                            &format!("{source}, {:.0} % of the stream", share * 100.0),
                            rate,
                            "forming"
                        )
                    );
                }
            }
        }
        Ok(())
    }

    /// A shift of all rows, or of the outliers alone, and its end.
    pub fn drift(&self) -> Result<()> {
        println!(
            "| a shift that makes 7 % outliers | rows a second | stale told | rows needed: median, most | fresh told | rows needed: median, most | fresh told too early |"
        );
        println!("|---|---|---|---|---|---|---|");
        for source in WorldSource::ALL {
            for whole in [true, false] {
                for &rate in &self.rates {
                    let mut tally = AlarmTally::default();
                    for seed in 0..self.seeds {
                        let world = World::new(source, self.rows, seed)?;
                        let strength = world.strength(whole, 0.07, seed)?;
                        let mut rows = world.stream(seed + 3000);
                        let stream = (0..BEFORE + 1000).map(|i| {
                            let shifted = (BEFORE..BEFORE + 600).contains(&i);
                            (if shifted { rows.shifted(whole, strength) } else { rows.ordinary() }, shifted)
                        });
                        tally.add(&run(&world.lion, AlarmStream::of(stream, rate))?);
                    }
                    let what = if whole { "all rows noisier" } else { "strangers far apart" };
                    println!("{}", tally.shift(&format!("{source}, {what}"), rate));
                }
            }
        }
        Ok(())
    }

    /// A cluster that gets no more rows, and gets them again.
    pub fn stops(&self) -> Result<()> {
        println!(
            "| a cluster that stops | rows a second | vanishing told | rows needed, beside ln(100 000) / share: median, most | recovered told | rows needed: median, most | recovered told too early |"
        );
        println!("|---|---|---|---|---|---|---|");
        for source in WorldSource::ALL {
            for &rate in &self.rates {
                let mut tally = AlarmTally::default();
                let mut share = 0.0;
                for seed in 0..self.seeds {
                    let world = World::new(source, self.rows, seed)?;
                    let mut rows = world.stream(seed + 4000);
                    share = rows.share(0);
                    let pause = (40.0 / share) as usize;
                    let stream = (0..BEFORE + pause + pause).map(|i| {
                        let stopped = (BEFORE..BEFORE + pause).contains(&i);
                        (if stopped { rows.ordinary_but(0) } else { rows.ordinary() }, stopped)
                    });
                    tally.add(&run(&world.lion, AlarmStream::of(stream, rate))?);
                }
                println!(
                    "{}",
                    tally.stop(
                        &format!("{source}, {:.0} % of the stream", share * 100.0),
                        rate,
                        1e5f64.ln() / share
                    )
                );
            }
        }
        Ok(())
    }

    /// The same with digits: unseen ones are ordinary, one that was held out is new.
    pub fn mnist(&self, digits: &DigitRows) -> Result<()> {
        println!(
            "| MNIST, a map of {} digits | rows | outliers | forming | stale | cluster-stale | vanishing | excess |",
            digits.rows()
        );
        println!("|---|---|---|---|---|---|---|---|");
        let lion = Arc::new(digits.map(None)?);
        let mut tally = AlarmTally::default();
        for seed in 0..self.seeds.min(digits.streams()) {
            tally.add(&run(&lion, AlarmStream::of(digits.unseen(seed), 10.0))?);
        }
        println!("{}", tally.false_alarms("unseen digits", tally.rows as f64));
        println!(
            "\n| a digit that was held out | share | found | members needed: median, most | told as | other alarms |\n|---|---|---|---|---|---|"
        );
        for held_out in digits.held_out() {
            let lion = Arc::new(digits.map(Some(held_out))?);
            for share in [0.01, 0.05, 0.2] {
                let mut tally = AlarmTally::default();
                for seed in 0..self.seeds {
                    tally.add(&run(&lion, AlarmStream::of(digits.with_new(held_out, share, seed), 10.0))?);
                }
                println!("{}", tally.found(&format!("{held_out}"), share, "forming"));
            }
        }
        Ok(())
    }
}
