//! Who is compared, and what the paper published of them.
//!
//! Source: Boytsov, Fouquet, Hartmann and Le Traon (2017), "Visualizing and Exploring Dynamic High-Dimensional
//! Datasets with LION-tSNE", for every published figure.

use crate::{Baseline, Contender, Descent, Epsilon, Kernel, Network, OpenTsneStart};
use lion_tsne::{Local, VerdictRule};
use serde::Serialize;

/// The kinds of methods; figures show one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MethodFamily {
    Rbf,
    Idw,
    Descent,
    Network,
    Kernelized,
    Lion,
    /// Not in the paper.
    Beyond,
}

/// What the paper's two tables say of a method.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct PublishedScores {
    /// Accuracy in percent, distance percentile, KL divergence.
    pub(crate) cluster: [f64; 3],
    /// Distance percentile, distance, KL divergence.
    pub(crate) outliers: [f64; 3],
}

/// The paper's baseline: accuracy in percent and KL divergence.
pub(crate) const BASELINE: [f64; 2] = [87.59, 1.11688];

/// KL divergences of the maps that the paper's networks make of the training rows themselves.
pub(crate) const NETWORKS: [f64; 3] = [1.3701965, 1.4051886, 1.1315920];

/// One method of the comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) contender: Contender,
    pub(crate) family: MethodFamily,
    pub(crate) published: Option<PublishedScores>,
    /// Stands for its family in the figures.
    pub(crate) shown: bool,
}

impl Entry {
    pub(crate) fn name(&self) -> String {
        self.contender.to_string()
    }

    /// About how many seconds it takes to build it from 2500 rows and place 4000.
    pub(crate) fn expected(&self, quick: bool) -> f64 {
        let (building, placing) = match self.contender {
            Contender::Other(Baseline::Network(network)) => {
                let weights = (network.layers - 1) * network.nodes * network.nodes + 32 * network.nodes;
                (network.epochs as f64 * weights as f64 * 2500.0 * 6.0 / 1e11, 0.1)
            }
            Contender::Other(Baseline::Descent(descent)) if descent.new_sigma => (0.5, 30.0),
            Contender::Other(Baseline::Descent(_)) => (0.5, 5.0),
            Contender::Other(Baseline::Rbf { .. } | Baseline::Kernelized { .. }) => (0.7, 0.5),
            _ => (0.3, 1.0),
        };
        building + if quick { placing / 5.0 } else { placing }
    }
}

/// All of them, in the order of the paper's tables, then ours. `power` is the one that leave-one-out finds for
/// inverse-distance weighting over all rows; networks learn for so many epochs.
pub(crate) fn entries(power: f64, epochs: usize) -> Vec<Entry> {
    let mut entries = rbf();
    entries.extend(idw(power));
    entries.extend(descent());
    entries.extend(networks(epochs));
    entries.extend(kernelized());
    entries.extend(lion());
    entries.extend(beyond());
    // A validated power that is one of the fixed ones stands for both.
    let names: Vec<String> = entries.iter().map(Entry::name).collect();
    let is_twin =
        |at: usize| !entries[at].shown && names.iter().filter(|name| **name == names[at]).count() > 1;
    (0..entries.len()).filter(|&at| !is_twin(at)).map(|at| entries[at]).collect()
}

fn other(baseline: Baseline, family: MethodFamily, cluster: [f64; 3], outliers: [f64; 3]) -> Entry {
    Entry {
        contender: Contender::Other(baseline),
        family,
        published: Some(PublishedScores { cluster, outliers }),
        shown: false,
    }
}

