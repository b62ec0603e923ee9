import { mkdir, symlink } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTemporaryDirectory } from "../testing/temporary-directory.ts";
import { connectToolHost } from "./connect-host.ts";
import { ToolHostRefusedError, ToolHostUnreachableError } from "./connection-errors.ts";

test("security 17: a link in place of the socket is not followed; the socket that it names receives nothing", async () => {
  await using folder = await openTemporaryDirectory();
  await mkdir(join(folder.path, "run"));
  let connections = 0;
  const machine = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => machine.listen(join(folder.path, "machine.sock"), resolve));
  const connect = async (name: string): Promise<unknown> =>
    await connectToolHost({
      address: `unix:${join(folder.path, name)}`,
      key: "x".repeat(20),
      unavailableMs: 200,
    }).catch((error: unknown) => error);
  await symlink(join(folder.path, "machine.sock"), join(folder.path, "run/host.sock"));
  expect(await connect("run/host.sock")).toBeInstanceOf(ToolHostRefusedError);
  expect(await connect("run/none.sock")).toBeInstanceOf(ToolHostUnreachableError);
  expect(connections).toBe(0);
  expect(await connect("machine.sock")).toBeInstanceOf(ToolHostUnreachableError);
  expect(connections).toBeGreaterThan(0);
  await new Promise((resolve) => machine.close(resolve));
});
