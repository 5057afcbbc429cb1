// Withdrawing, undoing and discarding at the desk.
import assert from "node:assert/strict";
import { api, chromium, noFaults, origin, pause, slow, text, until } from "./chromium.mjs";
import { card, clickIn, logIn, open, press, stateOf, stored } from "./officer.mjs";

const chosen = async (page, count) => page.waitForFunction((count) => document.getElementById("tab-chosen").lastElementChild.textContent === `${count}`, slow, count);
/** Chooses the first rows of the list. */
const choose = async (page, count) => {
  await page.evaluate((count) => {
    const boxes = [...document.querySelectorAll("#rows input[type=checkbox]")].filter((box) => !box.checked);
    for (const box of boxes.slice(0, count)) box.click();
    document.activeElement.blur();
  }, count);
};
const isOpen = (page, id) => page.$eval(`#${id}`, (dialog) => dialog.open);
const set = (changes, note) => api("POST", "/floods/changes", { changes: changes.map(([area_id, state]) => ({ area_id, state })), note });
const noCard = (page, kind) => page.waitForFunction((kind) => !document.querySelector(`#cards .${kind}`), slow, kind);

await chromium(async (page) => {
  await page.setViewport({ width: 1440, height: 900 });
  await logIn(page, "Sri");
  const { features } = (await api("GET", "/areas?geoformat=geojson")).result;
  const flooded = (await api("GET", "/floods/states")).result.map(({ area_id }) => area_id);
  const dry = features.map(({ properties }) => `${properties.area_id}`).filter((id) => !flooded.includes(id));

  // Withdrawing a batch restores the selection and the note, by key and by button.
  await page.click("#tab-all");
  await choose(page, 12);
  await page.type("#note", "by telephone");
  await page.evaluate(() => document.activeElement.blur());
  await press(page, "2");
  await card(page, "held");
  assert.ok(await page.$eval("#unsent", (bar) => bar.hidden), "the bar is for a network that is away");
  await chosen(page, 0);
  await press(page, "u");
  await chosen(page, 12);
  assert.equal(await page.$eval("#note", ({ value }) => value), "by telephone");
  await press(page, "3");
  await card(page, "held");
  await clickIn(page, "#cards .held button", "Take back");
  await chosen(page, 12);
  await noCard(page, "held");

  // Discarding more than ten selections needs a confirmation.
  await press(page, "Escape");
  assert.ok(await isOpen(page, "drop"));
  assert.match(await text(page, "#drop-words"), /^12 areas are chosen: .+\. Choose none\?$/);
  await noFaults(page);
  await press(page, "Escape");
  await page.waitForFunction(() => !document.getElementById("drop").open, slow);
  await chosen(page, 12);
  await page.click("#none");
  await page.waitForSelector("#drop[open]", slow);
  await press(page, "Enter");
  await chosen(page, 0);
  await choose(page, 10);
  await press(page, "Escape");
  await chosen(page, 0);

  // "Over" needs a confirmation for ten areas, not for nine.
  await page.click("#tab-flooded");
  await choose(page, 10);
  await press(page, "0");
  await page.waitForSelector("#sure[open]", slow);
  assert.match(await text(page, "#sure-words"), /10 areas .*→ over\. Type 10 to set them\.$/);
  await press(page, "Escape");
  await page.evaluate(() => document.querySelector("#rows input:checked").click());
  await page.evaluate(() => document.activeElement.blur());
  await press(page, "0");
  await card(page, "held");
  assert.ok(!(await isOpen(page, "sure")));
  await press(page, "u");
  await noCard(page, "held");
  await press(page, "Escape");

  // The search selects the previous text, and searches all areas from the tab of selected ones.
  const named = ({ properties: { area_name, parent_name } }) => `${parent_name} ${area_name}`.toLowerCase();
  const [one, other] = [features.find(({ properties }) => `${properties.area_id}` === dry[0]), features.find(({ properties }) => `${properties.area_id}` === dry[1])];
  await press(page, "/");
  await page.keyboard.type(named(one));
  await page.evaluate(() => document.activeElement.blur());
  await press(page, "/");
  await page.keyboard.type(named(other));
  assert.equal(await page.$eval("#search", ({ value }) => value), named(other));
  await page.waitForSelector(`[data-area="${dry[1]}"]`, slow);
  await page.$eval(`[data-area="${dry[1]}"] input`, (box) => box.click());
  await page.click("#tab-chosen");
  await page.focus("#search");
  await page.keyboard.type(named(one));
  await page.waitForSelector(`[data-area="${dry[0]}"]`, slow);
  assert.equal(await page.$eval("#tab-all", (of) => of.getAttribute("aria-pressed")), "true");
  await page.$eval("#search", (field) => ((field.value = ""), field.dispatchEvent(new Event("input")), field.blur()));
  await press(page, "Escape");
  await chosen(page, 0);

  // An undo in the log is queued like every batch, can be withdrawn, and shows the resulting states.
  const [first, second, third] = dry;
  await set([[third, 1]]);
  const { result: { batch } } = await set([[first, 4], [second, 4], [third, 4]], "by telephone at four");
  const isFirst = () => page.$eval("#night-list li", (line) => line.textContent.includes("by telephone at four"));
  await until("the batch is in the log", isFirst);
  let sent = 0;
  page.on("request", (request) => request.url().endsWith(`/desk/changes/${batch}/undo`) && (sent = Date.now()));
  const begun = Date.now();
  await page.$eval("#night-list li button", (button) => button.click());
  await card(page, "held");
  assert.match(await text(page, "#cards .held"), /^Undo: 3 areas/);
  await press(page, "u");
  await noCard(page, "held");
  await page.$eval("#night-list li button", (button) => button.click());
  await page.$eval("#night-list li button", (button) => button.click());
  await card(page, "held");
  assert.equal((await page.$$("#cards .held")).length, 1, "one undo, however often it is pressed");
  await stored(page, "Undone. Now: ");
  assert.ok(sent - begun >= 4_900, `it waited ${sent - begun} ms`);
  const words = await page.$$eval("#cards .stored p", (all) => all.map(({ textContent }) => textContent).find((of) => of.startsWith("Undone")));
  assert.match(words, /2 areas .*: No flood recorded\.$/);
  assert.match(words, /: Depth not known: use caution; 2 areas/);
  assert.deepEqual([await stateOf(first), await stateOf(second), await stateOf(third)], [null, null, 1]);
  await until("the undo is in the log", () => page.$eval("#night-list li", (line) => line.textContent.includes("Undo: ")));
  const undone = await page.$$eval("#night-list li", ([, line]) => [line.textContent, line.querySelectorAll("button").length]);
  assert.ok(undone[0].includes("by telephone at four") && undone[0].endsWith("This was undone.") && !undone[1], `${undone}`);

  // Without a network an undo is queued like a batch, and the bar shows it.
  await set([[first, 3]]);
  await until("the batch is in the log", () => page.$eval("#night-list li", (line) => line.textContent.includes("71–150 cm")));
  await page.setOfflineMode(true);
  await page.$eval("#night-list li button", (button) => button.click());
  await card(page, "lost");
  assert.match(await text(page, "#unsent"), /^Changes not sent yet: 1/);
  assert.ok(!(await page.$eval("#unsent", (bar) => bar.hidden)));
  // The logout says how many changes would wait, and that it needs a connection.
  await page.click("#log-out button");
  await page.waitForSelector("#leave[open]", slow);
  assert.match(await text(page, "#leave-warnings"), /^Changes that are still open: 1\. /);
  await page.click("#leave [value=yes]");
  await page.waitForFunction(() => document.getElementById("leave-warnings").textContent.includes("login. There is no connection"), slow);
  await press(page, "Escape");
  await page.setOfflineMode(false);
  await until("the undo is sent", async () => (await stateOf(first)) === null);
  await page.waitForFunction(() => document.getElementById("unsent").hidden, slow);

  // Nothing is undone if the areas were set again meanwhile.
  await set([[first, 3]], "by radio");
  await until("the batch is in the log", () => page.$eval("#night-list li", (line) => line.textContent.includes("by radio")));
  await page.setOfflineMode(true);
  await set([[first, 1]]);
  await page.$eval("#night-list li button", (button) => button.click());
  await card(page, "lost");
  await page.setOfflineMode(false);
  await stored(page, "Nothing was undone; set again since");
  assert.equal(await stateOf(first), 1);
  await until("the log says so", () => page.$$eval("#night-list li", ([, line]) => line.textContent.endsWith("These areas were set again since.") && !line.querySelector("button")));
  await set([[first, null]]);

  // The curve of a gauge has the newest reading whenever the row is unfolded, and while it is.
  const { properties: { label: [lng, lat], area_id } } = features.find(({ properties }) => `${properties.area_id}` === dry.at(-1));
  const at = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();
  const read = (...levels) => api("PUT", "/floodgauges", { gaugeid: "desk", gaugenameid: "PINTU AIR UJI", location: { lat, lng },
    observations: levels.map(([minutes, level]) => ({ observed_at: at(minutes), level, alert: 1, label: "SIAGA I" })) });
  await read([20, 700], [15, 720]);
  await page.click("#tab-attention");
  await page.select("#why", "unconfirmed");
  assert.equal(await text(page, "#empty"), "No area needs attention for this reason.");
  await page.select("#why", "");
  const row = `[data-area="${area_id}"]`;
  await until("the gauge is a reason", () => page.evaluate((row) => (document.getElementById("new").click(), Boolean(document.querySelector(`${row} li.gauge`))), row));
  const curve = (level) => page.waitForFunction((row, level) => document.querySelector(`${row} figure`)?.textContent.includes(`: ${level} cm`) && document.querySelector(`${row} svg path`), slow, row, level);
  const unfold = () => page.$eval(`${row} .unfold`, (button) => button.click());
  await unfold();
  await curve(720);
  await read([10, 740]);
  await curve(740);
  await unfold();
  await read([5, 760]);
  await unfold();
  await curve(760);
  await unfold();
  // Responses of a stand-in, by path.
  let responses = { "/v1/floodgauges": { status: 503, body: "" } };
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const response = responses[new URL(request.url()).pathname];
    return response ? request.respond(response) : request.continue();
  });
  await unfold();
  await page.waitForFunction((row) => document.querySelector(`${row} figure`).textContent.includes("does not respond"), slow, row);
  await unfold();
  // A search for streets that fails is not repeated at once.
  let searches = 0;
  page.on("request", (request) => new URL(request.url()).pathname === "/map/streets" && searches++);
  responses = { "/map/streets": { status: 503, body: "" } };
  const type = (words) => page.$eval("#search", (field, words) => ((field.value = words), field.dispatchEvent(new Event("input"))), words);
  await type("jalan tidak ada");
  const empty = "No area found. Search and larger area count together: empty the one that you do not need.";
  await page.waitForFunction((words) => document.getElementById("empty").textContent === words, slow, `${empty} Streets cannot be searched now.`);
  await pause(3_000);
  assert.equal(searches, 1);
  responses = {};
  await type("jalan tidak ada lagi");
  await page.waitForFunction((words) => document.getElementById("empty").textContent === words, slow, empty);
  await type("");
  await unfold();
  await curve(760);

  // A firewall that rejects in JSON does not end a batch.
  responses = { "/desk/changes": { status: 400, contentType: "application/json", body: JSON.stringify({ message: "blocked" }) } };
  await page.click("#tab-all");
  await choose(page, 1);
  const [blocked] = await page.$$eval(".row.chosen", (rows) => rows.map((row) => row.dataset.area));
  await press(page, "4");
  await card(page, "lost");
  responses = {};
  await until("the batch is sent", async () => (await stateOf(blocked)) === 4);

  // Hiding the waiting reports of a sender is queued too: it can be withdrawn, and waits for the network.
  for (const digit of "12") {
    const form = new FormData();
    const fields = { token: digit.repeat(32), disaster: "flood", "flood.flood_depth": "50", lat, lng, text: "buy", website: "a program" };
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    assert.ok((await fetch(`${origin}/report`, { method: "POST", body: form, headers: { Accept: "application/json" } })).ok);
  }
  const ofSender = "#waiting-list li > .hide";
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await page.waitForFunction((form) => document.querySelector(form)?.textContent.includes("Hide all 2"), slow, ofSender);
  const hide = async () => {
    await page.type(`${ofSender} input`, "spam");
    await press(page, "Enter");
  };
  await hide();
  await card(page, "held");
  assert.match(await text(page, "#cards .held"), /^Hide all 2/);
  await press(page, "u");
  await noCard(page, "held");
  await page.setOfflineMode(true);
  await hide();
  await card(page, "lost");
  await page.setOfflineMode(false);
  await stored(page, "2 reports are hidden.");
  await page.waitForFunction((form) => !document.querySelector(form), slow, ofSender);

  // Clearing the last flood needs a confirmation.
  const left = (await api("GET", "/floods/states")).result.map(({ area_id }) => area_id);
  await set(left.slice(2).map((id) => [id, null]));
  await page.click("#tab-flooded");
  await page.waitForFunction(() => document.getElementById("tab-flooded").lastElementChild.textContent === "2", slow);
  await page.evaluate(() => document.activeElement.blur());
  await open(page);
  await page.click("#tab-flooded");
  // The states come after the names.
  await page.waitForFunction(() => document.getElementById("tab-flooded").lastElementChild.textContent === "2", slow);
  await choose(page, 2);
  await press(page, "0");
  await page.waitForSelector("#sure[open]", slow);
  assert.match(await text(page, "#sure-words"), /Then no area is flooded any more\./);
  await page.keyboard.type("2");
  await press(page, "Enter");
  await stored(page, "over");
  assert.deepEqual((await api("GET", "/floods/states")).result, []);

  // Data that failed to load is not shown as empty, and is loaded again. Omitted entries are counted.
  const broken = { status: 502, body: "<html>" };
  responses = { "/map/names": broken, "/desk/news": broken };
  await page.reload();
  await page.waitForFunction(() => document.getElementById("empty").textContent.includes("does not respond"), slow);
  const news = { attention: [], log: [], reports: [], hidden: [], left_out: { log: 1_000, hidden: 100 } };
  responses = { "/desk/news": { contentType: "application/json", body: JSON.stringify({ result: news }) } };
  await page.waitForFunction(() => document.querySelectorAll("#larger option").length > 1, slow);
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await page.waitForFunction(() => document.getElementById("empty").textContent === "No area needs attention now.", slow);
  assert.equal(await text(page, "#left-out"), "Only the newest 1000 changes are shown. Hidden reports are only those of the last 100 decisions.");
}, /ERR_INTERNET_DISCONNECTED|status of (400|502|503)|Failed to (fetch|load)/);
