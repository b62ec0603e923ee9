import { readFileSync } from "node:fs";
import path from "node:path";
import { checkReference, rankOf } from "./check-reference.ts";
import { unknownSubfolders } from "./check-subfolders.ts";
import { findLateCycles, type ImportEdge } from "./late-cycles.ts";
import { type LayerRule, type LayerTable, layerTable } from "./layer-table.ts";
import { scanSource } from "./scan-source.ts";
import { listSourceFiles } from "./source-files.ts";
import { type SourceLocation, locateSource } from "./source-location.ts";
import { type WorkspaceExports, readWorkspaceExports } from "./workspace-exports.ts";

export type LayerViolation = {
  readonly rule: LayerRule;
  /** Slash path relative to the root. */
  readonly file: string;
  /** 1-based; 0 when the whole file is meant. */
  readonly line: number;
  readonly message: string;
};

export type LayerReport = {
  readonly fileCount: number;
  readonly referenceCount: number;
  readonly violations: readonly LayerViolation[];
};

/** Holds every import below `root` to the table. A report with zero references means that the scan is broken, never that all is well. */
export function checkLayers(root: string, table: LayerTable = layerTable): LayerReport {
  const workspace = readWorkspaceExports(root);
  const files = listSourceFiles(root, ["packages", "scripts", "bench", "e2e"], [".ts", ".tsx"]);
  const violations: LayerViolation[] = [];
  const edges: ImportEdge[] = [];
  const usedExceptions = new Set<string>();
  const onException = (entry: string): void => void usedExceptions.add(entry);
  let referenceCount = 0;
  for (const file of files) {
    const from = locateSource(file);
    const scan = scanSource(readFileSync(path.join(root, file), "utf8"));
    referenceCount += scan.references.length;
    const report = (rule: LayerRule, line: number, message: string): void => {
      violations.push({ rule, file, line, message });
    };
    checkPlace(from, workspace, table, report);
    if (!mayReadEnvironment(from, table)) {
      for (const line of scan.environmentLines) {
        report(
          "environment",
          line,
          "reads the environment outside configuration; take the value as a parameter",
        );
      }
    }
    if (from.isInSource && !from.isTest) {
      for (const line of scan.placeLines) {
        report(
          "own-place",
          line,
          'bundling moves the file; load others by new URL("./name", import.meta.url)',
        );
      }
    }
    if (from.isInSource && !from.isTest && !from.isTesting && !mayReadProc(file, table)) {
      for (const line of scan.procLines)
        report("system-table", line, "reads /proc, which only Linux has; use tool-host/src/system");
    }
    for (const reference of scan.references) {
      const reportHere = (rule: LayerRule, message: string): void => report(rule, reference.line, message);
      checkReference({ root, table, workspace, from, reference, report: reportHere, onException });
      const { form, specifier, line } = reference;
      const to = path.posix.join(path.posix.dirname(file), specifier);
      if (form !== "url" && specifier.startsWith("."))
        edges.push({ from: file, to, line, isLate: form === "dynamic" });
    }
  }
  for (const { edge, path: files } of findLateCycles(edges))
    violations.push({
      rule: "late-cycle",
      file: edge.from,
      line: edge.line,
      message: `imports in a cycle: ${files.join(" -> ")}; move what both need to a file of its own`,
    });
  for (const entry of table.exceptions.filter((known) => !usedExceptions.has(known)))
    violations.push({
      rule: "unused-exception",
      file: "scripts/layer-table.ts",
      line: 0,
      message: `${entry} is not needed any more; take it out`,
    });
  return { fileCount: files.length, referenceCount, violations };
}

function checkPlace(
  from: SourceLocation,
  workspace: WorkspaceExports,
  table: LayerTable,
  report: (rule: LayerRule, line: number, message: string) => void,
): void {
  if (from.packageName === null) return;
  if (table.packages[from.packageName] === undefined) {
    report("unknown-folder", 0, `packages/${from.packageName} is not in the layer table`);
    return;
  }
  const isRanked = table.folderRanks[from.packageName] !== undefined;
  const isKnown =
    from.folder === null || from.isTesting || rankOf(from.packageName, from.folder, table) !== null;
  if (isRanked && !isKnown) {
    report("unknown-folder", 0, `${from.packageName}/src/${from.folder} is not in the layer table`);
  }
  for (const unknown of unknownSubfolders(from, table))
    report("unknown-folder", 0, `${unknown} is not in the layer table`);
  if (path.basename(from.file) === "index.ts" && !workspace.isExported(from.file)) {
    report(
      "index-at-root",
      0,
      "index.ts belongs at a package's root only; name the file after its main export",
    );
  }
}

function mayReadProc(file: string, { procReaders }: LayerTable): boolean {
  // Contract suites look at the machine themselves.
  return (
    /\/contract[^/]*\.ts$/.test(file) || procReaders.some((folder) => file.startsWith(`packages/${folder}/`))
  );
}

function mayReadEnvironment(from: SourceLocation, table: LayerTable): boolean {
  if (from.packageName === null || !from.isInSource || from.isTest || from.isTesting) return true;
  return (
    table.environmentReaders.includes(from.packageName) || /^config[^/]*\.ts$/.test(path.basename(from.file))
  );
}

if (import.meta.main) {
  const report = checkLayers(path.resolve(import.meta.dirname, ".."));
  for (const { rule, file, line, message } of report.violations)
    console.error(`${file}:${line} ${rule}: ${message}`);
  console.log(
    `${report.fileCount} files, ${report.referenceCount} imports, ${report.violations.length} violations`,
  );
  if (report.referenceCount === 0) console.error("no imports seen: the scan is broken");
  if (report.violations.length > 0 || report.referenceCount === 0) process.exitCode = 1;
}
