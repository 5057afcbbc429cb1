use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use rocket::tokio::sync::SetOnce;

use super::Coding;

/// The forms of a content at the fast level, each compressed once for all requests that wait for it.
#[derive(Debug, Default)]
pub(super) struct FastForms(Mutex<Vec<(Coding, Arc<FastForm>)>>);

/// A form at the fast level; `None` if it is not worth sending.
type FastForm = SetOnce<Option<Bytes>>;

/// A form at the fast level that is being compressed, or is there already.
#[derive(Debug)]
pub(crate) struct Compressing {
    form: Arc<FastForm>,
    is_first: bool,
}

impl Compressing {
    /// Whether this is the first request for the form: it has to have it compressed. The others wait.
    pub(crate) fn is_first(&self) -> bool {
        self.is_first
    }

    /// Returns the same form, for the task that compresses it.
    pub(crate) fn shared(&self) -> Self {
        Self { form: Arc::clone(&self.form), is_first: false }
    }

    /// Hands the form to all requests that wait; `None` if the bytes are sent as they are.
    pub(crate) fn finish(&self, bytes: Option<Bytes>) {
        drop(self.form.set(bytes));
    }

    /// Waits until it is compressed.
    pub(crate) async fn finished(&self) {
        self.form.wait().await;
    }
}

impl FastForms {
    /// The form in a coding.
    pub(super) fn join(&self, coding: Coding) -> Compressing {
        let mut forms = self.forms();
        if let Some((_, form)) = forms.iter().find(|(of, _)| *of == coding) {
            return Compressing { form: Arc::clone(form), is_first: false };
        }
        let form = Arc::new(FastForm::new());
        forms.push((coding, Arc::clone(&form)));
        Compressing { form, is_first: true }
    }

    /// The form to make, or to wait for, for a client that prefers each of these codings alike; `None` if it is there. Of
    /// equals, one that another request has asked for costs nothing.
    pub(super) fn lacking(&self, mut preferred: impl Iterator<Item = Coding> + Clone) -> Option<Coding> {
        let forms = self.forms();
        let begun = |coding| forms.iter().find(|(of, _)| *of == coding);
        match preferred.clone().find_map(begun) {
            Some((coding, form)) => form.get().is_none().then_some(*coding),
            None => preferred.next(),
        }
    }

    /// Those that are there.
    pub(super) fn there(&self) -> Vec<(Coding, Bytes)> {
        let forms = self.forms();
        forms.iter().filter_map(|(coding, form)| Some((*coding, form.get()?.clone()?))).collect()
    }

    /// Drops all of them.
    pub(super) fn clear(&self) {
        self.forms().clear();
    }

    fn forms(&self) -> MutexGuard<'_, Vec<(Coding, Arc<FastForm>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
