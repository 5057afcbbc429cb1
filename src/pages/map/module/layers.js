// The layers of a map: areas, lines, points and names. No dependencies. See view.js for points of the world, boxes and frames.

import { toWorld } from "./view.js";

// Paths have 32-bit floats, so they are relative to a point of the layer, in pixels at zoom 15.
const UNIT = 2 ** 23;
const EMPTY = [Infinity, Infinity, -Infinity, -Infinity];
const join = (one, other) => [Math.min(one[0], other[0]), Math.min(one[1], other[1]), Math.max(one[2], other[2]), Math.max(one[3], other[3])];
const boxOf = (points) => {
  const box = [...EMPTY];
  for (let at = 0; at < points.length; at++) {
    const axis = at % 2;
    if (points[at] < box[axis]) box[axis] = points[at];
    if (points[at] > box[axis + 2]) box[axis + 2] = points[at];
  }
  return box;
};
const contains = (box, [x, y]) => x >= box[0] && x <= box[2] && y >= box[1] && y <= box[3];

/**
 * Decodes a TopoJSON topology: returns its features, with `properties`, `box` and, for points, `at`. Neighbours share the arcs of
 * their borders, so a border is drawn once. Costs 2 ms per 10,000 points on a slow phone.
 */
export function decode({ arcs, transform, objects }) {
  const [scale, move] = transform ? [transform.scale, transform.translate] : [[1, 1], [0, 0]];
  const place = ([x, y]) => toWorld([x * scale[0] + move[0], y * scale[1] + move[1]]);
  const decoded = arcs.map((arc) => {
    const points = new Float64Array(arc.length * 2);
    const at = [0, 0];
    arc.forEach((step, index) => {
      if (transform) step = [(at[0] += step[0]), (at[1] += step[1])];
      const [x, y] = place(step);
      points[2 * index] = x;
      points[2 * index + 1] = y;
    });
    return { points, box: boxOf(points) };
  });
  const line = (indexes) => indexes.map((index) => ({ arc: decoded[index < 0 ? ~index : index], isReversed: index < 0 }));
  const lines = {
    LineString: (of) => [line(of)],
    MultiLineString: (of) => of.map(line),
    Polygon: (of) => of.map(line),
    MultiPolygon: (of) => of.flat().map(line),
  };
  const feature = ({ type, arcs: own, coordinates, properties }) => {
    if (type === "Point") {
      const at = place(coordinates);
      return { properties, at, lines: [], box: [...at, ...at] };
    }
    const all = lines[type]?.(own) ?? [];
    return { properties, lines: all, isArea: type.endsWith("Polygon"), box: all.flat().reduce((box, { arc }) => join(box, arc.box), EMPTY) };
  };
  return Object.values(objects).flatMap((object) => object.geometries ?? [object]).map(feature);
}

/** Returns the x of each crossing of an area's border with a horizontal line. */
function crossings({ lines }, y) {
  const found = [];
  for (const { arc: { points } } of lines.flat()) {
    for (let at = 2; at < points.length; at += 2) {
      const [ay, by] = [points[at - 1], points[at + 1]];
      if (ay > y !== by > y) found.push(((points[at] - points[at - 2]) * (y - ay)) / (by - ay) + points[at - 2]);
    }
  }
  return found;
}

/** Returns whether a point of the world lies in an area (even-odd rule). */
export const isInside = (area, [x, y]) => contains(area.box, [x, y]) && crossings(area, y).filter((of) => x < of).length % 2 === 1;

/** Returns a label point: the middle of the widest part of a horizontal line through the middle of an area. */
export function middleOf(area) {
  const y = (area.box[1] + area.box[3]) / 2;
  const found = crossings(area, y).sort((one, other) => one - other);
  let [width, left] = [0, area.box[0]];
  for (let at = 1; at < found.length; at += 2) if (found[at] - found[at - 1] > width) [width, left] = [found[at] - found[at - 1], found[at - 1]];
  return [left + width / 2, y];
}

