import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { ConvokeProcess, ServerAtWork } from "@convoke/server/testing";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

// What operators do while a server works: the one that the README starts, with sandboxes.
let atWork: ServerAtWork;
let folder: Awaited<ReturnType<typeof openTemporaryDirectory>>;
beforeAll(async () => {
  folder = await openTemporaryDirectory();
  atWork = await ServerAtWork.start();
});
afterAll(async () => {
  await atWork?.[Symbol.asyncDispose]();
  await folder?.[Symbol.asyncDispose]();
});

test("F16: convoke backup copies the folder of a server at work with sandboxes, and the copy is whole", async () => {
  const copy = join(folder.path, "copy");
  const backup = await atWork.convoke("backup", "--data-dir", atWork.dataDir, "--to", copy);
  expect(backup).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`files were copied to ${copy}`) as string,
  });
  expect(await readdir(copy)).toContain("sandboxes.sqlite");
  const checked = await atWork.convoke("doctor", "--check-data", "--data-dir", copy);
  expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining("No damage found.") as string });
  // As the guide tries a restore, beside the server.
  await using restored = await ConvokeProcess.start({ dataDir: copy, sandbox: "off" });
  const [id] = atWork.conversations.slice(1);
  const [stored, original] = [await atWork.eventsOf(id!, restored), await atWork.eventsOf(id!)];
  expect(stored[0]).toEqual(original[0]);
  expect((await restored.call("GET", "/api/settings/secrets/TOKEN")).text).toContain("canary");
});

test("F5: convoke doctor --check-data finds nothing wrong beside a server at work with sandboxes", async () => {
  const checked = await atWork.convoke("doctor", "--check-data", "--data-dir", atWork.dataDir);
  expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining("No damage found.") as string });
  expect(checked.stderr).toContain("sandboxes.sqlite");
});

test("keys are made, listed and revoked beside a server at work, and its master key stays", async () => {
  const where = ["--data-dir", atWork.dataDir];
  const made = await atWork.convoke("keys", "create", "--user", "ada", "--json", ...where);
  expect(made).toMatchObject({ code: 0 });
  const { id, key } = JSON.parse(made.stdout) as { id: string; key: string };
  expect((await atWork.server.call("GET", "/api/v1/users/me", undefined, key)).json).toMatchObject({
    id: "ada",
  });
  expect((await atWork.convoke("keys", "list", ...where)).stdout).toContain(id);
  expect(await atWork.convoke("keys", "revoke", id, ...where)).toMatchObject({ code: 0 });
  expect((await atWork.server.call("GET", "/api/v1/users/me", undefined, key)).status).toBe(401);
  const rotated = await atWork.convoke("keys", "rotate-master", ...where);
  expect(rotated).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("A server runs on") as string,
  });
});

test("store copy is refused beside a server at work, and doctor, replay and open answer", async () => {
  const where = ["--data-dir", atWork.dataDir];
  const copied = await atWork.convoke(
    "store",
    "copy",
    "--from",
    atWork.dataDir,
    "--to",
    join(folder.path, "to"),
  );
  expect(copied).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("A server runs on") as string,
  });
  expect(await atWork.convoke("doctor", ...where)).toMatchObject({ code: 0 });
  const replayed = await atWork.convoke("replay", atWork.conversations[1]!, ...where);
  expect(replayed, replayed.stderr).toMatchObject({ code: 0 });
  const opened = await atWork.convoke("open", ...where);
  expect(opened.stdout + opened.stderr).toContain("http://127.0.0.1:");
});

test("inspect reads every conversation beside a server at work, and no record out of a sandbox", async () => {
  for (const [index, id] of atWork.conversations.slice(0, 3).entries()) {
    const shown = await atWork.convoke("inspect", id, "--json", "--data-dir", atWork.dataDir);
    expect(shown, shown.stderr).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).not.toContain("canary");
    const found = JSON.parse(shown.stdout) as { readonly id: string };
    // The V1 wire writes ids without dashes.
    expect(found.id.replaceAll("-", "")).toBe(id.replaceAll("-", ""));
    expect(found).toMatchObject({
      lease: { node: { is_alive: true } },
      execution_record: index === 0 ? "sandbox" : "here",
      store: { damages: [] },
    });
  }
});

// The last one: it stops the server.
test("F16: a backup that is restored elsewhere continues with its sandboxes over their own files", async () => {
  const copy = join(folder.path, "elsewhere");
  await atWork.settle();
  const note = join("sandboxes", atWork.sandboxId, "workspace/project/notes.txt");
  const backup = await atWork.convoke("backup", "--data-dir", atWork.dataDir, "--to", copy);
  expect(backup).toMatchObject({ code: 0 });
  const [before, copied] = await Promise.all(
    [atWork.dataDir, copy].map(async (dir) => {
      const { uid, gid, mode } = await stat(join(dir, note));
      return { uid, gid, mode, text: await readFile(join(dir, note), "utf8") };
    }),
  );
  expect(copied).toEqual(before);
  await atWork.server.end("SIGTERM");
  // Its sandboxes live on, and are not taken over.
  await using restored = await ConvokeProcess.start({ dataDir: copy });
  const resume = `/api/v1/sandboxes/${atWork.sandboxId}/resume`;
  expect((await restored.call("POST", resume)).status).toBe(200);
  await expect
    .poll(async () => (await restored.call("GET", `/api/v1/sandboxes?id=${atWork.sandboxId}`)).json)
    .toMatchObject([{ status: "RUNNING" }]);
  const [id] = atWork.conversations;
  const reply = await restored.call("POST", `/api/v1/conversations/${id}/pending-messages`, {
    content: [{ type: "text", text: "Go on." }],
  });
  expect(reply.status, reply.text).toBe(201);
  await expect.poll(async () => await readFile(join(copy, note), "utf8")).toBe(`${before!.text}more\nmore\n`);
  expect(await readFile(join(atWork.dataDir, note), "utf8")).toBe(before!.text);
});
