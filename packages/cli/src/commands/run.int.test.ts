import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { findSteadyPort, startScriptedModel, testedPrograms } from "@convoke/server/testing";
import { expect, onTestFinished, test } from "vitest";

const { command } = testedPrograms();

/** `home` contains the working folder and the data folder. */
type Place = { readonly home: string; readonly modelUrl: string };

function launch(
  { home, modelUrl }: Place,
  args: readonly string[],
  stderr: "inherit" | "pipe" = "inherit",
  environment: Readonly<Record<string, string>> = {},
): ChildProcess {
  const child = spawn(process.execPath, [command, ...args, "--data-dir", join(home, "data")], {
    cwd: workspaceOf(home),
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      SESSION_API_KEY: "given",
      LLM_MODEL: "openai/scripted",
      LLM_API_KEY: "key",
      LLM_BASE_URL: `${modelUrl}/v1`,
      ...environment,
    },
    stdio: ["ignore", "pipe", stderr],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  return child;
}

function workspaceOf(home: string): string {
  return join(home, "work");
}

/** A folder that is removed after the processes of its test ended: they write in it until then. */
async function openPlace(): Promise<{ readonly path: string }> {
  const folder = await openTemporaryDirectory();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  await mkdir(workspaceOf(folder.path));
  return folder;
}

async function untilPrinted(child: ChildProcess, wanted: string): Promise<string> {
  let output = "";
  for await (const data of child.stdout!) {
    output += String(data);
    if (output.includes(wanted)) return output;
  }
  throw new Error(`It ended without ${wanted}: ${output}`);
}

test("P64: a run that was killed does not go on in the next server: it is shown as interrupted", async () => {
  const folder = await openPlace();
  await using model = await startScriptedModel({
    script: {
      turns: [{ tool_calls: [{ name: "terminal", arguments: { command: "sleep 304" } }] }, { text: "Done." }],
    },
  });
  const place = { home: folder.path, modelUrl: model.url };
  const killed = launch(place, ["run", "Wait.", "--json"]);
  await untilPrinted(killed, '"ActionEvent"');
  killed.kill("SIGKILL");
  await once(killed, "exit");
  const server = launch(place, ["serve", "--port", "0", "--sandbox", "off", "--json"]);
  const { url } = JSON.parse(await untilPrinted(server, "\n")) as { url: string };
  const read = async (path: string): Promise<{ items: { execution_status: string }[] }> => {
    const reply = await fetch(`${url}${path}`, { headers: { "X-Session-API-Key": "given" } });
    return (await reply.json()) as { items: { execution_status: string }[] };
  };
  await expect
    .poll(async () => (await read("/api/conversations/search")).items.map((item) => item.execution_status))
    .toEqual(["paused"]);
  expect(model.requests).toHaveLength(1);
});

test("clients 0: it reads AGENTS.md of the folder that it was begun in", async () => {
  const folder = await openPlace();
  await using model = await startScriptedModel({ script: { turns: [{ text: "Done." }] } });
  await writeFile(join(workspaceOf(folder.path), "AGENTS.md"), "Always write tests.");
  const ended = launch({ home: folder.path, modelUrl: model.url }, ["run", "Go.", "--json"]);
  await untilPrinted(ended, '"SystemPromptEvent"');
  await expect.poll(() => model.requests.length).toBe(1);
  expect(model.requests[0]!.text).toContain("Always write tests.");
});

test("it reaches its own server straight, whatever proxies the environment names", async () => {
  const folder = await openPlace();
  await using model = await startScriptedModel({ script: { turns: [{ text: "All done here." }] } });
  const child = launch({ home: folder.path, modelUrl: model.url }, ["run", "Go."], "pipe", {
    NODE_USE_ENV_PROXY: "1",
    HTTP_PROXY: "http://127.0.0.1:9",
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: ".corp.example.org",
  });
  expect(await untilPrinted(child, "All done here.")).toContain("All done here.");
});

test("a model's address on this machine at which nothing listens is named at once, and given up after seconds", async () => {
  const folder = await openPlace();
  const port = await findSteadyPort();
  const child = launch({ home: folder.path, modelUrl: `http://127.0.0.1:${port}` }, ["run", "Go."], "pipe");
  let output = "";
  for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (data) => (output += String(data)));
  const [code] = (await once(child, "close")) as [number];
  expect(code).toBe(1);
  expect(output).toContain(`Nothing listens at 127.0.0.1:${port}. Start the server of the model there`);
});

test("a reader that has seen enough interrupts the run, and no stack is printed", async () => {
  const folder = await openPlace();
  await using model = await startScriptedModel({
    script: {
      turns: ["seq 100", "sleep 305"].map((command) => ({
        tool_calls: [{ name: "terminal", arguments: { command } }],
      })),
    },
  });
  const place = { home: folder.path, modelUrl: model.url };
  const child = launch(place, ["run", "Wait.", "--json"], "pipe");
  let output = "";
  child.stderr!.on("data", (bytes: Buffer) => (output += String(bytes)));
  const ended = once(child, "close");
  // It ends the stream with the first words, as head does.
  await untilPrinted(child, '"SystemPromptEvent"');
  expect(await ended).toEqual([130, null]);
  expect(output).toBe("");
});

test("it says in its first line what the agent can reach, and nothing else of the home shows to it", async () => {
  const folder = await openPlace();
  await writeFile(join(folder.path, "secret.txt"), "key-of-the-home");
  await symlink(join(folder.path, "secret.txt"), join(workspaceOf(folder.path), "AGENTS.md"));
  await mkdir(join(workspaceOf(folder.path), ".convoke"));
  await symlink(join(folder.path, "secret.txt"), join(workspaceOf(folder.path), ".convoke/rules.json"));
  const read = {
    name: "terminal",
    arguments: { command: `cat ${folder.path}/secret.txt; echo seen > seen.txt` },
  };
  await using model = await startScriptedModel({
    script: { turns: [{ tool_calls: [read] }, { text: "Done." }] },
  });
  const child = launch(
    { home: folder.path, modelUrl: model.url },
    ["run", "Go.", "--network", "none"],
    "pipe",
  );
  const output = await untilPrinted(child, "finished");
  expect(output.split("\n")[0]).toContain(
    `Wall: bubblewrap · writes to ${workspaceOf(folder.path)} only · no network`,
  );
  expect(output).not.toContain("key-of");
  for (const { text } of model.requests) expect(text).not.toContain("key-of");
  expect(await readFile(join(workspaceOf(folder.path), "seen.txt"), "utf8")).toBe("seen\n");
});

test("without a wall and without a terminal to ask at it ends with a sentence, and with the flag it runs and says so", async () => {
  const folder = await openPlace();
  await using model = await startScriptedModel({ script: { turns: [{ text: "Done." }] } });
  const place = { home: folder.path, modelUrl: model.url };
  const refused = launch(place, ["run", "Go."], "pipe", { PATH: "/nowhere" });
  let printed = "";
  refused.stderr!.on("data", (bytes: Buffer) => (printed += bytes.toString()));
  expect((await once(refused, "close"))[0]).toBe(2);
  expect(printed).toMatch(/^No wall works here\. .*--sandbox off.*\n$/);
  expect(model.requests).toHaveLength(0);
  const allowed = launch(place, ["run", "Go.", "--sandbox", "off"], "pipe");
  expect(await untilPrinted(allowed, "Done.")).toMatch(/^Wall: none\. /);
});
