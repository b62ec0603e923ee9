import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Action } from "@convoke/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { SupersededError, UnknownToolError } from "./host.ts";
import type { ExecuteOptions, Outcome, SessionSpec, ToolHost, ToolSession } from "./host.ts";
import { openTemporaryDirectory } from "./testing/temporary-directory.ts";
import type { ToolSecret } from "./tool.ts";

export type HostUnderTest = {
  readonly host: ToolHost;
  /** Ends the host like a crash: its sessions are not closed. Running tools continue until the files they wait for appear. */
  readonly crash: () => Promise<void>;
};

/** Tests that every tool host must pass. `open` starts a host with the tools of `testing/probe-tools.ts` and a cancel grace of 50 ms. */
export function describeToolHost(name: string, open: () => Promise<HostUnderTest>): void {
  describe(name, () => {
    test("lists its catalogue, and the tools of a session with what the model needs", async () => {
      const bench = await openBench(open);
      expect(bench.host.catalogue).toEqual([
        "broken",
        "probe",
        "probe_set",
        "queue_set",
        "reader",
        "second_probe",
      ]);
      const session = await bench.openSession();
      expect(session.tools.map((tool) => [tool.name, tool.actionKind, tool.isReadOnly])).toEqual([
        ["probe", "ThinkAction", false],
        ["second_probe", "ThinkAction", false],
        ["reader", "ThinkAction", true],
        ["broken", "ThinkAction", false],
      ]);
      const [probe] = session.tools;
      expect(probe?.definition).toMatchObject({
        kind: "ThinkTool",
        title: "probe",
        action_type: "ThinkAction",
      });
    });

    test("refuses an unknown tool and names those there are", async () => {
      const bench = await openBench(open);
      const opening = bench.openSession({ tools: [{ name: "teleport" }] });
      await expect(opening).rejects.toThrow(UnknownToolError);
      await expect(opening).rejects.toMatchObject({ tool: "teleport", available: bench.host.catalogue });
    });

    test("tools 20.1.12: refuses a tool that is listed twice", async () => {
      const bench = await openBench(open);
      await expect(bench.openSession({ tools: [{ name: "probe" }, { name: "probe" }] })).rejects.toThrow(
        "twice",
      );
    });

    test("P50: a state directory that cannot be used is reported with its path when the session opens", async () => {
      const bench = await openBench(open);
      const stateDir = join(bench.dir, "occupied");
      await writeFile(stateDir, "");
      await expect(bench.openSession({ stateDir })).rejects.toThrow(stateDir);
    });

    test("issue 11.1: a tool set lists its members with their traits, all of them or those that are wanted", async () => {
      const bench = await openBench(open);
      const all = await bench.openSession({ sessionId: "all", tools: [{ name: "probe_set" }] });
      expect(all.tools.map(({ name, isReadOnly, traits }) => [name, isReadOnly, traits])).toEqual([
        ["left", false, { place: "probe_set" }],
        ["right", true, { place: "probe_set" }],
      ]);
      expect(await run(all, "a", "say:hello", { tool: "right" })).toEqual(textOutcome("hello"));
      const some = await bench.openSession({
        sessionId: "some",
        stateDir: join(bench.dir, "some"),
        tools: [{ name: "probe_set", members: ["left"] }],
      });
      expect(some.tools.map(({ name }) => name)).toEqual(["left"]);
      expect(await run(some, "a", "say:hello", { tool: "right" })).toMatchObject({ type: "error" });
    });

    test("tools 20.7.13: calls of one tool set run one after the other, those that only read included", async () => {
      const bench = await openBench(open);
      const session = await bench.openSession({ tools: [{ name: "probe_set" }] });
      const first = run(session, "a", "hold:x", { tool: "left" });
      await bench.waitForRuns(["x"]);
      const second = run(session, "b", "hold:y", { tool: "right" });
      const third = run(session, "c", "say:z", { tool: "left" });
      await bench.release("x");
      await first;
      await bench.waitForRuns(["x", "y"]);
      await bench.release("y");
      await Promise.all([second, third]);
      expect(await bench.runs()).toEqual(["x", "y", "z"]);
    });

    test("issue 11.4: calls of one tool set wait for those of their own queue alone, and its terminals are listed", async () => {
      const bench = await openBench(open);
      const session = await bench.openSession({ tools: [{ name: "queue_set" }] });
      expect(await session.terminals()).toEqual([]);
      const near = run(session, "a", "hold:x", { tool: "near" });
      await bench.waitForRuns(["x"]);
      const behind = run(session, "b", "say:y", { tool: "near" });
      await run(session, "c", "say:far", { tool: "far" });
      await run(session, "d", "say:free", { tool: "free" });
      expect(await session.terminals()).toEqual([
        {
          name: "near",
          command: "sit",
          startedAtMs: 1,
          isRunning: true,
          exitCode: null,
          isLent: false,
          isKept: true,
        },
      ]);
      await bench.release("x");
      await Promise.all([near, behind]);
      expect(await bench.runs()).toEqual(["x", "far", "free", "y"]);
    });

    test("tells tools whether the model sees pictures", async () => {
      const bench = await openBench(open);
      const blind = await bench.openSession();
      expect(await run(blind, "a", "sees")).toEqual(textOutcome("false"));
      const sighted = await bench.openSession({
        sessionId: "sighted",
        stateDir: join(bench.dir, "sighted"),
        canSee: true,
      });
      expect(await run(sighted, "a", "sees")).toEqual(textOutcome("true"));
    });

    test("runs a tool and remembers the outcome", async () => {
      const bench = await openBench(open);
      const session = await bench.openSession();
      expect(await session.state("a")).toEqual({ type: "unknown" });
      const outcome = await run(session, "a", "say:hello");
      expect(outcome).toEqual(textOutcome("hello"));
      expect(await session.state("a")).toEqual({ type: "finished", outcome });
    });

    test("P6: calls with one id run once, at the same time and later", async () => {
      const bench = await openBench(open);
      const session = await bench.openSession();
      const calls = [run(session, "a", "hold:x"), run(session, "a", "hold:x"), run(session, "a", "hold:x")];
      await bench.waitForRuns(["x"]);
      expect(await session.state("a")).toEqual({ type: "running" });
      await bench.release("x");
      expect(await Promise.all(calls)).toEqual([textOutcome("x"), textOutcome("x"), textOutcome("x")]);
      expect(await run(session, "a", "say:other")).toEqual(textOutcome("x"));
      expect(await bench.runs()).toEqual(["x"]);
    });

    test("P6: outcomes survive closing the session and restarting the host", async () => {
      const bench = await openBench(open);
      await using session = await bench.openSession();
      await run(session, "good", "say:hello");
      await run(session, "bad", "fail:oh no");
      const failed = await session.state("bad");
      await session[Symbol.asyncDispose]();

      await using again = await bench.openSession();
      expect(await again.state("good")).toEqual({ type: "finished", outcome: textOutcome("hello") });
      await bench.restart();

      const restarted = await bench.openSession();
      expect(await restarted.state("bad")).toEqual(failed);
      expect(await run(restarted, "good", "say:again")).toEqual(textOutcome("hello"));
      expect(await bench.runs()).toEqual(["hello", "oh no"]);
    });

    test("P6: what a crashed host had started is lost and never runs again", async () => {
      const bench = await openBench(open);
      const session = await bench.openSession();
      const orphan = run(session, "a", "hold:x").catch(() => undefined); // Its host is gone: it may reject or stay pending.
      await bench.waitForRuns(["x"]);
      await bench.crash();

      const restarted = await bench.openSession();
      expect(await restarted.state("a")).toEqual({ type: "lost" });
      expect(await run(restarted, "a", "hold:x")).toMatchObject({
        type: "error",
        text: expect.stringContaining("unknown"),
      });
      expect(await restarted.state("never")).toEqual({ type: "unknown" });
      expect(await bench.runs()).toEqual(["x"]);
      await bench.release("x");
      void orphan;
    });

    test("P6: a read-only call is unknown to a restarted host, so it may run again", async () => {
      const bench = await openBench(open);
      const session = await bench.openSession();
      expect(await run(session, "a", "say:one", { tool: "reader" })).toEqual(textOutcome("one"));
      expect(await run(session, "a", "say:two", { tool: "reader" })).toEqual(textOutcome("one"));
      await bench.restart();
      const restarted = await bench.openSession();
      expect(await restarted.state("a")).toEqual({ type: "unknown" });
      expect(await run(restarted, "a", "say:two", { tool: "reader" })).toEqual(textOutcome("two"));
    });

    test("tools 20.1.9: calls of one tool run one after the other in order, other tools run beside them", async () => {
      const bench = await openBench(open);
      const session = await bench.openSession();
      const first = run(session, "a", "hold:x");
      await bench.waitForRuns(["x"]);
      const second = run(session, "b", "say:second");
      const third = run(session, "c", "say:third");
      expect(await run(session, "d", "say:beside", { tool: "second_probe" })).toEqual(textOutcome("beside"));
      expect(await session.state("b")).toEqual({ type: "running" });
      await bench.release("x");
      await Promise.all([first, second, third]);
      expect(await bench.runs()).toEqual(["x", "beside", "second", "third"]);
    });

    test("P43: cancel stops the running tool; ten times, late and for unknown ids it does nothing more", async () => {
      const bench = await openBench(open);
      const session = await bench.openSession();
      const running = run(session, "a", "hold:x");
      await bench.waitForRuns(["x"]);
      await Promise.all(Array.from({ length: 10 }, () => session.cancel("a")));
      const outcome = await running;
      expect(outcome).toMatchObject({ type: "cancelled" });
      await session.cancel("a");
      await session.cancel("never");
      expect(await session.state("a")).toEqual({ type: "finished", outcome });
      expect(await run(session, "b", "say:next")).toEqual(textOutcome("next"));
    });

    test("P43: any caller's abort stops the execution; the callers get one outcome", async () => {
      const bench = await openBench(open);
      const session = await bench.openSession();
      const controller = new AbortController();
      const first = run(session, "a", "hold:x");
      const second = run(session, "a", "hold:x", { signal: controller.signal });
      await bench.waitForRuns(["x"]);
      controller.abort();
      expect(await first).toMatchObject({ type: "cancelled" });
      expect(await second).toEqual(await first);
    });

    test("P43: a tool that does not stop is abandoned, its late result is dropped, the next call works", async () => {
      const bench = await openBench(open);
      const session = await bench.openSession();
      const running = run(session, "a", "stubborn:x");
      await bench.waitForRuns(["x"]);
      await session.cancel("a");
      const outcome = await running;
      expect(outcome).toMatchObject({ type: "cancelled", text: expect.stringContaining("restarted") });
      expect(await run(session, "b", "say:next")).toEqual(textOutcome("next"));
      await bench.release("x");
      expect(await run(session, "c", "say:last")).toEqual(textOutcome("last"));
      expect(await session.state("a")).toEqual({ type: "finished", outcome });
    });

    test("P43: a call that is cancelled while it waits, or before, never runs", async () => {
      const bench = await openBench(open);
      const session = await bench.openSession();
      const running = run(session, "a", "hold:x");
      await bench.waitForRuns(["x"]);
      const waiting = run(session, "b", "say:waiting");
      await session.cancel("b");
      expect(await waiting).toMatchObject({ type: "cancelled" });
      expect(await run(session, "c", "say:late", { signal: AbortSignal.abort() })).toMatchObject({
        type: "cancelled",
      });
      await bench.release("x");
      await running;
      expect(await run(session, "b", "say:waiting")).toEqual(await waiting);
      expect(await bench.runs()).toEqual(["x"]);
    });

    test("reports the caller's mistakes in the tool's own words, and any other failure in a sentence", async () => {
      const bench = await openBench(open);
      const session = await bench.openSession();
      expect(await run(session, "a", "refuse:say please")).toEqual({ type: "error", text: "say please" });
      expect(await run(session, "b", "fail:broken pipe")).toMatchObject({
        type: "error",
        text: expect.stringMatching(/^The tool .*broken pipe$/),
      });
      expect(await run(session, "c", "say:x", { tool: "absent" })).toMatchObject({
        type: "error",
        text: expect.stringContaining("probe, second_probe, reader, broken"),
      });
      const wrongKind = { kind: "FinishAction", message: "bye" } as const;
      expect(await run(session, "d", wrongKind)).toMatchObject({
        type: "error",
        text: expect.stringContaining("FinishAction"),
      });
      expect(await bench.runs()).toEqual(["say please", "broken pipe"]);
    });

    test("a tool that cannot be opened fails its calls and not the session", async () => {
      const bench = await openBench(open);
      const session = await bench.openSession();
      const outcome = await run(session, "a", "say:x", { tool: "broken" });
      expect(outcome).toMatchObject({ type: "error", text: expect.stringContaining("no such device") });
      expect(await run(session, "b", "say:fine")).toEqual(textOutcome("fine"));
    });

    test("every caller sees the progress", async () => {
      const bench = await openBench(open);
      const session = await bench.openSession();
      const blocker = run(session, "a", "hold:x");
      await bench.waitForRuns(["x"]);
      const seen: string[] = [];
      const options = { onProgress: (text: string) => seen.push(text) };
      const calls = [
        run(session, "b", "progress:half", options),
        run(session, "b", "progress:half", options),
      ];
      await bench.release("x");
      await Promise.all([blocker, ...calls]);
      expect(seen).toEqual(["half", "half", "half", "half"]);
    });

    test("P13: secrets are hidden in observations, errors and progress, and P56: not in pictures", async () => {
      const bench = await openBench(open);
      const session = await bench.openSession();
      const secrets = [{ name: "TOKEN", value: "hunter2-secret" }];
      const seen: string[] = [];
      const options = { secrets, onProgress: (text: string) => seen.push(text) };
      const outcomes = [
        await run(session, "a", "progress:it is hunter2-secret!", options),
        await run(session, "b", "refuse:no hunter2-secret", options),
        await run(session, "c", "fail:bad hunter2-secret", options),
        await run(session, "d", "say:x", { ...options, tool: "broken" }),
      ];
      expect(outcomes[0]).toEqual(textOutcome("it is <secret-hidden>!"));
      expect(JSON.stringify([outcomes, seen])).not.toContain("hunter2");
      expect(JSON.stringify(outcomes).match(/<secret-hidden>/g)).toHaveLength(4);
      const picture = await run(session, "e", "picture:data:image/png;base64,hunter2-secret", options);
      expect(JSON.stringify(picture)).toContain("base64,hunter2-secret");
    });

    test("two sessions share nothing", async () => {
      const bench = await openBench(open);
      const one = await bench.openSession({ sessionId: "one", stateDir: join(bench.dir, "one") });
      const two = await bench.openSession({ sessionId: "two", stateDir: join(bench.dir, "two") });
      const blocked = run(one, "a", "hold:x");
      await bench.waitForRuns(["x"]);
      expect(await two.state("a")).toEqual({ type: "unknown" });
      expect(await run(two, "a", "say:mine")).toEqual(textOutcome("mine"));
      await two[Symbol.asyncDispose]();
      expect(await one.state("a")).toEqual({ type: "running" });
      await bench.release("x");
      expect(await blocked).toEqual(textOutcome("x"));
    });

    test("a closed session runs nothing and knows nothing", async () => {
      const bench = await openBench(open);
      const session = await bench.openSession();
      await run(session, "a", "say:hello");
      await session[Symbol.asyncDispose]();
      expect(await run(session, "b", "say:late")).toMatchObject({
        type: "error",
        text: expect.stringContaining("closed"),
      });
      await expect(session.state("a")).rejects.toThrow("closed");
      await session.cancel("a");
      expect(await bench.runs()).toEqual(["hello"]);
    });

    test("P27: a caller with an older lease can start, feed and stop nothing, and does not hold the session", async () => {
      const bench = await openBench(open);
      const lease = (generation: number, era = "one") => ({ lease: { era, generation } });
      const first = await bench.openSession(lease(4));
      const stop = new AbortController();
      const begun = run(first, "a", "hold:x", { signal: stop.signal });
      await bench.waitForRuns(["x"]);
      const second = await bench.openSession(lease(5));
      const taken = run(second, "a", "hold:x");
      stop.abort();
      await expect(first.cancel("a")).rejects.toThrow(SupersededError);
      expect(await run(first, "b", "say:late")).toMatchObject({ type: "error" });
      const watching = first.attach("near", noInputs(), new AbortController().signal);
      await expect(watching[Symbol.asyncIterator]().next()).rejects.toThrow("Another server");
      await expect(bench.openSession(lease(4))).rejects.toThrow(SupersededError);
      await bench.release("x");
      expect(await taken).toEqual(textOutcome("x"));
      expect(await begun).toEqual(textOutcome("x"));
      expect(await bench.runs()).toEqual(["x"]);
      // A caller without a lease, and one from a restored database, is admitted.
      const [third, fourth] = [await bench.openSession(), await bench.openSession(lease(1, "two"))];
      expect(await run(third, "c", "say:y")).toEqual(textOutcome("y"));
      expect(await run(fourth, "d", "say:z")).toEqual(textOutcome("z"));
      await Promise.all([second, third].map((session) => session[Symbol.asyncDispose]()));
      const last = run(fourth, "e", "hold:w");
      await bench.waitForRuns(["x", "y", "z", "w"]);
      await fourth[Symbol.asyncDispose]();
      expect(await last).toMatchObject({ type: "cancelled" });
      await first[Symbol.asyncDispose]();
    });

    test("reopening an open session attaches to its running calls; the last close ends it", async () => {
      const bench = await openBench(open);
      const first = await bench.openSession();
      const running = run(first, "a", "hold:x");
      await bench.waitForRuns(["x"]);
      const second = await bench.openSession();
      expect(await second.state("a")).toEqual({ type: "running" });
      await first[Symbol.asyncDispose]();
      await first[Symbol.asyncDispose]();
      expect(await second.state("a")).toEqual({ type: "running" });
      await second[Symbol.asyncDispose]();
      expect(await running).toMatchObject({ type: "cancelled" });

      const third = await bench.openSession();
      expect(await third.state("a")).toEqual({ type: "finished", outcome: await running });
    });
  });
}

