// Reports, gauges, pumps and floodgates: on the map, in their lists, and in words.
import { decode } from "/map/layers.js";
import { find, load, make, moment, nice, query, settings, t } from "/map/words.js";

const hazards = settings.hazards;
const chosen = new Set(); // Hazards that the reader has filtered; all, if none.

const photo = (address) => {
  if (!address) return [];
  let url;
  try {
    url = new URL(address, location);
  } catch {
    return [];
  }
  return [location, new URL(settings.photos, location)].some(({ origin }) => origin === url.origin)
    ? [make("img", { src: url.href, alt: t.photo, loading: "lazy" })]
    : [make("a", { href: url.href, rel: "noopener noreferrer" }, t.photoElsewhere)];
};

/** Shows rows of a list, at most 50 at first. */
const items = (id, points, none, choose) => {
  const row = (point) => {
    const button = make("button", { type: "button", className: "item" }, point.title);
    button.addEventListener("click", () => choose(point));
    return make("li", {}, button, make("small", {}, ...point.about()));
  };
  const rest = points.slice(50);
  const more = make("button", { type: "button", className: "item" }, t.more.replace("{count}", rest.length));
  more.addEventListener("click", () => more.parentElement.replaceWith(...rest.map(row)));
  find(id).replaceChildren(...(points.length ? points.slice(0, 50).map(row) : [make("li", {}, none)]), ...(rest.length ? [make("li", {}, more)] : []));
};

const hazardOf = (type) => hazards[type] ?? { name: type, colour: "#5b2a86" };

const report = (feature, areaName) => {
  const { pkey, title, text, created_at, disaster_type, image_url, report_data, tags } = feature.properties;
  const { name, colour, icon } = hazardOf(disaster_type);
  const depth = report_data?.flood_depth;
  const reach = disaster_type === "fire" ? report_data?.fireRadius : undefined;
  const place = areaName(tags?.local_area_id);
  return {
    id: `report-${pkey}`, at: feature.at, kind: disaster_type, time: created_at, reach: Number(reach) || undefined,
    colour, line: "#fff", radius: 11, icon: icon && new Path2D(icon), ink: "#fff",
    title: [title || name, depth == null ? "" : `${depth} ${t.depth.cm}`].filter(Boolean).join(", "),
    place,
    about: () => [...(place ? [place, " · "] : []), moment(created_at)],
    more: () => [...(text ? [make("p", {}, text)] : []), ...photo(image_url)],
  };
};

const plot = (readings) => {
  const svg = (tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const times = readings.map(({ f1 }) => Date.parse(f1));
  const levels = readings.map(({ f2 }) => f2);
  const part = (value, all, size) => ((value - Math.min(...all)) / (Math.max(...all) - Math.min(...all) || 1)) * size;
  const corners = readings.map((_, index) => `${part(times[index], times, 196) + 2},${46 - part(levels[index], levels, 42)}`);
  const picture = svg("svg", { viewBox: "0 0 200 48", role: "img", preserveAspectRatio: "none", "aria-label": `${Math.min(...levels)}–${Math.max(...levels)} ${t.depth.cm}` });
  picture.append(svg("polyline", { points: corners.join(" "), fill: "none", stroke: "currentColor", "stroke-width": 2, "vector-effect": "non-scaling-stroke" }));
  return picture;
};

const gauge = (feature) => {
  const { gaugenameid, observations } = feature.properties;
  const { f1, f2, f3 } = observations.at(-1);
  return {
    id: `gauge-${gaugenameid}`, at: feature.at, time: f1,
    colour: { 1: "var(--state-4)", 2: "var(--state-3)", 3: "var(--state-2)" }[f3] ?? "#fff", line: "#0b4a6b", radius: 8,
    title: `${nice(gaugenameid)}: ${f2} ${t.depth.cm}`,
    about: () => [`${t.depth.level} ${f3} · `, moment(f1)],
    more: () => [make("p", {}, `${t.depth.level} ${f3}`), ...(observations.length > 1 ? [plot(observations)] : [])],
  };
};

/**
 * Shows points in a layer of the map and in lists. `choose` is called with a point that is tapped in a list, `areaName` says the name
 * of an area. Returns functions that load them again.
 */
export const points = ({ layer, view, choose, areaName, colourOf }) => {
  const all = { reports: [], gauges: [], infrastructure: [] };
  let archived = null; // The reports of an hour of the past.

  const filter = () => {
    const kinds = [...new Set(all.reports.map(({ kind }) => kind))].sort();
    find("hazards").replaceChildren(...(kinds.length < 2 ? [] : kinds.map((kind) => {
      const box = make("input", { type: "checkbox", checked: !chosen.size || chosen.has(kind) });
      box.addEventListener("change", () => {
        if (!chosen.size) kinds.forEach((of) => chosen.add(of));
        box.checked ? chosen.add(kind) : chosen.delete(kind);
        draw();
      });
      return make("label", {}, box, make("i", { className: "dot", style: `background: ${hazardOf(kind).colour}` }), hazardOf(kind).name);
    })));
  };
  const draw = () => {
    const reports = (archived ?? all.reports).filter(({ kind }) => !chosen.size || chosen.has(kind));
    items("reports", reports, t.noReports, choose);
    const shown = [...all.infrastructure, ...(archived ? [] : all.gauges), ...[...reports].reverse()];
    layer.points = shown.map((point) => ({ ...point, colour: colourOf(point.colour) }));
    view.redraw();
  };
  const readReports = async (result) => decode(result).map((feature) => report(feature, areaName));
  return {
    reports: async () => {
      all.reports = await readReports(await load(`/reports?${query()}`));
      filter();
      draw();
    },
    gauges: async () => {
      all.gauges = decode(await load("/floodgauges")).filter(({ properties }) => properties.observations.length).map(gauge);
      items("gauges", all.gauges, t.noGauges, choose);
      draw();
    },
    /** Shows pumps and floodgates, or none. */
    infrastructure: (features) => {
      all.infrastructure = features.map(({ at, properties: { name } }) => ({
        id: `place-${name}`, at, colour: "#67727b", line: "#fff", radius: 5, from: 12, title: nice(name), about: () => [], more: () => [],
      }));
      draw();
    },
    /** Shows the reports of an hour of the past; `null`: those of now. */
    past: async (result) => {
      archived = result && (await readReports(result));
      draw();
    },
    draw,
    /** Returns a point as it is now. */
    find: (id) => layer.points.find((point) => point.id === id),
  };
};

