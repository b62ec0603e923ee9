import { writeFileSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hiddenMark } from "../../processes/mask.ts";
import { openTestTerminal } from "./testing/open-terminal.ts";

const secrets = [
  { name: "API_TOKEN", value: "canary-5f1d & 'quoted' $HOME `x`" },
  { name: "MULTI", value: "-----BEGIN KEY-----\nabcdefghijkl\nmnopqrstuvwx\n-----END KEY-----" },
  { name: "PIN", value: "4711" },
  { name: "id", value: "canary-id-value" },
];

describe("secrets", () => {
  test("tools 19.18, 20.2.14: exported only when named, with the exact value", async () => {
    await using terminal = await openTestTerminal();
    expect((await terminal.run("env | grep -c canary", { secrets })).text).toBe("0");
    expect((await terminal.run("env | grep -ci api_tok; api_token=1", { secrets })).text).toBe("0");
    const length = secrets[0]?.value.length;
    expect((await terminal.run("echo ${#API_TOKEN}; bash -c 'echo ${#API_TOKEN}'", { secrets })).text).toBe(
      `${length}\n${length}`,
    );
    expect((await terminal.run('echo "$MULTI" | wc -l', { secrets })).text).toBe("4");
  });

  test("P13, tools 20.2.14: values are masked in output, command, metadata, progress and file", async () => {
    await using terminal = await openTestTerminal();
    const progress: string[] = [];
    const onProgress = (text: string): void => void progress.push(text);
    const command = [
      'echo "$API_TOKEN" "$MULTI" $PIN',
      'echo "$API_TOKEN" | base64',
      'printf %s "$API_TOKEN" | python3 -c "import sys, urllib.parse; print(urllib.parse.quote(sys.stdin.read()))"',
      "export -p | grep API_TOKEN",
      'mkdir -p "/tmp/x" && seq 1 20000',
      'printf "%.14s" "$API_TOKEN"; sleep 0.3; printf "%s\\n" "${API_TOKEN:14}"',
      "echo canary-id-value",
    ].join("; ");
    const answer = await terminal.run(command, { secrets, onProgress, timeout: 20 });
    const [file = ""] = await readdir(join(terminal.stateDir, "observations"));
    const saved = await readFile(join(terminal.stateDir, "observations", file), "utf8");
    const everything = JSON.stringify(answer) + saved + progress.join("");
    expect(answer.exit_code).toBe(0);
    expect(everything).toContain(hiddenMark);
    // A short value is masked only as a whole token: the numbers 4710, 4712 and 14711 stay, 4711 is masked.
    const leaks = [
      ...secrets.slice(0, 2).map((secret) => secret.value),
      "canary",
      "abcdefghijkl",
      "\\n4711\\n",
      "\n4711\n",
    ];
    const encoded = leaks
      .slice(0, 1)
      .flatMap((leak) => [encodeURIComponent(leak), Buffer.from(leak).toString("base64")]);
    expect([...leaks, ...encoded].filter((leak) => everything.includes(leak))).toEqual([]);
    expect(saved).toContain("\n14711\n");
    expect(answer.command).toContain(`echo ${hiddenMark}`);
  });

  test("P13: a value split by a timeout is not shown in two halves", async () => {
    await using terminal = await openTestTerminal({ params: { no_change_timeout_seconds: 0.5 } });
    const wait = "until [ -e go ]; do sleep 0.05; done";
    const command = `printf "%.10s" "$API_TOKEN"; ${wait}; printf "%s\\n" "\${API_TOKEN:10}"`;
    const first = await terminal.run(command, { secrets });
    await writeFile(join(terminal.workspaceDir, "go"), "");
    const second = await terminal.run("", { timeout: 20 });
    expect([first.text, second.text]).toEqual(["", hiddenMark]);
  });

  test("P13: half a value is masked where the output was cut off, and shown where it ends by itself", async () => {
    await using terminal = await openTestTerminal({ params: { no_change_timeout_seconds: 0.5 } });
    const half = secrets[0]!.value.slice(0, 14);
    const command = 'printf "so: %.14s" "$API_TOKEN"';
    const abort = new AbortController();
    const aborted = await terminal.run(`${command}; sleep 300`, {
      secrets,
      signal: abort.signal,
      onProgress: (text) => {
        if (text.includes("so: ")) abort.abort();
      },
      timeout: 20,
    });
    expect(aborted.exit_code).toBe(130);
    await terminal.run(`${command}; sleep 300`, { secrets });
    const typed = await terminal.type("C-c", { timeout: 20 });
    for (const { text } of [aborted, typed]) expect(text).not.toContain(half.slice(0, 6));
    expect(aborted.text).toContain(`so: ${hiddenMark}`);
    const whole = await terminal.run(`${command}; exit 0 | true`, { secrets, timeout: 20 });
    expect(whole.text).toBe(`so: ${half.trim()}`);
  });

  test("P13: nothing shows with tracing on, in the history or in the process list", async () => {
    await using terminal = await openTestTerminal();
    await terminal.run("set -xv");
    const traced = await terminal.run('true "$API_TOKEN"; history; ps axww -o args; ls -la /proc/$$/fd', {
      secrets,
    });
    expect(JSON.stringify(traced)).not.toContain("canary");
    await terminal.run("set +xv");
    const files = await terminal.run(`grep -rl canary ${terminal.stateDir} ${terminal.workspaceDir}`, {
      secrets,
    });
    expect(files).toMatchObject({ text: "", exit_code: 1 });
  });

  test("W9, P13, tools 20.2.14: keys of the server are not in the environment", async () => {
    process.env["SESSION_API_KEY"] = "canary-session";
    process.env["OH_SECRET_KEY"] = "canary-oh";
    try {
      await using terminal = await openTestTerminal();
      const { text } = await terminal.run("env");
      expect(text).not.toContain("canary");
      expect(text).toContain("AI_AGENT=convoke");
    } finally {
      delete process.env["SESSION_API_KEY"];
      delete process.env["OH_SECRET_KEY"];
    }
  });
});

describe("progress", () => {
  test("live output comes in masked, bounded tails about ten times a second", async () => {
    await using terminal = await openTestTerminal();
    const seen: string[] = [];
    // The command continues once its last output was shown.
    const wait = "until [ -e shown-$i ]; do sleep 0.02; done";
    const answer = await terminal.run(
      `for i in $(seq 10); do seq $((i * 1000)) $((i * 1000 + 3000)); printf prompt; ${wait}; done`,
      {
        onProgress: (text) => {
          seen.push(text);
          const last = Number(/(\d+)\nprompt$/.exec(text)?.[1]);
          writeFileSync(join(terminal.workspaceDir, `shown-${(last - 3_000) / 1_000}`), "");
        },
      },
    );
    expect(answer.exit_code).toBe(0);
    expect(seen.length).toBeGreaterThanOrEqual(10);
    expect(seen.length).toBeLessThanOrEqual(answer.elapsedMs / 100 + 1);
    expect(Math.max(...seen.map((text) => text.length))).toBeLessThanOrEqual(4_000);
    expect(seen.at(-1)?.endsWith("12999\n13000\nprompt")).toBe(true);
  });
});
