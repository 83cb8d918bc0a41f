//! The report: what its page holds, and what it refuses.

use lion_report::{
    Axis, Chart, Claim, ClaimVerdict, Document, DocumentBlock, Head, Picture, ReportCell, ReportRow,
    ReportTable, Result, Series, Stroke, Tone, panel,
};

const HOSTILE: &str = "</script></title><img src=x onerror=alert(1)> & \"two\" {{style}}";

fn picture(points: usize) -> Picture {
    let points = (0..points).map(|at| [at as f64, (at * 37 % 101) as f64]).collect();
    let series = Series { name: HOSTILE.to_owned(), points, style: Stroke::Points, reference: false };
    let axis = Axis { label: HOSTILE.to_owned(), log: false, range: None };
    let chart =
        Chart { title: HOSTILE.to_owned(), x: axis.clone(), y: axis, series: vec![series], notes: vec![] };
    chart.picture().unwrap()
}

fn heading(level: u8, id: &str) -> DocumentBlock {
    DocumentBlock::Heading { level, text: format!("Heading {id}"), id: id.to_owned() }
}

fn figure(name: &str, picture: Picture) -> DocumentBlock {
    DocumentBlock::Figure {
        name: name.to_owned(),
        picture,
        caption: HOSTILE.to_owned(),
        alt: HOSTILE.to_owned(),
    }
}

fn head(text: &str, group: &str) -> Head {
    let numeric = !group.is_empty();
    Head { text: text.to_owned(), title: "what it means".to_owned(), numeric, group: group.to_owned() }
}

fn row(texts: &[&str]) -> ReportRow {
    ReportRow {
        cells: texts.iter().map(|text| ReportCell { text: text.to_string(), tone: Tone::Good }).collect(),
        emphasis: true,
    }
}

fn table(rows: Vec<ReportRow>) -> ReportTable {
    let head =
        vec![head("method", ""), head("paper", "accuracy"), head("here", "accuracy"), head("time", "cost")];
    ReportTable { caption: "All".to_owned(), head, rows, notes: vec!["A note.".to_owned()] }
}

fn document(blocks: Vec<DocumentBlock>) -> Document {
    Document { title: HOSTILE.to_owned(), subtitle: HOSTILE.to_owned(), blocks }
}

fn page(blocks: Vec<DocumentBlock>) -> String {
    document(blocks).html().unwrap()
}

fn refusal(blocks: Vec<DocumentBlock>) -> String {
    let result: Result<String> = document(blocks).html();
    result.unwrap_err().to_string()
}

