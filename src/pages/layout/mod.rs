//! The layout of all pages: header, navigation, footer and colours.
//!
//! A page is a template that extends `layout.html`. The style sheet is inlined, so that no page waits for it.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use minijinja::value::Serde;
use minijinja::{Environment, Error, Value, context};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use crate::config::{Config, Licence, Site};
use crate::data::country::Translations;
use crate::data::statements::{Sentence, banner};
use crate::model::alerts::Status;

const LAYOUT: &str = include_str!("layout.html");
const STYLE: &str = include_str!("layout.css");

pub(crate) const LOGO: &str = "/logo";

const QUERY_VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The template of a page, which extends `layout.html`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageTemplate {
    /// Unique name. Its ending `.html` makes the engine escape every value.
    name: &'static str,
    source: &'static str,
}

impl PageTemplate {
    pub(crate) const fn new(name: &'static str, source: &'static str) -> Self {
        Self { name, source }
    }
}

/// The templates, each compiled on first use. Clones share them.
#[derive(Clone, Debug)]
struct Templates(Arc<RwLock<Environment<'static>>>);

/// The parts that all pages share: navigation, languages, banner, site and licence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    templates: Templates,
    site: Site,
    licence: Licence,
    /// The sentence on top of every page.
    banner: Option<Sentence>,
    /// The status of alerts, shown in titles unless it is `Actual`.
    status: Status,
    /// Code and name of each language, the main one first.
    languages: Vec<(String, String)>,
    /// The links of the navigation: key of the text in the group `shell`, and path.
    pages: Vec<(&'static str, String)>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PageContext<'a> {
    /// The key of the page's text in the navigation. Also the suffix of the class of `<body>`.
    pub(crate) page: &'a str,
    pub(crate) path: &'a str,
    /// Parameters that links to other languages preserve.
    pub(crate) keep: &'a [(&'a str, &'a str)],
}

#[derive(Serialize)]
struct LayoutContext<'a> {
    page: &'a str,
    language: &'a str,
    languages: Vec<Language<'a>>,
    home: String,
    pages: Vec<PageLink<'a>>,
    banner: Option<Banner<'a>>,
    name: &'a str,
    agency: Option<&'a str>,
    contact: Option<&'a str>,
    emergency: Option<&'a str>,
    logo: Option<&'static str>,
    licence: &'a Licence,
    has_own_terms: bool,
}

#[derive(Serialize)]
struct Banner<'a> {
    key: Sentence,
    text: &'a str,
    title: &'a str,
}

#[derive(Serialize)]
struct Language<'a> {
    code: &'a str,
    name: &'a str,
    address: String,
}

#[derive(Serialize)]
struct PageLink<'a> {
    name: &'a str,
    path: String,
}

impl Default for Templates {
    fn default() -> Self {
        // `Environment::new` escapes values according to the ending of a template's name; `Environment::default` does not.
        Self(Arc::new(RwLock::new(Environment::new())))
    }
}

impl Templates {
    /// Renders a template. Parses it when it is first used.
    fn render(&self, template: PageTemplate, values: Value) -> Result<String, Error> {
        let PageTemplate { name, source } = template;
        let is_known = self.read().get_template(name).is_ok();
        if !is_known {
            let mut templates = self.0.write().unwrap_or_else(PoisonError::into_inner);
            for (name, source) in [("layout.html", LAYOUT), ("layout.css", STYLE), (name, source)] {
                templates.add_template(name, source)?;
            }
        }
        self.read().get_template(name)?.render(values)
    }

