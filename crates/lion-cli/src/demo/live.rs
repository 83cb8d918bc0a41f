//! `lion demo --serve`: a live map of all digits but one, and a play of digits in it.

use super::COMPONENTS;
use super::acts::{DemoStep, HELD_OUT, Play, WINDOW};
use crate::args::{Common, DemoArgs};
use crate::interrupt::Interrupt;
use crate::progress::{Phase, Reporter, Screen};
use crate::serve::{self, Started};
use crate::summary::counted;
use anyhow::{Result, bail};
use lion_evaluate::digits::{self, EmbeddedDigits};
use lion_server::{
    HttpConfig, LogFormat, Refused, Service, Settings, UpdateRefused, UpdateRequest, UpdateState, Work,
    start_log,
};
use lion_tsne::live::{FormingCluster, LiveOptions};
use lion_tsne::map::Image;
use lion_tsne::{Fit, Lion, LionOptions, Map, Observer, PcaChoice, Rows};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// The digits are images of so many pixels.
const IMAGE: Image = Image { width: 28, height: 28, channels: 1 };

/// Fits the map, serves it and plays, until Ctrl-C or for so long as was asked for.
pub(super) fn run(args: &DemoArgs, common: &Common) -> Result<()> {
    let screen = Screen::new(common);
    let listener = serve::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, args.port)))?;
    screen.say(&format!("fitting a map of handwritten digits, all but the {HELD_OUT}s …"));
    let mut reporter = Reporter::new(screen.clone(), Interrupt::default(), &Phase::of_fit(false));
    let threads = usize::from(common.threads);
    let map = map_without_held_out(common.seed, threads, &mut |progress| reporter.observe(progress))?;
    let file = args.out.join("live.lion");
    crate::fit::write(&map, &file, reporter)?;
    let options = LionOptions { seed: common.seed, threads, ..LionOptions::default() };
    let lion = Arc::new(Lion::new(map, &options)?);
    let live = LiveOptions { window: WINDOW / args.speed, ..LiveOptions::default() };
    start_log(LogFormat::Text, serve::level(common));
    serve::runtime()?.block_on(async {
        let service = Service::start(lion, &Settings { live, placing: options, ..Settings::default() })?;
        let config = HttpConfig::new("digits", listener.hosts()?);
        let started = Started::new(&service, &listener, &config, &file)?;
        tell(&started, &file, &screen);
        started.print(common)?;
        let mut ended = Ok(());
        let shutdown = async {
            ended = tokio::select! {
                () = serve::stopped(&screen) => Ok(()),
                () = pause(args.seconds) => Ok(()),
                failed = play(&service, args.speed, &screen) => failed,
            }
        };
        let served = serve::serve(&service, listener, config, shutdown).await;
        let (points, last) = (service.view().len(), service.view().last());
        service.stop().await;
        screen.say(&format!("ended: {}, {}", counted(points, "point"), counted(last, "event")));
        served.and(ended)
    })
}

fn tell(started: &Started, file: &Path, screen: &Screen) {
    screen.close();
    screen.say(&format!("open {} in a browser; Ctrl-C ends it", started.place()));
    screen.say(&format!("the map is in {}: lion serve takes it, too", file.display()));
}

/// The digits' map without one of the digits, with pictures of its rows.
pub(super) fn map_without_held_out(seed: u64, threads: usize, observer: &mut Observer<'_>) -> Result<Map> {
    let EmbeddedDigits { training, .. } = digits::embedded()?;
    let others = (0..).zip(&training.labels).filter(|(_, label)| *label != HELD_OUT);
    let (rows, labels): (Vec<u32>, Vec<String>) = others.map(|(row, label)| (row, label.clone())).unzip();
    let pixels = training.pixels.select(&rows);
    let fit = Fit { pca: PcaChoice::Components(COMPONENTS), seed, threads, ..Fit::default() };
    let map = fit.run(Rows { data: pixels.clone(), ids: None, labels: Some(labels) }, observer)?;
    Ok(map.with_pictures(IMAGE, &pixels)?)
}

/// Until then, or for ever.
async fn pause(seconds: Option<f64>) {
    match seconds {
        Some(seconds) => sleep(Duration::from_secs_f64(seconds)).await,
        None => std::future::pending().await,
    }
}

/// Plays, as any other client of the service would.
async fn play(service: &Service, speed: f64, screen: &Screen) -> Result<()> {
    let begun = Instant::now();
    for DemoStep { at, act, changes, update } in Play::new(digits::embedded()?) {
        sleep_until(begun + Duration::from_secs_f64(at / speed)).await;
        if let Some(act) = act {
            let (minutes, seconds) = (at as u64 / 60, at as u64 % 60);
            screen.say(&format!("{minutes}:{seconds:02}  {act}"));
        }
        match service.submit(Work::Changes(changes)).await {
            // Somebody else may have removed a point, or have sent a great many.
            Ok(_) | Err(Refused::NotFound { .. } | Refused::Busy { .. }) => {}
            Err(refused) => bail!("{refused}"),
        }
        if update {
            take_in(service, screen).await?;
        }
    }
    Ok(())
}

/// Takes the new clusters into the map, as the button of the dashboard does, and waits for it.
async fn take_in(service: &Service, screen: &Screen) -> Result<()> {
    let view = service.view();
    let is_held_out =
        |new: &&FormingCluster| new.cluster.labels.first().is_some_and(|most| most.label == HELD_OUT);
    let forming: Vec<u64> =
        view.health().forming.iter().filter(is_held_out).map(|new| new.cluster.group).collect();
    let request = UpdateRequest { groups: Some(forming), who: Some("lion demo".into()) };
    match service.update(request) {
        Ok(_) => {}
        // Somebody else may have pressed the button.
        Err(UpdateRefused::Running | UpdateRefused::Nothing) => return Ok(()),
        Err(refused) => bail!("{refused}"),
    }
    while service.update_status().state == UpdateState::Running {
        sleep(Duration::from_millis(50)).await;
    }
    let version = service.view().map().clone();
    screen.say(&format!(
        "      version {} of the map has {} rows and the clusters {}; Go back in the page undoes it",
        version.number(),
        version.lion.map().rows(),
        version.clusters.names.join(", ")
    ));
    Ok(())
}