const PATTERNS = {
  dots: (pen) => (pen.arc(2, 2, 0.9, 0, 7), pen.arc(6, 6, 0.9, 0, 7), pen.fill()),
  dashes: (pen) => (pen.moveTo(0, 2), pen.lineTo(4, 2), pen.moveTo(4, 6), pen.lineTo(8, 6), pen.stroke()),
  lines: (pen) => ([-8, 0, 8].forEach((x) => (pen.moveTo(x - 1, 9), pen.lineTo(x + 9, -1))), pen.stroke()),
  crosses: (pen) => ([-8, 0, 8].forEach((x) => (pen.moveTo(x - 1, 9), pen.lineTo(x + 9, -1), pen.moveTo(x - 1, -1), pen.lineTo(x + 9, 9))), pen.stroke()),
};

/** Returns a pattern of 8 pixels in two colours. Without the first, it is transparent. */
function pattern(context, { fill, pattern: name, ink }, ratio) {
  const tile = Object.assign(document.createElement("canvas"), { width: 8 * ratio, height: 8 * ratio });
  const pen = tile.getContext("2d");
  pen.scale(ratio, ratio);
  if (fill) {
    pen.fillStyle = fill;
    pen.fillRect(0, 0, 8, 8);
  }
  pen.fillStyle = pen.strokeStyle = ink;
  pen.lineWidth = 1.1;
  pen.beginPath();
  PATTERNS[name](pen);
  return context.createPattern(tile, "repeat");
}

/**
 * Areas and lines, each with the name of a style. A style has `fill`, `pattern` (dots, dashes, lines or crosses) with its `ink`,
 * `alpha` of both; `line` with `width` (pixels, or a function of the zoom), `dash` and `casing` (a wider line below); `inner`, the
 * same for borders between two shapes of the style; `from` and `to`, the zooms between which it is drawn. Later styles lie above earlier ones.
 */
export class Shapes {
  #styles;
  #shapes = new Map();
  // Paths by style, created lazily.
  #groups = new Map();
  #origin;

  constructor(styles) {
    this.#styles = styles;
  }

  /** Replaces the styles, for other colours. */
  set styles(styles) {
    this.#styles = styles;
    this.#groups.clear();
  }

  /** Returns whether anything has changed. */
  set(id, feature, style) {
    const before = this.#shapes.get(id);
    if (before?.feature === feature && before.style === style) return false;
    this.#groups.delete(before?.style);
    this.#groups.delete(style);
    this.#shapes.set(id, { feature, style });
    return true;
  }

  delete(id) {
    this.#groups.delete(this.#shapes.get(id)?.style);
    return this.#shapes.delete(id);
  }

  clear() {
    this.#shapes.clear();
    this.#groups.clear();
  }

  keys() {
    return this.#shapes.keys();
  }

