import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SupersededError, UnknownToolError } from "./host.ts";
import { type HostUnderTest, noInputs, openBench, run, textOutcome } from "./testing/open-bench.ts";
import { testCancelling } from "./contract-cancelling.ts";

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

    testCancelling(open);

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
