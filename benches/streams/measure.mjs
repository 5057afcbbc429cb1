// Opens streams of changes by real sockets, changes states, and prints what it measures. `run` starts the servers.
//
//   delay WRITE READ STREAMS CHANGES     the delay from a request at WRITE to its event at STREAMS clients of READ
//   idle BASE PID STREAMS SECONDS        memory and CPU time of idle streams
//   stuck BASE PID CHANGES               the same for one that does not read, while 100 others measure the delay
//   load BASE STREAMS RATE SECONDS       keeps STREAMS open and makes RATE changes a second
//   edge WRITE READ STREAMS SECONDS      opens STREAMS through a proxy, 250 from each address, makes a change each ten seconds, and
//                                        counts the streams that end
import { readFileSync } from "node:fs";
import { connect } from "node:net";

const [what, ...rest] = process.argv.slice(2);
const key = process.env.KEY;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A stream that calls `hear` with each piece of text; resolves after the first event. */
const open = (base, query, hear, localAddress) =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base);
    const socket = connect({ port, host: hostname, localAddress });
    let begun = "", tail = "";
    socket.setEncoding("latin1").on("error", reject);
    socket.on("data", (text) => {
      if (begun === null) {
        // The server may send an event in two pieces.
        hear?.(tail + text);
        tail = text.slice(-100);
        return;
      }
      begun += text;
      if (!/^HTTP\/1\.[01] 200/.test(begun)) return reject(new Error(begun.slice(0, 200)));
      if (!begun.includes('"changed":[')) return;
      begun = null;
      resolve(socket);
    });
    // A response to HTTP/1.0 has no chunks.
    socket.write(`GET /v1/changes/stream?${query} HTTP/1.0\r\nHost: data.example.org\r\n\r\n`);
  });

const openMany = async (base, count, query, hear, address) => {
  const sockets = [];
  for (let left = count; left > 0; left -= 100) {
    const opening = Array.from({ length: Math.min(left, 100) }, (_, index) =>
      open(base, query, hear?.(count - left + index), address?.(count - left + index)));
    sockets.push(...(await Promise.all(opening)));
  }
  return sockets;
};

const areas = async (base) => (await (await fetch(`${base}/v1/floods/states`)).json()).result.map(({ area_id }) => area_id);
const put = async (base, area, state) => {
  const response = await fetch(`${base}/v1/floods/${area}`, {
    method: "PUT", headers: { "X-Api-Key": key, "Content-Type": "application/json" }, body: JSON.stringify({ state }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
};
const percentile = (times, part) => times[Math.min(times.length - 1, Math.floor(times.length * part))].toFixed(1);

/** Changes states one after the other, and returns the delays until the streams have each, in milliseconds, sorted. */
const delays = async (write, streams, changes, heard, rest = 550) => {
  const times = [], all = await areas(write);
  for (let number = 0; number < changes; number++) {
    const [area, state] = [all[number % all.length], 1 + (number % 4)];
    const begun = performance.now();
    let left = streams;
    const done = new Promise((resolve) => {
      heard.marker = `"area_id":"${area}","state":${state},`;
      heard.waiting = new Array(streams).fill(true);
      heard.take = () => {
        times.push(performance.now() - begun);
        if (--left === 0) resolve(true);
      };
    });
    await put(write, area, state);
    if (!(await Promise.race([done, pause(10_000)]))) throw new Error(`${left} streams did not get ${heard.marker}`);
    // A stream rests for 500 ms after an event.
    await pause(rest);
  }
  return times.sort((one, other) => one - other);
};
const listener = (heard) => (index) => (text) => {
  if (heard.waiting?.[index] && text.includes(heard.marker)) {
    heard.waiting[index] = false;
    heard.take();
  }
};
const said = (times) => `p50 ${percentile(times, 0.5)} ms, p99 ${percentile(times, 0.99)} ms, most ${percentile(times, 1)} ms`;

const resident = (pid) => Number(readFileSync(`/proc/${pid}/status`, "utf8").match(/VmRSS:\s+(\d+)/)[1]);
/** CPU seconds; the kernel counts hundredths. */
const processor = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
};

if (what === "delay") {
  const [write, read, streams, changes] = [rest[0], rest[1], Number(rest[2]), Number(rest[3])];
  const heard = {};
  await openMany(read, streams, "minimum_state=1", listener(heard));
  await delays(write, streams, 5, heard);
  console.log(`${streams} streams, ${changes} changes: ${said(await delays(write, streams, changes, heard))}`);
} else if (what === "idle") {
  const [base, pid, streams, seconds] = [rest[0], ...rest.slice(1).map(Number)];
  await openMany(base, 100, "city=bdg");
  await pause(2_000);
  const before = resident(pid);
  await openMany(base, streams, "city=bdg");
  await pause(2_000);
  const each = (resident(pid) - before) / streams;
  const begun = processor(pid);
  await pause(seconds * 1_000);
  const busy = (processor(pid) - begun) / seconds;
  console.log(`${streams} idle streams: ${each.toFixed(1)} KiB each, ${(100 * busy).toFixed(1)} % of a core`);
} else if (what === "stuck") {
  const [base, pid, changes] = [rest[0], Number(rest[1]), Number(rest[2])];
  const heard = {};
  await openMany(base, 100, "minimum_state=1", listener(heard));
  const without = await delays(base, 100, changes, heard);
  const before = resident(pid);
  const stuck = await openMany(base, 100, "minimum_state=1");
  for (const socket of stuck) socket.pause();
  const beside = await delays(base, 100, changes, heard);
  console.log(`100 streams that do not read: ${((resident(pid) - before) / 100).toFixed(1)} KiB each`);
  console.log(`the others without them: ${said(without)}; beside them: ${said(beside)}`);
} else if (what === "edge") {
  const [write, read, streams, seconds] = [rest[0], rest[1], ...rest.slice(2).map(Number)];
  const heard = {};
  const sockets = await openMany(read, streams, "minimum_state=1", listener(heard), (index) => `127.0.1.${1 + Math.floor(index / 250)}`);
  let ended = 0;
  for (const socket of sockets) socket.on("close", () => (ended += 1));
  const times = await delays(write, streams, Math.ceil(seconds / 10), heard, 10_000);
  console.log(`${streams} streams for ${seconds} s: ${ended} ended; changes: ${said(times)}`);
} else if (what === "load") {
  const [base, streams, rate, seconds] = [rest[0], ...rest.slice(1).map(Number)];
  let events = 0;
  await openMany(base, streams, "minimum_state=1", () => () => (events += 1));
  const all = await areas(base);
  console.log("open");
  const until = Date.now() + seconds * 1_000;
  for (let number = 0; Date.now() < until; number++) {
    await put(base, all[number % all.length], 1 + (number % 4));
    await pause(1_000 / rate);
  }
}
process.exit();
