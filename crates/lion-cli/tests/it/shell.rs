//! What shells and `man` know of the command line.

use crate::tools::Folder;

#[test]
fn completions_know_verbs_and_options() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let done = folder.lion(&format!("completions {shell}"));
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        for word in ["quality", "evaluate", "perplexity", "random-state"] {
            assert!(done.stdout.contains(word), "{shell}: {word}");
        }
    }
    folder.lion("completions tcsh").refuses(2, &["tcsh"]);
    assert!(folder.names().is_empty());
}

#[test]
fn every_verb_has_a_page() {
    let folder = Folder::new();
    let told = folder.json("man -o man/man1");
    let pages: Vec<&str> =
        told["pages"].as_array().unwrap().iter().map(|page| page.as_str().unwrap()).collect();
    assert!(pages.contains(&"lion.1") && pages.contains(&"lion-quality.1") && pages.len() > 12, "{pages:?}");
    for page in pages {
        let text = String::from_utf8(folder.read(&format!("man/man1/{page}"))).unwrap();
        let name = page.strip_suffix(".1").unwrap();
        assert!(text.contains(".TH ") && text.contains(&name.replace('-', "\\-")), "{page}: {text}");
    }
    folder.write("taken", "a file");
    folder.lion("man -o taken").refuses(1, &["taken", "cannot be made"]);
}
