import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { runConvoke } from "@convoke/server/testing";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { Value } from "typebox/value";
import { expect, test } from "vitest";
import { jsonShapes } from "../json-shapes.ts";

test("config shows values with their origins and no secret, and writes a file that its owner alone reads", async () => {
  await using folder = await openTemporaryDirectory();
  const environment = { HOME: folder.path, SESSION_API_KEY: "canary-7", CONVOKE_PROT: "1" };
  const config = (...words: string[]) => runConvoke(["config", ...words], environment);
  expect(await config("set", "port", "8001")).toMatchObject({ code: 0, stdout: "" });
  const file = join(folder.path, ".config/convoke/config.toml");
  expect([await readFile(file, "utf8"), (await stat(file)).mode & 0o777]).toEqual(["port = 8001\n", 0o600]);
  const { stdout, stderr } = await config("--json");
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  for (const line of lines) expect([...Value.Errors(jsonShapes.config, line)]).toEqual([]);
  expect(lines).toEqual([
    { key: "port", value: 8001, origin: file, is_secret: false },
    { key: "session_api_key", value: null, origin: "environment SESSION_API_KEY", is_secret: true },
  ]);
  expect(stderr).toBe("CONVOKE_PROT is no setting, so it has no effect. Did you mean CONVOKE_PORT?\n");
  expect((await config("get", "port")).stdout).toBe("8001\n");
  const wrong = await config("set", "prot", "1");
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringContaining("unknown key `prot`. Did you mean `port`?"),
  ]);
  const secret = await config("set", "secret_key", "canary-8");
  expect([secret.code, secret.stderr]).toEqual([2, expect.not.stringContaining("canary") as string]);
  expect(await config("unset", "port")).toMatchObject({ code: 0 });
  expect(await readFile(file, "utf8")).toBe("");
});

test("without a running server a command that reads starts one for its time, and one that lets an agent work says what to do", async () => {
  await using folder = await openTemporaryDirectory();
  const environment = { HOME: folder.path };
  expect(await runConvoke(["ls", "--json"], environment)).toEqual({ code: 0, stdout: "", stderr: "" });
  const sent = await runConvoke(["send", "@last", "Go."], environment);
  expect([sent.code, sent.stderr]).toEqual([2, expect.stringContaining("Add --wait to follow it here")]);
});
