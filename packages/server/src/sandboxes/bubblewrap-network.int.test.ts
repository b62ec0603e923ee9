import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBubblewrapBackend } from "./bubblewrap.ts";
import { findBubblewrap } from "./find-bubblewrap.ts";
import { chooseNetwork } from "./outside-network.ts";
import { findSame } from "./process-group.ts";
import type { ProcessKey } from "./process-group.ts";
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

  const ask = (host: string): string =>
    `timeout 1 bash -c 'cat < /dev/tcp/${host}/${port}' 2>/dev/null || echo refused`;
  // Puts the interface down (SIOCSIFFLAGS without any flag).
  const changeNetwork = `perl -e 'socket(S,2,2,0); $r = pack("a16s", "tap0", 0); print ioctl(S,0x8914,$r) ? "changed" : "may not"'`;

  // As somebody else than root the device of the translator must be open to that user.
  const isRoot = self.uid === 0;
  test.skipIf(!isTranslatorThere || !isRoot)(
    "network on: a way out however late it comes, and no way to what listens on this machine's loopback",
    async () => {
      await using bench = await SandboxBench.open(({ deps, dataDir }) =>
        createBubblewrapBackend({
          ...deps,
          environment: { ...deps.environment, PATH: `${dataDir}:${deps.environment["PATH"]}` },
          self,
          unprivileged,
        }),
      );
      await writeFile(join(bench.dataDir, "slirp4netns"), lateTranslator(bench), { mode: 0o755 });
      const handle = await bench.start({ network: "on" });
      const terminal = await bench.openTerminal(handle);
      expect(
        await terminal.run("ls /sys/class/net /proc/net/route; cat /proc/net/route /etc/resolv.conf"),
      ).toMatch(/tap0\s+00000000[^]*10\.0\.2\.3/);
      for (const host of ["127.0.0.1", "10.0.2.2"])
        expect(await terminal.run(ask(host))).toContain("refused");
      expect(await terminal.run(`${changeNetwork}; grep -E 'Cap(Eff|Prm)' /proc/[0-9]*/status`)).toMatch(
        /^may not(\S*Cap(Eff|Prm):\s+0+\s*)+$/,
      );
      const roots = handle.record["roots"] as ProcessKey[];
      expect(await readFile(`/proc/${roots[0]?.pid}/status`, "utf8")).toMatch(/CapPrm:\s+0+\nCapEff:\s+0+\n/);
      expect((await handle.health()).state).toBe("running");
      await bench.backend.remove(handle.id);
      await expect.poll(() => roots.filter(findSame)).toEqual([]);
    },
  );
});

/** Begins when the tool host listens: by then bubblewrap has moved everything inside to another user namespace. */
function lateTranslator(bench: SandboxBench): string {
  const socket = join(bench.dataDir, "sandboxes", "one", "run", "host.sock");
  return `#!/bin/sh\nuntil [ -S ${socket} ]; do sleep 0.02; done\nPATH=/usr/bin:/usr/local/bin exec slirp4netns "$@"\n`;
}
