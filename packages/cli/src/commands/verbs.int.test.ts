import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  findSteadyPort,
  runConvoke,
  startScriptedModel,
  startTestServer,
  testedPrograms,
  type Script,
  type CommandOutcome,
  type TestServer,
} from "@convoke/server/testing";
import { Value } from "typebox/value";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jsonShapes, type JsonLine, type JsonShape } from "../json-shapes.ts";
import { announceServer } from "../running-servers.ts";

const execute = promisify(execFile);

// One server for all of them: a command is a process of its own anyway.
let server: TestServer;
let finished: string;
let asking: string;

beforeAll(async () => {
  const call = { name: "terminal", arguments: { command: "echo made" } };
  server = await startTestServer({
    script: {
      select: "in_order",
      turns: [
        { text: "The sum is right now.", usage: { prompt_tokens: 10, completion_tokens: 5, cost: 0.31 } },
        { tool_calls: [call] },
        { text: "I saw the answer." },
        { text: "And again." },
      ],
    },
  });
  finished = await server.runTo("finished", "Repair the sum of xylophones.");
  asking = await server.runTo("waiting_for_confirmation", "Make it.", {
    confirmation_policy: { kind: "AlwaysConfirm" },
  });
});
afterAll(async () => await server[Symbol.asyncDispose]());

function convoke(...words: string[]): Promise<CommandOutcome> {
  const environment = { HOME: server.folder, SESSION_API_KEY: server.key, CONVOKE_DATA_DIR: server.folder };
  return runConvoke([...words, "--server", server.url], environment);
}

/** The lines of a command that succeeds, each of the shape. */
async function linesOf<Shape extends JsonShape>(
  shape: Shape,
  ...words: string[]
): Promise<JsonLine<Shape>[]> {
  const { code, stdout, stderr } = await convoke(...words, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as JsonLine<Shape>);
  for (const line of lines) expect([...Value.Errors(jsonShapes[shape], line)]).toEqual([]);
  return lines;
}

test("ls lists conversations, the last changed first, by status, and as a table", async () => {
  expect((await linesOf("ls", "ls")).map(({ id }) => id)).toEqual([asking, finished]);
  expect(await linesOf("ls", "ls", "--status", "finished")).toMatchObject([
    { id: finished, cost: 0.31, tokens: 15 },
  ]);
  expect(await linesOf("ls", "ls", "--limit", "1", "--folder", server.workspaceDir)).toHaveLength(1);
  const { stdout } = await convoke("ls");
  expect(stdout).toMatch(/^ID +STATUS +AGE +COST +TITLE\n[0-9a-f-]+ +waiting +\d+ s/);
});

test("show prints what was said, for people, as events and as Markdown", async () => {
  expect((await convoke("show", finished)).stdout).toContain("agent  The sum is right now.");
  const events = await linesOf("event", "show", finished.slice(0, -1));
  expect(events.map(({ kind }) => kind)).toContain("MessageEvent");
  expect((await convoke("show", finished, "--markdown")).stdout).toContain("Repair the sum of xylophones.");
});

test("search finds the event, stats what was spent by day", async () => {
  await expect
    .poll(async () => (await convoke("search", "xylophones", "--json")).stdout, { timeout: 30_000 })
    .not.toBe("");
  expect(await linesOf("search", "search", "xylophones")).toMatchObject([{ conversation_id: finished }]);
  expect((await linesOf("stats", "stats", "--days", "2")).at(-1)).toMatchObject({ cost: 0.31 });
  const [dearest] = await linesOf("stats_conversation", "stats", "--conversations");
  expect(dearest).toMatchObject({ conversation_id: finished, cost: 0.31, prompt_tokens: 10 });
  expect((await convoke("stats")).stdout).toMatch(/^DAY +COST\n[^]*total +\$0\.31\n$/);
});

