import { spawnSync } from "node:child_process";

type Audit =
  | { readonly type: "clean" }
  /** One sentence for each dependency. */
  | { readonly type: "found"; readonly problems: readonly string[] }
  | { readonly type: "unanswered"; readonly reason: string };

/** Asks the registry for known vulnerabilities of what is published. Not every registry answers that. */
export function auditDependencies(root: string): Audit {
  const { stdout, error } = spawnSync("npm", ["audit", "--json", "--omit", "dev"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  return error === undefined ? readAudit(stdout) : { type: "unanswered", reason: error.message };
}

type Report = {
  /** Of a request that failed. */
  readonly message?: string;
  readonly statusCode?: number;
  readonly error?: { readonly summary?: string };
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly severity: string; readonly range: string; readonly fixAvailable?: unknown }>
  >;
};

/** What `npm audit --json` printed. */
export function readAudit(output: string): Audit {
  const report = parse(output);
  const { vulnerabilities } = report;
  if (vulnerabilities === undefined) {
    const text = [report.message, report.error?.summary].find((one) => Boolean(one));
    const status = report.statusCode === undefined ? "" : ` (HTTP ${report.statusCode})`;
    return { type: "unanswered", reason: `${text ?? "npm said nothing"}${status}` };
  }
  const problems = Object.entries(vulnerabilities).map(
    ([name, { severity, range, fixAvailable }]) =>
      `${name} ${range}: ${severity}${fixAvailable === false || fixAvailable === undefined ? "" : ", a fix is available"}`,
  );
  return problems.length === 0 ? { type: "clean" } : { type: "found", problems };
}

function parse(text: string): Report {
  try {
    return JSON.parse(text) as Report;
  } catch {
    return { message: text.trim() };
  }
}
