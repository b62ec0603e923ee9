import { TerminalObservation, TerminalTool } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { access, readdir, readFile, writeFile } from "node:fs/promises";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { listProcesses, readProcess } from "../../system/process-table.ts";
import { ToolInputError } from "../../tool.ts";
import { openTestTerminal } from "./testing/open-terminal.ts";
import { terminalTool } from "./terminal-tool.ts";

describe("commands", () => {
  test("tools 20.2.1: echo gives clean content, exit code 0 and the six facts", async () => {
    await using terminal = await openTestTerminal();
    const {
      elapsedMs: _elapsed,
      text: _text,
      prefix: _prefix,
      suffix: _suffix,
      ...observation
    } = await terminal.run("echo hello");
    expect(observation).toEqual({
      kind: "TerminalObservation",
      content: [{ cache_prompt: false, type: "text", text: "hello" }],
      is_error: false,
      command: "echo hello",
      exit_code: 0,
      timeout: false,
      metadata: {
        exit_code: 0,
        pid: -1,
        username: userInfo().username,
        hostname: hostname(),
        working_dir: terminal.workspaceDir,
        py_interpreter_path: expect.any(String),
        prefix: "",
        suffix: "",
      },
      full_output_save_dir: join(terminal.stateDir, "observations"),
    });
    expect(createValidator().check(TerminalObservation, observation)).toMatchObject({ ok: true });
  });

  test("tools 20.2.2: a failing command is no error of the tool", async () => {
    await using terminal = await openTestTerminal();
    expect(await terminal.run("(exit 42)")).toMatchObject({ exit_code: 42, is_error: false, text: "" });
    expect(await terminal.run("echo $?")).toMatchObject({ text: "42" });
    expect(await terminal.run("no-such-program")).toMatchObject({ exit_code: 127, is_error: false });
  });

  test("tools 20.2.3: directory, exports, variables and functions stay", async () => {
    await using terminal = await openTestTerminal();
    await terminal.run(
      "mkdir sub && cd sub && export A=1 && b=2 && f() { echo f:$1; } && declare -A map=([k]=v)",
    );
    const answer = await terminal.run("pwd; echo $A $b ${map[k]}; f x; bash -c 'echo $A$b'");
    expect(answer.text).toBe(`${terminal.workspaceDir}/sub\n1 2 v\nf:x\n1`);
    expect(answer.metadata?.working_dir).toBe(join(terminal.workspaceDir, "sub"));
  });

  test.runIf(process.platform === "linux")(
    "when memory is used up, a command is ended rather than the tool host",
    async () => {
      await using terminal = await openTestTerminal();
      expect(await terminal.run("cat /proc/self/oom_score_adj")).toMatchObject({ text: "500" });
    },
  );

  test("the background process id is reported", async () => {
    await using terminal = await openTestTerminal();
    const answer = await terminal.run("sleep 60 > /dev/null 2>&1 & echo pid=$!");
    expect(answer.text).toContain(`pid=${answer.metadata?.pid}`);
  });

  test("tools 19.10, 20.2.15: find -exec with an escaped semicolon", async () => {
    await using terminal = await openTestTerminal();
    await writeFile(join(terminal.workspaceDir, "a.txt"), "");
    const answer = await terminal.run(String.raw`find . -name '*.txt' -exec echo {} \;`);
    expect(answer).toMatchObject({ text: "./a.txt", exit_code: 0 });
    expect((await terminal.run(String.raw`echo a\;b \| \& \<x\> "\;" '\;'`)).text).toBe(
      String.raw`a;b | & <x> \; \;`,
    );
  });

  test("tools 19.13, 20.2.15: git log does not page", async () => {
    await using terminal = await openTestTerminal();
    const setup = "git init -q . && git config user.email a@b && git config user.name n";
    await terminal.run(
      `${setup} && for i in $(seq 60); do git commit -q --allow-empty -m "commit $i"; done`,
      { timeout: 30 },
    );
    const answer = await terminal.run("git log --oneline");
    expect(answer).toMatchObject({ exit_code: 0, timeout: false });
    expect(answer.text.split("\n")).toHaveLength(60);
  });

  test("heredocs, long commands and history marks arrive as written", async () => {
    await using terminal = await openTestTerminal();
    expect((await terminal.run("cat <<'EOF'\n\ttab $x `y` \\ !! \"q\"\nEOF")).text).toBe(
      '\ttab $x `y` \\ !! "q"',
    );
    const long = "x".repeat(100_000);
    expect((await terminal.run(`v='${long}'; echo \${#v} "hi!"`)).text).toBe("100000 hi!");
  });
});

