// A long session with an official client, and what else clients do: `scenario.mjs API MODE STEPS TASK`. The same as
// `../python/scenario.py`, where the parts are described.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { CLIENTS } from "./clients.mjs";

const [api, mode, steps, task] = process.argv.slice(2);
const Client = CLIENTS[api];
const isStream = mode === "stream";
const said = `All ${steps} cellars are counted. 全部の蔵を数えました。`;

function run(call, number) {
  assert.equal(call.name, "bash");
  assert.equal(call.arguments.description, `Look at cellar ${number}`);
  const text = execFileSync("bash", ["-c", call.arguments.command], { encoding: "utf8" });
  return { call, text: `棚 ${text}`, isError: number % 20 === 7, hasImage: number % 20 === 14 };
}

async function session(client) {
  const history = client.user(`全部の蔵を数えて。 Count what all cellars hold, and ${task}.`);
  const outputs = [];
  for (let step = 0; step < steps; step++) {
    const answer = await client.ask(history, isStream, { hasTools: true });
    assert.equal(answer.calls.length, 2, `step ${step}`);
    if (client.showsThinking) assert.equal(answer.thinking, "The next cellar.");
    const results = answer.calls.map((call, place) => run(call, outputs.length + place));
    history.push(...answer.said, ...client.outputs(results));
    outputs.push(...results);
  }
  const answer = await client.ask(history, isStream, { hasTools: true });
  assert.deepEqual([answer.calls.length, answer.text], [0, said]);
  if (!client.count) return;
  const least = outputs.reduce((sum, { text }) => sum + text.length, 0) / 4;
  for (const manner of [undefined, "gzip"]) {
    const counted = await client.count(history, manner);
    assert.ok(counted >= least, `expected at least ${least} tokens, found ${counted}`);
  }
}

async function piecesArriveAsTheyAreSent(client, question) {
  const times = [];
  const [stream] = await client.chunks(question, "slow");
  for await (const _ of stream) times.push(performance.now());
  const gaps = times.slice(1).map((time, place) => time - times[place]).sort((a, b) => a - b);
  assert.ok(times.length >= 3 && gaps[Math.floor(gaps.length / 2)] > 100, String(gaps));
}

async function anAbortHarmsNothing(client, question) {
  const [stream, controller] = await client.chunks(question, "slow");
  const pieces = stream[Symbol.asyncIterator]();
  await pieces.next();
  controller.abort();
  assert.equal((await client.ask(question, isStream)).text, said);
}

async function aBusyProviderIsAskedAgain(client, question) {
  const begun = performance.now();
  assert.equal((await client.ask(question, isStream, { manner: "busy" })).text, said);
  const waited = performance.now() - begun;
  assert.ok(waited > (client.waitsAsTold ? 1900 : 100), String(waited));
}

async function aRefusalIsTheClientsOwnError(client, question) {
  await assert.rejects(client.ask(question, isStream, { manner: "refused" }), (error) => {
    assert.ok(error instanceof Client.refusal, String(error));
    assert.equal(error.status, 400);
    assert.match(error.message, /no cellar is called Δ, 蔵 or قبو/);
    return true;
  });
}

const client = new Client();
await session(client);
const question = client.user("蔵はいくつ？");
await piecesArriveAsTheyAreSent(client, question);
await anAbortHarmsNothing(client, question);
await aBusyProviderIsAskedAgain(client, question);
await aRefusalIsTheClientsOwnError(client, question);
assert.equal((await client.ask(question, isStream, { manner: "gzip" })).text, said);
const slashed = new Client(`${process.env[Client.variable].replace(/\/$/, "")}/`);
assert.equal((await slashed.ask(question, isStream)).text, said);