#[test]
fn every_kind_of_block_is_there_and_nothing_in_it_is_markup() {
    let claim = |verdict| Claim { verdict, text: HOSTILE.to_owned(), evidence: HOSTILE.to_owned() };
    let blocks = vec![
        heading(2, "one"),
        heading(3, "two"),
        DocumentBlock::Text(HOSTILE.to_owned()),
        DocumentBlock::List(vec![HOSTILE.to_owned(), "second".to_owned()]),
        DocumentBlock::Claims(
            [ClaimVerdict::Holds, ClaimVerdict::DoesNot, ClaimVerdict::NotTested].map(claim).to_vec(),
        ),
        DocumentBlock::Table(table(vec![row(&[HOSTILE, "1.0", "2.0", "3 ms"])])),
        figure("chart", picture(5)),
        figure("both", panel(HOSTILE, &[picture(5), picture(6)], 2).unwrap()),
        DocumentBlock::Note(HOSTILE.to_owned()),
    ];
    let page = page(blocks.clone());
    assert!(!page.contains("<img src=x"));
    assert_eq!(page.matches("<script").count(), 1);
    assert_eq!(
        page.matches("</title>").count(),
        1,
        "no title inside the drawings, which would show as a tooltip"
    );
    assert!(page.contains("{{style}}"), "a value is never filled");
    for part in [
        "<h2 id=\"one\">Heading one</h2>",
        "<h3 id=\"two\">",
        "<a href=\"#two\">",
        "Of 3 claims, 1 holds, 1 does not, 1 was not tested.",
        "<figure id=\"Figure-chart\">",
        "<b>Figure 2.</b>",
        "<b>Table 1.</b>",
        "role=\"img\" aria-label=\"&lt;/script&gt;",
        "class=\"note\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Nothing is fetched: every address is a data URI, a name space or a place in the page.
    for attribute in ["src=\"", "href=\"", "url("] {
        for rest in page.split(attribute).skip(1) {
            assert!(rest.starts_with("data:") || rest.starts_with('#'), "{}", &rest[..40]);
        }
    }
    assert_eq!(page, document(blocks).html().unwrap());
}

#[test]
fn a_table_groups_its_heads_and_knows_its_numbers() {
    let page = page(vec![DocumentBlock::Table(table(vec![
        row(&["LION", "87.9", "88.1 ± 0.9", "250 µs"]),
        row(&["IDW", "–", "n/a", "2 ms"]),
    ]))]);
    assert!(page.contains(r#"<th class="group" colspan="2" scope="colgroup"><span>accuracy</span></th>"#));
    assert!(page.contains(r#"<th class="group" colspan="1" scope="colgroup"><span>cost</span></th>"#));
    assert!(page.contains(r#"<th rowspan="2" scope="col" title="what it means">method</th>"#));
    assert!(page.contains(r#"<td class="number good" data-value="88.1">"#));
    assert!(page.contains(r#"<td class="number good" data-value="0.00025">"#));
    assert!(page.contains("<td class=\"number good\">–</td>"));
    assert!(page.contains(r#"<tr class="emphasis"><th scope="row" class="good">LION</th>"#));
    assert!(page.contains("<dt>paper</dt><dd>what it means</dd>"));
}

#[test]
fn a_drawing_of_thousands_of_elements_becomes_a_png() {
    let page = page(vec![figure("few", picture(1000)), figure("many", picture(5000))]);
    let (few, many) = page.split_once("Figure-many").unwrap();
    assert!(few.contains("<svg") && !few.contains("<img"));
    assert!(many.contains(r#"<img src="data:image/png;base64,"#) && !many.contains("<svg"));
    assert!(many.contains(" alt=\"&lt;/script&gt;"));
}

#[test]
fn a_report_without_anything_is_a_page_too() {
    let page = Document { title: String::new(), subtitle: String::new(), blocks: vec![] }.html().unwrap();
    assert!(page.contains("<title>Report</title>") && !page.contains("<nav") && !page.contains("{{"));
    let lists = vec![DocumentBlock::List(vec![]), DocumentBlock::Claims(vec![])];
    assert!(!document(lists).html().unwrap().contains("<ul"));
}

#[test]
fn what_makes_no_report_is_refused_in_one_sentence() {
    let short = vec![row(&["LION", "1", "2", "3"]), row(&["IDW", "1"])];
    assert_eq!(
        refusal(vec![DocumentBlock::Table(table(short))]),
        "row 1 of the table \"All\" has 2 cells where 4 are needed"
    );
    assert_eq!(refusal(vec![DocumentBlock::Table(table(vec![]))]), "the table \"All\" has nothing to show");
    assert_eq!(refusal(vec![heading(4, "x")]), "a heading of level 4 has no place in a report: use 2 or 3");
    for name in ["", "A", "a b", "1a", "ä", "a/b", "-a"] {
        assert_eq!(
            refusal(vec![heading(2, name)]),
            format!("the heading is named \"{name}\": use a-z, 0-9 and \"-\", beginning with a letter")
        );
        assert!(refusal(vec![figure(name, picture(3))]).starts_with("the figure is named"));
    }
    assert_eq!(
        refusal(vec![heading(2, "x"), heading(3, "x")]),
        "two headings of the report are named \"x\": give each a name of its own"
    );
    let twice = vec![figure("x", picture(3)), figure("x", picture(3))];
    assert_eq!(refusal(twice), "two figures of the report are named \"x\": give each a name of its own");
}
