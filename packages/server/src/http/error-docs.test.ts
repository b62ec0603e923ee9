import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../../..");

/** How a code stands in the sources; the first group is the code. */
const patterns: readonly RegExp[] = [
  /new Fault\(\s*"[a-z-]+",\s*"(\w+)"/g,
  /\bcode: "([a-z_]+)"/g,
  /"(LLM\w+Error)"/g,
  /failRun\(\s*"(\w+)"/g,
  /"(InternalError)"/g,
  /"(ACP(?:\w+Error|AuthRequired|PromptTimeout|PromptInterrupted))"/g,
  /\bbad\("([a-z_]+)"/g,
  /^ {2}\w+: ([14]\d{3}),$/gm,
];

test("P53: every error code of the sources is documented, and every documented one exists", () => {
  const codes = codesInSources();
  // The sources were read: a pattern that stops matching must not pass as "nothing to document".
  expect([...codes]).toEqual(
    expect.arrayContaining(["unauthorized", "storage_failed", "LLMTimeoutError", "invalid_json", "4022"]),
  );
  const page = readFileSync(join(root, "docs/guides/errors.md"), "utf8");
  expect(codesInTables(page)).toEqual([...codes].toSorted());
});

test("P53: every type of a 422 is documented", () => {
  const page = readFileSync(join(root, "docs/guides/errors.md"), "utf8");
  const listed = /Types in a 422: ([^.]+)\./.exec(page)?.[1] ?? "";
  for (const type of validationTypes()) expect(listed).toContain(`\`${type}\``);
});

function codesInSources(): ReadonlySet<string> {
  const codes = new Set<string>(["1007", "1009"]); // The WebSocket library's own, for frames that are too large.
  for (const text of sources("packages/server/src")) {
    for (const pattern of patterns) for (const [, code] of text.matchAll(pattern)) codes.add(code!);
  }
  return codes;
}

function validationTypes(): string[] {
  const texts = [
    ...sources("packages/protocol/src/validation"),
    ...sources("packages/server/src/faces"),
    ...sources("packages/server/src/http"),
  ];
  return texts.flatMap((text) => [
    ...[...text.matchAll(/\bmsg\b[^}]*?\btype: "([a-z_]+)"/g)].map(([, type]) => type!),
    ...[...text.matchAll(/invalidField\([^;]*?, "([a-z_]+)"\)/gs)].map(([, type]) => type!),
  ]);
}

/** Production sources below a folder. */
function sources(folder: string): string[] {
  return globSync(`${folder}/**/*.ts`, { cwd: root })
    .filter((file) => !/\.test\.ts$|\/testing\/|\/contract/.test(file))
    .map((file) => readFileSync(join(root, file), "utf8"));
}

/** The codes of all tables, sorted, each once. */
function codesInTables(page: string): string[] {
  const rows = page.split("\n").filter((line) => line.startsWith("|"));
  const codes = rows.flatMap((row) => {
    const code = /^\|(?: \d{3} +\|)? (?:`(\w+)`|(\d{4})) +\|/.exec(row);
    return code === null ? [] : [(code[1] ?? code[2])!];
  });
  return [...new Set(codes)].toSorted();
}
