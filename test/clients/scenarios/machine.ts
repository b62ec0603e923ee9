import assert from "node:assert/strict";
import { join } from "node:path";
import type { ClientWorld } from "../client-world.ts";

/** Commands, and their records as they happen. */
export async function commands(world: ClientWorld): Promise<void> {
  const client = world.record.watch(new world.client.BashClient(world.options));
  const frames: unknown[] = [];
  const errors: Error[] = [];
  const socket = world.record.watch(
    new world.client.BashWebSocketClient({
      host: world.server.url,
      apiKey: world.server.key,
      resendMode: "all",
      callback: (event) => frames.push(event),
      onError: (error) => errors.push(error),
    }),
  );
  socket.start();
  const output = await client.executeCommand("echo out; exit 3", world.folder, 20);
  assert.deepEqual([output.stdout, output.exit_code], ["out\n", 3]);
  const { id } = (await client.startCommand({ command: "echo later", cwd: world.folder })) as { id: string };
  const later = async () => await client.searchEvents({ command_id__eq: id });
  // The command and its output, which a busy machine may part.
  await world.until("the command's output", async () => (await later()).items.length >= 2);
  assert.ok(await client.getEvent(id));
  assert.deepEqual((await client.getEvents([id, "nothing"])).length, 2);
  assert.deepEqual((await client.batchGetEvents([id, "nothing"])).length, 2);
  await world.until("the output on the socket", () => JSON.stringify(frames).includes("later\\n"));
  socket.stop();
  assert.deepEqual(errors, []);
  assert.ok((await client.clearEvents()).cleared_count >= 4);
  client.close();
}

/** Files up, down and listed. */
export async function files(world: ClientWorld): Promise<void> {
  const client = world.record.watch(new world.client.FileClient(world.options));
  const path = join(world.folder, "up load.txt");
  await client.uploadFile(new Blob(["bytes"]), path);
  assert.equal((await client.downloadFile(path)).byteLength, 5);
  await client.uploadTextFile("text", path);
  assert.equal(await client.downloadTextFile(path), "text");
  await world.write("inner/file", "");
  const { items } = await client.searchSubdirectories(world.folder, { limit: 10 });
  assert.ok(items.some(({ name }) => name === "inner"));
  assert.ok(await client.getHome());
  const { json } = await world.server.call("POST", "/api/conversations", world.startRequest);
  assert.ok((await client.downloadTrajectory((json as { id: string }).id)).size > 0);
  client.close();
}

/** A workspace as an object. */
export async function workspace(world: ClientWorld): Promise<void> {
  const place = { ...world.options, workingDir: world.folder };
  const client = world.record.watch(new world.client.Workspace(place));
  const ran = await client.executeCommand("echo here", world.folder, 20);
  assert.deepEqual([ran.stdout, ran.exit_code], ["here\n", 0]);
  const path = join(world.folder, "mine.txt");
  assert.equal((await client.fileUpload(new Blob(["one"]), path)).success, true);
  assert.equal((await client.uploadText("two", path)).success, true);
  assert.equal((await client.uploadFileObject(new File(["three"], "mine.txt"), path)).success, true);
  assert.equal((await client.fileDownload(path)).success, true);
  assert.equal(await client.downloadAsText(path), "three");
  assert.equal((await client.downloadAsBlob(path)).size, 5);
  const changes = await client.gitChanges(world.folder, { ref: "HEAD" });
  assert.match(JSON.stringify(changes), /README\.md/);
  const diff = await client.gitDiff(join(world.folder, "README.md"), { ref: "HEAD" });
  assert.deepEqual([diff.original, diff.modified], ["first", "second"]);

  const { json } = await world.server.call("POST", "/api/conversations", world.startRequest);
  const address = await client.startWorkspaceSession((json as { id: string }).id);
  assert.ok(address.startsWith(world.server.url));
  await client.deleteWorkspaceSession();
  await saveInPage(async () => await client.downloadAndSave(path, "saved.txt"));
  client.close();
}

/** Runs `save` where a page's document is; resolves when the page was asked to save something. */
async function saveInPage(save: () => Promise<void>): Promise<void> {
  const clicked: string[] = [];
  const link = { href: "", download: "", click: () => clicked.push(link.download) };
  const body = { appendChild: () => link, removeChild: () => link };
  Object.assign(globalThis, { document: { createElement: () => link, body } });
  try {
    await save();
  } finally {
    Reflect.deleteProperty(globalThis, "document");
  }
  assert.deepEqual(clicked, ["saved.txt"]);
}

/** Saved working directories. */
export async function savedWorkspaces(world: ClientWorld): Promise<void> {
  const client = world.record.watch(new world.client.WorkspacesClient(world.options));
  const path = world.folder;
  await client.addWorkspaces([{ id: path, name: "Mine", path }] as never);
  await client.addWorkspaceParents([{ id: path, name: "Parent", path }] as never);
  const listed = await client.listWorkspaces();
  assert.match(JSON.stringify(listed), /Parent/);
  await client.deleteWorkspaceParent(path);
  await client.deleteWorkspace(path);
  client.close();
}