fn rbf() -> Vec<Entry> {
    let rbf = |kernel: Kernel, cluster, outliers| {
        let entry = |epsilon| other(Baseline::Rbf { kernel, epsilon }, MethodFamily::Rbf, cluster, outliers);
        let first = Entry { shown: kernel == Kernel::Multiquadric, ..entry(Epsilon::MeanDistance) };
        // The paper's text and its program choose epsilon differently.
        [first].into_iter().chain(kernel.has_width().then(|| entry(Epsilon::Edges)))
    };
    [
        rbf(Kernel::Multiquadric, [73.84, 53.548, 1.11909], [78.785, 4.372, 1.12235]),
        rbf(Kernel::Gaussian, [73.78, 55.081, 1.11907], [84.765, 6.597, 1.12271]),
        rbf(Kernel::InverseMultiquadric, [74.30, 53.226, 1.11899], [77.950, 4.175, 1.12245]),
        rbf(Kernel::Linear, [70.93, 52.659, 1.11908], [83.454, 4.844, 1.12235]),
        rbf(Kernel::Cubic, [73.49, 53.974, 1.11909], [74.596, 3.882, 1.12239]),
        rbf(Kernel::Quintic, [67.44, 61.672, 1.11960], [99.757, 98.044, 1.12383]),
        rbf(Kernel::ThinPlate, [72.83, 53.141, 1.11903], [79.766, 4.551, 1.12233]),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn idw(power: f64) -> Vec<Entry> {
    let idw = |power, cluster, outliers| other(Baseline::Idw { power }, MethodFamily::Idw, cluster, outliers);
    vec![
        idw(1.0, [8.92, 65.853, 1.12220], [55.687, 1.486, 1.12236]),
        idw(10.0, [83.73, 25.170, 1.11819], [41.728, 1.289, 1.12256]),
        idw(20.0, [87.88, 4.845, 1.11789], [72.443, 3.236, 1.12233]),
        // Cross-validated; the paper found 27.9.
        Entry { shown: true, ..idw(power, [87.95, 2.782, 1.11788], [75.240, 3.931, 1.12233]) },
        idw(40.0, [87.96, 1.905, 1.11787], [75.788, 3.802, 1.12236]),
    ]
}

fn descent() -> Vec<Entry> {
    let published = |descent: &Descent| match descent.to_string().as_str() {
        "gd-closest" => ([87.81, 10.971, 1.11780], [96.976, 3.933, 1.12254]),
        "gd-random" => ([33.35, 76.420, 1.12125], [98.003, 14.983, 1.12264]),
        "gd-closest-sigma" => ([87.81, 15.117, 1.11780], [96.976, 3.933, 1.12254]),
        "gd-random-sigma" => ([32.51, 79.012, 1.12135], [98.003, 14.985, 1.12264]),
        "gd-closest-ee" => ([87.84, 10.880, 1.11780], [97.630, 3.856, 1.12254]),
        "gd-random-ee" => ([48.66, 56.197, 1.12019], [98.517, 7.729, 1.12253]),
        "gd-closest-sigma-ee" => ([87.82, 15.363, 1.11780], [97.623, 3.852, 1.12254]),
        _ => ([47.81, 60.648, 1.12028], [98.551, 7.724, 1.12253]),
    };
    let entry = |descent: &Descent| {
        let (cluster, outliers) = published(descent);
        let entry = other(Baseline::Descent(*descent), MethodFamily::Descent, cluster, outliers);
        Entry { shown: descent.to_string() == "gd-closest", ..entry }
    };
    Descent::ALL.iter().map(entry).collect()
}

fn networks(epochs: usize) -> Vec<Entry> {
    let published = [
        ([78.33, 43.473, 1.37084], [83.093, 5.353, 1.37469]),
        ([78.71, 42.445, 1.40617], [81.548, 6.136, 1.41004]),
        ([72.27, 55.941, 1.13377], [61.333, 2.706, 1.13739]),
    ];
    let entry = |(at, (network, (cluster, outliers))): (usize, (Network, _))| {
        let baseline = Baseline::Network(Network { epochs, ..network });
        Entry { shown: at == 0, ..other(baseline, MethodFamily::Network, cluster, outliers) }
    };
    Network::PAPER.into_iter().zip(published).enumerate().map(entry).collect()
}

fn kernelized() -> Vec<Entry> {
    let kernelized = |width, cluster, outliers| {
        other(Baseline::Kernelized { width }, MethodFamily::Kernelized, cluster, outliers)
    };
    vec![
        kernelized(0.05, [87.82, 0.210, 1.11788], [17.898, 0.906, 1.12322]),
        Entry { shown: true, ..kernelized(0.25, [86.47, 10.574, 1.11792], [84.906, 5.140, 1.12234]) },
        kernelized(0.5, [73.08, 51.203, 1.11892], [67.796, 2.674, 1.12234]),
    ]
}

fn lion() -> Vec<Entry> {
    let published = [
        ([86.42, 7.352, 1.11797], [100.0, 9.956, 1.12385]),
        ([87.18, 4.993, 1.11793], [100.0, 24.176, 1.12387]),
        ([87.81, 4.580, 1.11790], [100.0, 22.530, 1.12385]),
        ([87.87, 3.209, 1.11788], [100.0, 42.539, 1.12383]),
    ];
    let entry = |(at, (contender, (cluster, outliers))): (usize, (Contender, _))| Entry {
        contender,
        family: MethodFamily::Lion,
        published: Some(PublishedScores { cluster, outliers }),
        shown: at == 2,
    };
    Contender::lion_of_the_paper().into_iter().zip(published).enumerate().map(entry).collect()
}

fn beyond() -> Vec<Entry> {
    let rivals = [
        Baseline::OpenTsne { start: OpenTsneStart::Median },
        Baseline::OpenTsne { start: OpenTsneStart::Weighted },
        Baseline::FixedPoint,
    ];
    let controlled =
        [rivals[0], rivals[2]].map(|baseline| Contender::Controlled { baseline, percentile: 99.0 });
    let beyond = |contender| Entry { contender, family: MethodFamily::Beyond, published: None, shown: false };
    let lion = Contender::lion_of_today().into_iter();
    lion.chain(rivals.map(Contender::Other)).chain(controlled).map(beyond).collect()
}

/// Whether a method calls rows outliers.
pub(crate) fn has_control(contender: &Contender) -> bool {
    !matches!(contender, Contender::Other(_))
}

/// Whether it is LION as the paper has it, at this percentile.
pub(crate) fn is_lion_of_the_paper(contender: &Contender, at: f64) -> bool {
    *contender == Contender::Lion { percentile: at, local: Local::Idw, verdict: VerdictRule::Paper }
}
