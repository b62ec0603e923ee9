import { join } from "node:path";
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
    using log = new BashLog({ path, keptBytes: 1_000_000, keptMs: null, nowMs: Date.now });
    log.markRunning(id, "ada", "999999999:1");
    log.append({ id, owner: "ada", commandId: id, kind: "BashCommand", fields: { command: "x", cwd: null } });
  }
  await using bash = openLocalBash({ path, environment: {} });
  const output = JSON.parse((await bash.result("ada", id)) ?? "null") as BashOutput;
  expect(output).toMatchObject({ command_id: id, exit_code: -1 });
  expect(output.stderr).toContain("The server ended");
});

test("no more than the most commands run at the same time; the next one is refused in words", async () => {
  const directory = await openTemporaryDirectory();
  onTestFinished(async () => directory[Symbol.asyncDispose]());
  await using bash = openLocalBash({ path: ":memory:", environment: {}, mostRunning: 1 });
  const request = { owner: "ada", cwd: directory.path, timeoutSeconds: 20, secrets: [] };
  const id = createBashId();
  await bash.start({ ...request, id, command: "sleep 63.1" });
  await expect(bash.start({ ...request, id: createBashId(), command: "true" })).rejects.toMatchObject({
    code: "too-many-commands",
  });
});