describe("waiting", () => {
  test("tools 20.2.4: quiet commands answer after the quiet time, printing ones do not", async () => {
    await using terminal = await openTestTerminal({ params: { no_change_timeout_seconds: 3 } });
    const quiet = await terminal.run("sleep 30");
    expect(quiet).toMatchObject({ exit_code: -1, timeout: true, is_error: false });
    expect(quiet.elapsedMs).toBeGreaterThanOrEqual(2_990);
    expect(quiet.suffix).toContain("3 seconds");
    await terminal.type("C-c", { timeout: 20 });
    const printing = await terminal.run("for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.4; done");
    expect(printing).toMatchObject({ exit_code: 0, timeout: false, text: "1\n2\n3\n4\n5\n6\n7\n8" });
  });

  test("a command that ended while this process was held up is not taken for a quiet one", async () => {
    await using terminal = await openTestTerminal({ params: { no_change_timeout_seconds: 1 } });
    await terminal.run("true", { timeout: 20 });
    const go = join(terminal.workspaceDir, "go");
    const command = "echo begun; until [ -e go ]; do sleep 0.02; done; echo done";
    const answer = await terminal.run(command, {
      onProgress: () => {
        writeFileSync(go, "");
        setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000));
      },
    });
    expect(answer).toMatchObject({ text: "begun\ndone", exit_code: 0, timeout: false });
  });

  test("tools 20.2.5: a timeout answers in time, says so, and leaves the process alone", async () => {
    await using terminal = await openTestTerminal({ params: { no_change_timeout_seconds: 0.3 } });
    const command = "until [ -e go ]; do sleep 0.05; done; echo done";
    const answer = await terminal.run(command, { timeout: 1 });
    expect(answer).toMatchObject({ exit_code: -1, timeout: true, is_error: false, text: "" });
    expect(answer.metadata).toMatchObject({ exit_code: -1, pid: -1, working_dir: null });
    expect(answer.elapsedMs).toBeGreaterThanOrEqual(990);
    await writeFile(join(terminal.workspaceDir, "go"), "");
    expect(await terminal.run("", { timeout: 20 })).toMatchObject({
      text: "done",
      exit_code: 0,
      timeout: false,
    });
  });

  test("tools 19.1, 20.2.6: after a timeout an empty command reads only what is new, input is typed, C-c interrupts", async () => {
    await using terminal = await openTestTerminal({ params: { no_change_timeout_seconds: 3 } });
    const first = await terminal.run("echo one; read -r x; echo got:$x; read -r y; sleep 60");
    expect(first).toMatchObject({ text: "one", exit_code: -1 });
    expect(await terminal.run("")).toMatchObject({ text: "", exit_code: -1, timeout: true });
    expect(await terminal.type("some text")).toMatchObject({ text: "got:some text", exit_code: -1 });
    expect(await terminal.type("")).toMatchObject({ text: "", exit_code: -1 });
    const interrupted = await terminal.type("C-c", { timeout: 20 });
    expect(interrupted).toMatchObject({ exit_code: 130, timeout: false, is_error: false });
    expect(interrupted.suffix).toContain("C-c was sent");
    expect(await terminal.run("echo next", { timeout: 20 })).toMatchObject({ text: "next", exit_code: 0 });
  });

  test("tools 20.2.7: a new command while one runs is refused and not run", async () => {
    await using terminal = await openTestTerminal();
    await terminal.run("echo a; sleep 60", { timeout: 1 });
    const refused = await terminal.run("touch made");
    expect(refused).toMatchObject({ is_error: true, exit_code: -1, timeout: false });
    expect(refused.suffix).toContain("NOT run");
    await terminal.type("C-c");
    expect((await terminal.run("ls")).text).toBe("");
  });

  test("tools 20.2.8: nothing to read, nothing to type to", async () => {
    await using terminal = await openTestTerminal();
    expect(await terminal.run("")).toMatchObject({ is_error: true, exit_code: null });
    expect(await terminal.type("x")).toMatchObject({ is_error: true, exit_code: null });
    expect(await terminal.type("C-c")).toMatchObject({ is_error: true, exit_code: null });
  });

  test("a command that ends between two calls is reported once", async () => {
    await using terminal = await openTestTerminal();
    const { text: pid } = await terminal.run("echo $$");
    await terminal.run("until [ -e go ]; do sleep 0.05; done; echo late; touch ending; (exit 5)", {
      timeout: 1,
    });
    await writeFile(join(terminal.workspaceDir, "go"), "");
    await expect.poll(() => existsSync(join(terminal.workspaceDir, "ending"))).toBe(true);
    await expect.poll(() => isAtPrompt(Number(pid))).toBe(true);
    const next = await terminal.run("echo own");
    expect(next).toMatchObject({ text: "own", exit_code: 0 });
    expect(next.prefix).toContain("exit code 5");
    expect(next.prefix).toContain("late");
  });

  test("tools 20.2.16: the idle cap rejects longer timeouts", async () => {
    await using terminal = await openTestTerminal({ params: { runtime_idle_timeout_seconds: 100 } });
    const rejected = await terminal.run("echo x", { timeout: 91 });
    expect(rejected).toMatchObject({ is_error: true, exit_code: null });
    expect(rejected.text).toContain("91");
    expect(rejected.text).toContain("90");
    expect(await terminal.run("echo x", { timeout: 90 })).toMatchObject({ text: "x" });
  });

  test("without a timeout even a printing command answers at last", async () => {
    await using terminal = await openTestTerminal({ longestSeconds: 2 });
    const answer = await terminal.run("while :; do echo x; sleep 0.1; done");
    expect(answer).toMatchObject({ exit_code: -1, timeout: true });
    expect(answer.elapsedMs).toBeLessThan(90_000);
  });
});

