// The depth of the water: a number, a slider, and a drawing of a person.

import { form, texts } from "./parts.js";

const HIGHEST = 250;
// In the drawing, a person of 170 cm is 180 units high, from 10 to 190.
const UNITS = 180 / 170;

export function words(centimetres) {
  const level = [0, 5, 30, 70, 110, 150].findLastIndex((from) => centimetres >= from);
  return texts.depths[Math.max(0, level)];
}

for (const block of form.querySelectorAll(".depth")) {
  const [person, water, range, less, more, says] = ["person", "water", "range", "less", "more", "words"].map((name) => block.querySelector(`.${name}`));
  const depth = block.querySelector("[name]");
  const draw = () => {
    const value = Number(depth.value || 0);
    range.value = value;
    const height = depth.value ? Math.min(200, value * UNITS + 10) : 0;
    water.setAttribute("y", `${200 - height}`);
    water.setAttribute("height", `${height}`);
    says.textContent = depth.value ? words(value) : "";
  };
  const set = (value) => {
    depth.value = Math.max(0, Math.min(HIGHEST, Math.round(value / 5) * 5));
    draw();
  };
  for (const part of [person, range, less, more]) part.hidden = false;
  depth.addEventListener("input", draw);
  range.addEventListener("input", () => set(Number(range.value)));
  less.addEventListener("click", () => set(Number(depth.value || 0) - 10));
  more.addEventListener("click", () => set(Number(depth.value || 0) + 10));
  const drawing = person.querySelector("svg");
  const drag = (event) => {
    const box = drawing.getBoundingClientRect();
    set((1 - (event.clientY - box.top) / box.height) * 200 / UNITS - 10 / UNITS);
  };
  drawing.addEventListener("pointerdown", (event) => {
    drawing.setPointerCapture(event.pointerId);
    drag(event);
  });
  drawing.addEventListener("pointermove", (event) => { if (event.buttons) drag(event); });
  draw();
}
