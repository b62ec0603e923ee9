import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { ConvokeClient } from "@convoke/client";
import { runConvoke, testedPrograms } from "@convoke/server/testing";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jsonOutputs } from "./json-outputs.ts";

/** What programs rely on: the published file, and not the sources that it is made of. */
const published = JSON.parse(
  await readFile(join(import.meta.dirname, "../../../docs/reference/cli.schema.json"), "utf8"),
) as { readonly properties: Readonly<Record<string, object>>; readonly $defs: object };
const ajv = formats.default(new Ajv2020({ strict: false }));
const seen = new Set<string>();

type Printed = Readonly<Record<string, string>>;

/** The values of an output, each of the shape that is published for the command. */
function check(command: string, text: string): readonly Printed[] {
  const { form } = jsonOutputs[command]!;
  const values = (form === "value" ? [text] : text.split("\n").filter((line) => line !== "")).map(
    (one) => JSON.parse(one) as Printed,
  );
  const isValid = ajv.compile({ ...published.properties[command], $defs: published.$defs });
  for (const one of values) expect([command, isValid(one), isValid.errors]).toEqual([command, true, null]);
  // An empty list shows nothing of its shape.
  if (values.flat().length > 0) seen.add(command);
  return values;
}

const folder = await openTemporaryDirectory();
const at = (name: string): string => join(folder.path, name);
const key = "key-of-the-test";
const children: ChildProcess[] = [];
let url: string;
let client: ConvokeClient;
let model: string;

