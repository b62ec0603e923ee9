import { chown, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WallBench } from "./testing/wall-bench.ts";
import type { StartedWallsDeps } from "./walls-deps.ts";
import type { WallKind } from "./wall.ts";

export type WallContract = {
  readonly kind: WallKind;
  readonly deps: Partial<StartedWallsDeps>;
  /** Whom the working folder belongs to, where the tests run as root. */
  readonly owner: { readonly uid: number; readonly gid: number };
};

/** What a wall of every kind does. All cases share one wall. */
export function describeWalls({ kind, deps, owner }: WallContract): void {
  const scope = new AsyncDisposableStack();
  let bench: WallBench;
  let terminal: Awaited<ReturnType<WallBench["terminal"]>>;

  beforeAll(async () => {
    bench = scope.use(await WallBench.open({ kind, ...deps }));
    const files = {
      ".git/config": "[core]\n\tbare = false\n",
      ".git/HEAD": "ref: refs/heads/main\n",
      ".git/hooks/pre-commit": "#!/bin/sh\n",
      ".git/objects/keep": "",
      ".git/refs/keep": "",
      ".vscode/tasks.json": "{}",
      ".envrc": "",
      ".env": "KEY=secret-of-env\n",
      "src/main.c": "int main;\n",
    };
    for (const [name, text] of Object.entries(files)) {
      await mkdir(join(bench.folder, name, ".."), { recursive: true });
      await writeFile(join(bench.folder, name), text);
    }
    await mkdir(join(bench.root, "shared"));
    await writeFile(join(bench.root, "shared/notes"), "shared\n");
    await mkdir(join(bench.home, ".ssh"));
    await writeFile(join(bench.home, ".ssh/id"), "secret-of-home");
    await writeFile(join(bench.dataDir, "master-key"), "secret-of-data");
    if (process.getuid?.() === 0)
      for (const name of ["", ".git", ".git/hooks", ".vscode", ".envrc", ".vscode/tasks.json", "src"])
        await chown(join(bench.folder, name), owner.uid, owner.gid);
    terminal = await bench.terminal({
      kind,
      network: "registries",
      hide: [".env"],
      unlocked: [".vscode"],
      extraFolders: [{ path: join(bench.root, "shared"), isWritable: false }],
    });
  }, 120_000);

  afterAll(() => scope.disposeAsync());

  test("paths inside are those outside, and files belong to the owner of the folder", async () => {
    expect(await terminal("pwd; echo made > made.txt; cat made.txt")).toBe(`${bench.folder}\nmade`);
    expect(await readFile(join(bench.folder, "made.txt"), "utf8")).toBe("made\n");
    expect((await stat(join(bench.folder, "made.txt"))).uid).toBe((await stat(bench.folder)).uid);
  });

  test("the home, the data folder and the server's environment do not show; the private home is writable", async () => {
    const printed = await terminal(
      `cat ${bench.home}/.ssh/id ${bench.dataDir}/master-key ${bench.dataDir}/*/*/* /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; echo x > ~/kept && cat ~/kept; echo end`,
    );
    expect(printed).toContain("x\nend");
    expect(printed).not.toMatch(/secret-of|canary/);
  });

  test("what git, editors and shells run later cannot be changed, but what is unlocked can", async () => {
    const attempts = [".git/config", ".git/hooks/pre-commit", ".git/hooks/new", ".envrc", ".git/commondir"];
    const lines = attempts.map((name) => `echo x 2>/dev/null > ${name} && echo CHANGED ${name}`);
    const printed = await terminal(
      [...lines, "mv .git other && echo CHANGED .git", "echo 1 > .vscode/tasks.json && echo open"]
        .map((line) => `(${line}) 2>/dev/null`)
        .join("; "),
    );
    expect(printed).toBe("open");
  });

  test("a hidden file is empty, and another folder shows read-only at its own path", async () => {
    const shared = join(bench.root, "shared");
    expect(
      await terminal(`cat .env; cat ${shared}/notes; (echo x > ${shared}/more) 2>/dev/null || echo refused`),
    ).toBe("shared\nrefused");
  });

  test("the way out refuses this machine, and there is no other network", async () => {
    const ask = `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT 127.0.0.1:22 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3; head -1 <&3`;
    expect(
      await terminal(`bash -c "${ask}"; ls /sys/class/net 2>/dev/null; cat /proc/net/dev | grep -c :`),
    ).toMatch(/^HTTP\/1.1 403 [^\n]*\n(?:lo\n)?1$/);
    expect(bench.records).not.toEqual([]);
  });

  test("a port inside is reached", async () => {
    await terminal(
      `node -e 'require("net").createServer((s) => s.end("inside")).listen(4567, "127.0.0.1", () => require("fs").writeFileSync("listening", ""))' > /dev/null 2>&1 & until [ -e listening ]; do sleep 0.05; done`,
    );
    const wall = await bench.wall();
    const stream = await wall.connectPort(4567);
    const [printed] = await stream.toArray();
    expect(String(printed)).toBe("inside");
  });

  test("a wall that ends starts again at the next call, with its private home", async () => {
    await expect(terminal("kill -9 -1; sleep 5")).rejects.toThrow("not run");
    expect(await terminal("cat ~/kept")).toBe("x");
    expect(bench.walls.countRunning()).toBe(1);
  });
}
