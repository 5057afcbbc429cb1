use quick_xml::Reader;
use quick_xml::events::Event;

/// The texts of all elements of a name, unescaped.
pub(crate) fn texts(document: &str, name: &str) -> Vec<String> {
    let mut reader = Reader::from_str(document);
    let mut texts = Vec::new();
    let mut current: Option<String> = None;
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) if tag.name().as_ref() == name => current = Some(String::new()),
            Event::End(tag) if tag.name().as_ref() == name => texts.extend(current.take()),
            Event::Text(text) => {
                if let Some(current) = &mut current {
                    current.push_str(&text);
                }
            }
            Event::GeneralRef(reference) => {
                if let Some(current) = &mut current {
                    current.push_str(quick_xml::escape::resolve_xml_entity(&reference).unwrap());
                }
            }
            Event::Eof => return texts,
            _ => {}
        }
    }
}
