import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, onTestFinished, test } from "vitest";

const launcher = fileURLToPath(new URL("./launch.cjs", import.meta.url));
const ownNode = `@convoke/node-${process.platform}-${process.arch}`;
const sources = fileURLToPath(new URL("./bin.ts", import.meta.url));

/** The launcher with a command beside it, told that the Node it runs on is an old one, and what `pretended` says besides. */
async function install(folder: string, command: string, pretended = ""): Promise<string[]> {
  const library = join(folder, "lib");
  await mkdir(library, { recursive: true });
  await copyFile(launcher, join(library, "launch.cjs"));
  await writeFile(join(library, "bin.js"), command);
  const old = join(folder, "old.cjs");
  await writeFile(
    old,
    `Object.defineProperty(process.versions, "node", { value: "20.20.2" });\n${pretended}`,
  );
  return ["--require", old, join(library, "launch.cjs")];
}

/** A package with a program, as npm installs it. */
async function installNode(folder: string, name: string, program: string): Promise<void> {
  const home = join(folder, "node_modules", name);
  await mkdir(join(home, "bin"), { recursive: true });
  await writeFile(join(home, "package.json"), JSON.stringify({ name, version: "1.0.0" }));
  await symlink(program, join(home, "bin", "node"));
}

function start(args: readonly string[], environment: NodeJS.ProcessEnv = process.env): Started {
  const child = spawn(process.execPath, args, { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  return follow(child);
}

type Started = { readonly child: ChildProcess; text: string; readonly ended: Promise<unknown[]> };

function follow(child: ChildProcess): Started {
  const started: Started = { child, text: "", ended: once(child, "close") };
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (bytes: Buffer) => (started.text += bytes.toString()));
  onTestFinished(() => void (child.exitCode === null && child.signalCode === null && child.kill("SIGKILL")));
  return started;
}

test("on an old Node the launcher uses the bundled Node, with arguments and exit code", async () => {
  await using folder = await openTemporaryDirectory();
  const args = await install(folder.path, `console.log(...process.argv.slice(2)); process.exitCode = 3;`);
  await installNode(folder.path, ownNode, process.execPath);
  const started = start([...args, "--version", "a b"]);
  expect(await started.ended).toEqual([3, null]);
  expect(started.text).toBe("--version a b\n");
});

const pretendPlatform = (platform: string): string =>
  `Object.defineProperty(process, "platform", { value: "${platform}" });`;
const pretendMusl = `process.report.getReport = () => ({ header: {} });`;

test.each([
  [
    "npm left it out",
    "",
    /@convoke\/node-linux-x64 was not installed, .* npm install --include=optional convoke$/,
  ],
  [
    "the system has musl",
    pretendMusl,
    /for glibc only, while this system has musl\. Install Node 24 or newer$/,
  ],
  [
    "there is none for the system",
    pretendPlatform("darwin"),
    /none for darwin on x64\. Install Node 24 or newer$/,
  ],
])("without one it says in one line why, and the way out: %s", async (_why, pretended, expected) => {
  await using folder = await openTemporaryDirectory();
  const args = await install(
    folder.path,
    "",
    `Object.defineProperty(process, "arch", { value: "x64" });${pretended}`,
  );
  const started = start([...args, "--version"]);
  expect(await started.ended).toEqual([2, null]);
  const [line = "", ...rest] = started.text.split("\n");
  expect(rest).toEqual([""]);
  expect(line).toMatch(/^Convoke needs Node 24 or newer, this is 20\.20\.2, and /);
  expect(line).toMatch(expected);
});

test("one that does not run here is named, and another one is tried", async () => {
  await using folder = await openTemporaryDirectory();
  const args = await install(folder.path, `console.log("went on");`);
  const broken = join(folder.path, "broken");
  await writeFile(broken, "#!/bin/sh\nexit 1\n");
  await chmod(broken, 0o755);
  await installNode(folder.path, ownNode, broken);
  const alone = start(args);
  expect(await alone.ended).toEqual([2, null]);
  expect(alone.text).toMatch(/bin\/node does not run here\. Install Node 24 or newer\n$/);
  await installNode(folder.path, "node", process.execPath);
  const both = start(args);
  expect(await both.ended).toEqual([0, null]);
  expect(both.text).toBe("went on\n");
});

test("where npm left out optional packages, a new Node names those that are missing", async () => {
  await using folder = await openTemporaryDirectory();
  await install(folder.path, `console.log("went on");`);
  const natives = [`@vscode/ripgrep`, `@lydell/node-pty`];
  const addPackage = async (name: string): Promise<void> => {
    const home = join(folder.path, "node_modules", name);
    await mkdir(home, { recursive: true });
    await writeFile(join(home, "package.json"), JSON.stringify({ name, version: "1.0.0", main: "index.js" }));
    await writeFile(join(home, "index.js"), "");
  };
  for (const name of natives) await addPackage(name);
  const platform = join(folder.path, "platform.cjs");
  await writeFile(
    platform,
    `Object.defineProperty(process, "arch", { value: "x64" });${pretendPlatform("linux")}`,
  );
  const args = ["--require", platform, join(folder.path, "lib/launch.cjs")];
  const without = start(args);
  expect(await without.ended).toEqual([2, null]);
  expect(without.text).toBe(
    "Convoke needs @vscode/ripgrep-linux-x64 and @lydell/node-pty-linux-x64, not installed, because npm left out optional packages. Install them with: npm install --include=optional convoke\n",
  );
  for (const name of natives) await addPackage(`${name}-linux-x64`);
  const whole = start(args);
  expect(await whole.ended).toEqual([0, null]);
  expect(whole.text).toBe("went on\n");
});

test("Windows is refused with the way out, whatever its Node", async () => {
  await using folder = await openTemporaryDirectory();
  const args = await install(folder.path, `console.log("went on");`, pretendPlatform("win32"));
  const started = start(args);
  expect(await started.ended).toEqual([2, null]);
  expect(started.text).toBe("Convoke does not run on Windows itself. Use WSL2, which is a Linux.\n");
});

test("in a clone that was installed without scripts each command names the skipped step, and what makes up for it", async () => {
  await using folder = await openTemporaryDirectory();
  const args = await install(folder.path, "");
  await rename(join(folder.path, "lib/bin.js"), join(folder.path, "lib/bin.ts"));
  for (const word of ["doctor", "serve", "run"]) {
    const started = start([...args, word]);
    expect(await started.ended).toEqual([2, null]);
    expect(started.text).toMatch(
      /^Convoke needs Node 24 or newer, this is 20\.20\.2, .*--ignore-scripts.*npm rebuild node --ignore-scripts=false\n$/,
    );
  }
});

test("in a clone the launcher starts the sources", async () => {
  await using folder = await openTemporaryDirectory();
  const started = start([launcher, "doctor", "--json"], { PATH: process.env["PATH"], HOME: folder.path });
  expect(await started.ended).toEqual([0, null]);
  expect(started.text).toContain('"name": "node"');
});

test("a signal to the launcher ends the command, which says how", async () => {
  await using folder = await openTemporaryDirectory();
  const args = await install(
    folder.path,
    `process.on("SIGTERM", () => process.exit(7)); setInterval(() => {}, 1000); console.log("ready");`,
  );
  await installNode(folder.path, "node", process.execPath);
  const started = start(args);
  await expect.poll(() => started.text).toBe("ready\n");
  started.child.kill("SIGTERM");
  expect(await started.ended).toEqual([7, null]);
});

test("a server that npm started ends when npm is told to, although npm's shell passes nothing on", async () => {
  await using folder = await openTemporaryDirectory();
  const command = `"${process.execPath}" "${sources}" serve --port 0 --sandbox off --json; true`;
  const manifest = { name: "x", version: "1.0.0", scripts: { start: command } };
  await writeFile(join(folder.path, "package.json"), JSON.stringify(manifest));
  const environment = { PATH: process.env["PATH"], HOME: folder.path };
  const npm = follow(
    spawn("npm", ["start", "--silent"], {
      cwd: folder.path,
      env: environment,
      stdio: ["ignore", "pipe", "pipe"],
    }),
  );
  await expect.poll(() => npm.text).toContain("}\n");
  const { url, pid } = JSON.parse(npm.text) as { url: string; pid: number };
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, "SIGKILL");
  });
  expect((await fetch(`${url}/alive`)).status).toBe(200);
  npm.child.kill("SIGTERM");
  await npm.ended;
  await expect.poll(() => isAlive(pid)).toBe(false);
  await expect(fetch(`${url}/alive`)).rejects.toThrow();
});

test("npm run dev serves on a new data folder", async () => {
  await using folder = await openTemporaryDirectory();
  const environment = { PATH: process.env["PATH"], HOME: folder.path };
  const watched = start(
    ["--watch", sources, "serve", "--port", "0", "--sandbox", "off", "--json"],
    environment,
  );
  await expect.poll(() => watched.text).toContain(`"url"`);
  watched.child.kill("SIGTERM");
  await watched.ended;
  expect(watched.text).not.toContain("Error");
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // There is no such process.
    return false;
  }
}
