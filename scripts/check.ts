import path from "node:path";
import { parseArgs } from "node:util";
import { resolveToolFile } from "./resolve-tool-file.ts";
import { type Check, type CheckResult, runChecks } from "./run-checks.ts";

const root = path.resolve(import.meta.dirname, "..");

/** The checks to pass before a commit, slowest first so that all processors stay busy. */
const checks: readonly Check[] = [
  { name: "lint", nodeArguments: tool("oxlint", "oxlint", "--type-aware", "--deny-warnings") },
  {
    name: "dead-code",
    nodeArguments: tool("knip", "knip", "--no-progress", "--no-config-hints"),
  },
  // Beside the linter there is one processor for it; each further checker would check the shared types again.
  { name: "types", nodeArguments: tool("typescript", "tsc", "-p", ".", "--checkers", "1") },
  {
    name: "browser-types",
    nodeArguments: tool("typescript", "tsc", "-p", "tsconfig.build.json", "--noEmit"),
  },
  { name: "web-size", nodeArguments: ["scripts/check-web-size.ts"] },
  { name: "openapi", nodeArguments: ["packages/protocol/scripts/write-openapi.ts", "--check"] },
  { name: "format", nodeArguments: tool("oxfmt", "oxfmt", "--check") },
  { name: "layers", nodeArguments: ["scripts/check-layers.ts"] },
  { name: "words", nodeArguments: ["scripts/check-words.ts"] },
  { name: "length", nodeArguments: ["scripts/check-file-length.ts"] },
];

function tool(packageName: string, command: string, ...rest: readonly string[]): string[] {
  return [resolveToolFile(root, packageName, command), ...rest];
}

function printResult({ name, isOk, durationMs, output }: CheckResult): void {
  const seconds = `${(durationMs / 1_000).toFixed(1)} s`;
  console.log(`${isOk ? "ok    " : "failed"}  ${name.padEnd(13)}  ${seconds.padStart(6)}`);
  if (!isOk) console.log(output.trimEnd().replaceAll(/^/gm, "    "));
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { only: { type: "string" } } });
  const names = values.only?.split(",");
  const unknown = names?.filter((name) => !checks.some((check) => check.name === name)) ?? [];
  if (unknown.length > 0) {
    console.error(
      `no such check: ${unknown.join(", ")}; there are ${checks.map(({ name }) => name).join(", ")}`,
    );
    return 2;
  }
  const results = await runChecks(
    checks.filter(({ name }) => names?.includes(name) ?? true),
    {
      directory: root,
      // The linter finds its type-aware part on the path.
      environment: {
        ...process.env,
        PATH: [path.join(root, "node_modules", ".bin"), process.env["PATH"]].join(path.delimiter),
      },
      onResult: printResult,
    },
  );
  return results.every(({ isOk }) => isOk) ? 0 : 1;
}

process.exitCode = await main();
