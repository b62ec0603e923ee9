import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { guardianVariable } from "./guardian.ts";
import { listListeningPorts } from "./listening-ports.ts";

const started: ChildProcess[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function openFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "ports-")));
  folders.push(folder);
  return folder;
}

/** Starts a program in a folder that listens on a port. */
async function listen(
  folder: string,
  host: string,
  environment: Record<string, string> = {},
): Promise<number> {
  const script = `const s = require("node:net").createServer().listen(0, "${host}", () => console.log(s.address().port))`;
  const child = spawn(process.execPath, ["-e", script], {
    cwd: folder,
    env: environment,
    stdio: ["ignore", "pipe", "inherit"],
  });
  started.push(child);
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return Number(line.toString());
}

test("the ports of programs in a folder are listed, and those of no other", async () => {
  const [folder, other] = [await openFolder(), await openFolder()];
  const mine = await listen(folder, "127.0.0.1");
  const everywhere = await listen(folder, "0.0.0.0");
  await listen(other, "127.0.0.1");
  const program = process.execPath.split("/").at(-1);
  const expected = [mine, everywhere].toSorted((left, right) => left - right);
  expect(listListeningPorts(folder, {})).toEqual(
    expected.map((port) => ({ port, host: "127.0.0.1", program })),
  );
  await symlink(folder, join(other, "link"));
  expect(listListeningPorts(join(other, "link"), {})).toHaveLength(2);
  expect(listListeningPorts(join(other, "nowhere"), {})).toEqual([]);
});

test("U21: ports of the host itself, and of programs that it has not started, are not listed", async () => {
  const folder = await openFolder();
  const ours = await listen(folder, "127.0.0.1", { [guardianVariable]: "ours" });
  await listen(folder, "127.0.0.1", { [guardianVariable]: "of another" });
  await listen(folder, "127.0.0.1");
  expect(listListeningPorts(folder, { [guardianVariable]: "ours" })).toMatchObject([{ port: ours }]);
  await using own = createServer().listen(0, "127.0.0.1");
  await once(own, "listening");
  const { port } = own.address() as AddressInfo;
  expect(listListeningPorts(process.cwd(), {}).map((one) => one.port)).not.toContain(port);
});
