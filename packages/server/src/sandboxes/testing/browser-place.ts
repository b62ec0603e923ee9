import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { readFile, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { basename, join, relative } from "node:path";
import {
  describeActing,
  describeReading,
  describeWatching,
  hardPagesProgram,
  shareBrowserBench,
  type BrowserPlace,
} from "@convoke/tool-host/testing/browser";
import { expect, onTestFinished, test } from "vitest";
import type { SandboxBackend } from "../sandbox.ts";
import { SandboxBench } from "./sandbox-bench.ts";

const isEvery = process.env["CONVOKE_EVERY_CASE"] === "1";

/**
 * The cases of the browser, and that its pages reach nothing of this machine. Of those about the page alone, which also run outside of sandboxes, every
 * sixth from number `from` on; all with `CONVOKE_EVERY_CASE=1`.
 */
export function describeBrowserIn(openPlace: () => Promise<BrowserPlace>, from: 0 | 1): void {
  const shared = shareBrowserBench(openPlace, isEvery ? undefined : { of: 6, from });
  describeActing(shared);
  describeReading(shared);
  describeWatching(shared);

  test("issue 11.2: pages reach nothing of this machine's network", async () => {
    const connections: unknown[] = [];
    const listener = createServer((socket) => void connections.push(socket.end("machine")));
    listener.listen(0, "0.0.0.0");
    await once(listener, "listening");
    onTestFinished(() => void listener.close());
    const { port } = listener.address() as AddressInfo;
    const surfer = await shared.surf();
    for (const host of ["127.0.0.1", "localhost", "10.0.2.2", "172.17.0.1"]) {
      const shown = JSON.stringify(await surfer.open(`http://${host}:${port}/`));
      // Loopback is the sandbox's own, where nobody listens; for the others the proxy answers.
      expect(shown, host).toMatch(/"isError":true|status 403/);
    }
    expect(connections).toEqual([]);
  });
}

/** A sandbox with the usual way out, in which the hard pages are served as well as surfed. */
export async function openSandboxPlace(
  createBackend: (bench: SandboxBench) => SandboxBackend,
): Promise<BrowserPlace> {
  await using scope = new AsyncDisposableStack();
  const bench = scope.use(await SandboxBench.open(createBackend));
  const handle = await bench.start({ network: "on", limits: { memoryMb: 3_072, cpus: 2, pids: 512 } });
  const outside = bench.spec().workspaceDir;
  const names = hardPagesProgram.map((file) => `${basename(file, ".ts")}.mjs`);
  for (const [at, file] of hardPagesProgram.entries()) {
    // The Node inside may be an older one.
    const program = stripTypeScriptTypes(await readFile(file, "utf8"));
    await writeFile(join(outside, names[at]!), program.replaceAll(/(from "\.\/[^"]+)\.ts"/g, '$1.mjs"'));
  }
  const terminal = await bench.openTerminal(handle);
  const serve = `node ${names[0]} > pages.json 2> pages.log &`;
  const printed = await terminal.run(
    `${serve} until grep -q otherUrl pages.json || ! kill -0 $!; do sleep 0.1; done; cat pages.json pages.log`,
  );
  const line = /\{"url".*\}/.exec(printed)?.[0];
  if (line === undefined) throw new Error(`The pages are not served: ${printed}`);
  const host = await handle.connect();
  scope.defer(() => host.detach());
  const owned = scope.move();
  return {
    host,
    pages: JSON.parse(line) as BrowserPlace["pages"],
    directory: handle.workspaceDir,
    outside: (path) =>
      path.startsWith(handle.stateDir)
        ? join(bench.deps.sandboxesDir, handle.id, "state", relative(handle.stateDir, path))
        : join(outside, relative(handle.workspaceDir, path)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
