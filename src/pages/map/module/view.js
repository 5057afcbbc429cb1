// A map on a canvas: the view, and its movement by pointers, wheel and keys. No dependencies.
//
//   import { View } from "/map/module.js";
//   const view = new View(document.getElementById("map"), { label: "Map", zoomIn: "Zoom in", zoomOut: "Zoom out" });
//   view.layers.push(floods, points);
//   view.fit(floods.box);
//   view.addEventListener("tap", ({ detail }) => console.log(detail.place));
//
// In the interface of a view, a place is [longitude, latitude] in degrees. Internally, a place is a point of the world: [x, y] in Web
// Mercator, from 0 to 1, y to the south. A box is [left, top, right, bottom] in points of the world. At zoom 0 the world is 256 pixels
// wide.

/** Returns the point of the world at a place. */
export const toWorld = ([lng, lat]) => {
  const sine = Math.sin((Math.max(-85, Math.min(85, lat)) * Math.PI) / 180);
  return [lng / 360 + 0.5, 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)];
};

/** Returns the place of a point of the world. @type {(point: number[]) => number[]} */
export const toPlace = ([x, y]) => [(x - 0.5) * 360, (Math.atan(Math.sinh((0.5 - y) * 2 * Math.PI)) * 180) / Math.PI];

/** Returns the west, south, east and north of a box in degrees, rounded outwards to hundredths. */
export const cornersOf = ([left, top, right, bottom]) => {
  const [[west, south], [east, north]] = [toPlace([left, bottom]), toPlace([right, top])];
  return [Math.floor(west * 100), Math.floor(south * 100), Math.ceil(east * 100), Math.ceil(north * 100)].map((of) => of / 100);
};

// The duration of an animated movement, in milliseconds.
const EASE = 350;
// The distance that a finger may move during a tap, in pixels.
const TAP = 8;
// The margin of the picture around the element, in pixels. It becomes visible during a movement, before redrawing.
const MARGIN = 96;
// The time for which the view must rest before the picture is redrawn, in milliseconds.
const STILL = 120;
// The maximum number of device pixels per CSS pixel: more are invisible, but take time.
const MOST_PIXELS = 2;
const clamp = (value, least, most) => Math.max(least, Math.min(most, value));
const middle = (all) => [0, 1].map((axis) => all.reduce((sum, point) => sum + point[axis], 0) / all.length);
/** @type {(...points: number[][]) => number} */
const distance = ([a, b], [c, d]) => Math.hypot(a - c, b - d);

/**
 * The view. While it moves, it shifts and scales the existing picture, which is cheap. It redraws when the movement has ended, has left the
 * picture, or has doubled or halved the scale. It dispatches `tap` (detail: `place`, `world`, `x`, `y` in pixels), `move` after
 * each frame that shows another part of the world, and `rest` when a movement has ended.
 */
export class View extends EventTarget {
  /** The layers, from the bottom: objects with `draw(frame)`. Call `redraw` after a change. */
  layers = [];
  #element;
  #canvas = document.createElement("canvas");
  #context = this.#canvas.getContext("2d");
  #centre = [0.5, 0.5];
  #zoom = 4;
  #size = [0, 0];
  // top, right, bottom, left
  #insets = [0, 0, 0, 0];
  #limits;
  // The requested animation frame.
  #frame;
  // Left, top and scale of the picture; nothing if it must be redrawn.
  #drawn;
  // The timer of redrawing after a movement.
  #still;
  // The current animation: returns whether it continues.
  #motion;
  #hasMoved = false;
  #pointers = new Map();