type RunOptions = ExecuteOptions & { readonly tool?: string; readonly secrets?: readonly ToolSecret[] };

async function run(
  session: ToolSession,
  actionId: string,
  script: string | Action,
  { tool = "probe", secrets = [], ...options }: RunOptions = {},
): Promise<Outcome> {
  const action: Action = typeof script === "string" ? { kind: "ThinkAction", thought: script } : script;
  return session.execute({ actionId, tool, action, secrets }, options);
}

async function* noInputs(): AsyncGenerator<never> {}

function textOutcome(text: string): Outcome {
  const content = [{ cache_prompt: false, type: "text" as const, text }];
  return { type: "observation", observation: { kind: "ThinkObservation", content, is_error: false } };
}

/** Opens one host after another on the same directories; all are closed when the test ends. */
async function openBench(open: () => Promise<HostUnderTest>) {
  const directory = await openTemporaryDirectory();
  const dir = directory.path;
  const workspaceDir = join(dir, "workspace");
  const spec: SessionSpec = {
    sessionId: "session",
    workspaceDir,
    stateDir: join(dir, "state"),
    tools: ["probe", "second_probe", "reader", "broken"].map((name) => ({ name })),
  };
  const opened = [await open()];
  const current = (): HostUnderTest => opened.at(-1) as HostUnderTest;
  const runs = async (): Promise<string[]> =>
    (await readFile(join(workspaceDir, "runs.log"), "utf8")).split("\n").slice(0, -1);
  onTestFinished(async () => {
    for (const { host } of opened) await host[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });
  return {
    dir,
    get host() {
      return current().host;
    },
    openSession: async (changes: Partial<SessionSpec> = {}) =>
      current().host.openSession({ ...spec, ...changes }),
    restart: async () => {
      await current().host[Symbol.asyncDispose]();
      opened.push(await open());
    },
    crash: async () => {
      await current().crash();
      opened.push(await open());
    },
    runs,
    waitForRuns: async (names: readonly string[]) =>
      expect.poll(() => runs().catch(() => []), { interval: 2 }).toEqual(names),
    release: async (name: string) => writeFile(join(workspaceDir, `${name}.go`), ""),
  };
}
