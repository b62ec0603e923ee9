import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { findBubblewrap, ownAccount } from "../sandboxes/find-bubblewrap.ts";
import { WallBench } from "./testing/wall-bench.ts";

const run = promisify(execFile);
const probe = await findBubblewrap({
  self: ownAccount(),
  unprivileged: { uid: 65_534, gid: 65_534 },
  environment: process.env,
});

describe.skipIf(!probe.isUsable)(`needs a working bubblewrap (${probe.detail})`, () => {
  test("paths inside are those outside, and files belong to the owner of the folder", async () => {
    await using bench = await WallBench.open();
    const terminal = await bench.terminal();
    expect(await terminal("pwd; echo $HOME; echo made > made.txt; cat made.txt")).toBe(
      `${bench.folder}\n${bench.home}\nmade`,
    );
    expect(await readFile(join(bench.folder, "made.txt"), "utf8")).toBe("made\n");
    expect((await stat(join(bench.folder, "made.txt"))).uid).toBe((await stat(bench.folder)).uid);
  });

  test("the home, the data folder and the server's environment do not show", async () => {
    await using bench = await WallBench.open();
    await mkdir(join(bench.home, ".ssh"));
    await writeFile(join(bench.home, ".ssh/id"), "secret-of-home");
    await writeFile(join(bench.dataDir, "master-key"), "secret-of-data");
    const terminal = await bench.terminal();
    const printed = await terminal(
      `cat ~/.ssh/id ${bench.dataDir}/master-key ${bench.dataDir}/*/*/* /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; echo end`,
    );
    expect(printed).toContain("end");
    expect(printed).not.toMatch(/secret-of|canary/);
  });

  test("a wall that ends starts again at the next call, and the session continues", async () => {
    await using bench = await WallBench.open();
    const terminal = await bench.terminal();
    expect(await terminal("echo one")).toBe("one");
    await expect(terminal("kill -9 -1; sleep 5")).rejects.toThrow("not run");
    expect(await terminal("echo two")).toBe("two");
  });

  test("a wall ends after its last use, and starts at the next one", async () => {
    await using bench = await WallBench.open({ idleMs: 20 });
    const [ownRun = ""] = await readdir(join(bench.dataDir, "walls/run"));
    const wall = await bench.walls.open(bench.order());
    const host = await wall.openHost();
    const started = host.startProcess({
      command: "/bin/sh",
      args: ["-c", "echo $PPID"],
      environment: {},
      workingDir: bench.folder,
    });
    expect((await started.ended).exitCode).toBe(0);
    await expect.poll(() => bench.walls.countRunning()).toBe(0);
    await expect.poll(() => readdir(join(bench.dataDir, "walls/run", ownRun))).toEqual(["homes"]);
    expect(await bench.terminal()).toBeTypeOf("function");
    expect(bench.walls.countRunning()).toBe(1);
  });

  test("a wall beyond its user's quota is refused with the quota while the others are busy", async () => {
    let running = 0;
    await using bench = await WallBench.open({
      placeWaitMs: 300,
      takeHold: async () => {
        if (running >= 1) return { name: "running_walls", used: running, max: 1 };
        running += 1;
        return { release: () => void (running -= 1) };
      },
    });
    const first = await bench.terminal();
    const busy = first("sleep 5; echo done");
    await expect(bench.terminal({ rootId: "two" })).rejects.toMatchObject({
      code: "quota_reached",
      facts: { quota: { name: "running_walls", used: 1, max: 1 } },
    });
    expect(await busy).toBe("done");
    const second = await bench.terminal({ rootId: "two" });
    expect(await second("echo two")).toBe("two");
    expect(bench.walls.countRunning()).toBe(1);
  });

  test("a wall that is closed while it starts does not start again", async () => {
    const bench = await WallBench.open();
    const wall = await bench.walls.open(bench.order());
    const starting = wall.openHost().catch((error: unknown) => error);
    await bench[Symbol.asyncDispose]();
    expect(await starting).toBeInstanceOf(Error);
    await expect(wall.openHost()).rejects.toThrow("The wall is closed.");
    await expect(wall.openEarly(["terminal"])).rejects.toThrow("The wall is closed.");
  });

  test("callers that ask at the same time get one wall, also when its settings change", async () => {
    await using bench = await WallBench.open();
    const [one, two] = await Promise.all([bench.walls.open(bench.order()), bench.walls.open(bench.order())]);
    expect(one).toBe(two);
    await one.openHost();
    const changed = bench.order({ hide: [".env"] });
    const [three, four] = await Promise.all([bench.walls.open(changed), bench.walls.open(changed)]);
    expect(three).toBe(four);
    expect(three).not.toBe(one);
    await three.openHost();
    expect(bench.walls.countRunning()).toBe(1);
  });

  test("the idle wall ends for another one, which its agent is told; a busy one does not", async () => {
    await using bench = await WallBench.open({ maxRunning: 1, placeWaitMs: 2_000 });
    const first = await bench.terminal();
    const wall = await bench.walls.open(bench.order());
    expect(await first("cd /tmp; echo one")).toBe("one");
    const second = await bench.terminal({ rootId: "two" });
    expect(bench.walls.countRunning()).toBe(1);
    expect(await second("echo two")).toBe("two");
    const readNotes = await wall.beginCall();
    const waiting = first("touch began; until [ -e go ]; do sleep 0.05; done; pwd");
    await expect.poll(() => existsSync(join(bench.folder, "began"))).toBe(true);
    expect(await second("echo three").catch(String)).toContain("All 1 walls that this server may run");
    await writeFile(join(bench.folder, "go"), "");
    expect(await waiting).toBe(bench.folder);
    expect(await readNotes()).toContain("ended the idle wall of this conversation");
  });

  test("a start that fails says why, and leaves nothing in .git", async () => {
    await using bench = await WallBench.open({ environment: { HOME: "/nowhere", PATH: "/nowhere" } });
    await run("git", ["init", "-q", bench.folder]);
    const wall = await bench.walls.open(bench.order());
    await expect(wall.openHost()).rejects.toMatchObject({ code: "wall_failed" });
    await expect(stat(join(bench.folder, ".git/commondir"))).rejects.toThrow("ENOENT");
  });

  test.each([
    ["the home", (bench: WallBench) => bench.home, "home folder"],
    ["a folder around the home", (bench: WallBench) => bench.root, "contains the home"],
    ["the data folder", (bench: WallBench) => bench.dataDir, "is the data folder"],
    [
      "a folder in the data folder",
      (bench: WallBench) => join(bench.dataDir, "conversations"),
      "in the data folder",
    ],
    ["the system", () => "/usr", "belongs to the system"],
  ])("%s cannot be a working folder", async (_name, folderOf, reason) => {
    await using bench = await WallBench.open();
    await expect(bench.walls.open(bench.order({ folder: folderOf(bench) }))).rejects.toThrow(reason);
  });

  test("what git, editors and shells run later cannot be changed", async () => {
    await using bench = await WallBench.open();
    const git = (...args: string[]) => run("git", ["-C", bench.folder, ...args]);
    await git("init", "-q");
    await mkdir(join(bench.folder, ".vscode"));
    await writeFile(join(bench.folder, ".vscode/tasks.json"), "{}");
    await writeFile(join(bench.folder, ".envrc"), "");
    await mkdir(join(bench.folder, "tools"));
    await writeFile(join(bench.folder, "tools/clean"), "");
    await git("config", "filter.x.clean", "tools/clean");
    const terminal = await bench.terminal();
    const attempts = {
      hook: "echo evil > .git/hooks/pre-commit",
      config: "git config core.fsmonitor evil",
      configFile: "rm .git/config",
      rename: "mv .git elsewhere",
      commondir: "echo ../evil > .git/commondir",
      commondirRemoved: "rm .git/commondir",
      task: "echo evil > .vscode/tasks.json",
      folder: "mv .vscode old",
      envrc: "echo evil > .envrc",
      filter: "echo evil > tools/clean",
    };
    for (const [name, command] of Object.entries(attempts))
      expect(await terminal(`(${command}) >/dev/null 2>&1 && echo CHANGED; true`), name).not.toContain(
        "CHANGED",
      );
    expect(
      await terminal(
        "git add -A && git -c user.name=a -c user.email=a@b commit -qm one && git checkout -qb two && git status --short && git log --oneline | wc -l",
      ),
    ).toBe("1");
    expect(await bench.walls.findLeftBehind("one")).toEqual({ files: [], count: 0, is_complete: true });
    await terminal("mkdir -p sub && git init -q sub/new && echo evil > sub/new/.git/hooks/pre-commit");
    expect((await bench.walls.findLeftBehind("one"))?.files).toEqual([
      { path: "sub/new/.git/config", reason: "repository", is_new: true },
      { path: "sub/new/.git/hooks/pre-commit", reason: "repository", is_new: true },
    ]);
    await bench.walls.remove("one");
    await expect(stat(join(bench.folder, ".git/commondir"))).rejects.toThrow("ENOENT");
  });

  test("other folders show as they were ordered, and an unlocked one can be changed", async () => {
    await using bench = await WallBench.open();
    const [docs, lib] = [join(bench.root, "docs"), join(bench.root, "lib")];
    for (const folder of [docs, lib, join(lib, ".vscode"), join(bench.folder, ".vscode")])
      await mkdir(folder);
    const terminal = await bench.terminal({
      unlocked: [".vscode"],
      extraFolders: [
        { path: docs, isWritable: false },
        { path: lib, isWritable: true },
      ],
    });
    const places = [docs, lib, `${lib}/.vscode`, `${bench.folder}/.vscode`];
    const commands = places.map((place) => `(echo made > ${place}/made) 2>/dev/null; echo $?`);
    expect((await terminal(commands.join("; "))).split("\n")).toEqual(["1", "0", "1", "0"]);
    const refused = { path: join(bench.dataDir, "walls"), isWritable: false };
    for (const [extra, reason] of [
      [refused, "is in the data folder"],
      [{ path: bench.home, isWritable: false }, "is the home folder"],
      [{ path: join(bench.root, "nowhere"), isWritable: true }, "is not a folder"],
      [{ path: "docs", isWritable: false }, "not an absolute path"],
    ] as const)
      await expect(bench.walls.open(bench.order({ extraFolders: [extra] }))).rejects.toThrow(reason);
  });

  test("a linked worktree can commit, and cannot reach the configuration of its repository", async () => {
    await using bench = await WallBench.open();
    const main = join(bench.root, "main");
    await run("git", ["init", "-q", main]);
    await run("git", [
      "-C",
      main,
      "-c",
      "user.name=a",
      "-c",
      "user.email=a@b",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "one",
    ]);
    const folder = join(bench.root, "linked");
    await run("git", ["-C", main, "worktree", "add", "-q", folder]);
    const terminal = await bench.terminal({ folder });
    expect(
      await terminal(
        "echo x > x && git add x && git -c user.name=a -c user.email=a@b commit -qm two && git log --oneline | wc -l",
      ),
    ).toBe("2");
    const common = join(main, ".git");
    for (const command of [
      `echo x > ${common}/hooks/pre-commit`,
      "git config core.pager evil",
      "echo 'gitdir: /tmp/evil' > .git",
      `echo evil > ${common}/worktrees/linked/commondir`,
      `echo evil > ${common}/worktrees/linked/gitdir`,
      `mkdir ${common}/worktrees/other`,
      `ls ${main}/README`,
    ])
      expect(await terminal(`(${command}) >/dev/null 2>&1 && echo CHANGED; true`), command).not.toContain(
        "CHANGED",
      );
  });

  test("a pointer that an agent wrote opens no other repository", async () => {
    await using bench = await WallBench.open();
    const other = join(bench.root, "other");
    await run("git", ["init", "-q", other]);
    await writeFile(join(bench.folder, ".git"), `gitdir: ${other}/.git\n`);
    const terminal = await bench.terminal();
    expect(await terminal(`ls ${other}/.git 2>&1 | head -1`)).toContain("No such file");
  });

  test("a folder that is named by a link is there by both names; hidden files are empty", async () => {
    await using bench = await WallBench.open();
    await writeFile(join(bench.folder, ".env"), "TOKEN=value");
    const link = join(bench.root, "link");
    await symlink(bench.folder, link);
    const terminal = await bench.terminal({ folder: link, hide: [".env"] });
    expect(await terminal(`cat .env; cd ${link}; ls -A; realpath .`)).toBe(`.env\n${bench.folder}`);
  });

  test("two folders share no home, two conversations of a folder do", async () => {
    await using bench = await WallBench.open();
    const one = await bench.terminal();
    await one("mkdir -p ~/.cache && echo x > ~/.cache/x; echo y > /tmp/y");
    const same = await bench.terminal({ rootId: "two" });
    expect(await same("cat ~/.cache/x; ls /tmp/y 2>&1")).toMatch(/^x\n.*No such file/);
    const folder = join(bench.root, "elsewhere");
    await mkdir(folder);
    const other = await bench.terminal({ rootId: "three", folder });
    expect(await other("ls ~/.cache/x 2>&1")).toContain("No such file");
  });
});

