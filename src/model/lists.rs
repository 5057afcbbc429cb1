pub(crate) fn array<T>(
    items: impl IntoIterator<Item = T>,
    out: &mut Vec<u8>,
    item: impl FnMut(T, &mut Vec<u8>),
) {
    out.push(b'[');
    separated(items, out, item);
    out.push(b']');
}

pub(crate) fn separated<T>(
    items: impl IntoIterator<Item = T>,
    out: &mut Vec<u8>,
    mut item: impl FnMut(T, &mut Vec<u8>),
) {
    for (index, each) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        item(each, out);
    }
}
