import type { Action, Observation, TerminalObservation } from "@convoke/protocol";
import { expect, test } from "vitest";
import { openTool } from "../../testing/open-tool.ts";
import { createTerminalToolSet } from "./terminal-tool-set.ts";
import { maxTerminals } from "./named-terminals.ts";

type Data = Readonly<Record<string, unknown>>;

async function openBench(options: Parameters<typeof createTerminalToolSet>[0] = {}) {
  const opened = await openTool(createTerminalToolSet(options));
  const call = async (name: string, data: Data, signal?: AbortSignal): Promise<Observation> => {
    const action: Action = { kind: "MCPToolAction", data };
    return opened.execute(action, signal, `terminal_${name}`);
  };
  const read = async (name: string, data: Data, signal?: AbortSignal): Promise<string> =>
    textOf(await call(name, data, signal));
  return {
    run: async (terminal: string, command: string, more: Data = {}) =>
      (await call("run", { terminal, command, ...more })) as TerminalObservation,
    list: () => read("list", {}),
    output: (terminal: string, more: Data = {}) => read("output", { terminal, ...more }),
    stop: (terminal: string, more: Data = {}) => read("stop", { terminal, ...more }),
    call,
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

function textOf({ content }: Observation): string {
  return (content ?? []).map((part) => ("text" in part ? part.text : "")).join("");
}

function cursorOf(text: string): number {
  return Number(/Next cursor: (\d+)/.exec(text)?.[1]);
}

test("issue 11.4: each name has its own shell, and a running command in one does not block the others", async () => {
  await using bench = await openBench();
  expect(textOf(await bench.run("left", "cd /tmp; here=left; echo $here"))).toContain("left");
  expect(textOf(await bench.run("right", "echo ${here:-nothing} $PWD"))).toContain("nothing");
  const slow = await bench.run("left", "echo begun; sleep 300", { background: true });
  expect(slow).toMatchObject({ kind: "TerminalObservation", exit_code: -1 });
  const other = await bench.run("right", "echo free");
  expect(other).toMatchObject({ exit_code: 0 });
  expect(await bench.list()).toMatch(
    /^left: running for \d+ s: echo begun; sleep 300 Cursor: \d+\.\nright: ended with exit code 0: echo free/,
  );
  const refused = await bench.run("left", "echo no");
  expect(refused).toMatchObject({ is_error: true, exit_code: -1 });
  expect(await bench.stop("left")).toMatch(/^Stopped: echo begun; sleep 300/);
  expect(textOf(await bench.run("left", "echo $here $PWD"))).toContain("left /tmp");
});

test("issue 11.4: the output of a background command is read by cursor: nothing twice, nothing lost, and again on request", async () => {
  await using bench = await openBench();
  const command = "for i in 1 2 3 4 5 6; do echo line-$i; read -r; done";
  const begun = await bench.run("loop", command, { background: true });
  expect(textOf(begun)).toContain("line-1");
  const first = await bench.output("loop", { cursor: 0 });
  expect(first).toContain(`$ ${command}\nline-1\n`);
  let cursor = cursorOf(first);
  let joined = first.slice(0, cursor);
  for (let step = 2; step <= 6; step += 1) {
    await bench.run("loop", "", { is_input: true, timeout: 0 });
    const page = await bench.output("loop", { cursor, timeout: 20 });
    joined += page.slice(0, cursorOf(page) - cursor);
    cursor = cursorOf(page);
  }
  const lines = joined.match(/line-\d/g);
  expect(lines).toEqual(["line-1", "line-2", "line-3", "line-4", "line-5", "line-6"]);
  const again = await bench.output("loop", { cursor: 0 });
  expect(again.slice(0, cursor)).toBe(joined);
  expect(await bench.output("loop", { cursor, timeout: 0 })).toMatch(/^\n\[loop: running for/);
});

test("issue 11.4: waiting for output ends with the command, and its end is in the list and in the next answer", async () => {
  await using bench = await openBench();
  await bench.run("job", "read -r; exit 3 | cat; (exit 3)", { background: true });
  const waiting = bench.output("job", { cursor: cursorOf(await bench.output("job")), timeout: 60 });
  await bench.run("job", "", { is_input: true, timeout: 0 });
  expect(await waiting).toContain("[job: ");
  expect(await bench.output("job", { cursor: 1_000_000, timeout: 60 })).toContain("ended with exit code 3");
  expect(await bench.list()).toContain("job: ended with exit code 3");
});

test("issue 11.4: a command that floods without a reader is neither paused nor stored completely", async () => {
  await using bench = await openBench();
  await bench.run("flood", "yes | head -c 8000000; echo; echo the-end", { background: true });
  let state = "";
  while (!state.includes("ended with exit code 0")) {
    state = await bench.output("flood", { cursor: cursorOf(state) || 0, timeout: 30 });
  }
  expect(await bench.output("flood", { cursor: 0 })).toContain("is no longer kept");
  expect(await bench.output("flood")).toContain("the-end");
  const next = await bench.run("flood", "echo next");
  expect(textOf(next)).toBe("next");
  expect(next.metadata?.prefix).toContain("ended with exit code 0");
});

test("issue 11.4: a wrong call gets the reason and what to do", async () => {
  await using bench = await openBench();
  const refusals: [string, Data, RegExp][] = [
    ["run", { command: "true" }, /^terminal: must be a name/],
    ["run", { terminal: "../x", command: "true" }, /^terminal: must be a name/],
    ["run", { terminal: "main", command: "true" }, /that of the tool terminal/],
    ["run", { terminal: "a", command: 5 }, /^command: must be text/],
    ["run", { terminal: "a", command: "x", timeout: -1 }, /^timeout: must be a number/],
    ["run", { terminal: "a", command: "x", name: "b" }, /^name: not known here. Use terminal, command/],
    ["run", { terminal: "a", command: "x", background: true, is_input: true }, /cannot be combined/],
    ["output", { terminal: "nowhere" }, /no terminal "nowhere". Open: none/],
    ["stop", { terminal: "nowhere" }, /no terminal "nowhere"/],
  ];
  for (const [name, data, words] of refusals) await expect(bench.call(name, data)).rejects.toThrow(words);
});

test("issue 11.4: the number of open terminals is limited, and closing one makes room", async () => {
  await using bench = await openBench();
  for (let index = 0; index < maxTerminals; index += 1) await bench.run(`t${index}`, "true");
  await expect(bench.run("more", "true")).rejects.toThrow("close one with terminal_stop");
  expect(await bench.stop("t3", { close: true })).toContain("The terminal is closed.");
  expect(textOf(await bench.run("more", "echo ${kept:-fresh}"))).toContain("fresh");
});

test("P43: a stop while a background command is waited for ends the wait, and the command goes on", async () => {
  await using bench = await openBench();
  await bench.run("job", "sleep 300", { background: true });
  const stop = new AbortController();
  const waiting = bench.call("output", { terminal: "job", timeout: 300 }, stop.signal);
  stop.abort();
  expect(textOf(await waiting)).toContain("running for");
});