    fn read(&self) -> RwLockReadGuard<'_, Environment<'static>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Layout {
    pub(crate) fn new(config: &Config) -> Self {
        let base = config.base_url.path().trim_end_matches('/');
        let languages = config.country.data().languages().iter();
        Self {
            templates: Templates::default(),
            site: config.site.clone(),
            licence: config.licence.clone(),
            banner: banner(config.is_demo(), config.issuer().status),
            status: config.issuer().status,
            languages: languages.map(|texts| (texts.code().to_owned(), texts.name().to_owned())).collect(),
            pages: [
                Some(("map", "/map".to_owned())),
                Some(("alerts", format!("{base}/alerts?format=html"))),
                config.cards.open.then(|| ("report", "/report".to_owned())),
                Some(("developers", "/docs".to_owned())),
            ]
            .into_iter()
            .flatten()
            .collect(),
        }
    }

    /// Renders a page. Every value is escaped for HTML. The template also gets `layout`, and `s`: the texts of the group `shell`.
    pub(crate) fn render(
        &self,
        template: PageTemplate,
        texts: &Translations,
        context: PageContext<'_>,
        values: Value,
    ) -> Result<String, Error> {
        let shared = context! { layout => Serde(self.layout_context(texts, context)), s => Serde(texts.group("shell")) };
        self.templates.render(template, context! { ..values, ..shared })
    }

    fn status_word<'t>(&self, banner: Sentence, texts: &'t Translations) -> &'t str {
        match banner {
            Sentence::Demo => texts.text("shell", "demo_title"),
            _ => texts.group("alerts")["statuses"][self.status.name()].as_str().unwrap_or_default(),
        }
    }

    /// Links to pages have `lang` except in the main language. Links to other languages keep the parameters in `keep`.
    fn layout_context<'a>(&'a self, texts: &'a Translations, context: PageContext<'a>) -> LayoutContext<'a> {
        let keep_query = context
            .keep
            .iter()
            .map(|(name, value)| format!("{name}={}&", utf8_percent_encode(value, QUERY_VALUE)));
        let keep_query: String = keep_query.collect();
        let languages = self.languages.iter().map(|(code, name)| {
            let address = format!("{}?{keep_query}lang={code}", context.path);
            Language { code, name, address }
        });
        let is_main = self.languages.first().is_some_and(|(code, _)| code == texts.code());
        let pages = self.pages.iter().map(|(name, path)| {
            let sign = if path.contains('?') { '&' } else { '?' };
            let path = if is_main { path.clone() } else { format!("{path}{sign}lang={}", texts.code()) };
            PageLink { name, path }
        });
        let Site { name, agency, contact, emergency, .. } = &self.site;
        LayoutContext {
            page: context.page,
            language: texts.code(),
            languages: languages.collect(),
            home: if is_main { "/".to_owned() } else { format!("/?lang={}", texts.code()) },
            pages: pages.collect(),
            banner: self.banner.map(|key| Banner {
                key,
                text: key.text(texts, None),
                title: self.status_word(key, texts),
            }),
            name,
            agency: agency.as_deref(),
            contact: contact.as_deref(),
            emergency: emergency.as_deref(),
            logo: self.site.logo().map(|_| LOGO),
            has_own_terms: self.licence.terms != Licence::default().terms,
            licence: &self.licence,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn palettes() -> [HashMap<&'static str, &'static str>; 3] {
        let mut rules = STYLE.split(":root {").skip(1).map(|rule| rule.split_once('}').unwrap().0);
        let mut known = HashMap::new();
        [(); 3].map(|()| {
            let colours = rules.next().unwrap().split(';').filter_map(|line| line.trim().split_once(':'));
            let own: HashMap<_, _> = colours.map(|(name, value)| (name.trim(), value.trim())).collect();
            if known.is_empty() {
                known.clone_from(&own);
            }
            let mut all = known.clone();
            all.extend(own);
            all
        })
    }

    fn luminance(colour: &str) -> f64 {
        let digits = colour.strip_prefix('#').unwrap();
        let wide: String = if digits.len() == 3 {
            digits.chars().flat_map(|digit| [digit; 2]).collect()
        } else {
            digits.to_owned()
        };
        let part = |at: usize| {
            let part = f64::from(u8::from_str_radix(&wide[at..at + 2], 16).unwrap()) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn states_and_texts_have_enough_contrast_in_each_palette() {
        let grounds = ["--land", "--sea", "--ground", "--raised"];
        for (palette, name) in palettes().iter().zip(["light", "dark", "print"]) {
            let ratio = |one: &str, other: &str| contrast(palette[one], palette[other]);
            for (state, ground) in (1..=4).flat_map(|state| grounds.map(|ground| (state, ground))) {
                let [edge, fill] = ["edge", "state"].map(|kind| ratio(&format!("--{kind}-{state}"), ground));
                assert!(edge.max(fill) >= 3.0, "{name}: state {state} on {ground}: {edge:.2}, {fill:.2}");
            }
            let texts = ["--ink", "--soft", "--link"];
            let texts = texts.into_iter().flat_map(|text| [(text, "--ground"), (text, "--raised")]);
            for (text, ground) in texts.chain([("--on-accent", "--accent"), ("--on-warn", "--warn")]) {
                let ratio = ratio(text, ground);
                assert!(ratio >= 4.5, "{name}: {text} on {ground}: {ratio:.2}");
            }
        }
    }

    #[test]
    fn the_worst_state_has_the_highest_contrast_in_the_dark_palette() {
        let [_, dark, _] = palettes();
        let ratios = [1, 2, 3, 4].map(|state| contrast(dark[&*format!("--edge-{state}")], dark["--land"]));
        assert!(ratios[..3].iter().all(|ratio| *ratio < ratios[3]), "{ratios:?}");
    }
}