/** Starts a command that serves; the line that it prints when it is ready. */
async function serve(command: string, ...words: string[]): Promise<Printed> {
  const child = spawn(process.execPath, [testedPrograms().command, command, "--json", ...words], {
    cwd: folder.path,
    env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: folder.path, SESSION_API_KEY: key },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return check(command, line)[0]!;
}

async function printed(command: string, ...words: string[]): Promise<readonly Printed[]> {
  const { code, stdout, stderr } = await runConvoke([...command.split(" "), ...words, "--json"], {
    HOME: folder.path,
    PATH: [at("bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
    CONVOKE_DATA_DIR: at("data"),
    SESSION_API_KEY: key,
    LLM_MODEL: "openai/scripted",
    LLM_API_KEY: "any",
    LLM_BASE_URL: model,
  });
  expect([command, code, stderr]).toEqual([command, 0, ""]);
  return check(command, stdout);
}

/** Of a command over the API. */
const asked = (command: string, ...words: string[]) => printed(command, ...words, "--server", url);

/** A conversation whose first action waits for an answer. */
async function startAsking(): Promise<string> {
  const { id } = await client.startConversation({
    agent: {
      kind: "Agent",
      llm: { model: "openai/scripted", api_key: "any", base_url: model },
      tools: [{ name: "terminal" }],
    },
    workspace: { kind: "LocalWorkspace", working_dir: at("work") },
    confirmation_policy: { kind: "AlwaysConfirm" },
    initial_message: { role: "user", content: [{ type: "text", text: "Go." }], run: true },
  });
  await expect
    .poll(async () => (await client.getConversation(id)).execution_status, { timeout: 60_000 })
    .toBe("waiting_for_confirmation");
  return id;
}

beforeAll(async () => {
  await mkdir(at("bin"));
  await mkdir(at("work"));
  const call = { name: "terminal", arguments: { command: "echo xylophone" } };
  await writeFile(
    at("script.json"),
    JSON.stringify({ turns: [{ tool_calls: [call] }, { text: "Done." }, { text: "And again." }] }),
  );
  model = `${(await serve("scripted-model", "--script", at("script.json"), "--port", "0"))["url"]}/v1`;
  const walls = ["--sandbox", "off", "--wall", "off"];
  url = (await serve("serve", "--port", "0", "--data-dir", at("data"), ...walls))["url"]!;
  client = new ConvokeClient({ baseUrl: url, apiKey: key });
  await serve("tool-host", "--socket", at("host.sock"), "--key-file", at("host.key"));
});

afterAll(async () => {
  for (const child of children.toReversed()) {
    child.kill("SIGTERM");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
  await folder[Symbol.asyncDispose]();
});

test("--json of commands about conversations is as published", async () => {
  const events = await asked("run", "Find xylophones.", "--workspace", at("work"));
  expect(events.map(({ kind }) => kind)).toContain("MessageEvent");
  const [found] = await asked("ls");
  const id = found!["id"]!;
  await asked("show", id);
  await asked("rename", id, "A title");
  await asked("send", id, "Once more.");
  await expect.poll(async () => (await asked("search", "xylophones")).length).toBeGreaterThan(0);
  const [fork] = await asked("fork", id);
  for (const command of ["resume", "pause", "interrupt", "stop"]) await asked(command, fork!["id"]!);
  const [share] = await asked("share", id);
  await asked("shares", id);
  await asked("unshare", id, share!["id"]!);
  await asked("stats", "--days", "1");
  await asked("stats", "--conversations");
  await asked("hold", id, "--reason", "for the test");
  await asked("holds");
  await asked("unhold", id);
  await asked("retention");
  const zip = at("log.zip");
  await asked("export", id, "--format", "zip", "-o", zip);
  await asked("import", zip);
  await printed("inspect", id);
  await printed("replay", id);
  await asked("trash put", fork!["id"]!);
  await asked("trash ls");
  await asked("trash restore", fork!["id"]!);
  await asked("trash put", fork!["id"]!);
  await asked("trash empty", "--yes");
  await asked("rm", id, "--yes");
});

test("--json of approvals is as published", async () => {
  const [one, other] = [await startAsking(), await startAsking()];
  const waiting = await asked("approvals");
  const actionOf = (id: string): string =>
    waiting.find(({ conversation_id: of }) => of === id)!["action_id"]!;
  await asked("approve", one, actionOf(one));
  await asked("reject", other, actionOf(other));
});

test("--json of profiles, plugins and schedules is as published", async () => {
  for (const name of ["openai/one", "openai/two"])
    await client.call("POST /api/profiles/{name}", {
      params: { name: "fast" },
      body: { llm: { model: name } },
    });
  await asked("profiles ls");
  await asked("profiles history", "fast");
  await asked("profiles diff", "fast", "1");
  await asked("profiles restore", "fast", "1");
  await mkdir(at("kit/.plugin"), { recursive: true });
  await writeFile(at("kit/.plugin/plugin.json"), '{"name":"kit","version":"1"}');
  await asked("plugins add", at("kit"), "--dry-run");
  await asked("plugins add", at("kit"), "--yes");
  await asked("plugins ls");
  for (const command of ["show", "update", "disable", "enable"]) await asked(`plugins ${command}`, "kit");
  await asked("plugins rm", "kit", "--yes");
  const prompt = ["--prompt", "Look around.", "--folder", at("work")];
  await asked("schedule add", "morning", "--cron", "0 9 * * *", "--time-zone", "UTC", ...prompt);
  await asked("schedule ls");
  for (const command of ["show", "next", "pause", "resume", "run", "history"])
    await asked(`schedule ${command}`, "morning");
  await asked("schedule rm", "morning", "--yes");
});

test("--json of commands that work on the store is as published", async () => {
  await printed("config", "--all");
  await asked("health");
  const [made] = await printed("keys create", "--user", "ada", "--read-only");
  for (const command of ["keys list", "keys users", "rules ls", "audit verify", "audit head"])
    await printed(command);
  await printed("keys revoke", made!["id"]!);
  await printed("keys set-role", "ada", "viewer");
  await printed("keys set-policy", "ada", "--conversations", "3");
  await printed("keys policies");
  await printed("keys disable-user", "ada");
  await printed("keys enable-user", "ada");
  await printed("rules try", "rm -rf /");
  await printed("backup", "--to", at("backup"));
  await printed("restore", "--from", at("backup"), "--to", at("restored"));
  await printed("doctor", "--check-data", "--data-dir", at("restored"));
  await printed("store copy", "--from", at("restored"), "--to", at("copy"));
  await printed("keys rotate-master", "--data-dir", at("restored"));
});

test("--json of commands about the machine is as published", async () => {
  const { stdout } = await runConvoke(["doctor", "--json"], { HOME: folder.path });
  check("doctor", stdout);
  await writeFile(at("server.log"), '{"level":30,"time":0,"msg":"fine"}\n');
  await printed("logs", "--file", at("server.log"));
  const shown =
    "LoadState=loaded\nFragmentPath=/unit\nUnitFileState=enabled\nActiveState=active\nMainPID=7\n";
  await writeFile(at("shown"), shown);
  await writeFile(at("bin/systemctl"), `#!/bin/sh\ncat '${at("shown")}'\n`);
  await chmod(at("bin/systemctl"), 0o755);
  await printed("service status", "--user");
});

test("every command with --json was asked, and printed something", () => {
  expect(Object.keys(jsonOutputs).filter((command) => !seen.has(command))).toEqual([]);
});