test("approvals lists what waits; reject answers it, and the run goes on", async () => {
  const [waiting] = await linesOf("approvals", "approvals", asking);
  expect(waiting).toMatchObject({ conversation_id: asking, tool_name: "terminal" });
  expect((await convoke("approvals")).stdout).toContain("terminal: echo made");
  const unknown = await convoke("approve", asking, "no-such-action", "--json");
  expect([unknown.code, JSON.parse(unknown.stderr)]).toEqual([
    1,
    { error: { code: "failed", message: expect.stringContaining("does not wait") as string } },
  ]);
  await linesOf("conversation", "reject", asking, waiting!.action_id, "--reason", "not now");
  expect((await convoke("approvals")).stdout).toBe("No action waits for an answer.\n");
});

test("send --wait follows the run and ends with its code; send alone says where the message is", async () => {
  const sent = await convoke("send", finished, "Once more.", "--wait");
  expect([sent.code, sent.stderr]).toEqual([0, ""]);
  expect(sent.stdout).toContain("finished");
  expect(sent.stdout).not.toContain("xylophones");
  const [line] = await linesOf("send", "send", finished, "And more.");
  expect(line!.event_id).toEqual(expect.any(String));
});

test("rename, fork, resume, pause, stop and rm act on one conversation", async () => {
  await linesOf("conversation", "rename", asking, "Another title");
  expect((await server.client.getConversation(asking)).title).toBe("Another title");
  const [fork] = await linesOf("conversation", "fork", asking, "--title", "A fork");
  expect((await server.client.getConversation(fork!.id)).title).toBe("A fork");
  for (const verb of ["resume", "pause", "interrupt", "stop"]) await linesOf("conversation", verb, fork!.id);
  const asked = await convoke("rm", fork!.id);
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("--yes")]);
  expect(await linesOf("rm", "rm", fork!.id, "--yes")).toEqual([{ id: fork!.id, deleted: true }]);
  expect(await server.client.getConversations([fork!.id])).toEqual([null]);
});

test("share makes a link that reads, shares lists it, and unshare ends it", async () => {
  const [made] = await linesOf("share", "share", finished, "--expires", "12h", "--label", "for ada");
  expect(made!.url).toMatch(new RegExp(`/shared/${finished}#convoke_`));
  expect((await linesOf("share", "shares", finished)).map(({ id, label }) => [id, label])).toEqual([
    [made!.id, "for ada"],
  ]);
  const ended = { conversation_id: finished, id: made!.id, revoked: true };
  expect(await linesOf("unshare", "unshare", finished, made!.id)).toEqual([ended]);
  expect((await convoke("shares", finished)).stdout).toBe("There are no links to it.\n");
});

test("profiles lists stored models, shows what one was and what differs, and restores it", async () => {
  const save = (model: string) =>
    server.call("POST", "/api/profiles/fast", { llm: { model, api_key: `canary of ${model}` } });
  for (const model of ["openai/one", "openai/two"]) await save(model);
  expect(await linesOf("profile", "profiles", "ls")).toContainEqual({
    kind: "model",
    name: "fast",
    detail: "openai/two",
    is_active: false,
  });
  const { stdout } = await convoke("profiles", "history", "fast");
  expect(stdout).toMatch(/^ +2 {2}\S+ \S+ {2}saved {2}fast {2}by local {2}\(current\)\n +1 {2}/);
  expect((await convoke("profiles", "diff", "fast", "1")).stdout).toBe(
    '  api_key: changed (a secret)\n- model: "openai/one"\n+ model: "openai/two"\n',
  );
  const [restored] = await linesOf("profile_revision", "profiles", "restore", "fast", "1");
  expect(restored).toMatchObject({ number: 3, change: "restored", restored_from: 1, is_current: true });
  const revisions = await linesOf("profile_revision", "profiles", "history", "fast", "--limit", "2");
  expect(revisions.map(({ number }) => number)).toEqual([3, 2]);
  const missing = await convoke("profiles", "history", "none");
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("There is no profile none.")]);
});

