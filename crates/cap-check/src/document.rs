//! Parses XML into a small tree with line numbers.

use quick_xml::events::{BytesDecl, BytesStart, Event};
use quick_xml::name::{Namespace, ResolveResult};
use quick_xml::{NsReader, XmlVersion};

use super::NotAFeed;
use super::finding::quote;

/// The maximum number of elements. A feed of 500 alerts has about 40,000.
const MAX_ELEMENTS: usize = 500_000;

/// The maximum depth. An alert in a feed needs 8 levels.
const MAX_DEPTH: usize = 64;

/// The maximum number of attributes of an element. Each attribute is compared with all previous attributes.
const MAX_ATTRIBUTES: usize = 64;

/// The maximum length of a name, in bytes.
const MAX_NAME: usize = 100;

/// The namespace of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vocabulary {
    /// No namespace, as in RSS 2.0.
    Plain,
    /// The namespace of Atom (RFC 4287).
    Atom,
    /// CAP 1.2.
    Cap,
    /// XML signatures, allowed at the end of an alert.
    Signature,
    Other,
}

impl Vocabulary {
    fn from_namespace(namespace: &str) -> Self {
        match namespace {
            "http://www.w3.org/2005/Atom" => Self::Atom,
            "urn:oasis:names:tc:emergency:cap:1.2" => Self::Cap,
            "http://www.w3.org/2000/09/xmldsig#" => Self::Signature,
            _ => Self::Other,
        }
    }
}

#[derive(Debug)]
pub(super) struct Element {
    pub(super) vocabulary: Vocabulary,
    /// The name as written, with its prefix.
    pub(super) tag: String,
    /// The attributes, except namespace declarations and hints for schema processors.
    pub(super) attributes: Vec<(String, String)>,
    pub(super) children: Vec<Element>,
    /// The text of the element, without the text of its children.
    pub(super) text: String,
    pub(super) line: usize,
}

impl Element {
    pub(super) fn name(&self) -> &str {
        self.tag.split_once(':').map_or(&self.tag, |(_, name)| name)
    }

    pub(super) fn prefix(&self) -> &str {
        self.tag.split_once(':').map_or("", |(prefix, _)| prefix)
    }

    pub(super) fn value(&self) -> &str {
        self.text.trim()
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn all<'a>(
        &'a self,
        vocabulary: Vocabulary,
        name: &'a str,
    ) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.vocabulary == vocabulary && child.name() == name)
    }

    pub(super) fn cap(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.vocabulary == Vocabulary::Cap && child.name() == name)
    }
}

/// Parses a document and returns its root element. Rejects document type declarations, and entities other than the five of XML,
/// so that no entity can expand to a huge text.
pub(super) fn parse(text: &str) -> Result<Element, NotAFeed> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = NsReader::from_str(text);
    reader.config_mut().check_comments = true;
    reader.config_mut().expand_empty_elements = true;
    let mut tree =
        Tree { lines: Lines { text, counted: 0, line: 1 }, open: Vec::new(), root: None, elements: 0 };
    loop {
        let start = reader.buffer_position() as usize;
        let (resolved, event) = match reader.read_resolved_event() {
            Ok(read) => read,
            Err(error) => {
                let reason = error.to_string();
                return Err(tree.lines.refuse(reader.error_position() as usize, reason));
            }
        };
        let vocabulary = match &resolved {
            ResolveResult::Unbound => Ok(Vocabulary::Plain),
            ResolveResult::Bound(Namespace(namespace)) => Ok(Vocabulary::from_namespace(namespace)),
            ResolveResult::Unknown(prefix) => Err(undeclared_prefix(prefix)),
        };
        tree.lines.advance(start);
        let read = match event {
            Event::Decl(declaration) => check_declaration(start, &declaration),
            Event::Start(tag) => vocabulary.and_then(|vocabulary| {
                let attributes = attributes(&reader, &tag)?;
                tree.open(vocabulary, tag.name().0, attributes)
            }),
            Event::End(_) => {
                tree.close();
                Ok(())
            }
            Event::Text(text) if text.contains("]]>") => Err("text holds ]]>: write ]]&gt;".to_owned()),
            Event::Text(text) => tree.text(&text.xml10_content()),
            Event::CData(text) => tree.text(&text.xml10_content()),
            Event::GeneralRef(name) => match name.resolve_char_ref() {
                Ok(Some(character)) => tree.text(character.encode_utf8(&mut [0; 4])),
                Ok(None) => match quick_xml::escape::resolve_xml_entity(&name) {
                    Some(text) => tree.text(text),
                    None => Err(format!("the entity &{}; is unknown: write the character itself", &*name)),
                },
                Err(error) => Err(error.to_string()),
            },
            Event::DocType(_) => {
                Err("document type declarations are not read: remove <!DOCTYPE …>".to_owned())
            }
            Event::Comment(_) | Event::PI(_) | Event::Empty(_) => Ok(()),
            Event::Eof => return tree.finish(),
        };
        read.map_err(|reason| tree.lines.refuse(start, reason))?;
    }
}