describe.skipIf(!probe.isUsable)(`the way out needs a working bubblewrap (${probe.detail})`, () => {
  test("this machine, private addresses and hosts without a rule are refused in words, and recorded", async () => {
    await using bench = await WallBench.open();
    await using site = await openSite();
    const { port } = site;
    const terminal = await bench.terminal({ network: "all" });
    const fetch = (address: string): string =>
      `curl -sS -m 10 --noproxy '' -x http://127.0.0.1:3128 ${address} 2>&1`;
    expect(await terminal(`curl -sS -m 5 --noproxy '*' http://127.0.0.1:${port} 2>&1`)).toContain("onnect");
    expect(await terminal(fetch(`http://127.0.0.1:${port}`))).toContain("was refused");
    expect(await terminal(fetch(`http://[::ffff:127.0.0.1]:${port}`))).toContain("was refused");
    expect(await terminal(fetch("http://169.254.169.254/latest/"))).toContain("was refused");
    const wall = await bench.walls.open(bench.order({ network: "all" }));
    expect(wall.refusalsSince(0).text).toContain("169.254.169.254");
    expect(bench.records).toContainEqual(
      expect.objectContaining({ conversationId: "one", kind: "refusal", host: "169.254.169.254" }),
    );
    const closed = await bench.terminal({ rootId: "two", network: { allow: ["example.com"] } });
    expect(await closed(fetch("http://other.example/"))).toContain("has no rule that allows it");
  });

  test("a private host that the policy lists is reached", async () => {
    await using bench = await WallBench.open();
    await using site = await openSite();
    const { port } = site;
    const host = `127.0.0.1:${port}`;
    const terminal = await bench.terminal({ network: { allow: [host], private: [host] } });
    expect(await terminal(`curl -sS -m 10 --noproxy '' http://${host} 2>&1`)).toContain("mine!");
  });
});

/** A server of this machine that answers every request with a line. */
async function openSite(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nmine!\n"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      server.close();
    },
  };
}
