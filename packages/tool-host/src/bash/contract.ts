import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { BashEvent, BashOutput } from "@convoke/protocol";
import { expect, onTestFinished, test } from "vitest";
import { findMarkedProcesses } from "../system/process-table.ts";
import { watchLeaks } from "../testing/leaks.ts";
import { createBashId } from "./bash-log.ts";
import type { Bash, BashQuery, BashRequest } from "./bash.ts";

export type BashUnderTest = AsyncDisposable & {
  readonly bash: Bash;
  /** An existing directory that belongs to the test. */
  readonly dir: string;
  /** Shuts the backend down in an orderly way and opens it again on the same record. */
  readonly restart: () => Promise<Bash>;
};

/** Tests that every backend of Bash must pass. */
export function testBash(open: () => Promise<BashUnderTest>): void {
  const openBench = async () => {
    const leaks = watchLeaks();
    onTestFinished(async () => leaks.assertNone());
    const under = await open();
    onTestFinished(async () => under[Symbol.asyncDispose]());
    const start = async (command: string, changes: Partial<BashRequest> = {}): Promise<string> => {
      const id = changes.id ?? createBashId();
      await under.bash.start({ ...request(under.dir), command, ...changes, id });
      return id;
    };
    const run = async (command: string, changes: Partial<BashRequest> = {}): Promise<BashOutput> => {
      const id = await start(command, changes);
      return JSON.parse((await under.bash.result(changes.owner ?? "ada", id)) ?? "null") as BashOutput;
    };
    const events = async (query: Partial<BashQuery> = {}): Promise<BashEvent[]> => {
      const page = await under.bash.search({ owner: "ada", isDescending: false, limit: 100, ...query });
      return page.items.map((item) => JSON.parse(item) as BashEvent);
    };
    return { ...under, start, run, events };
  };

  test("a command runs in its directory; its streams and exit code are separate, and recorded", async () => {
    const { run, events, dir } = await openBench();
    const output = await run("pwd; echo oops >&2; cat; exit 3", { cwd: dir });
    expect(output).toMatchObject({ exit_code: 3, stdout: `${dir}\n`, stderr: "oops\n", kind: "BashOutput" });
    const [command, ...chunks] = await events();
    expect(command).toMatchObject({
      kind: "BashCommand",
      command: "pwd; echo oops >&2; cat; exit 3",
      cwd: dir,
      timeout: 30,
      id: output.command_id,
    });
    // On a busy machine the output may come in several chunks.
    const outputs = chunks as BashOutput[];
    const joined = (name: "stdout" | "stderr"): string => outputs.map((chunk) => chunk[name] ?? "").join("");
    expect({ ...outputs.at(-1), stdout: joined("stdout"), stderr: joined("stderr") }).toEqual(output);
    expect(output.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(output.id).toMatch(/^[0-9a-f]{32}$/);
  });

  test("W20: output is recorded while the command runs, in order, and its chunks join to the whole", async () => {
    const { bash, start, events, dir } = await openBench();
    const gate = join(dir, "gate");
    const id = await start(`printf 'first é'; until [ -e ${gate} ]; do sleep 0.02; done; echo last`);
    await expect.poll(async () => (await events({ commandId: id, kind: "BashOutput" })).length).toBe(1);
    const [early] = (await events({ commandId: id, kind: "BashOutput" })) as BashOutput[];
    expect(early).toMatchObject({ order: 0, exit_code: null, stdout: "first é", stderr: null });
    await start(`touch ${gate}`);
    const whole = JSON.parse((await bash.result("ada", id)) ?? "null") as BashOutput;
    expect(whole).toMatchObject({ exit_code: 0, stdout: "first élast\n" });
    const later = (await events({ commandId: id, orderAbove: 0, kind: "BashOutput" })) as BashOutput[];
    expect(later.map(({ stdout }) => stdout ?? "").join("")).toBe("last\n");
    expect(later.map(({ order }) => order)).toEqual(later.map((_, index) => index + 1));
    expect(later.at(-1)).toMatchObject({ order: whole.order, exit_code: 0 });
  });

  test("a command that times out ends with all its processes; its output stays", async () => {
    const { run } = await openBench();
    const output = await run("echo before; setsid sleep 61.7 & sleep 61.7", { timeoutSeconds: 3 });
    expect(output).toMatchObject({ exit_code: -1, stdout: "before\n" });
    expect(output.stderr).toContain("limit of 3 s");
    expect(findMarkedProcesses(`CONVOKE_COMMAND=${output.command_id}`)).toEqual([]);
  });

  test("only its owner can stop a command, with all its processes; stopping an ended one changes nothing", async () => {
    const { bash, start, events } = await openBench();
    const id = await start("echo begun; setsid sleep 61.9 & sleep 61.9");
    await expect.poll(async () => (await events({ commandId: id, kind: "BashOutput" })).length).toBe(1);
    expect(await bash.stop("bob", id)).toBe(false);
    expect(await bash.stop("ada", createBashId())).toBe(false);
    expect(await bash.stop("ada", id)).toBe(true);
    expect(findMarkedProcesses(`CONVOKE_COMMAND=${id}`)).toEqual([]);
    const whole = JSON.parse((await bash.result("ada", id)) ?? "null") as BashOutput;
    expect(whole).toMatchObject({ exit_code: -1, stdout: "begun\n" });
    expect(whole.stderr).toContain("because somebody stopped it");
    const before = await events();
    expect(await bash.stop("ada", id)).toBe(true);
    expect(await events()).toEqual(before);
  });

  test("P15: a background process does not delay the end of its command, continues, and ends with its host", async () => {
    const { run, restart } = await openBench();
    const output = await run("while :; do echo noise; sleep 0.01; done & echo done");
    expect(output).toMatchObject({ exit_code: 0 });
    expect(output.stdout).toContain("done\n");
    const assignment = `CONVOKE_COMMAND=${output.command_id}`;
    expect(findMarkedProcesses(assignment)).not.toEqual([]);
    await restart();
    expect(findMarkedProcesses(assignment)).toEqual([]);
  });

  test("a command that cannot start, a signal and a missing program are ordinary ends", async () => {
    const { run, dir } = await openBench();
    expect(await run("true", { cwd: join(dir, "absent") })).toMatchObject({
      exit_code: -1,
      order: 0,
      stderr: `The directory ${join(dir, "absent")} does not exist.\n`,
    });
    expect(await run("kill -9 $$")).toMatchObject({ exit_code: -9 });
    expect(await run("no-such-program-here")).toMatchObject({ exit_code: 127 });
    expect(await run("true")).toMatchObject({ exit_code: 0, stdout: null, stderr: null });
  });

  test("P13: secrets are masked in the command and its output, also when split over chunks", async () => {
    const { run, events } = await openBench();
    const secrets = [{ name: "TOKEN", value: "canary-0123456789" }];
    const command = "printf canary-01; sleep 0.2; echo 23456789; echo canary-0123456789 | base64";
    const output = await run(command, { secrets });
    const text = JSON.stringify(await events());
    expect(text).not.toContain("canary-0123456789");
    expect(text).not.toContain(Buffer.from("canary-0123456789\n").toString("base64"));
    expect(output.stdout).toBe("<secret-hidden>\n<secret-hidden>\n");
  });

  test("a flood of output is bounded to its beginning and end, and the next command works", async () => {
    const { run } = await openBench();
    const output = await run("head -c 30000000 /dev/zero | tr '\\0' a; echo; echo the end", {
      timeoutSeconds: 50,
    });
    expect(output).toMatchObject({ exit_code: 0 });
    expect(output.stdout?.length).toBeLessThanOrEqual(1024 * 1024);
    expect(output.stdout?.endsWith("the end\n")).toBe(true);
    expect(await run("echo next")).toMatchObject({ stdout: "next\n" });
  });

  test("the same request sent twice, also at once, runs once", async () => {
    const { bash, dir } = await openBench();
    const id = createBashId();
    const twice = { ...request(dir), id, command: "echo x >> once; cat once" };
    const [one, other] = await Promise.all([bash.start(twice), bash.start(twice)]);
    expect(other).toBe(one);
    const output = JSON.parse((await bash.result("ada", id)) ?? "null") as BashOutput;
    expect(output.stdout).toBe("x\n");
    expect(await bash.start(twice)).toBe(one);
  });

  test("P39: filters and pages give each event once, in either order; an unknown page is refused", async () => {
    const { bash, run, events } = await openBench();
    // A command without output has one event, its end, also on a busy machine.
    for (const text of ["a", "b", "c"]) await run(`: ${text}`);
    const all = await events();
    expect(all).toHaveLength(6);
    for (const isDescending of [false, true]) {
      const seen: BashEvent[] = [];
      let pageId: string | null | undefined;
      while (pageId !== null) {
        const page = await bash.search({
          owner: "ada",
          isDescending,
          limit: 2,
          ...(pageId === undefined ? {} : { pageId }),
        });
        seen.push(...page.items.map((item) => JSON.parse(item) as BashEvent));
        pageId = page.nextPageId;
      }
      expect(seen).toEqual(isDescending ? all.toReversed() : all);
    }
    const times = all.map(({ timestamp }) => timestamp ?? "");
    expect(times).toEqual([...new Set(times)].sort());
    const third = Date.parse(times[2] as string) * 1_000 + Number((times[2] as string).slice(23, 26));
    expect(await events({ fromMicros: third })).toEqual(all.slice(2));
    expect(await events({ beforeMicros: third })).toEqual(all.slice(0, 2));
    expect(await events({ kind: "BashCommand" })).toEqual(all.filter(({ kind }) => kind === "BashCommand"));
    await expect(
      bash.search({ owner: "ada", isDescending: false, limit: 1, pageId: createBashId() }),
    ).rejects.toMatchObject({ name: "WorkspaceError", code: "unknown-page" });
  });

  test("another owner's commands are invisible", async () => {
    const { bash, run, events } = await openBench();
    const output = await run("true");
    expect(await events({ owner: "bob" })).toEqual([]);
    expect(await bash.get("bob", [output.id ?? ""])).toEqual([null]);
    expect(await bash.get("ada", [createBashId(), output.id ?? ""])).toEqual([null, JSON.stringify(output)]);
    expect(await bash.result("bob", output.command_id)).toBeNull();
    expect(await bash.clear("bob")).toBe(0);
    await expect(
      bash.search({ owner: "bob", isDescending: false, limit: 1, pageId: output.id ?? "" }),
    ).rejects.toMatchObject({ code: "unknown-page" });
    expect(await bash.clear("ada")).toBe(2);
    expect(await events()).toEqual([]);
  });

  test("a follower gets past and new events, once and in order, from any cursor", async () => {
    const { bash, run, events } = await openBench();
    await run("echo before");
    const stop = new AbortController();
    const seen: string[] = [];
    const following = (async () => {
      for await (const entries of bash.follow("ada", 0, stop.signal)) {
        seen.push(...entries.map(({ json }) => json));
      }
    })();
    await run("echo during; sleep 0.1; echo more");
    await run("echo other", { owner: "bob" });
    const stored = (await events()).map((event) => JSON.stringify(event));
    await expect.poll(() => seen.length).toBe(stored.length);
    stop.abort();
    await following;
    expect(seen).toEqual(stored);
    const lastSeq = await bash.lastSeq();
    await bash.clear("ada");
    await run("echo after");
    expect(await bash.lastSeq()).toBeGreaterThan(lastSeq);
  });

  test("the record outlives the host; commands that ran when it stopped have ended with -1", async () => {
    const { start, run, restart, dir } = await openBench();
    const done = await run("echo kept");
    const id = await start("echo begun; sleep 62.3");
    const bash = await restart();
    const output = JSON.parse((await bash.result("ada", id)) ?? "null") as BashOutput;
    expect(output).toMatchObject({ exit_code: -1 });
    expect(await bash.result("ada", done.command_id)).toBe(JSON.stringify(done));
    expect(findMarkedProcesses(`CONVOKE_COMMAND=${id}`)).toEqual([]);
    await bash.start({ ...request(dir), id: createBashId(), command: "true" });
  });
}

function request(dir: string): BashRequest {
  return {
    id: randomUUID(),
    owner: "ada",
    command: "true",
    cwd: dir,
    timeoutSeconds: 30,
    secrets: [],
  };
}
