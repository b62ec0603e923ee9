import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BashOutput } from "@convoke/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { openTemporaryDirectory } from "../testing/temporary-directory.ts";
import { BashLog, createBashId } from "./bash-log.ts";
import { testBash } from "./contract.ts";
import { openLocalBash } from "./local-bash.ts";

describe("commands of this process", () => {
  testBash(async () => {
    const directory = await openTemporaryDirectory();
    const options = {
      path: join(directory.path, "record", "bash.sqlite"),
      environment: { PATH: "/usr/bin:/bin" },
    };
    let bash = openLocalBash(options);
    return {
      bash,
      dir: directory.path,
      restart: async () => {
        await bash[Symbol.asyncDispose]();
        bash = openLocalBash(options);
        return bash;
      },
      [Symbol.asyncDispose]: async () => {
        await bash[Symbol.asyncDispose]();
        await directory[Symbol.asyncDispose]();
      },
    };
  });
});

test("a command whose process was killed is recorded as ended when the record is opened again", async () => {
  const directory = await openTemporaryDirectory();
  onTestFinished(async () => directory[Symbol.asyncDispose]());
  const path = join(directory.path, "bash.sqlite");
  const id = createBashId();
  {
    using log = new BashLog({ path, capacityBytes: 1_000_000, ttlMs: null, nowMs: Date.now });
    const fields = { command: "x", cwd: null };
    log.append({ id, owner: "ada", commandId: id, kind: "BashCommand", fields }, "999999999:1");
  }
  await using bash = openLocalBash({ path, environment: {} });
  const output = JSON.parse((await bash.result("ada", id)) ?? "null") as BashOutput;
  expect(output).toMatchObject({ command_id: id, exit_code: -1 });
  expect(output.stderr).toContain("The server ended");
});

test("no more than the maximum of commands run at the same time; a further one is refused with the reason", async () => {
  const directory = await openTemporaryDirectory();
  onTestFinished(async () => directory[Symbol.asyncDispose]());
  await using bash = openLocalBash({ path: ":memory:", environment: {}, maxRunning: 1 });
  const request = { owner: "ada", cwd: directory.path, timeoutSeconds: 20, secrets: [] };
  const id = createBashId();
  await bash.start({ ...request, id, command: "sleep 63.1" });
  await expect(bash.start({ ...request, id: createBashId(), command: "true" })).rejects.toMatchObject({
    code: "too-many-commands",
  });
});

test("16: only its owner can read the record, whatever the umask is", async () => {
  const directory = await openTemporaryDirectory();
  onTestFinished(async () => directory[Symbol.asyncDispose]());
  chmodSync(directory.path, 0o755);
  const before = process.umask(0);
  onTestFinished(() => void process.umask(before));
  await using bash = openLocalBash({ path: join(directory.path, "bash.sqlite"), environment: {} });
  const request = { owner: "ada", cwd: directory.path, timeoutSeconds: 20, secrets: [] };
  await bash.start({ ...request, id: createBashId(), command: "true" });
  const modes = readdirSync(directory.path).map((name) => statSync(join(directory.path, name)).mode & 0o777);
  expect(modes).toEqual(modes.map(() => 0o600));
});

// A private file system needs user namespaces, which some machines disable.
const canMount = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;

test.skipIf(!canMount)(
  "F3: a full disk ends no process; when there is room again, recording resumes by itself",
  () => {
    const script = fileURLToPath(new URL("testing/full-disk-bash.ts", import.meta.url));
    const mounted = 'mount -t tmpfs -o size=1m tmpfs /mnt && exec "$0" "$1"';
    const run = spawnSync("unshare", ["-rm", "sh", "-c", mounted, process.execPath, script], {
      encoding: "utf8",
    });
    expect(run.stderr).toBe("");
    expect(JSON.parse(run.stdout)).toEqual({
      start: "no-space",
      result: "no-space",
      later: {
        exit_code: 7,
        stdout: null,
        stderr: "\n[output is missing here: the disk of the record was full]\n",
      },
      next: { exit_code: 0, stdout: "next\n", stderr: null },
    });
  },
);
