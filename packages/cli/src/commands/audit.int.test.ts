import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConvokeProcess, runConvoke, startTestServer } from "@convoke/server/testing";
import { expect, test } from "vitest";

test("P54: the audit log is verified beside a running server, and a changed line is named", async () => {
  await using server = await startTestServer();
  const { id } = await server.createConversation();
  await server.call("GET", `/api/conversations/${id}`);
  const audit = (word: string) => runConvoke(["audit", word, "--data-dir", server.dataDir]);
  await expect.poll(() => readCalls(server.dataDir)).toHaveLength(2);
  expect(await audit("verify")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^calls  lines 1 to 2 of 1 files .*No break was found\.\n$/s) as string,
  });
  await server.close();
  expect((await audit("head")).stdout).toMatch(/^calls 2 [0-9a-f]{64}\n$/);
  const [first = "", ...others] = await readCalls(server.dataDir);
  await writeFile(callsOf(server.dataDir), [first.replace("local", "alice"), ...others, ""].join("\n"));
  const changed = await audit("verify");
  expect(changed.code).toBe(1);
  expect(changed.stdout).toContain("BREAK  calls.jsonl line 1 has number 1 and does not have its digest");
  const asJson = await runConvoke(["audit", "verify", "--json", "--data-dir", server.dataDir]);
  expect(JSON.parse(asJson.stdout)).toMatchObject({
    breaks: [{ stream: "calls", file: "calls.jsonl", line: 1 }],
  });
  expect(await runConvoke(["audit", "verify", "--data-dir", server.folder])).toMatchObject({ code: 2 });
});

test("P54: processes that write at the same time and are killed leave streams without a break", async () => {
  await using server = await ConvokeProcess.start({
    environment: { CONVOKE_PROCESSES: "2" },
    sandbox: "off",
  });
  const audit = join(server.dataDir, "audit");
  for (let round = 0; round < 2; round += 1) {
    const asking = Array.from({ length: 40 }, () => server.ask("GET", "/api/tools/").catch(() => null));
    await Promise.any(asking);
    await server.end("SIGKILL");
    await Promise.all(asking);
    await server.restart();
  }
  for (let count = 0; count < 10; count += 1) await server.ask("GET", "/api/tools/");
  const verified = await runConvoke(["audit", "verify", "--json", "--data-dir", server.dataDir]);
  expect(verified).toMatchObject({ code: 0, stderr: "" });
  const { streams } = JSON.parse(verified.stdout) as { streams: { stream: string; lines: number }[] };
  expect(streams.map(({ stream }) => stream)).toEqual(expect.arrayContaining(["calls", "calls-2"]));
  expect(await readdir(audit)).toEqual(expect.arrayContaining(["heads.json", "heads-2.json"]));
});

function callsOf(dataDir: string): string {
  return join(dataDir, "audit", "calls.jsonl");
}

async function readCalls(dataDir: string): Promise<string[]> {
  const text = await readFile(callsOf(dataDir), "utf8").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}
