// A portal, a proxy or a firewall responds to an officer's batch: it is retried until the service itself has stored or rejected it.
import assert from "node:assert/strict";
import { api, chromium, until } from "./chromium.mjs";
import { logIn, pick, press, stateOf, stored } from "./officer.mjs";

const page = "<html><title>Log in</title>Hotel</html>";
const respond = (status, headers = {}) => (request) => request.respond({ status, body: page, headers, contentType: "text/html" });
const faults = [200, 204, 400, 403, 404, 409, 502].map((status) => respond(status));
faults.push(respond(302, { Location: "/" }), (request) => request.abort());

await chromium(async (page) => {
  await logIn(page, "Sri");
  const { features } = (await api("GET", "/areas?geoformat=geojson")).result;
  const flooded = (await api("GET", "/floods/states")).result.map(({ area_id }) => area_id);
  const { area_id, area_name } = features.map(({ properties }) => properties).find((area) => !flooded.includes(`${area.area_id}`));
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const isOrder = request.method() === "POST" && request.url().endsWith("/desk/changes") && !request.postData().includes('"preview":true');
    const fault = isOrder && faults.shift();
    return fault ? fault(request) : request.continue();
  });
  await pick(page, `${area_id}`);
  await press(page, "3");
  await until("the batch is stored", async () => {
    await page.evaluate(() => dispatchEvent(new Event("online")));
    return (await stateOf(`${area_id}`)) === 3;
  });
  assert.equal(faults.length, 0);
  await stored(page, area_name);
}, /status of|ERR_FAILED/);
