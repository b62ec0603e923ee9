import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBubblewrapBackend } from "./bubblewrap.ts";
import { findBubblewrap } from "./find-bubblewrap.ts";
import { SandboxBench, type SandboxTerminal } from "./testing/sandbox-bench.ts";

const unprivileged = { uid: 65_534, gid: 65_534 };
const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const probe = await findBubblewrap({ self, unprivileged, environment: process.env });

describe.skipIf(!probe.isUsable)(`needs a working bubblewrap (${probe.detail})`, () => {
  const listener = createServer((socket) => socket.end("machine"));
  let port = 0;
  let bench: SandboxBench;
  let terminal: SandboxTerminal;

  beforeAll(async () => {
    listener.listen(0, "0.0.0.0");
    await once(listener, "listening");
    port = (listener.address() as AddressInfo).port;
    bench = await SandboxBench.open(({ deps }) => createBubblewrapBackend({ ...deps, self, unprivileged }));
    bench.policy = { allow: ["*:*"], deny: ["refused.example"] };
    bench.restart();
    terminal = await bench.openTerminal(await bench.start({ network: "on" }));
  });
  afterAll(async () => {
    listener.close();
    await bench[Symbol.asyncDispose]();
  });

  const viaProxy = (address: string): string => `curl -sS -m 20 --noproxy '' ${address} 2>&1`;

  test("there is no interface but loopback, no route, no resolver and no UDP", async () => {
    expect(await terminal.run("grep -c : /proc/net/dev; tail -n +2 /proc/net/route; echo end")).toBe(
      "1\nend",
    );
    expect(await terminal.run("ls /etc/resolv.conf; getent hosts example.com; echo end 2>&1")).toMatch(
      /No such file[^]*end$/,
    );
    expect(await terminal.run("(echo x > /dev/udp/8.8.8.8/53) 2>&1")).toContain("unreachable");
    expect(await terminal.run(`timeout 2 bash -c 'cat < /dev/tcp/127.0.0.1/${port}' 2>&1`)).toContain(
      "refused",
    );
  });

  test.each([
    ["the machine's loopback", () => `http://127.0.0.1:${port}`],
    ["the same in another spelling", () => `http://[::ffff:127.0.0.1]:${port}`],
    ["the same by name", () => `http://localhost:${port}`],
    ["the metadata address", () => "http://169.254.169.254/latest/meta-data/"],
  ])("the proxy refuses %s in words, whatever the policy", async (_name, addressOf) => {
    expect(await terminal.run(viaProxy(addressOf()))).toContain("was refused");
  });

  test("a refusal inside of TLS is shown by programs that trust the system's store alone", async () => {
    const bare = "env -i PATH=$PATH https_proxy=$https_proxy";
    expect(await terminal.run(`${bare} ${viaProxy("https://refused.example/")}`)).toContain("was refused");
  });

  test("what was refused is recorded with the sandbox, and there in words", async () => {
    expect(bench.records).toContainEqual(
      expect.objectContaining({ sandbox: "one", kind: "refusal", host: "169.254.169.254", port: 80 }),
    );
    expect(bench.ways.refusalsSince("one", 0).text).toContain("Network: 169.254.169.254:80 was refused");
  });
});