  /** The box of all shapes, for `fit`. */
  get box() {
    return [...this.#shapes.values()].reduce((box, { feature }) => join(box, feature.box), EMPTY);
  }

  /** Returns the id of the area at a point of the world. */
  at(world) {
    for (const [id, { feature }] of this.#shapes) if (feature.isArea && isInside(feature, world)) return id;
  }

  draw(frame) {
    if (!this.#shapes.size) return;
    const { context, ratio, zoom, scale, left, top } = frame;
    this.#origin ??= this.box;
    const [x, y] = this.#origin;
    const factor = scale / UNIT;
    context.setTransform(ratio * factor, 0, 0, ratio * factor, (x - left) * scale * ratio, (y - top) * scale * ratio);
    for (const [name, style] of Object.entries(this.#styles)) {
      if (zoom < (style.from ?? 0) || zoom >= (style.to ?? 99)) continue;
      const { fill, inner, outer } = this.#group(name, Math.ceil(zoom));
      context.globalAlpha = style.alpha ?? 1;
      if (style.fill || style.pattern) {
        context.fillStyle = style.fill;
        if (style.pattern) {
          style.made ??= pattern(context, style, ratio);
          style.made.setTransform(new DOMMatrix().scale(1 / (ratio * factor)));
          context.fillStyle = style.made;
        }
        context.fill(fill);
      }
      context.globalAlpha = 1;
      /** @type {(path: Path2D, style: any) => void} */
      const stroke = (path, { line, width = 1, dash = [], casing }) => {
        const pixels = typeof width === "function" ? width(zoom) : width;
        if (!line || pixels <= 0) return;
        context.setLineDash(dash.map((of) => of / factor));
        // Round corners of thin lines are invisible, but take half of the time.
        const isWide = pixels + (casing ? 3 : 0) > 2.5;
        context.lineJoin = isWide ? "round" : "bevel";
        context.lineCap = isWide ? "round" : "butt";
        if (casing) {
          context.strokeStyle = casing;
          context.lineWidth = (pixels + 3) / factor;
          context.stroke(path);
        }
        context.strokeStyle = line;
        context.lineWidth = pixels / factor;
        context.stroke(path);
      };
      stroke(inner, style.inner ?? style);
      stroke(outer, style);
    }
  }

  /** Returns the paths of a style for a zoom, without points on the same pixel. */
  #group(name, zoom) {
    const known = this.#groups.get(name);
    if (known?.zoom === zoom) return known;
    const group = { zoom, fill: new Path2D(), inner: new Path2D(), outer: new Path2D() };
    const style = this.#styles[name];
    const [x, y] = this.#origin;
    const least = 0.7 / (256 * 2 ** zoom);
    const trace = (path, { points }, isReversed, isNew) => {
      const last = points.length / 2 - 1;
      let px = Infinity, py = Infinity;
      for (let step = 0; step <= last; step++) {
        const at = 2 * (isReversed ? last - step : step);
        const wx = points[at], wy = points[at + 1];
        if (step && step < last && Math.abs(wx - px) + Math.abs(wy - py) < least) continue;
        px = wx;
        py = wy;
        path[step || !isNew ? "lineTo" : "moveTo"]((wx - x) * UNIT, (wy - y) * UNIT);
      }
    };
    const uses = new Map();
    for (const { feature, style: of } of this.#shapes.values()) {
      if (of !== name) continue;
      for (const line of feature.lines) {
        if (style.line) for (const { arc } of line) uses.set(arc, (uses.get(arc) ?? 0) + 1);
        if (!feature.isArea || !(style.fill || style.pattern)) continue;
        line.forEach(({ arc, isReversed }, index) => trace(group.fill, arc, isReversed, !index));
        group.fill.closePath();
      }
    }
    for (const [arc, count] of uses) trace(count > 1 ? group.inner : group.outer, arc, false, true);
    this.#groups.set(name, group);
    return group;
  }
}

// How far from a point a finger may be, in pixels.
const REACH = 22;
// The factor of the radius of points at a low zoom, where many would hide the layers below.
const shrinking = (zoom) => Math.max(0.45, Math.min(1, (zoom - 7) / 6));

/**
 * Points with `at` (world), `colour`, `line`, `radius` (pixels), and optionally `icon` (a Path2D on 24 × 24) with `ink`, `reach` (a circle on
 * the ground, in metres), `hollow` (a broken ring), `struck` (a line through it), `from`, the least zoom, and `joins`: such points that
 * would hide each other are drawn as one with their number. Later points lie above earlier ones.
 */
export class Points {
  points = [];

  /** Returns what is drawn at a zoom, from the bottom: points, and for joined ones the topmost, with `all` of them from the top. */
  #shown(zoom) {
    const shown = [];
    // Joined points by a cell of the map.
    const cells = new Map();
    for (const point of [...this.points].reverse()) {
      if (zoom < (point.from ?? 0)) continue;
      if (!point.joins) {
        shown.push(point);
        continue;
      }
      const side = (1.6 * point.radius * shrinking(zoom)) / (256 * 2 ** zoom);
      const [column, row] = point.at.map((of) => Math.floor(of / side));
      const near = [-1, 0, 1].flatMap((x) => [-1, 0, 1].flatMap((y) => cells.get(`${column + x},${row + y}`) ?? []));
      const found = near.find(({ at: [x, y] }) => Math.hypot(x - point.at[0], y - point.at[1]) < side);
      if (found) {
        found.all.push(point);
        continue;
      }
      const first = { ...point, all: [point] };
      shown.push(first);
      const key = `${column},${row}`;
      cells.set(key, [...(cells.get(key) ?? []), first]);
    }
    return shown.reverse();
  }

  draw({ context, zoom, scale, left, top, width, height }) {
    context.lineWidth = 1.5;
    for (const { at, colour, reach, from = 0 } of this.points) {
      if (!reach || zoom < from) continue;
      // A degree of the equator has 111.32 km; the world is wider in pixels than on the ground by the cosine of the latitude.
      const latitude = Math.atan(Math.sinh((0.5 - at[1]) * 2 * Math.PI));
      context.beginPath();
      context.arc((at[0] - left) * scale, (at[1] - top) * scale, (reach / (360 * 111_320 * Math.cos(latitude))) * scale, 0, 7);
      context.globalAlpha = 0.18;
      context.fillStyle = colour;
      context.fill();
      context.globalAlpha = 1;
      context.strokeStyle = colour;
      context.stroke();
    }
    for (const { at, colour, line, radius: full = 6, icon, ink, hollow, struck, all = [] } of this.#shown(zoom)) {
      const radius = all.length > 1 ? Math.max(9, full * shrinking(zoom)) : full * shrinking(zoom);
      const [x, y] = [(at[0] - left) * scale, (at[1] - top) * scale];
      if (x < -radius || y < -radius || x > width + radius || y > height + radius) continue;
      context.beginPath();
      context.arc(x, y, radius, 0, 7);
      if (hollow) {
        context.lineWidth = 4;
        context.strokeStyle = colour;
        context.stroke();
        context.setLineDash([radius / 2, radius / 3]);
      } else {
        context.fillStyle = colour;
        context.fill();
      }
      context.lineWidth = hollow ? 2.5 : 1.5;
      context.strokeStyle = line;
      context.stroke();
      context.setLineDash([]);
      if (struck) {
        const side = radius * Math.SQRT1_2;
        context.beginPath();
        context.moveTo(x - side, y + side);
        context.lineTo(x + side, y - side);
        context.stroke();
      }
      context.fillStyle = ink;
      if (all.length > 1) {
        Object.assign(context, { font: `600 ${radius * 1.2}px system-ui, sans-serif`, textAlign: "center", textBaseline: "middle" });
        context.fillText(all.length > 99 ? "99+" : all.length, x, y, 1.7 * radius);
      } else if (icon && radius >= 8) {
        context.save();
        const factor = (radius * 1.4) / 24;
        context.translate(x - 12 * factor, y - 12 * factor);
        context.scale(factor, factor);
        context.fill(icon);
        context.restore();
      }
    }
  }

  /** Returns the point nearest to a point of the world, if a finger there reaches it, and those joined with it. */
  near([x, y], zoom) {
    const far = ({ at }) => Math.hypot(at[0] - x, at[1] - y) * 256 * 2 ** zoom;
    const reached = this.#shown(zoom).filter((point) => far(point) <= Math.max(REACH, point.radius ?? 0));
    const [nearest] = reached.sort((one, other) => far(one) - far(other));
    return nearest ? nearest.all ?? [nearest] : [];
  }
}

/**
 * Names with `at` (world), `text`, `rank` (the least comes first), `from` and `to` (zooms), `size` (pixels), `style` of the font,
 * `colour`, and `below`, how far it is below the point (pixels). A name that would overlap one that comes before it is left out.
 */
export class Names {
  names = [];
  colour = "#333";
  halo = "#fff";
  #widths = new Map();

  draw({ context, zoom, scale, left, top, width, height }) {
    const taken = [];
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 3.5;
    context.strokeStyle = this.halo;
    for (const { at, text, from = 0, to = 99, size = 13, style = "", colour = this.colour, below = 0 } of [...this.names].sort((one, other) => one.rank - other.rank)) {
      if (zoom < from || zoom >= to) continue;
      const [x, y] = [Math.round((at[0] - left) * scale), Math.round((at[1] - top) * scale + below)];
      if (x < -80 || y < -20 || x > width + 80 || y > height + 20) continue;
      const font = `${style} ${size}px system-ui, sans-serif`;
      const key = `${font} ${text}`;
      context.font = font;
      if (!this.#widths.has(key)) this.#widths.set(key, context.measureText(text).width);
      const [across, down] = [this.#widths.get(key) / 2 + 4, size / 2 + 3];
      if (taken.some((of) => Math.abs(of.x - x) < of.across + across && Math.abs(of.y - y) < of.down + down)) continue;
      taken.push({ x, y, across, down });
      context.strokeText(text, x, y);
      context.fillStyle = colour;
      context.fillText(text, x, y);
    }
  }
}