describe("what is accepted", () => {
  test("tools 20.2.9: several statements are refused with a numbered list; bash decides in doubt", async () => {
    await using terminal = await openTestTerminal();
    const refused = await terminal.run("touch a\ntouch b");
    expect(refused).toMatchObject({ is_error: true, exit_code: null });
    expect(refused.text).toContain("(1) touch a\n(2) touch b");
    expect((await terminal.run("ls")).text).toBe("");
    expect((await terminal.run("for i in 1 2; do\necho $i\ndone")).text).toBe("1\n2");
    expect((await terminal.run("coproc c {\ncat\n}")).is_error).toBe(false);
  });

  test("tools 20.2.10: a data literal is refused, tests and groups run", async () => {
    await using terminal = await openTestTerminal();
    expect(await terminal.run('["ls"]')).toMatchObject({ is_error: true, exit_code: null });
    expect(await terminal.run("[[ -d / ]] && { echo yes; }")).toMatchObject({ text: "yes", exit_code: 0 });
  });

  test("tools 20.2.11: reset", async () => {
    await using terminal = await openTestTerminal();
    await terminal.run("export A=1; cd /; sleep 300 > /dev/null & sleep 300", { timeout: 1 });
    const reset = await terminal.run("", { reset: true });
    expect(reset).toMatchObject({ command: "[RESET]", exit_code: 0, is_error: false });
    expect(reset.metadata).toMatchObject({ exit_code: -1, working_dir: null });
    const again = await terminal.run("echo A=$A; pwd; jobs", { reset: true });
    expect(again).toMatchObject({ command: "[RESET] echo A=$A; pwd; jobs", exit_code: 0 });
    expect(again.text.endsWith(`\n\nA=\n${terminal.workspaceDir}`)).toBe(true);
    await expect(terminal.run("x", { reset: true, is_input: true })).rejects.toBeInstanceOf(ToolInputError);
  });

  test("tools 20.2.12: a command named like a key is a command", async () => {
    await using terminal = await openTestTerminal();
    expect(await terminal.run("end() { echo ran; }; :")).toMatchObject({ exit_code: 0 });
    expect(await terminal.run("end")).toMatchObject({ text: "ran" });
    await terminal.run("cat", { timeout: 1 });
    expect(await terminal.type("C-d")).toMatchObject({ exit_code: 0 });
  });

  test("parameters are checked", async () => {
    const open = (params: Record<string, unknown>) => openTestTerminal({ params });
    await expect(open({ shell_path: "/no/bash" })).rejects.toThrow("shell_path");
    await expect(open({ env: { "1x": "y" } })).rejects.toThrow("1x");
    await expect(open({ env: { X: 1 } })).rejects.toThrow("X");
    await expect(open({ username: "somebody-else" })).rejects.toThrow("username");
    await expect(open({ terminal_type: "powershell" })).rejects.toThrow("terminal_type");
    await using terminal = await open({ env: { GREETING: "hi there" }, terminal_type: "tmux" });
    expect((await terminal.run("echo $GREETING")).text).toBe("hi there");
  });

  test("the definition has the annotations of 3.4 and the real quiet time, and is valid", () => {
    const context = {
      sessionId: "s",
      workspaceDir: "/w",
      stateDir: "/s",
      environment: { PATH: "/bin:/usr/bin" },
      canSee: false,
    };
    const definition = terminalTool.define({ ...context, params: { no_change_timeout_seconds: 17 } });
    expect(definition).toMatchObject({
      kind: "TerminalTool",
      title: "terminal",
      action_type: "TerminalAction",
      observation_type: "TerminalObservation",
      annotations: {
        title: "terminal",
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: true,
      },
      meta: null,
    });
    expect(definition.description).toContain("17 seconds");
    expect(createValidator().check(TerminalTool, definition)).toMatchObject({ ok: true });
  });
});

