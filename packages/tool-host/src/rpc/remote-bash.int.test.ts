import { expect, onTestFinished, test } from "vitest";
import { createBashId } from "../bash/bash-log.ts";
import { testBash } from "../bash/contract.ts";
import { watchLeaks } from "../testing/leaks.ts";
import { openServedBench } from "../testing/served-host.ts";

testBash(async () => {
  const bench = await openServedBench();
  const { bash } = await bench.connect();
  return {
    bash,
    dir: bench.dir,
    restart: async () => {
      await bench.restartBash();
      return (await bench.connect()).bash;
    },
    [Symbol.asyncDispose]: async () => bench[Symbol.asyncDispose](),
  };
});

test("a wait and a follower outlive a broken connection; nothing is lost or doubled", async () => {
  const leaks = watchLeaks();
  onTestFinished(async () => leaks.assertNone());
  const bench = await openServedBench();
  onTestFinished(async () => bench[Symbol.asyncDispose]());
  const { bash } = await bench.connect();
  const id = createBashId();
  const stop = new AbortController();
  const seen: string[] = [];
  const following = (async () => {
    for await (const entries of bash.follow("ada", 0, stop.signal))
      seen.push(...entries.map((entry) => entry.id));
  })();
  await bash.start({
    id,
    owner: "ada",
    command: "for n in 1 2 3 4 5; do echo $n; sleep 0.1; done",
    cwd: bench.dir,
    timeoutSeconds: 30,
    secrets: [],
  });
  const result = bash.result("ada", id);
  await expect.poll(() => seen.length).toBeGreaterThan(0);
  bench.served.cutConnections();
  expect(JSON.parse((await result) ?? "null")).toMatchObject({ exit_code: 0, stdout: "1\n2\n3\n4\n5\n" });
  const stored = await bash.search({ owner: "ada", isDescending: false, limit: 100 });
  await expect.poll(() => seen.length).toBe(stored.items.length);
  stop.abort();
  await following;
  expect(seen).toEqual(stored.items.map((item) => (JSON.parse(item) as { id: string }).id));
});
