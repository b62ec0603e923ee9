import { once } from "node:events";
import { readFile, readdir, rename, stat } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { startStopwatch } from "@convoke/tool-host/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CommandFolder } from "./run-command.ts";

let place: CommandFolder;
beforeAll(async () => {
  place = await CommandFolder.open();
});
afterAll(() => place[Symbol.asyncDispose]());

const shell = (command: string) => ({ tool_calls: [{ name: "terminal", arguments: { command } }] });
const repair = [
  { text: "I will look first.", ...shell("echo found it > note.txt; cat note.txt") },
  { tool_calls: [{ name: "finish", arguments: { message: "The note is there." } }] },
];

const isCached = (name: string): boolean => name.startsWith("main-");

const wires = {
  openai: (url: string) => ({ LLM_MODEL: "openai/scripted", LLM_API_KEY: "any", LLM_BASE_URL: `${url}/v1` }),
  anthropic: (url: string) => ({ LLM_MODEL: "anthropic/scripted", LLM_API_KEY: "any", LLM_BASE_URL: url }),
};

describe("serve", () => {
  test("--json prints exactly url and pid; the server answers; SIGTERM ends it with 0 at once", async () => {
    const { line, ready, ended, child } = await place.start(["serve", "--json", "--port", "0"]);
    expect(line).toBe(JSON.stringify({ url: ready.url, pid: child.pid }));
    expect((await fetch(`${ready.url}/alive`)).status).toBe(200);
    expect((await fetch(`${ready.url}/api/tools/`)).status).toBe(401);
    using stopwatch = startStopwatch();
    child.kill("SIGTERM");
    expect(await ended).toEqual({ code: 0, stdout: `${line}\n`, stderr: "" });
    expect(stopwatch.elapsedMs()).toBeLessThan(20_000);
  });

  test("B1: the first start uses the build's code cache, and a start loads no late part of the program before it answers", async () => {
    await using fresh = await CommandFolder.open();
    const start = ["serve", "--json", "--port", "0"];
    const { child, ended } = await fresh.start(start);
    child.kill("SIGTERM");
    await ended;
    // A start that compiled anything would store it, half a second later or at its end.
    expect((await readdir(path.join(fresh.home, ".cache", "convoke"))).filter(isCached)).toEqual([]);
    // The tables of the data folder exist now.
    const printed = await fresh.printedUntilReady(start, { NODE_DEBUG: "module" });
    expect(printed).toContain("MODULE");
    expect(printed.match(/\bpart-\w+\.cjs/g)).toBeNull();
  });

  test("B1: when the build's code cache is for another Node, the first start stores its own and the second uses it", async () => {
    await using fresh = await CommandFolder.open();
    const library = path.join(await fresh.installCopy(), "lib");
    const built = (await readdir(library)).find((name) => name.startsWith("cli-main.js.v"))!;
    await rename(path.join(library, built), path.join(library, "cli-main.js.v1.0.0-x64"));
    const cache = path.join(fresh.home, ".cache", "convoke");
    const start = ["serve", "--json", "--port", "0"];
    const first = await fresh.start(start);
    await expect.poll(async () => (await readdir(cache)).filter(isCached)).toHaveLength(1);
    first.child.kill("SIGTERM");
    await first.ended;
    const [name] = (await readdir(cache)).filter(isCached);
    const { mtimeMs } = await stat(path.join(cache, name!));
    const second = await fresh.start(start);
    second.child.kill("SIGTERM");
    await second.ended;
    expect((await stat(path.join(cache, name!))).mtimeMs).toBe(mtimeMs);
  });

  test("P3: the key is shown once, stored with mode 0600, and works", async () => {
    const data = path.join(place.folder, "fresh-data");
    const first = await serveOnce(data);
    const key = /key {4}(\S+) {3}\(new, shown once/.exec(first)![1]!;
    expect(await serveOnce(data)).not.toContain(key);
    const files = await readdir(data);
    expect(files).toContain("session-api-key");
    expect((await stat(path.join(data, "session-api-key"))).mode & 0o777).toBe(0o600);
    expect((await readFile(path.join(data, "session-api-key"), "utf8")).trim()).toBe(key);
  });

  test.each([
    ["beyond loopback without a key", ["--host", "0.0.0.0", "--data-dir", "no-key"], {}, /needs a key/],
    [
      "beyond loopback with --no-auth",
      ["--host", "0.0.0.0", "--no-auth"],
      { SESSION_API_KEY: "k" },
      /loopback only/,
    ],
    ["on a bad port", ["--port", "99999"], {}, /whole number from 0 to 65535/],
    ["with a bad setting", [], { CONVOKE_PORT: "many" }, /CONVOKE_PORT/],
    [
      "on an address of another machine",
      ["--host", "192.0.2.1", "--port", "0"],
      { SESSION_API_KEY: "k" },
      /cannot listen/,
    ],
    ["with an unknown flag", ["--nonsense"], {}, /--nonsense/],
  ])(
    "P3: %s it refuses to start: code 2 and one plain message",
    async (_what, args, environment, message) => {
      const { code, stdout, stderr } = await place.run(["serve", "--json", ...args], environment);
      expect(code).toBe(2);
      expect(stdout).toBe("");
      expect(stderr).toMatch(message);
      expect(stderr).not.toMatch(/^\s+at /m);
    },
  );

  test("a port in use: code 2 and what to do", async () => {
    const blocker = createServer();
    blocker.listen(0, "127.0.0.1");
    await once(blocker, "listening");
    const { port } = blocker.address() as { port: number };
    const { code, stderr } = await place.run(["serve", "--port", String(port)]);
    blocker.close();
    expect(code).toBe(2);
    expect(stderr).toContain(`Port ${port} on 127.0.0.1 is in use`);
    expect(stderr).toContain("--port 0");
  });

  test("W9, P13: the agent's commands see no key of the server or the model", async () => {
    const url = await place.startModel([shell("env; echo end of env"), { text: "Done." }]);
    const environment = {
      ...wires.openai(url),
      LLM_API_KEY: "canary-llm-key",
      SESSION_API_KEY: "canary-session-key",
      OH_SECRET_KEY: "canary-secret-key",
      AWS_SECRET_ACCESS_KEY: "canary-aws-key",
    };
    const { code, stdout, stderr } = await place.run(["run", "show the environment", "--json"], environment);
    expect(code).toBe(0);
    expect(stdout).toContain("end of env");
    expect(stdout + stderr).not.toContain("canary");
  });
});

describe("run", () => {
  test("prints the same over both wires, with code 0", async () => {
    const accounts: string[] = [];
    for (const wire of ["openai", "anthropic"] as const) {
      const url = await place.startModel(repair);
      const { code, stdout, stderr } = await place.run(["run", "write a note"], wires[wire](url));
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      accounts.push(stdout);
    }
    const plain = accounts.map((account) =>
      account.replace(/conversation [0-9a-f-]{36}/, "conversation ID").replace(/\d+ tokens/, "N tokens"),
    );
    expect(plain[0]).toBe(plain[1]);
    expect(plain[0]!.split("\n").slice(0, -2)).toEqual([
      expect.stringMatching(/^Wall: bubblewrap · writes to \S+ only · .*\(--sandbox off: none\)$/),
      "you  write a note",
      "agent  I will look first.",
      "  > terminal  echo found it > note.txt; cat note.txt",
      "    found it",
      "    [exit 0]",
      "  > finish  The note is there.",
    ]);
    expect(plain[0]).toMatch(/^finished, N tokens {2}conversation ID$/m);
  });

  test("--json prints one event a line, ids growing, ending with the status", async () => {
    const url = await place.startModel(repair);
    const { code, stdout } = await place.run(["run", "write a note", "--json"], wires.openai(url));
    expect(code).toBe(0);
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: string; kind: string });
    expect(events.map(({ id }) => id)).toEqual(events.map(({ id }) => id).toSorted());
    expect(events[0]).toMatchObject({ kind: "SystemPromptEvent" });
    expect(events.at(-1)).toMatchObject({ key: "execution_status", value: "finished" });
  });

  test.each([
    ["1: the model refuses", [{ error: { status: 401, message: "bad key" } }], [], 1, /error \w+/],
    [
      "8: too many calls",
      [shell("echo 1"), shell("echo 2")],
      ["--max-iterations", "1"],
      8,
      /MaxIterationsReached/,
    ],
    ["3: the agent repeats itself", Array.from({ length: 9 }, () => shell("echo again")), [], 3, /stuck/],
    ["4: nobody can approve", repair, ["--confirm", "always"], 4, /rejected: Not approved at the terminal/],
  ] as const)("ends with %s", async (_what, turns, args, code, account) => {
    const url = await place.startModel(turns);
    const ended = await place.run(["run", "try it", ...args], wires.openai(url));
    expect(ended.code, ended.stdout + ended.stderr).toBe(code);
    expect(ended.stdout).toMatch(account);
    expect(ended.stderr).not.toMatch(/^\s+at /m);
  });

  test.each([
    ["no model", ["run", "x"], {}, /LLM_MODEL/],
    ["no task", ["run"], { LLM_MODEL: "openai/x" }, /task/],
    ["an empty task", ["run", " "], { LLM_MODEL: "openai/x" }, /Describe what/],
    [
      "a bad --confirm",
      ["run", "x", "--confirm", "maybe"],
      { LLM_MODEL: "openai/x" },
      /never, risky or always/,
    ],
    [
      "a bad --max-iterations",
      ["run", "x", "--max-iterations", "0"],
      { LLM_MODEL: "openai/x" },
      /at least 1/,
    ],
    ["an unknown command", ["runn"], {}, /unknown command/],
  ])("ends with 2: %s", async (_what, args, environment, message) => {
    const { code, stdout, stderr } = await place.run(args, environment);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });

  test("an unreachable server is named, without a stack trace", async () => {
    const { code, stderr } = await place.run(["run", "x", "--server", "http://127.0.0.1:9"], {
      LLM_MODEL: "openai/x",
    });
    expect(code).toBe(7);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toContain("http://127.0.0.1:9");
  });

  test("uses a running server, and reports a wrong key", async () => {
    const url = await place.startModel(repair);
    const { ready, child, ended } = await place.start(["serve", "--json", "--port", "0"], {
      SESSION_API_KEY: "right",
    });
    const args = ["run", "write a note", "--server", ready.url];
    const good = await place.run(args, { ...wires.openai(url), SESSION_API_KEY: "right" });
    expect(good.code, good.stderr).toBe(0);
    const bad = await place.run(args, { ...wires.openai(url), SESSION_API_KEY: "wrong" });
    expect(bad).toMatchObject({ code: 1, stdout: "" });
    expect(bad.stderr).toContain("401");
    child.kill("SIGTERM");
    expect((await ended).code).toBe(0);
  });

  test("SIGINT interrupts the agent: code 130, and the tool is gone", async () => {
    const url = await place.startModel([shell("echo started; sleep 98765")]);
    const { child, ended } = await place.start(["run", "wait", "--json"], wires.openai(url));
    await expect.poll(commandLines).toContain("sleep 98765");
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 130 });
    // A killed process may stay in the table for a moment.
    await expect.poll(commandLines).not.toContain("sleep 98765");
  });
});

