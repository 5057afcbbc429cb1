// A stand-in on the port of the service: forwards requests, or acts like a proxy, a captive portal, or a broken network.
import { createServer, request } from "node:http";

/// Starts it in front of a service. `answer(path, response)` may respond itself and then returns true. `wait(path)`
/// returns the delay of a response in milliseconds. `pause()` accepts requests without responding until the returned function is
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

/// Responses of others.
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
