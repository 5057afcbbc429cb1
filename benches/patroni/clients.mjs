// Writers and readers of a service, until SIGTERM. Each acknowledged write and each read is one line of a file at once:
//
//   node clients.mjs BASE KEY AREAS FOLDER     AREAS is how many areas there are, numbered from 1
//
//   FOLDER/acknowledged   <milliseconds> <mark in the log of states>
//   FOLDER/refused        <milliseconds> <status, or 0 without a response>
//   FOLDER/reads          <milliseconds> <status, or 0> <1 if marked as stale> <milliseconds it took> <path>
import { appendFileSync } from 'node:fs';
import { Agent, request } from 'node:http';

const [base, key, areas, folder] = process.argv.slice(2);
const count = Number(areas);
const WRITERS = 4;
const READERS = 4;
const PATHS = ['/floods', '/floods/states', '/floods?geoformat=geojson&minimum_state=1', '/reports', '/alerts'];
// More than the service may take for a response (`limits.timeout`).
const PATIENCE = 15_000;
const agent = new Agent({ keepAlive: true });
const sleep = (time) => new Promise((done) => setTimeout(done, time));
const note = (file, ...parts) => appendFileSync(`${folder}/${file}`, `${parts.join(' ')}\n`);

// The status, or 0 if no whole response came, and the headers.
const ask = (method, path, body) =>
    new Promise((done) => {
        const headers = body ? { 'X-Api-Key': key, 'Content-Type': 'application/json' } : {};
        const sent = request(base + path, { method, agent, headers, timeout: PATIENCE }, (response) => {
            response.on('end', () => done([response.statusCode, response.headers]));
            response.on('error', () => done([0, {}]));
            response.resume();
        });
        sent.on('timeout', () => sent.destroy(new Error('timeout')));
        sent.on('error', () => done([0, {}]));
        sent.end(body);
    });

let going = true;
process.on('SIGTERM', () => { going = false; });

// Each writer has areas of its own, so that none waits for another.
const write = async (writer) => {
    for (let number = 0; going; number += 1) {
        const area = 1 + ((number * WRITERS + writer) % count);
        const mark = `drill-${writer}-${number}`;
        const [status] = await ask('PUT', `/floods/${area}?username=${mark}`, JSON.stringify({ state: 1 + (number % 4) }));
        if (status === 200) note('acknowledged', Date.now(), mark);
        else note('refused', Date.now(), status);
        await sleep(status === 200 ? 20 : 100);
    }
};

const read = async (reader) => {
    for (let number = reader; going; number += 1) {
        const path = PATHS[number % PATHS.length];
        const begun = Date.now();
        const [status, headers] = await ask('GET', path);
        note('reads', begun, status, headers['siaga-stale-since'] ? 1 : 0, Date.now() - begun, path);
        await sleep(40);
    }
};

const each = (length, run) => Array.from({ length }, (_, number) => run(number));
await Promise.all([...each(WRITERS, write), ...each(READERS, read)]);
agent.destroy();
