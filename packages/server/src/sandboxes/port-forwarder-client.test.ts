import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connectForwardedPort } from "./port-forwarder-client.ts";

test.skipIf(process.platform !== "linux")(
  "a forwarder that never answers is dropped after the deadline, and nothing stays open",
  async () => {
    const dir = await mkdtemp(join(tmpdir(), "convoke-forwarder-"));
    onTestFinished(() => rm(dir, { recursive: true, force: true }));
    const silent = createServer();
    const calls = once(silent, "connection") as Promise<[Socket]>;
    silent.listen(join(dir, "ports.sock"));
    onTestFinished(() => void silent.close());
    await once(silent, "listening");
    await expect(connectForwardedPort(join(dir, "ports.sock"), 80, 20)).rejects.toThrow(
      "took longer than 0.02",
    );
    const [call] = await calls;
    call.resume();
    await once(call, "close");
  },
);