describe("long output", () => {
  test("tools 19.9, 20.2.13: head and tail are shown, the file holds everything", async () => {
    await using terminal = await openTestTerminal();
    const answer = await terminal.run("seq 1 30000");
    const complete = `${Array.from({ length: 30_000 }, (_, index) => index + 1).join("\n")}\n`;
    expect(answer.text.startsWith("1\n2\n3\n")).toBe(true);
    expect(answer.text.endsWith("29999\n30000")).toBe(true);
    expect(answer.text.length).toBeGreaterThan(29_990);
    expect(answer.text.length).toBeLessThanOrEqual(30_000);
    const [file = ""] = await readdir(join(terminal.stateDir, "observations"));
    expect(answer.text).toContain(`<response clipped>`);
    expect(answer.text).toContain(file);
    expect(await readFile(join(terminal.stateDir, "observations", file), "utf8")).toBe(complete);
    const line = Number(/begins at its line (\d+)/.exec(answer.text)?.[1]);
    const head = answer.text.slice(0, answer.text.indexOf("<response clipped>"));
    expect(line).toBe(head.split("\n").length);
  });

  test("a flood is paused until the next read", async () => {
    await using terminal = await openTestTerminal({ maxCharacters: 2_000_000 });
    const flood = await terminal.run("yes");
    expect(flood).toMatchObject({ exit_code: -1, timeout: true });
    expect(flood.suffix).toContain("2000000");
    expect(await terminal.run("")).toMatchObject({ exit_code: -1, timeout: true });
    expect(await terminal.type("C-c")).toMatchObject({ exit_code: 130 });
    expect(await terminal.run("echo ok")).toMatchObject({ text: "ok", exit_code: 0 });
  });

  test("no unfinished file stays behind", async () => {
    await using terminal = await openTestTerminal();
    await terminal.run("seq 1 20000; sleep 60", { timeout: 3 });
    await terminal.reopen();
    const names = await readdir(join(terminal.stateDir, "observations"));
    expect(names.every((name) => name.startsWith("terminal_output_"))).toBe(true);
  });
});

describe("a shell that ends", () => {
  test("tools 19.11, 20.2.15: top-level exit is reported at once, the next command has a new shell", async () => {
    await using terminal = await openTestTerminal();
    await terminal.run("A=1; sleep 300 > /dev/null & echo $! > pid");
    const ended = await terminal.run("echo bye; exit 3");
    expect(ended).toMatchObject({ text: "bye", exit_code: 3, is_error: false, timeout: false });
    expect(ended.elapsedMs).toBeLessThan(19_000);
    expect(ended.suffix).toContain("new shell");
    expect(await terminal.run("echo A=$A; kill -0 $(cat pid) && echo server lives")).toMatchObject({
      text: "A=\nserver lives",
      exit_code: 0,
      prefix: "",
    });
  });

  test("a shell killed between two calls is replaced with a notice", async () => {
    await using terminal = await openTestTerminal();
    const { text: pid } = await terminal.run("echo $$");
    process.kill(Number(pid), "SIGKILL");
    await expect.poll(() => readProcess(Number(pid))).toBeUndefined();
    const next = await terminal.run("echo here");
    expect(next).toMatchObject({ text: "here", exit_code: 0 });
    expect(next.prefix).toContain("replaced");
  });

  test("after a restart the first answer says that the terminal is new", async () => {
    await using terminal = await openTestTerminal();
    expect((await terminal.run("cd /; A=1")).prefix).toBe("");
    await terminal.reopen();
    const first = await terminal.run("echo A=$A");
    expect(first).toMatchObject({ text: "A=" });
    expect(first.prefix).toContain("started anew");
    expect((await terminal.run("echo")).prefix).toBe("");
  });

  test("16: only its owner can read a terminal's files, whatever the umask is", async () => {
    const before = process.umask(0);
    onTestFinished(() => void process.umask(before));
    await using terminal = await openTestTerminal();
    await terminal.run("true");
    expect(statSync(join(terminal.stateDir, "terminal", "used")).mode & 0o777).toBe(0o600);
    expect(statSync(join(terminal.stateDir, "terminal")).mode & 0o777).toBe(0o700);
  });

  test("the shell's own files go with it", async () => {
    await using terminal = await openTestTerminal();
    await terminal.run("exit");
    await terminal.run("true");
    await terminal.reopen();
    expect(await readdir(join(terminal.stateDir, "terminal"))).toEqual(["used"]);
    await access(terminal.workspaceDir);
  });
});

/** A shell that sleeps without a child waits for its next line, so it has printed everything. */
function isAtPrompt(pid: number): boolean {
  const hasChild = listProcesses().some(({ parentPid }) => parentPid === pid);
  return readProcess(pid)?.state === "S" && !hasChild;
}
