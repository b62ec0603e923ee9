import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  findSteadyPort,
  runConvoke,
  startTestServer,
  testedPrograms,
  type TestServer,
} from "@convoke/server/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";

const call = { name: "terminal", arguments: { command: "echo made" } };
const turn = (match: string, answer: object): object => ({ match: { last_user_contains: match }, ...answer });

let server: TestServer;
let environment: Record<string, string>;

beforeAll(async () => {
  server = await startTestServer({
    script: {
      turns: [
        turn("SAY", { text: "Done." }),
        turn("NUMBER", { text: "seven" }),
        turn("REFUSED", { error: { status: 401, message: "no such key" } }),
        turn("CALL", { tool_calls: [call] }),
        // It goes on after it was told that it repeats itself.
        ...["AGAIN", "going in circles"].flatMap((match) =>
          Array.from({ length: 8 }, () => turn(match, { tool_calls: [call] })),
        ),
        turn("WAIT", { hang: true }),
      ],
    },
  });
  environment = {
    HOME: server.folder,
    SESSION_API_KEY: server.key,
    LLM_MODEL: "openai/scripted",
    LLM_API_KEY: "any",
    LLM_BASE_URL: `${server.model.url}/v1`,
  };
  await writeFile(join(server.folder, "number.json"), '{"type":"object","required":["count"]}');
});
afterAll(() => server[Symbol.asyncDispose]());

const run = (...words: string[]): Promise<number> =>
  convoke("run", "--workspace", server.workspaceDir, ...words);

async function convoke(...words: string[]): Promise<number> {
  return (await runConvoke([...words, "--server", server.url], environment)).code;
}

/** The conversation of a run that has begun to wait for its model. */
async function waiting(task: string): Promise<string> {
  for (;;) {
    const { items } = await server.client.searchConversations({ status: "running" });
    for (const { id } of items) {
      const texts = await server.eventTexts(id);
      if (texts.some((text) => text.includes(task))) return id;
    }
    await delay(50);
  }
}

const ways: readonly [name: keyof typeof exitCodes, how: string, act: () => Promise<number>][] = [
  ["ok", "the agent is done", () => run("SAY")],
  ["failed", "the model refuses", () => run("REFUSED")],
  ["usage", "an unknown flag", () => run("SAY", "--qiet")],
  ["usage", "a file that is missing", () => run("SAY", "--file", join(server.folder, "none.txt"))],
  [
    "usage",
    "a schema that is missing",
    () => run("SAY", "--output-schema", join(server.folder, "none.json")),
  ],
  ["stuck", "the agent repeats itself", () => run("AGAIN")],
  ["notApproved", "nobody can approve", () => run("CALL", "--confirm", "always")],
  ["paused", "it is stopped from elsewhere", stopped],
  [
    "invalidAnswer",
    "the answer has another form",
    () => run("NUMBER", "--output-schema", join(server.folder, "number.json")),
  ],
  ["unreachable", "nobody listens there", async () => await nowhere()],
  ["limit", "no model call is left", () => run("CALL", "--max-iterations", "1")],
  ["limit", "the time of the run is over", tooLong],
  ["interrupted", "Ctrl-C", interrupted],
];

async function stopped(): Promise<number> {
  const ended = run("WAIT until it is stopped");
  const id = await waiting("WAIT until it is stopped");
  await server.call("POST", `/api/conversations/${id}/stop`);
  return await ended;
}

async function nowhere(): Promise<number> {
  const url = `http://127.0.0.1:${await findSteadyPort()}`;
  return (await runConvoke(["run", "SAY", "--server", url], environment)).code;
}

async function tooLong(): Promise<number> {
  const { id } = await server.createConversation({ max_run_seconds: 0.001 });
  return await convoke("send", id, "WAIT for ever", "--wait");
}

async function interrupted(): Promise<number> {
  const words = ["run", "WAIT for Ctrl-C", "--workspace", server.workspaceDir, "--server", server.url];
  const child = spawn(process.execPath, [testedPrograms().command, ...words], {
    env: environment,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(child, "close") as Promise<[number | null]>;
  // What it shows of the run says that it listens to the signal.
  let output = "";
  child.stdout.on("data", (data: Buffer) => (output += data.toString()));
  await expect.poll(() => output).toContain("WAIT for Ctrl-C");
  await waiting("WAIT for Ctrl-C");
  child.kill("SIGINT");
  const [code] = await ended;
  return code ?? -1;
}

test.each(ways)("it ends as %s: %s", async (name, _how, act) => {
  expect(await act()).toBe(exitCodes[name]);
});

test("each exit code is one of these", () => {
  expect(new Set(ways.map(([name]) => name))).toEqual(new Set(Object.keys(exitCodes)));
});