  /**
   * @param element a positioned, focusable element
   * @param label the label for screen readers
   * @param zoomIn, zoomOut the names of the buttons; without them there are none
   * @param fills whether one finger moves the map. If not, one finger scrolls the page, and two move the map; the wheel needs Ctrl
   * @param least, most limits of the zoom
   */
  constructor(element, { label, zoomIn, zoomOut, fills = true, least = 3, most = 18 }) {
    super();
    this.#element = element;
    this.#limits = [least, most];
    element.tabIndex = 0;
    element.setAttribute("role", "application");
    element.setAttribute("aria-label", label);
    Object.assign(this.#canvas.style, { position: "absolute", top: 0, left: 0, transformOrigin: "0 0" });
    element.style.touchAction = fills ? "none" : "pan-x pan-y";
    element.prepend(this.#canvas);
    if (zoomIn) {
      const buttons = Object.assign(document.createElement("div"), { className: "zoom" });
      for (const [text, name, by] of [["+", zoomIn, 1], ["−", zoomOut, -1]]) {
        const button = Object.assign(document.createElement("button"), { type: "button", textContent: text, title: name, ariaLabel: name });
        button.addEventListener("click", () => this.zoomBy(by));
        buttons.append(button);
      }
      element.append(buttons);
    }
    new ResizeObserver(() => this.resize() && this.draw()).observe(element);
    this.resize();
    this.#listen(fills);
  }

  get zoom() {
    return this.#zoom;
  }

  /** The place in the middle of the uncovered part. */
  get centre() {
    return toPlace(this.#centre);
  }

  /** The box that the whole element shows. */
  get box() {
    const { left, top, scale } = this.#look();
    return [left, top, left + this.#size[0] / scale, top + this.#size[1] / scale];
  }

  /** Sets how much of each side is covered by other elements, in pixels. The middle of the rest is the centre of the map. */
  cover({ top = 0, right = 0, bottom = 0, left = 0 }) {
    const before = this.#look();
    this.#insets = [top, right, bottom, left];
    const { left: x, top: y } = this.#look();
    // Moves the centre, so that the picture does not move.
    this.#centre = [this.#centre[0] + before.left - x, this.#centre[1] + before.top - y];
  }

  /** Moves to a place and a zoom. */
  go(place, zoom = this.#zoom, isAnimated = true) {
    this.#goWorld(toWorld(place), zoom, isAnimated);
  }

  /** Moves so that a box fills the uncovered part. @param {number[]} box */
  fit([left, top, right, bottom], { most = this.#limits[1], isAnimated = true, margin = 24 } = {}) {
    if (!(right >= left)) return;
    const [width, height] = this.#open().map((side) => Math.max(40, side - 2 * margin));
    const scale = Math.min(width / Math.max(right - left, 1e-9), height / Math.max(bottom - top, 1e-9));
    this.#goWorld([(left + right) / 2, (top + bottom) / 2], Math.min(most, Math.log2(scale / 256)), isAnimated);
  }

  zoomBy(by, at = null) {
    const zoom = clamp((this.#motion?.zoom ?? this.#zoom) + by, ...this.#limits);
    const [x, y] = at ?? this.#middleOfScreen();
    const under = this.#worldAt(x, y);
    const factor = 2 ** (this.#zoom - zoom);
    this.#goWorld(this.#centre.map((of, axis) => under[axis] + (of - under[axis]) * factor), zoom, true);
  }

  /** Draws in the next animation frame, once for any number of calls. */
  redraw() {
    this.#drawn = undefined;
    this.#next();
  }

  /** Draws at once. */
  draw() {
    clearTimeout(this.#still);
    cancelAnimationFrame(this.#frame);
    this.#frame = undefined;
    if (this.#motion) this.#next();
    const [width, height] = this.#size.map((side) => side + 2 * MARGIN);
    const { left, top, scale } = this.#look();
    this.#drawn = { left: left - MARGIN / scale, top: top - MARGIN / scale, scale };
    const context = this.#context;
    const ratio = this.#canvas.width / width;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const frame = { context, ratio, width, height, zoom: this.#zoom, ...this.#drawn, redraw: () => this.redraw() };
    for (const layer of this.layers) {
      context.save();
      layer.draw(frame);
      context.restore();
    }
    this.#canvas.style.transform = `translate(${-MARGIN}px, ${-MARGIN}px)`;
    if (!this.#motion && !this.#pointers.size) this.dispatchEvent(new Event("rest"));
  }

  #next() {
    this.#frame ??= requestAnimationFrame((now) => this.#step(now));
  }

  /** Sets the size to that of the element, or of paper. Returns whether it has changed: then nothing is drawn yet. @param {number[]} [size] */
  resize([width, height] = [this.#element.clientWidth, this.#element.clientHeight]) {
    const sides = [width, height].map((side) => side + 2 * MARGIN);
    const pixels = sides.map((side) => Math.round(side * Math.min(MOST_PIXELS, devicePixelRatio)));
    if (!width || !height || (this.#canvas.width === pixels[0] && this.#canvas.height === pixels[1])) return false;
    this.#size = [width, height];
    [this.#canvas.width, this.#canvas.height] = pixels;
    [this.#canvas.style.width, this.#canvas.style.height] = sides.map((side) => `${side}px`);
    this.redraw();
    return true;
  }

  /** The size of the uncovered part. */
  #open() {
    const [top, right, bottom, left] = this.#insets;
    return [this.#size[0] - left - right, this.#size[1] - top - bottom];
  }

  #middleOfScreen() {
    const [width, height] = this.#open();
    return [this.#insets[3] + width / 2, this.#insets[0] + height / 2];
  }

  #look() {
    const scale = 256 * 2 ** this.#zoom;
    const [x, y] = this.#middleOfScreen();
    return { scale, left: this.#centre[0] - x / scale, top: this.#centre[1] - y / scale };
  }

  #worldAt(x, y) {
    const { left, top, scale } = this.#look();
    return [left + x / scale, top + y / scale];
  }

  /** @param {number[]} centre */
  #set([x, y], zoom) {
    this.#zoom = clamp(zoom, ...this.#limits);
    this.#centre = [clamp(x, 0, 1), clamp(y, 0, 1)];
    this.#hasMoved = true;
    this.#next();
  }

  #goWorld(to, zoom, isAnimated) {
    zoom = clamp(zoom, ...this.#limits);
    const [from, start] = [this.#centre, this.#zoom];
    const distant = Math.hypot(to[0] - from[0], to[1] - from[1]) * 256 * 2 ** Math.min(zoom, start);
    this.#motion = undefined;
    if (!isAnimated || distant > 4_000 || matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.#set(to, zoom);
      this.redraw();
      return;
    }
    let begun;
    this.#motion = { zoom, to, step: (now) => {
      begun ??= now;
      const part = Math.min(1, (now - begun) / EASE);
      const eased = 1 - (1 - part) ** 3;
      const next = start + (zoom - start) * eased;
      // The fixed point must not move: the centre follows the scale, not the time.
      const shift = Math.abs(zoom - start) < 0.01 ? eased : (2 ** -start - 2 ** -next) / (2 ** -start - 2 ** -zoom);
      this.#set(from.map((of, axis) => of + (to[axis] - of) * shift), next);
      return part < 1;
    } };
    this.#next();
  }

  #step(now) {
    this.#frame = undefined;
    const motion = this.#motion;
    if (motion && !motion.step(now) && this.#motion === motion) this.#motion = undefined;
    if (!this.#size[0]) return;
    if (this.#covers()) this.#shift();
    else this.draw();
    if (this.#hasMoved) {
      this.#hasMoved = false;
      this.dispatchEvent(new Event("move"));
    }
  }

  /** Returns whether the picture covers the view. While the scale changes, its edges may be missing. */
  #covers() {
    if (!this.#drawn) return false;
    const { left, top, scale } = this.#look();
    const factor = scale / this.#drawn.scale;
    if (factor !== 1) return factor < 2 && factor > 0.5;
    const beyond = [left - this.#drawn.left, top - this.#drawn.top].map((of) => of * scale);
    return beyond.every((of) => of >= -1 && of <= 2 * MARGIN + 1);
  }

  /** Moves the picture to its current position, and redraws it after the movement. */
  #shift() {
    const { left, top, scale } = this.#look();
    const drawn = this.#drawn;
    this.#canvas.style.transform = `translate(${(drawn.left - left) * scale}px, ${(drawn.top - top) * scale}px) scale(${scale / drawn.scale})`;
    clearTimeout(this.#still);
    this.#still = setTimeout(() => this.draw(), STILL);
  }

  #listen(fills) {
    const element = this.#element;
    const at = (event) => {
      const { left, top } = element.getBoundingClientRect();
      return [event.clientX - left, event.clientY - top];
    };
    // Ignore events on buttons and other elements over the map. The picture may be smaller than the element.
    const isElsewhere = ({ target }) => target !== this.#canvas && target !== element;
    let begun, slipped, track = [], last = { time: 0, at: [0, 0] };

    element.addEventListener("pointerdown", (event) => {
      if (event.button || isElsewhere(event)) return;
      this.#canvas.setPointerCapture(event.pointerId);
      if (this.#motion) this.#motion = undefined;
      this.#pointers.set(event.pointerId, at(event));
      if (this.#pointers.size === 1) {
        begun = { at: at(event), time: event.timeStamp };
        slipped = false;
        track = [];
      } else {
        slipped = true;
      }
    });
    element.addEventListener("pointermove", (event) => {
      if (!this.#pointers.has(event.pointerId)) return;
      const before = [...this.#pointers.values()];
      this.#pointers.set(event.pointerId, at(event));
      const after = [...this.#pointers.values()];
      if (!slipped && distance(at(event), begun.at) < TAP) return;
      slipped = true;
      if (!fills && event.pointerType === "touch" && after.length < 2) return;
      const [from, to] = [middle(before), middle(after)];
      const by = after.length < 2 ? 0 : Math.log2(distance(...after) / distance(...before));
      const zoom = clamp(this.#zoom + by, ...this.#limits);
      const under = this.#worldAt(...from);
      this.#zoom = zoom;
      const now = this.#worldAt(...to);
      this.#set(this.#centre.map((of, axis) => of + under[axis] - now[axis]), zoom);
      track = [...track.filter(({ time }) => event.timeStamp - time < 80), { at: to, time: event.timeStamp }];
    });
    const lift = (event) => {
      if (!this.#pointers.delete(event.pointerId)) return;
      if (this.#pointers.size) return (track = []);
      if (event.type === "pointercancel") return this.#next();
      if (!slipped) {
        const isSecond = event.timeStamp - last.time < 350 && distance(begun.at, last.at) < 30;
        last = { time: isSecond ? 0 : event.timeStamp, at: begun.at };
        if (isSecond) return this.zoomBy(1, begun.at);
        return this.#tap(...begun.at);
      }
      const [first, end] = [track[0], track.at(-1)];
      const time = end?.time - first?.time;
      if (!(time > 10) || event.timeStamp - end.time > 60 || matchMedia("(prefers-reduced-motion: reduce)").matches) return this.#next();
      let speed = [0, 1].map((axis) => (end.at[axis] - first.at[axis]) / time);
      let before;
      const step = (now) => {
        const passed = Math.min(50, now - (before ?? now));
        before = now;
        const scale = 256 * 2 ** this.#zoom;
        this.#set(this.#centre.map((of, axis) => of - (speed[axis] * passed) / scale), this.#zoom);
        speed = speed.map((of) => of * Math.exp(-passed / 300));
        return Math.hypot(...speed) > 0.02;
      };
      this.#motion = { zoom: this.#zoom, step };
      this.#next();
    };
    element.addEventListener("pointerup", lift);
    element.addEventListener("pointercancel", lift);

    element.addEventListener("wheel", (event) => {
      if (isElsewhere(event) || (!fills && !event.ctrlKey)) return;
      event.preventDefault();
      const pixels = event.deltaY * (event.deltaMode ? 30 : 1) * (event.ctrlKey ? 4 : 1);
      this.#motion = undefined;
      const under = this.#worldAt(...at(event));
      const zoom = clamp(this.#zoom - clamp(pixels, -200, 200) / 250, ...this.#limits);
      const factor = 2 ** (this.#zoom - zoom);
      this.#set(this.#centre.map((of, axis) => under[axis] + (of - under[axis]) * factor), zoom);
    }, { passive: false });

    element.addEventListener("keydown", (event) => {
      if (event.target !== element || event.ctrlKey || event.metaKey || event.altKey) return;
      const step = event.shiftKey ? 240 : 80;
      const pan = (x, y) => {
        // Repeated keys continue from the target of the previous movement.
        const { to: [fromX, fromY] = this.#centre, zoom = this.#zoom } = this.#motion ?? {};
        const scale = 256 * 2 ** zoom;
        this.#goWorld([fromX + (x * step) / scale, fromY + (y * step) / scale], zoom, true);
      };
      const keys = {
        ArrowLeft: () => pan(-1, 0), ArrowRight: () => pan(1, 0), ArrowUp: () => pan(0, -1), ArrowDown: () => pan(0, 1),
        "+": () => this.zoomBy(1), "=": () => this.zoomBy(1), "-": () => this.zoomBy(-1),
        Enter: () => this.#tap(...this.#middleOfScreen()),
      };
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
  }

  #tap(x, y) {
    const world = this.#worldAt(x, y);
    this.dispatchEvent(new CustomEvent("tap", { detail: { x, y, world, place: toPlace(world) } }));
  }
}