test("Retention: trash, hold and dry run in the terminal", async () => {
  const { id } = await server.createConversation();
  expect((await convoke("hold", id, "--reason", "for the audit")).stdout).toContain("is on hold");
  expect((await convoke("rm", id, "--yes")).stderr).toContain("for the audit");
  expect((await convoke("holds")).stdout).toContain("for the audit");
  const policy = join(server.folder, "policy.json");
  await writeFile(policy, JSON.stringify({ rules: [{ name: "large", larger_than_mib: 0, idle_days: 0 }] }));
  expect((await convoke("retention", "--set", policy)).stdout).toContain(
    "large: unused for 0 days, larger than 0 MiB",
  );
  const plan = await linesOf("retention_match", "retention", "--dry-run");
  expect(plan.find((line) => line.conversation_id === finished)).toMatchObject({
    rule: "large",
    stays_because: null,
  });
  await writeFile(policy, JSON.stringify({ rules: [] }));
  expect((await convoke("retention", "--set", policy)).stdout).toContain("Nothing goes by itself.");
  expect((await convoke("unhold", id)).code).toBe(0);
  expect((await convoke("trash", "put", id)).stdout).toContain("is in the trash until");
  expect((await linesOf("trash", "trash", "ls"))[0]).toMatchObject({
    conversation_id: id,
    reason: "by hand",
  });
  expect((await convoke("trash", "restore", id.slice(0, 8))).stdout).toContain("is back");
  await convoke("trash", "put", id);
  expect((await convoke("trash", "empty", "--yes")).stdout).toContain("1 deleted.");
  expect((await convoke("trash", "ls")).stdout).toContain("The trash is empty.");
});

test("Import of a downloaded conversation and of conversation folders: import says what came of each", async () => {
  const zip = join(server.folder, "download.zip");
  await linesOf("export", "export", finished, "--format", "zip", "-o", zip);
  const [here] = await linesOf("import", "import", zip);
  expect(here).toMatchObject({ status: "unchanged", conversation_id: finished });
  const old = join(server.folder, "old");
  for (const digit of ["1", "2"]) {
    const folder = join(old, digit.repeat(32), "events");
    await mkdir(folder, { recursive: true });
    const id = "3f0a6f6e-5a3b-4d7a-9b52-0d0f3f6c1a01";
    const event = {
      id,
      timestamp: "2026-01-02T03:04:05.000006",
      source: "user",
      llm_message: { role: "user", content: [{ type: "text", text: "Written elsewhere." }] },
      kind: "MessageEvent",
    };
    await writeFile(join(folder, `event-00000-${id}.json`), JSON.stringify(event));
  }
  await writeFile(join(old, "2".repeat(32), "meta.json"), "{");
  const both = await convoke("import", old);
  expect(both.code).toBe(1);
  expect(both.stdout).toContain("11111111-1111-1111-1111-111111111111  imported  1 events");
  expect(both.stdout).toContain("meta.json is not JSON");
  expect(both.stdout).toContain("1 imported, 1 refused");
  expect((await convoke("import", join(server.folder, "nowhere"))).code).toBe(2);
});

test("export writes a file once, or to standard output; ATIF beside Markdown and JSONL", async () => {
  const file = join(server.folder, "log.jsonl");
  const [written] = await linesOf("export", "export", finished, "--format", "jsonl", "-o", file);
  expect(written).toMatchObject({ id: finished, file });
  expect((await readFile(file)).byteLength).toBe(written!.bytes);
  expect((await convoke("export", finished, "--format", "jsonl", "-o", file)).stderr).toContain(
    "is there already",
  );
  expect((await convoke("export", finished)).stdout).toContain("xylophones");
  const trajectory = JSON.parse((await convoke("export", finished, "--format", "atif")).stdout) as object;
  expect(trajectory).toMatchObject({ schema_version: "ATIF-v1.7", session_id: finished });
});

