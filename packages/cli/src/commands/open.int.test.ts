import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { testedPrograms } from "@convoke/server/testing";
import { expect, onTestFinished, test } from "vitest";
import { canOpenBrowser, openBrowser } from "../open-browser.ts";
import { announceServer, findServers } from "../running-servers.ts";

const { command } = testedPrograms();

function start(args: readonly string[], environment: Record<string, string>) {
  const child = spawn(process.execPath, [command, ...args], {
    env: { PATH: process.env["PATH"] ?? "", ...environment },
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  return child;
}

async function run(args: readonly string[], environment: Record<string, string>) {
  const child = start(args, environment);
  const output: Record<"stdout" | "stderr", string> = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].on("data", (bytes: Buffer) => (output[name] += bytes.toString()));
  const [code] = (await once(child, "close")) as [number];
  return { code, ...output };
}

test("J1: convoke alone serves, as serve --open; open finds it by its data folder, and not when it is gone", async () => {
  await using folder = await openTemporaryDirectory();
  const environment = { HOME: folder.path, CONVOKE_PORT: "0", CONVOKE_SANDBOX: "off" };
  const dataDir = join(folder.path, ".convoke");
  const child = start([], environment);
  const [bytes] = (await once(child.stdout, "data")) as [Buffer];
  const [, url = ""] = /Convoke is listening on (\S+)/.exec(bytes.toString()) ?? [];
  expect(await findServers(dataDir)).toMatchObject([{ pid: child.pid, url, needsLogin: true }]);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(readdirSync(join(dataDir, "running"))).toHaveLength(1);
  const opened = await run(["open"], environment);
  expect([opened.code, opened.stderr]).toEqual([1, expect.stringContaining("No server is running on")]);
  expect(readdirSync(join(dataDir, "running"))).toEqual([]);
});

test("S2: open prints a link that logs in, without any key, for the server that was announced", async () => {
  await using folder = await openTemporaryDirectory();
  const page = {
    url: "https://agents.example.org/convoke",
    apiUrl: "http://127.0.0.1:8000",
    usesFolderKey: true,
    hasPage: true,
    needsLogin: true,
  };
  {
    await using _server = await announceServer(folder.path, page);
    const file = join(folder.path, "running", `${process.pid}.json`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const opened = await run(["open", "--data-dir", folder.path, "--print"], { HOME: folder.path });
    expect(opened.code).toBe(0);
    expect(opened.stdout).toMatch(/^https:\/\/agents\.example\.org\/convoke\/login#t=[\w-]{32}\n$/);
    const drawn = await run(["open", "--data-dir", folder.path, "--qr"], { HOME: folder.path });
    expect(drawn.stdout).toMatch(/[▀▄█]{10}[^]*\/login#t=/);
    // The id of a process that ended may be another's by now.
    const entry = JSON.parse(readFileSync(file, "utf8")) as object;
    await writeFile(file, JSON.stringify({ ...entry, began: "1" }));
    expect(await findServers(folder.path)).toEqual([]);
  }
  await using _plain = await announceServer(folder.path, { ...page, hasPage: false });
  const refused = await run(["open", "--data-dir", folder.path], { HOME: folder.path });
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("has no page")]);
});

test("the browser gets a file for its user's eyes, so that no list of processes shows the link", async () => {
  await using folder = await openTemporaryDirectory();
  const bin = join(folder.path, "bin");
  const shown = join(folder.path, "shown");
  await mkdir(bin);
  await writeFile(
    join(bin, "xdg-open"),
    `#!/bin/sh\necho "$@" > ${shown}.part && mv ${shown}.part ${shown}\n`,
  );
  await chmod(join(bin, "xdg-open"), 0o755);
  const { PATH = "" } = process.env;
  onTestFinished(() => void (process.env["PATH"] = PATH));
  process.env["PATH"] = `${bin}${delimiter}${PATH}`;
  const link = "http://127.0.0.1:8000/login#t=secret&x";
  expect(await openBrowser(link, folder.path)).toBe(true);
  await expect.poll(() => readdirSync(folder.path)).toContain("shown");
  const file = join(folder.path, "open.html");
  expect(await readFile(shown, "utf8")).toBe(`file://${file}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await readFile(file, "utf8")).toContain('url=http://127.0.0.1:8000/login#t=secret&amp;x"');
  process.env["PATH"] = "/nonexistent";
  expect(await openBrowser(link, folder.path)).toBe(false);
});

test.each([
  [{ DISPLAY: ":0" }, true, true],
  [{ WAYLAND_DISPLAY: "wayland-0" }, true, true],
  [{ DISPLAY: ":0" }, false, false],
  [{ DISPLAY: "" }, true, false],
  [{}, true, false],
])("with %j and a terminal %s a browser is opened: %s", (environment, isTerminal, isOpened) => {
  expect(canOpenBrowser(environment, isTerminal)).toBe(isOpened);
});
