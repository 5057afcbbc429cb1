// People log in at the desk with accounts of their office. Siaga is at 127.0.0.1 and the identity provider at localhost, which are two sites.
import assert from "node:assert/strict";
import Provider from "oidc-provider";
import { chromium, fits, origin, slow, text, until, violations } from "./chromium.mjs";

const [issuer, pictures] = process.argv.slice(5);
const people = { sri: { name: "Sri Wahyuni", groups: ["bpbd"] }, budi: { name: "Budi Santoso", groups: ["bpbd"] }, tamu: { name: "Tamu Kantor", groups: ["visitors"] } };
const provider = new Provider(issuer, {
  clients: [{ client_id: "siaga", client_secret: "a secret of the desk", redirect_uris: [`${origin}/desk/login/callback`], post_logout_redirect_uris: [`${origin}/desk`] }],
  claims: { openid: ["sub"], profile: ["name", "groups"] },
  findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, ...people[sub] }) }),
});
const server = provider.listen(new URL(issuer).port);

const follow = (page, selector) => Promise.all([page.waitForNavigation(slow), page.click(selector)]);
const start = "a[href='/desk/login/start']";
/** Looks at a page on each screen, in Indonesian and English. */
const looksWell = async (page, name) => {
  for (const [width, height] of [[360, 740], [1440, 900]]) {
    await page.setViewport({ width, height });
    assert.deepEqual(await violations(page), []);
    assert.ok(await fits(page), `${name} is too wide at ${width}`);
    if (pictures) await page.screenshot({ path: `${pictures}/${name}-${width}.png` });
  }
};
/** Answers the provider's pages until the browser is back at Siaga. Returns whether the provider asked for the password. */
const answer = async (page, person) => {
  let asked = false;
  const step = async () => {
    if (await page.$("input[name=password]")) {
      asked = true;
      await page.type("input[name=login]", person);
      await page.type("input[name=password]", "any");
    }
    await follow(page, "button[type=submit]");
  };
  await until("back at Siaga", async () => {
    // The page may go on by itself meanwhile.
    if (page.url().startsWith(issuer)) await step().catch((error) => assert.match(`${error}`, /context was destroyed|No element/));
    return page.url().startsWith(origin);
  });
  return asked;
};
const at = (page, path) => page.waitForFunction((path) => location.pathname === path && document.readyState === "complete", slow, path);
const logIn = async (page, person) => {
  await page.goto(`${origin}/desk?lang=en`);
  await follow(page, start);
  return answer(page, person);
};
const name = async (page) => {
  await at(page, "/desk");
  return text(page, "#log-out span");
};
/** Logs out, up to the provider's question. */
const logOut = async (page) => {
  await page.waitForFunction(() => performance.getEntriesByName("desk ready").length, slow);
  await page.click("#log-out button");
  await page.waitForSelector("#leave[open]", slow);
  await page.click("#leave button[form=log-out]");
  await page.waitForFunction((issuer) => location.href.startsWith(issuer), slow, issuer);
};

await chromium(
  async (page) => {
    await page.goto(`${origin}/desk?lang=en`);
    await looksWell(page, "login");
    // Cancelled.
    await follow(page, start);
    await follow(page, "a[href$='/abort']");
    await at(page, "/desk/login/callback");
    assert.match(await text(page, ".said"), /did not let you in, or you cancelled/);
    await looksWell(page, "cancelled");

    // The callback's page goes on to the desk by itself, with the Strict cookie.
    assert.ok(await logIn(page, "sri"));
    assert.equal(await name(page), "Sri Wahyuni");
    assert.equal(page.url(), `${origin}/desk`);
    await looksWell(page, "desk");
    // Back leads to a page that does no harm, and the login lasts.
    await page.goBack(slow);
    await page.goto(`${origin}/desk?lang=en`);
    assert.equal(await name(page), "Sri Wahyuni");

    // The office's logout follows, and then somebody else logs in.
    await logOut(page);
    await follow(page, "button[name=logout]");
    await at(page, "/desk");
    assert.ok(await page.$(start), "logged out");
    await page.goBack(slow);
    await page.goto(`${origin}/desk?lang=en`);
    assert.ok(await page.$(start), "still logged out");
    assert.ok(await logIn(page, "budi"), "the provider asks who it is");
    assert.equal(await name(page), "Budi Santoso");

    // Somebody who leaves the provider's question open is not logged in as the last officer.
    await logOut(page);
    assert.ok(await logIn(page, "sri"), "asked although the provider's session lasts");
    assert.equal(await name(page), "Sri Wahyuni");
    await logOut(page);

    // No granted group, and then again as somebody else.
    assert.ok(await logIn(page, "tamu"));
    await at(page, "/desk/login/callback");
    assert.match(await text(page, ".said"), /^Tamu Kantor: none of your groups may use this desk\./);
    await looksWell(page, "no-access");
    await follow(page, start);
    assert.ok(await answer(page, "sri"));
    assert.equal(await name(page), "Sri Wahyuni");

    // Issuer down: who is logged in works on, and the page of the login says that a key works.
    server.close();
    server.closeAllConnections();
    await page.reload(slow);
    assert.equal(await name(page), "Sri Wahyuni");
    await page.deleteCookie({ name: "siaga-desk", url: origin });
    await until("the issuer is known to be away", async () => {
      // Until Siaga fetches the metadata again, it redirects to the provider, where nobody listens.
      const response = await page.goto(`${origin}/desk/login/start`).catch(() => undefined);
      return response?.status() === 503;
    });
    await looksWell(page, "away");
    await follow(page, "a[href='/desk']");
    assert.ok(await page.$("[name=key]"));
  },
  /status of (400|401|403|404|503)|net::ERR_/,
  [issuer, "https://fonts.googleapis.com"], // The provider asks for a font.
);
process.exit(0);
