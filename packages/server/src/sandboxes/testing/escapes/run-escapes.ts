import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EscapeAttempt } from "./escape-attempt.ts";

const tools = "bash perl dd grep find ls cat cp mv ln wc head timeout setsid";

/**
 * What the last line of each attempt said, by its name. `folder` is the working folder, outside; `run` runs a command in it, inside.
 * `atOnce` attempts run at the same time: most of their time is waiting for what does not answer. Rejects when a program is missing there: without it an attempt would fail for another reason than the wall.
 */
export async function runEscapes(
  attempts: readonly EscapeAttempt[],
  folder: string,
  run: (command: string) => Promise<unknown>,
  atOnce = 6,
): Promise<ReadonlyMap<string, string>> {
  const lines = attempts.map(
    ({ command }, index) =>
      `{ out=$( (timeout 60 bash -c ${quote(command)}; [ $? = 124 ] && echo "timed out") 2>&1 | tail -1); echo "attempt ${index}: $out"; } &`,
  );
  const script = [
    `for tool in ${tools}; do command -v $tool >/dev/null || echo "missing: $tool"; done`,
    ...lines.map((line, index) => (index % atOnce === atOnce - 1 ? `${line}\nwait` : line)),
    "wait",
  ];
  await writeFile(join(folder, "attempts.sh"), script.join("\n"));
  // In a session of its own: an attempt must not end what runs it.
  await run("setsid -w bash attempts.sh > results.txt 2>&1; true");
  const printed = await readFile(join(folder, "results.txt"), "utf8");
  const missing = printed.match(/^missing: .*$/m);
  if (missing !== null) throw new Error(`Attempts need a program: ${missing[0]}.`);
  const late = attempts.filter((_, index) => printed.includes(`attempt ${index}: timed out`));
  if (late.length > 0) throw new Error(`Attempts took too long: ${late.map(({ name }) => name).join(", ")}.`);
  return new Map(
    attempts.map(({ name }, index) => [
      name,
      new RegExp(`^attempt ${index}: (.*)$`, "m").exec(printed)?.[1] ?? "not run",
    ]),
  );
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