test("errors are one object on stderr with --json: wrong usage, an unknown conversation, no server", async () => {
  const errorOf = async (...words: string[]): Promise<[number, JsonLine<"error">]> => {
    const { code, stderr } = await convoke(...words, "--json");
    const error = JSON.parse(stderr) as JsonLine<"error">;
    expect([...Value.Errors(jsonShapes.error, error)]).toEqual([]);
    return [code, error];
  };
  expect(await errorOf("ls", "--limit", "0")).toMatchObject([2, { error: { code: "usage" } }]);
  expect(await errorOf("show", "00000000-0000-0000-0000-000000000000")).toMatchObject([
    1,
    { error: { code: "conversation_not_found" } },
  ]);
  const nowhere = `http://127.0.0.1:${await findSteadyPort()}`;
  const nobody = await runConvoke(["ls", "--json", "--server", nowhere], { HOME: server.folder });
  expect([nobody.code, JSON.parse(nobody.stderr)]).toMatchObject([7, { error: { code: "unreachable" } }]);
  const words = ["run", "Go.", "--server", nowhere, "--model", "openai/x"];
  const run = await runConvoke(words, { HOME: server.folder });
  expect([run.code, run.stderr]).toEqual([
    7,
    `The server at ${nowhere} gave no answer (ECONNREFUSED). Is convoke serve running there?\n`,
  ]);
});

/** `convoke run` on the server, with a model of its own. */
async function run(turns: Script["turns"], ...words: string[]): Promise<CommandOutcome> {
  await using model = await startScriptedModel({ script: { select: "in_order", turns } });
  return await runConvoke(["run", ...words, "--server", server.url, "--workspace", server.workspaceDir], {
    HOME: server.folder,
    SESSION_API_KEY: server.key,
    LLM_MODEL: "openai/scripted",
    LLM_API_KEY: "key",
    LLM_BASE_URL: `${model.url}/v1`,
  });
}

test("run --output-schema asks once more for an answer that is not valid, and prints the valid one alone", async () => {
  const schema = join(server.folder, "schema.json");
  await writeFile(schema, JSON.stringify({ type: "object", required: ["verdict"] }));
  const file = join(server.folder, "answer.json");
  const repaired = await run(
    [{ text: "It passes." }, { text: '```json\n{"verdict": "pass"}\n```' }],
    "Review it.",
    "--output-schema",
    schema,
    "--output-last-message",
    file,
  );
  expect(repaired).toEqual({ code: 0, stdout: '{"verdict": "pass"}\n', stderr: "" });
  expect(await readFile(file, "utf8")).toBe('{"verdict": "pass"}\n');
  const turns = [{ text: "It passes." }, { text: "{}" }];
  expect(await run(turns, "Review it.", "--output-schema", schema)).toEqual({
    code: 6,
    stdout: "{}\n",
    stderr: "The answer must have required property 'verdict'.\n",
  });
});

test("run --output-schema prints what finish was called with, and asks again where only the command sees a fault", async () => {
  const schema = join(server.folder, "fields.json");
  const properties = { verdict: { enum: ["pass", "fail"] }, id: { type: "string", pattern: "^a" } };
  await writeFile(schema, JSON.stringify({ type: "object", required: ["verdict"], properties }));
  const finish = (args: object) => ({
    tool_calls: [{ name: "finish", arguments: { message: "Reviewed.", ...args } }],
  });
  const turns = [finish({ verdict: "pass", id: "b" }), finish({ verdict: "pass", id: "a" })];
  expect(await run(turns, "Review it.", "--output-schema", schema)).toEqual({
    code: 0,
    stdout: '{"verdict":"pass","id":"a"}\n',
    stderr: "",
  });
});

test("run --quiet prints the last answer alone, and a limit of model calls ends it with code 8", async () => {
  expect(await run([{ text: "All done." }], "Go.", "--quiet")).toEqual({
    code: 0,
    stdout: "All done.\n",
    stderr: "",
  });
  const call = { tool_calls: [{ name: "terminal", arguments: { command: "true" } }] };
  const limited = await run([call, call], "Go.", "--quiet", "--max-iterations", "1");
  expect([limited.code, limited.stderr]).toEqual([8, expect.stringContaining("MaxIterationsReached")]);
});