/// Fails if the declaration `<?xml …?>` is not at the beginning, or has an encoding other than UTF-8 or US-ASCII.
fn check_declaration(start: usize, declaration: &BytesDecl<'_>) -> Result<(), String> {
    if start > 0 {
        return Err("<?xml must stand at the very beginning".to_owned());
    }
    match declaration.encoding() {
        Some(Ok(encoding)) if !["utf-8", "us-ascii"].contains(&&*encoding.to_ascii_lowercase()) => {
            Err(format!("the encoding {} is not read: write the document in UTF-8", quote(&encoding)))
        }
        Some(Err(error)) => Err(error.to_string()),
        _ => Ok(()),
    }
}

fn attributes(reader: &NsReader<&[u8]>, tag: &BytesStart<'_>) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    for (number, attribute) in tag.attributes().enumerate() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        if number >= MAX_ATTRIBUTES {
            return Err(format!("an element has more than {MAX_ATTRIBUTES} attributes"));
        }
        let name = attribute.key.0;
        if !is_name(name) {
            return Err(format!("{} is not a valid attribute name", quote(name)));
        }
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| error.to_string())?;
        if attribute.value.contains('<') || !value.chars().all(is_allowed) {
            return Err(format!("the attribute {} holds < or a character that XML forbids", quote(name)));
        }
        if attribute.key.as_namespace_binding().is_some() {
            continue;
        }
        match reader.resolver().resolve_attribute(attribute.key).0 {
            ResolveResult::Unknown(prefix) => return Err(undeclared_prefix(&prefix)),
            ResolveResult::Bound(Namespace("http://www.w3.org/2001/XMLSchema-instance")) => {}
            _ => found.push((name.to_owned(), value.into_owned())),
        }
    }
    Ok(found)
}

fn undeclared_prefix(prefix: &str) -> String {
    format!("the prefix {} is not declared: add xmlns:…", quote(prefix))
}

fn is_allowed(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

/// Whether a text is a name with at most one prefix. Does not check letters beyond ASCII.
fn is_name(text: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_' || !first.is_ascii())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c) || c > '\u{a0}')
    };
    if text.len() > MAX_NAME || text.contains(char::is_whitespace) {
        return false;
    }
    match text.split_once(':') {
        Some((prefix, name)) => is_part(prefix) && is_part(name),
        None => is_part(text),
    }
}

/// Counts the lines of a text up to given offsets in one pass. The offsets must ascend.
struct Lines<'a> {
    text: &'a str,
    counted: usize,
    line: usize,
}

impl Lines<'_> {
    fn advance(&mut self, to: usize) {
        let passed = self.text.as_bytes().get(self.counted..to).unwrap_or_default();
        self.line += passed.split(|byte| *byte == b'\n').count() - 1;
        self.counted = self.counted.max(to);
    }

    fn refuse(&mut self, at: usize, reason: String) -> NotAFeed {
        self.advance(at);
        NotAFeed::Unreadable { line: self.line, reason }
    }
}

struct Tree<'a> {
    lines: Lines<'a>,
    /// The open elements, outermost first.
    open: Vec<Element>,
    root: Option<Element>,
    elements: usize,
}

impl Tree<'_> {
    fn open(
        &mut self,
        vocabulary: Vocabulary,
        tag: &str,
        attributes: Vec<(String, String)>,
    ) -> Result<(), String> {
        self.elements += 1;
        if !is_name(tag) {
            return Err(format!("{} is not a valid element name", quote(tag)));
        }
        if self.root.is_some() {
            return Err(format!("the element {} stands beside the root element", quote(tag)));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("elements are nested more than {MAX_DEPTH} levels deep"));
        }
        if self.elements > MAX_ELEMENTS {
            return Err(format!("the document has more than {MAX_ELEMENTS} elements"));
        }
        self.open.push(Element {
            vocabulary,
            tag: tag.to_owned(),
            attributes,
            children: Vec::new(),
            text: String::new(),
            line: self.lines.line,
        });
        Ok(())
    }

    fn close(&mut self) {
        if let Some(element) = self.open.pop() {
            match self.open.last_mut() {
                Some(parent) => parent.children.push(element),
                None => self.root = Some(element),
            }
        }
    }

    fn text(&mut self, text: &str) -> Result<(), String> {
        if let Some(character) = text.chars().find(|character| !is_allowed(*character)) {
            return Err(format!("XML forbids the character {character:?}"));
        }
        match self.open.last_mut() {
            Some(element) => element.text.push_str(text),
            None if text.trim().is_empty() => {}
            None => return Err("text stands outside of the root element".to_owned()),
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Element, NotAFeed> {
        let end = self.lines.text.len();
        match self.root {
            Some(root) => Ok(root),
            None if self.open.is_empty() => Err(self.lines.refuse(end, "it has no element".to_owned())),
            None => Err(self.lines.refuse(end, "it ends before its root element does".to_owned())),
        }
    }
}
