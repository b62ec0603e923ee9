import { existsSync, statSync } from "node:fs";
import { builtinModules } from "node:module";
import path from "node:path";
import { copiedFiles } from "./copied-files.ts";
import { checkSubfolderOrder } from "./check-subfolders.ts";
import type { LayerRule, LayerTable } from "./layer-table.ts";
import type { ModuleReference } from "./scan-source.ts";
import { type SourceLocation, locateSource } from "./source-location.ts";
import type { WorkspaceExports } from "./workspace-exports.ts";

export type ReferenceCheck = {
  readonly root: string;
  readonly table: LayerTable;
  readonly workspace: WorkspaceExports;
  readonly from: SourceLocation;
  readonly reference: ModuleReference;
  readonly report: (rule: LayerRule, message: string) => void;
  /** Called with an entry of the table's `exceptions` that allows this import. */
  readonly onException: (entry: string) => void;
};

/** Reports what the table forbids about one import. */
export function checkReference(check: ReferenceCheck): void {
  const { specifier } = check.reference;
  if (/^\.\.?(?:\/|$)/.test(specifier)) checkRelative(check);
  else if (check.workspace.owns(specifier)) checkWorkspacePackage(check);
  else checkForeign(check);
}

/** A relative path: inside the package, or (benches only) into another one. */
function checkRelative(check: ReferenceCheck): void {
  const { root, table, workspace, from, reference, report } = check;
  // What a bundler is told about a file stands behind its name.
  const [specifier = ""] = reference.specifier.split("?");
  const target = path.posix.join(path.posix.dirname(from.file), specifier);
  const absolute = path.join(root, target);
  // The build puts it there.
  if (Object.hasOwn(copiedFiles, target)) return;
  if (!existsSync(absolute)) {
    report("unresolved", `${reference.specifier} names no file`);
    return;
  }
  // A directory is fine as an address (a folder of assets), never as a module.
  if (reference.form === "url" && statSync(absolute).isDirectory()) return;
  if (!statSync(absolute).isFile()) {
    report("named-file", `${reference.specifier} is a folder; import the file by its name`);
    return;
  }
  const to = locateSource(target);
  if (to.packageName !== from.packageName) {
    const mayReachInside = from.packageName === null && table.reachInside.includes(from.area);
    if (to.packageName !== null && from.area !== "scripts" && !mayReachInside) {
      report(
        "deep-import",
        `${reference.specifier} reaches into packages/${to.packageName}; import the package by its name`,
      );
    } else if (to.packageName === null && from.packageName !== null) {
      report("package-order", `${reference.specifier} leaves the package`);
    }
    return;
  }
  if (from.packageName === null) return;
  checkTestTarget(from, to, report);
  const isProduction = from.isInSource && !from.isTest && !from.isTesting;
  if (isProduction && path.basename(target) === "index.ts" && workspace.isExported(target)) {
    report(
      "named-file",
      `${reference.specifier} is the package's own entry; import the file that defines the name`,
    );
  }
  checkFolderOrder(from, to, table, report);
  if (from.folder !== null && from.folder === to.folder) checkSubfolderOrder({ ...check, to });
}

function checkTestTarget(
  from: SourceLocation,
  to: SourceLocation,
  report: (rule: LayerRule, message: string) => void,
): void {
  if (to.isTest && !from.isTest && !from.isTesting && from.isInSource) {
    report("test-file", `${to.file} is a test; production may not import it`);
  }
}

function checkFolderOrder(
  from: SourceLocation,
  to: SourceLocation,
  table: LayerTable,
  report: (rule: LayerRule, message: string) => void,
): void {
  if (from.packageName === null || !from.isInSource || !to.isInSource) return;
  if (to.isTesting) {
    if (!from.isTest && !from.isTesting) {
      report("testing-only", `${to.file} is a test double; production may not import it`);
    }
    return;
  }
  if (from.folder === to.folder) return;
  if (from.isTesting || from.folder === null || table.folderRanks[from.packageName] === undefined) return;
  if (to.folder === null) {
    report(
      "folder-order",
      `${from.folder} may not import ${path.basename(to.file)}, which composes the folders`,
    );
    return;
  }
  const fromRank = rankOf(from.packageName, from.folder, table);
  const toRank = rankOf(from.packageName, to.folder, table);
  // A folder outside the table is reported once, as such.
  if (fromRank === null || toRank === null || toRank < fromRank) return;
  const isAllowedSideways =
    table.sideways[`${from.packageName}/${from.folder}`]?.includes(to.folder) ?? false;
  if (toRank === fromRank && isAllowedSideways) return;
  const direction = toRank === fromRank ? "sideways" : "up";
  report(
    "folder-order",
    `${from.folder} may not import ${to.folder} (${direction}); take what you need as a parameter`,
  );
}

/** Another package of this repository, or this one, by its name. */
function checkWorkspacePackage({ table, workspace, from, reference, report }: ReferenceCheck): void {
  const target = workspace.resolve(reference.specifier);
  if (target.file === null) {
    report("deep-import", `${reference.specifier} is not among the package's exports`);
    return;
  }
  const to = locateSource(target.file);
  if (to.isTesting) {
    const isUser = from.packageName === null || table.testingUsers.includes(from.packageName);
    if (!isUser && !from.isTest && !from.isTesting) {
      report("testing-only", `${reference.specifier} holds test doubles; production may not import them`);
    }
  }
  if (from.packageName === null) return;
  if (target.packageName === from.packageName) {
    if (!from.isTest && from.isInSource) report("named-file", "a package does not import itself by name");
    return;
  }
  const allowed = table.packages[from.packageName];
  if (allowed !== undefined && !allowed.includes(target.packageName)) {
    report("package-order", `${from.packageName} may not import ${target.packageName}`);
  }
}

/** A Node module or an npm package. */
function checkForeign({ table, from, reference, report }: ReferenceCheck): void {
  const { specifier } = reference;
  if (from.packageName === null || !from.isInSource || from.isTest) return;
  const isNodeModule = specifier.startsWith("node:") || builtinModules.includes(specifier);
  if (isNodeModule && table.browserSafe.includes(from.packageName)) {
    report("browser-safe", `${specifier} does not exist in browsers`);
  }
  if (["vitest", "fast-check"].includes(specifier) && !from.isTesting) {
    report("test-file", `${specifier} is for tests only`);
  }
}

/** Height of a folder in its package, 0 is lowest; null when the table does not know it. */
export function rankOf(packageName: string, folder: string, table: LayerTable): number | null {
  const rank = table.folderRanks[packageName]?.findIndex((folders) => folders.includes(folder)) ?? -1;
  return rank === -1 ? null : rank;
}