test("bash completes commands and ids of the running server, by the script that completion prints", async () => {
  const announced = {
    url: server.url,
    apiUrl: server.url,
    usesFolderKey: false,
    hasPage: false,
    needsLogin: true,
  };
  await using _server = await announceServer(server.folder, announced);
  const complete = async (...words: string[]): Promise<string> => {
    const program = [
      `convoke() { "${process.execPath}" "${testedPrograms().command}" "$@"; }`,
      'eval "$(convoke completion bash)"',
      `COMP_WORDS=(convoke ${words.join(" ")} ""); COMP_CWORD=${words.length + 1}; _convoke`,
      'printf "%s\\n" "${COMPREPLY[@]}"',
    ];
    const environment = {
      PATH: process.env["PATH"] ?? "",
      HOME: server.folder,
      CONVOKE_DATA_DIR: server.folder,
      SESSION_API_KEY: server.key,
    };
    return (await execute("bash", ["-c", program.join("\n")], { env: environment })).stdout;
  };
  expect((await complete()).split("\n")).toContain("approvals");
  // It waits for the server for a second, which a busy machine may need.
  const shown = expect.poll(() => complete("show"), { timeout: 60_000 });
  await shown.toMatch(new RegExp(`^${finished.slice(0, 8)}.*\n@last\n$`, "ms"));
});

test("logs shows a file by level, and says what to do where there is no journal", async () => {
  const file = join(server.folder, "server.log");
  await writeFile(file, '{"level":50,"time":0,"msg":"bad"}\n{"level":30,"time":0,"msg":"fine"}\n');
  const shown = await runConvoke(["logs", "--file", file, "--level", "error"], { HOME: server.folder });
  expect(shown).toEqual({ code: 0, stdout: "1970-01-01T00:00:00.000Z  error  bad\n", stderr: "" });
  const nowhere = await runConvoke(["logs"], { HOME: server.folder, PATH: "/nowhere" });
  expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining("journalctl is not installed")]);
});

test("schedule creates, shows, pauses, runs and deletes what starts by itself", async () => {
  await server.call("POST", "/api/settings", {
    llm_model: "openai/scripted",
    llm_base_url: `${server.model.url}/v1`,
    llm_api_key: "llm-key",
  });
  const words = ["--cron", "0 9 * * MON-FRI", "--time-zone", "Europe/Berlin", "--prompt", "Look around."];
  const folder = ["--folder", server.workspaceDir, "--tag", "team=docs"];
  const [made] = await linesOf("schedule", "schedule", "add", "morning", ...words, ...folder);
  expect(made).toMatchObject({
    name: "morning",
    is_paused: false,
    next_due_at: expect.any(String) as string,
  });
  expect(await linesOf("schedule_next", "schedule", "next", "morning", "--count", "2")).toHaveLength(2);
  const [paused] = await linesOf("schedule", "schedule", "pause", made!.id.slice(-8));
  expect(paused).toMatchObject({ id: made!.id, is_paused: true, next_due_at: null });
  expect(await linesOf("schedule", "schedule", "ls")).toEqual([paused]);
  const [run] = await linesOf("schedule_run", "schedule", "run", "morning");
  await expect
    .poll(async () => (await linesOf("schedule_run", "schedule", "history", "morning"))[0]?.state, {
      timeout: 60_000,
    })
    .toBe("finished");
  expect((await server.client.getConversation(run!.conversation_id!)).tags).toMatchObject({ team: "docs" });
  expect((await convoke("schedule", "ls")).stdout).toMatch(/^ID +NEXT +WHEN +NAME\n\w+ +paused +0 9/);
  const wrong = await convoke("schedule", "add", "x", "--cron", "0 0 30 2 *", "--prompt", "a", "--json");
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("never comes") as string]);
  expect((await convoke("schedule", "add", "x", "--prompt", "a")).code).toBe(2);
  await linesOf("schedule_rm", "schedule", "rm", "morning", "--yes");
  expect((await convoke("schedule", "show", "morning")).code).toBe(1);
});

test("an address where something else answers is named as no server of ours", async () => {
  const { code, stderr } = await runConvoke(["ls", "--server", server.model.url], {
    HOME: server.folder,
  });
  expect(code).toBe(1);
  expect(stderr).toContain("(404)");
  expect(stderr).toContain("Is there a Convoke server at this address?");
});
