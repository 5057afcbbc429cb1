// The parts of the form that its modules share.

export const settings = JSON.parse(document.body.dataset.settings);
export const { texts } = settings;
export const form = document.querySelector("form");
export const id = (name) => document.getElementById(name);
export const field = (name) => form.elements[name];
export const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
