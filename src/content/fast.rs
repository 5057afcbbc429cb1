use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use rocket::tokio::sync::SetOnce;

use super::Coding;

/// The forms of a content at the fast level. Each is compressed once for all requests that wait for it.
#[derive(Debug, Default)]
pub(super) struct FastForms(Mutex<Vec<(Coding, Arc<FastForm>)>>);

/// A form at the fast level; `None` if it is not worth sending.
type FastForm = SetOnce<Option<Bytes>>;

/// A form at the fast level that is being compressed, or is ready.
#[derive(Debug)]
pub(crate) struct Compressing {
    form: Arc<FastForm>,
    is_first: bool,
}

impl Compressing {
    /// Returns whether this is the first request for the form: it must have it compressed, while the others wait.
    pub(crate) fn is_first(&self) -> bool {
        self.is_first
    }

    /// Returns the same form, for the task that compresses it.
    pub(crate) fn shared(&self) -> Self {
        Self { form: Arc::clone(&self.form), is_first: false }
    }

    /// Gives the form to all requests that wait; `None` if the bytes are sent uncompressed.
    pub(crate) fn finish(&self, bytes: Option<Bytes>) {
        drop(self.form.set(bytes));
    }

    /// Waits until the form is ready.
    pub(crate) async fn finished(&self) {
        self.form.wait().await;
    }
}

impl FastForms {
    /// Returns the form in a coding, and starts it if there is none.
    pub(super) fn join(&self, coding: Coding) -> Compressing {
        let mut forms = self.forms();
        if let Some((_, form)) = forms.iter().find(|(of, _)| *of == coding) {
            return Compressing { form: Arc::clone(form), is_first: false };
        }
        let form = Arc::new(FastForm::new());
        forms.push((coding, Arc::clone(&form)));
        Compressing { form, is_first: true }
    }

    /// Returns the coding of the form that must be compressed, or waited for, for a client that prefers all these codings
    /// equally; `None` if one of their forms is ready. A form that another request has already started is chosen first, because
    /// it costs nothing.
    pub(super) fn lacking(&self, mut preferred: impl Iterator<Item = Coding> + Clone) -> Option<Coding> {
        let forms = self.forms();
        let begun = |coding| forms.iter().find(|(of, _)| *of == coding);
        match preferred.clone().find_map(begun) {
            Some((coding, form)) => form.get().is_none().then_some(*coding),
            None => preferred.next(),
        }
    }

    /// Returns the forms that are ready.
    pub(super) fn there(&self) -> Vec<(Coding, Bytes)> {
        let forms = self.forms();
        forms.iter().filter_map(|(coding, form)| Some((*coding, form.get()?.clone()?))).collect()
    }

    /// Drops all forms.
    pub(super) fn clear(&self) {
        self.forms().clear();
    }

    fn forms(&self) -> MutexGuard<'_, Vec<(Coding, Arc<FastForm>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
