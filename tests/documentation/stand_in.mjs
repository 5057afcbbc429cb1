// A stand-in on the port of the service: passes requests on, or does what a proxy, a login page of a network, or a broken network does.
import { createServer, request } from "node:http";

/// Starts it in front of a service. `answer(path, response)` may answer a request itself: it returns whether it does so. `wait(path)`
/// returns for how many milliseconds a response is late. `pause()` makes it accept requests and do nothing until the returned function is
/// called.
export const standIn = (origin) =>
  new Promise((ready) => {
    const { hostname, port } = new URL(origin);
    let paused;
    const pause = () => {
      let resume;
      paused = new Promise((done) => (resume = done));
      return resume;
    };
    const self = { answer: () => false, wait: () => 0, pause };
    const server = createServer(async (asking, answering) => {
      await paused;
      if (answering.destroyed) return;
      if (self.answer(asking.url, answering)) return;
      const passed = request({ hostname, port, path: asking.url, method: asking.method, headers: asking.headers }, async (response) => {
        const late = self.wait(asking.url);
        if (late) await new Promise((done) => setTimeout(done, late));
        answering.writeHead(response.statusCode, response.headers);
        response.pipe(answering);
      });
      passed.on("error", () => answering.destroy());
      answering.on("close", () => passed.destroy());
      asking.pipe(passed);
    });
    self.close = () => {
      server.closeAllConnections();
      server.close();
    };
    server.listen(0, "127.0.0.1", () => ready(Object.assign(self, { origin: `http://127.0.0.1:${server.address().port}` })));
  });

/// What others answer.
export const foreign = {
  gateway: (status) => (_, response) => {
    response.writeHead(status, { "Content-Type": "text/html" }).end("<html><body><h1>Bad Gateway</h1></body></html>");
    return true;
  },
  portal: (_, response) => {
    response.writeHead(200, { "Content-Type": "text/html" }).end("<html><body>Log in to this network</body></html>");
    return true;
  },
  redirect: (path, response) => {
    if (path === "/login") return foreign.portal(path, response);
    response.writeHead(302, { Location: "/login" }).end();
    return true;
  },
  cut: (_, response) => {
    response.destroy();
    return true;
  },
};
