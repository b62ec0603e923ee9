import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createBubblewrapBackend } from "./bubblewrap.ts";
import { findBubblewrap } from "./open-sandbox.ts";
import { chooseNetwork } from "./outside-network.ts";
import { SandboxBench } from "./testing/sandbox-bench.ts";

const unprivileged = { uid: 65_534, gid: 65_534 };
const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const probe = await findBubblewrap({ self, unprivileged, environment: process.env });
const isTranslatorThere = ["/usr/bin", "/usr/local/bin"].some((dir) => existsSync(`${dir}/slirp4netns`));

/** A path without a translator, so that only the machine's own network is left. */
const barePath = "/nowhere";

test("without slirp4netns network on is refused, unless the machine's own network may be shared", () => {
  expect(() => chooseNetwork("on", { path: barePath, isSharingAllowed: false })).toThrow("slirp4netns");
  expect(chooseNetwork("on", { path: barePath, isSharingAllowed: true })).toBe("shared");
  expect(chooseNetwork("none", { path: barePath, isSharingAllowed: true })).toBe("none");
});

describe.skipIf(!probe.isUsable)(`needs a working bubblewrap (${probe.detail})`, () => {
  const listener = createServer((socket) => socket.end("machine"));
  let port = 0;
  beforeAll(async () => {
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    port = (listener.address() as AddressInfo).port;
  });
  afterAll(() => void listener.close());

  async function openTerminal() {
    const bench = await SandboxBench.open(({ deps }) =>
      createBubblewrapBackend({ ...deps, self, unprivileged }),
    );
    onTestFinished(() => bench[Symbol.asyncDispose]());
    const handle = await bench.start({ network: "on" });
    return { bench, handle, terminal: await bench.openTerminal(handle) };
  }
  const ask = (host: string): string =>
    `timeout 5 bash -c 'cat < /dev/tcp/${host}/${port}' 2>/dev/null || echo refused`;

  // As somebody else than root the device of the translator must be open to that user.
  const isRoot = self.uid === 0;
  test.skipIf(!isTranslatorThere || !isRoot)(
    "network on: an interface and a way out, and no way to what listens on this machine's loopback",
    async () => {
      const { bench, handle, terminal } = await openTerminal();
      expect(
        await terminal.run("ls /sys/class/net /proc/net/route; cat /proc/net/route /etc/resolv.conf"),
      ).toMatch(/tap0\s+00000000[^]*10\.0\.2\.3/);
      for (const host of ["127.0.0.1", "10.0.2.2"])
        expect(await terminal.run(ask(host), 20)).toContain("refused");
      expect((await handle.health()).state).toBe("running");
      await bench.backend.remove(handle.id);
      const left = execFileSync("ps", ["-eo", "args"]).toString().split("\n");
      const carriers = left.filter((line) => line.startsWith("slirp4netns") && line.includes(" tap0"));
      const ours = (handle.record["roots"] as { pid: number }[]).map(({ pid }) => ` ${pid} tap0`);
      expect(carriers.filter((line) => ours.some((mark) => line.includes(mark)))).toEqual([]);
    },
  );
});
