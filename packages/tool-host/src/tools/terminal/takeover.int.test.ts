import type { TerminalObservation } from "@convoke/protocol";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createInProcessHost } from "../../in-process-host.ts";
import type { ToolHost, ToolSession } from "../../host.ts";
import { allowedEnvironment } from "../../processes/allowed-environment.ts";
import { openServedBench } from "../../testing/served-host.ts";
import { openTemporaryDirectory } from "../../testing/temporary-directory.ts";
import { XtermPerson } from "../../testing/xterm-person.ts";
import type { ToolSecret } from "../../tool.ts";
import { createTerminalToolSet } from "../terminals/terminal-tool-set.ts";
import { createTerminalTool } from "./terminal-tool.ts";

const tools = [createTerminalTool(), createTerminalToolSet()];
const environment = allowedEnvironment(process.env);

async function openInProcess(): Promise<ToolHost> {
  const host = createInProcessHost({ tools, environment });
  onTestFinished(() => host[Symbol.asyncDispose]());
  return host;
}

async function openBehindSocket(): Promise<ToolHost> {
  const bench = await openServedBench({ tools, environment });
  onTestFinished(() => bench[Symbol.asyncDispose]());
  return bench.connect();
}

describe.each([
  ["in process", openInProcess],
  ["behind a socket", openBehindSocket],
])("issue 11.4: takeover %s", (_where, openHost) => {
  async function openBench() {
    const host = await openHost();
    const directory = await openTemporaryDirectory();
    onTestFinished(() => directory[Symbol.asyncDispose]());
    const workspaceDir = join(directory.path, "workspace");
    await mkdir(workspaceDir);
    const session = await host.openSession({
      sessionId: "session",
      workspaceDir,
      stateDir: join(directory.path, "state"),
      tools: [{ name: "terminal", params: { no_change_timeout_seconds: 3 } }, { name: "terminal_tool_set" }],
    });
    onTestFinished(() => session[Symbol.asyncDispose]());
    return { session, run: runner(session) };
  }

  test("a person sees the agent's screen, works in the same shell, and the agent continues with the changes", async () => {
    const { session, run } = await openBench();
    await run("mkdir deep; here=agent; echo said by the agent");
    await using person = XtermPerson.at(session);
    await person.sees("said by the agent");
    await person.take();
    await person.sees(/workspace[$#]$/m);
    person.press("cd deep; here=person; echo done by $here\r");
    await person.sees("done by person");
    person.press("half a li");
    await person.sees("half a li");
    const waiting = run("echo $here ${PWD##*/}");
    await person.give();
    const answer = await waiting;
    expect(answer).toMatchObject({ exit_code: 0, text: "person deep" });
    expect(answer.prefix).toContain("a person had this terminal");
    expect(answer.prefix).toContain("done by person");
    expect((await run("echo again; set -o | grep emacs")).text).toMatch(/^again\nemacs\s+off$/);
  });

  test("the agent's command waits while a person has the terminal, and a stop ends the waiting (P43)", async () => {
    const { session, run } = await openBench();
    await using person = XtermPerson.at(session);
    await person.take();
    const stop = new AbortController();
    const progress: string[] = [];
    const waiting = run("touch begun", { signal: stop.signal, onProgress: (text) => progress.push(text) });
    await expect
      .poll(() => progress)
      .toContain("A person has this terminal; the command begins when it is given back.");
    stop.abort();
    expect(await waiting).toMatchObject({ exit_code: 130 });
    await person.give();
    expect((await run("ls")).text).toBe("");
  });

  test("a full-screen program of the agent appears on the person's screen, at the person's size, and reacts to keys", async () => {
    const { session, run } = await openBench();
    const begun = await run("seq 1 500 > lines; less lines");
    expect(begun.exit_code).toBe(-1);
    await using person = XtermPerson.at(session);
    await person.sees(/^1\n2\n3\n/);
    expect(person.screen).toBe(begun.text);
    await person.take({ columns: 60, rows: 10 });
    await person.sees(/^1\n2\n3\n4\n5\n6\n7\n8\n9\n(?:lines|:)/);
    person.press(" ");
    await person.sees(/^10\n11\n/);
    await person.give();
    const after = await run("", {});
    expect(after.text).toContain("10\n11\n");
    const ended = await run("q", { is_input: true });
    expect(ended.exit_code).toBe(0);
  });

  test("the agent can continue with a program that a person leaves running", async () => {
    const { session, run } = await openBench();
    await using person = XtermPerson.at(session);
    await person.take();
    // The terminal does not echo what is typed before cat starts, so the command prints a line when it does.
    person.press("echo ru''ns; cat\r");
    await person.sees(/^runs$/m);
    person.press("hello\r");
    await person.sees(/hello\nhello/);
    await person.give();
    const refused = await run("echo next");
    expect(refused).toMatchObject({ exit_code: -1, is_error: true });
    await run("C-d", { is_input: true });
    await expect.poll(async () => (await run("")).exit_code).not.toBe(-1);
    expect((await run("echo next")).text).toBe("next");
  });

  test("a person who takes control while it is being given back gets it as soon as it is", async () => {
    const { session, run } = await openBench();
    await using first = XtermPerson.at(session);
    await using second = XtermPerson.at(session);
    await first.take();
    await first.sees(/[$#]$/m);
    first.do({ type: "give" });
    first.do({ type: "take", columns: 80, rows: 24 });
    await first.until(
      () => first.updates.filter((update) => "isYours" in update && update.isYours).length === 2,
    );
    await first.sees(/[$#] [^]*[$#]$/);
    first.press("echo ba''ck\r");
    await first.sees(/^back$/m);
    expect(first.updates.some(({ type }) => type === "refused")).toBe(false);
    second.do({ type: "take", columns: 80, rows: 24 });
    await second.until(() => second.updates.some(({ type }) => type === "refused"));
    await first.give();
    expect((await run("echo mine")).text).toBe("mine");
  });

  test("input typed from the moment of retaking control reaches the shell, also from another person who takes it", async () => {
    const { session, run } = await openBench();
    const people = [XtermPerson.at(session), XtermPerson.at(session)] as const;
    onTestFinished(async () => {
      for (const person of people) await person[Symbol.asyncDispose]();
    });
    const size = { columns: 80, rows: 24 };
    let [holder, other] = people;
    await holder.take();
    for (let round = 0; round < 8; round += 1) {
      holder.press(`echo ro''und ${round}\r`);
      await holder.sees(new RegExp(`^round ${round}$`, "m"));
      const next = round % 2 === 0 ? holder : other;
      if (next === holder) holder.do({ type: "give" });
      else await holder.give();
      // Typing starts before the notification that the person has control.
      next.do({ type: "take", ...size });
      next.press(`echo ag''ain ${round}; `);
      next.press(`echo st''ill ${round}\r`);
      await next.sees(new RegExp(`^again ${round}\nstill ${round}$`, "m"));
      if (next === other) [holder, other] = [other, holder];
    }
    expect(people.flatMap(({ updates }) => updates).some(({ type }) => type === "refused")).toBe(false);
    await holder.give();
    expect((await run("echo mine")).text).toBe("mine");
  });

  test("a person who disconnects gives control back; a second person only watches meanwhile", async () => {
    const { session, run } = await openBench();
    const first = XtermPerson.at(session);
    await first.take();
    await using second = XtermPerson.at(session);
    await second.until(() => second.updates.length > 0);
    second.do({ type: "take", columns: 80, rows: 24 });
    await second.until(() => second.updates.some(({ type }) => type === "refused"));
    second.do({ type: "type", text: "echo no\r" });
    first.press("echo of the first\r");
    await second.sees(/^of the first/m);
    expect(second.received).not.toContain("echo no");
    expect((await session.terminals()).find(({ name }) => name === "main")).toMatchObject({ isLent: true });
    await first[Symbol.asyncDispose]();
    expect((await run("echo mine")).text).toBe("mine");
    await second.take();
    await second.sees(/[$#]$/m);
    // The person ends the shell, and gets a new one.
    const screens = (): number => second.updates.filter(({ type }) => type === "screen").length;
    const before = screens();
    second.press("exit\r");
    await second.until(() => screens() > before);
    second.press("echo al''ive\r");
    await second.sees("alive");
  });

  test("P13: secrets are masked on the screen, also in chunks, and typing stays visible", async () => {
    const { session, run } = await openBench();
    const secrets = [{ name: "TOKEN", value: "s3cr3t-value-0123456789" }];
    await run("echo $TOKEN > /dev/null", { secrets });
    await using person = XtermPerson.at(session);
    await person.take({ columns: 120, rows: 30 });
    await person.sees(/[$#]$/m);
    person.press("s");
    await person.sees(/[$#] s$/m);
    person.press(
      "leep 0; echo $TOKEN; for i in 0 1 2 3; do printf %s ${TOKEN:$((i*6)):6}; sleep 0.1; done; echo ' end'\r",
    );
    await person.sees(/end\n/);
    expect(person.received).not.toContain(secrets[0]!.value);
    expect(person.received.match(/<secret-hidden>/g)?.length).toBeGreaterThanOrEqual(2);
    const received = person.received.replaceAll(/[^\w-]/g, "");
    expect(received).not.toContain(secrets[0]!.value);
    await person.give();
    const answer = await run("echo next", { secrets });
    expect(JSON.stringify(answer)).not.toContain(secrets[0]!.value);
  });

  test("a named terminal can be taken over like the main one; a missing one is reported", async () => {
    const { session } = await openBench();
    await using lost = XtermPerson.at(session, "dev");
    await lost.until(() => lost.updates.length > 0);
    expect(lost.updates).toEqual([
      { type: "refused", reason: expect.stringContaining('There is no terminal "dev"') as string },
    ]);
    await session.execute({
      actionId: "named",
      tool: "terminal_run",
      action: {
        kind: "MCPToolAction",
        data: { terminal: "dev", command: "read -r x; echo got $x", timeout: 1 },
      },
      secrets: [],
    });
    await using person = XtermPerson.at(session, "dev");
    await person.take();
    person.press("a word\r");
    await person.sees("got a word");
    expect(await session.terminals()).toMatchObject([{ name: "dev", isLent: true, isKept: true }]);
  });
});

type Run = {
  signal?: AbortSignal;
  onProgress?: (text: string) => void;
  secrets?: readonly ToolSecret[];
  is_input?: boolean;
};

function runner(session: ToolSession) {
  let count = 0;
  return async (command: string, { signal, onProgress, secrets = [], is_input = false }: Run = {}) => {
    count += 1;
    const outcome = await session.execute(
      {
        actionId: `run-${count}`,
        tool: "terminal",
        action: { kind: "TerminalAction", command, is_input, timeout: null, reset: false },
        secrets,
      },
      { ...(signal === undefined ? {} : { signal }), ...(onProgress === undefined ? {} : { onProgress }) },
    );
    if (outcome.type !== "observation") return { ...outcome, text: "", prefix: "" } as never as Answer;
    const observation = outcome.observation as TerminalObservation;
    const part = observation.content?.[0];
    const text = part !== undefined && "text" in part ? part.text : "";
    return { ...observation, type: outcome.type, text, prefix: observation.metadata?.prefix ?? "" };
  };
}

type Answer = TerminalObservation & { readonly type: string; readonly text: string; readonly prefix: string };