describe("doctor and help", () => {
  test("doctor lists what is available and shows no secret", async () => {
    const environment = {
      SESSION_API_KEY: "canary-key",
      LLM_API_KEY: "canary-key",
      LLM_MODEL: "openai/gpt-5",
    };
    const { code, stdout } = await place.run(["doctor"], environment);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok +node +24\./m);
    expect(stdout).toMatch(/^ok +model +openai\/gpt-5/m);
    expect(stdout).not.toContain("canary");
    const json = await place.run(["doctor", "--json"], environment);
    expect(JSON.parse(json.stdout)).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: "node", state: "ok" })]),
    );
  });

  test("a data folder that cannot be made is missing: code 1 and the fix", async () => {
    const { code, stdout } = await place.run(["doctor", "--data-dir", "/dev/null/data"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^missing +data folder/m);
    expect(stdout).toContain("--data-dir");
  });

  test.each([[""], ["serve"], ["run"], ["demo"], ["doctor"], ["keys"], ["tool-host"], ["scripted-model"]])(
    "%j --help fits a terminal and says what to do",
    async (...args: string[]) => {
      const { code, stdout, stderr } = await place.run([...args.filter(Boolean), "--help"]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toMatch(/^Usage: convoke/);
      expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    },
  );

  test("--version is the version of the package", async () => {
    const { stdout } = await place.run(["--version"]);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

async function serveOnce(data: string): Promise<string> {
  const { child, ended } = await startPlain(["serve", "--port", "0", "--data-dir", data]);
  child.kill("SIGTERM");
  const { code, stdout } = await ended;
  expect(code).toBe(0);
  return stdout;
}

/** `serve` for people prints lines instead of JSON; the last one begins with "try". */
async function startPlain(args: readonly string[]) {
  const started = place.spawn(args);
  let seen = "";
  started.child.stdout!.on("data", (data: Buffer) => (seen += data.toString("utf8")));
  while (!seen.includes("try ") && started.child.exitCode === null)
    await new Promise((resolve) => setTimeout(resolve, 20));
  return started;
}

/** The command lines of all processes; Linux. */
async function commandLines(): Promise<string> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map(async (pid) => {
      try {
        return (await readFile(`/proc/${pid}/cmdline`, "utf8")).replaceAll("\u0000", " ");
      } catch {
        return ""; // It ended meanwhile.
      }
    }),
  );
  return lines.join("\n");
}
