import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startTestServer, testedPrograms } from "@convoke/server/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const { command: bin } = testedPrograms();

let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "convoke-keys-command-"));
});
afterAll(async () => {
  await rm(dataDir, { recursive: true, force: true });
});

type Outcome = { readonly code: number; readonly output: string; readonly error: string };

async function keys(folder: string, ...words: string[]): Promise<Outcome> {
  const command = [bin, "keys", ...words, "--data-dir", folder];
  try {
    const { stdout, stderr } = await run(process.execPath, command, { env: {}, timeout: 100_000 });
    return { code: 0, output: stdout, error: stderr };
  } catch (error) {
    const failed = error as { code?: unknown; stdout?: string; stderr?: string };
    return { code: Number(failed.code), output: failed.stdout ?? "", error: failed.stderr ?? "" };
  }
}

test("keys are made, listed and revoked while a server runs, and count at once", async () => {
  await using server = await startTestServer();
  const call = async (key: string) =>
    (await server.call("GET", "/api/v1/users/me", undefined, { "X-Session-API-Key": key })).json;
  const made = await keys(server.dataDir, "create", "--user", "ada", "--label", "laptop", "--json");
  const { key, id } = JSON.parse(made.output) as { key: string; id: string };
  expect(await call(key)).toMatchObject({ id: "ada" });
  const listed = await keys(server.dataDir, "list");
  expect(listed.output).toContain(`${id}  ada`);
  expect(listed.output).toContain("laptop");
  expect(listed.output).not.toContain(key);
  expect(await keys(server.dataDir, "revoke", id)).toMatchObject({ code: 0, output: `Revoked ${id}.\n` });
  expect(await call(key)).toMatchObject({ detail: "Unauthorized" });
  expect(await keys(server.dataDir, "rotate-master")).toMatchObject({ code: 2 });
}, 180_000);

test("a key has the limits that it was made with, and a user the role that was set", async () => {
  const conversation = "0198c0de-0000-7000-8000-000000000000";
  const made = await keys(dataDir, "create", "--user", "eve", "--expires", "2999-01-31", "--json");
  expect(JSON.parse(made.output)).toMatchObject({ role: "member", expiresAtMs: Date.UTC(2999, 0, 31) });
  const limits = ["--role", "viewer", "--conversation", conversation.replaceAll("-", ""), "--read-only"];
  expect((await keys(dataDir, "create", ...limits)).output).toContain("user local, viewer");
  const { output } = await keys(dataDir, "list");
  expect(output).toMatch(/eve +member +never used, until 2999-01-31 00:00$/m);
  expect(output).toContain(`never used, conversation ${conversation}\n`);
  expect(await keys(dataDir, "set-role", "eve", "admin")).toMatchObject({ output: "eve is now admin.\n" });
  expect((await keys(dataDir, "users")).output).toMatch(/^eve +admin$/m);
  expect(await keys(dataDir, "set-role", "nobody", "admin")).toMatchObject({ code: 1 });
  expect(await keys(dataDir, "disable-user", "eve")).toMatchObject({
    output: "eve is disabled; all keys and logins have ended.\n",
  });
  expect((await keys(dataDir, "users")).output).toMatch(/^eve +admin {2}disabled 2/m);
  expect((await keys(dataDir, "list")).output).toMatch(/eve +admin +revoked/);
  expect(await keys(dataDir, "create", "--user", "eve")).toMatchObject({ code: 2, output: "" });
  expect(await keys(dataDir, "enable-user", "eve")).toMatchObject({ output: "eve is enabled.\n" });
  expect(await keys(dataDir, "disable-user", "nobody")).toMatchObject({ code: 1 });
  for (const words of [
    ["set-role", "local", "viewer"],
    ["disable-user", "local"],
    ["set-role", "eve", "owner"],
    ["create", "--expires", "yesterday"],
    ["create", "--conversation", "x"],
  ])
    expect(await keys(dataDir, ...words)).toMatchObject({ code: 2, output: "" });
}, 180_000);

test("what a user may have at most is set field by field, and listed", async () => {
  expect((await keys(dataDir, "policies")).output).toBe("No user is limited.\n");
  await keys(dataDir, "create", "--user", "ada");
  const all = ["--conversations", "20", "--may-turn-off", "no", "--max-network", "registries"];
  expect((await keys(dataDir, "set-policy", "*", ...all)).output).toBe(
    "*             conversations 20, max_network registries, may_turn_off false\n",
  );
  await keys(dataDir, "set-policy", "ada", "--running-walls", "2", "--least-wall", "bubblewrap");
  const changed = await keys(dataDir, "set-policy", "ada", "--least-wall", "default", "--json");
  expect(JSON.parse(changed.output)).toEqual({ userId: "ada", policy: { running_walls: 2 } });
  expect((await keys(dataDir, "policies")).output).toContain("ada           running_walls 2\n");
  expect(await keys(dataDir, "set-policy", "nobody", "--conversations", "1")).toMatchObject({ code: 1 });
  for (const wrong of [
    ["--conversations", "many"],
    ["--running-walls", "0"],
    ["--least-wall", "high"],
    ["--max-network", "https://x"],
    ["--may-turn-off", "maybe"],
  ])
    expect(await keys(dataDir, "set-policy", "ada", ...wrong)).toMatchObject({ code: 2, output: "" });
}, 180_000);

test("mistakes are told in one sentence, with a code", async () => {
  expect(await keys(dataDir, "create", "--user", "a b")).toMatchObject({ code: 2, output: "" });
  expect(await keys(dataDir, "revoke", "nothing")).toMatchObject({
    code: 1,
    error: "There is no active key nothing. See convoke keys list.\n",
  });
  expect(await keys(join(dataDir, "none"), "rotate-master")).toMatchObject({ code: 2, output: "" });
});

test("the master key is another one after rotate-master", async () => {
  const copy = join(dataDir, "application.before-0.0.9.sqlite");
  await writeFile(copy, "");
  const first = await keys(dataDir, "rotate-master", "--json");
  expect(first.error).toContain(`remove them:\n  rm '${copy}'`);
  expect(JSON.parse(first.output)).toEqual({ resealed: 0, unopened: 0 });
  const before = await readFile(join(dataDir, "master-key"), "utf8");
  expect(await keys(dataDir, "rotate-master")).toMatchObject({ code: 0 });
  expect(await readFile(join(dataDir, "master-key"), "utf8")).not.toBe(before);
});
