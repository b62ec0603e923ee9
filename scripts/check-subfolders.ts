import path from "node:path";
import type { LayerRule, LayerTable } from "./layer-table.ts";
import type { SourceLocation } from "./source-location.ts";

export type SubfolderCheck = {
  readonly table: LayerTable;
  readonly from: SourceLocation;
  readonly to: SourceLocation;
  readonly report: (rule: LayerRule, message: string) => void;
  /** Called with an entry of `exceptions` that allows this import. */
  readonly onException: (entry: string) => void;
};

/** Reports an import between two files of one folder that goes up the ranks inside it. */
export function checkSubfolderOrder({ table, from, to, report, onException }: SubfolderCheck): void {
  if (from.isTest || from.isTesting || to.isTesting || unitOf(from) === unitOf(to)) return;
  const ranks = ranksAround(from, table);
  if (ranks === undefined) return;
  const [fromRank, toRank] = [rankInside(from, ranks), rankInside(to, ranks)];
  // A sub-folder outside the table is reported once, as such.
  if (fromRank === null || toRank === null || toRank < fromRank) return;
  if (toRank === fromRank && from.subfolder === null && to.subfolder === null) return;
  const entry = `${below(from)} -> ${below(to)}`;
  if (table.exceptions.includes(entry)) onException(entry);
  else report("subfolder-order", `${unitOf(from)} may not import ${unitOf(to)} of ${from.folder}`);
}

/** Whether the table ranks the inside of the file's folder and does not know the file's sub-folder. */
export function isUnknownSubfolder(from: SourceLocation, table: LayerTable): boolean {
  const ranks = ranksAround(from, table);
  return ranks !== undefined && !from.isTesting && rankInside(from, ranks) === null;
}

function ranksAround(
  { packageName, folder }: SourceLocation,
  table: LayerTable,
): LayerTable["subfolderRanks"][string] | undefined {
  return table.subfolderRanks[`${packageName}/${folder}`];
}

function rankInside(location: SourceLocation, ranks: LayerTable["subfolderRanks"][string]): number | null {
  const own = ranks.findIndex((units) => units.includes(unitOf(location)));
  const rank =
    own === -1 && location.subfolder === null ? ranks.findIndex((units) => units.includes(".")) : own;
  return rank === -1 ? null : rank;
}

/** The sub-folder, or the file's name where it is in none. */
function unitOf({ file, subfolder }: SourceLocation): string {
  return subfolder ?? path.basename(file);
}

function below({ file }: SourceLocation): string {
  return file.replace("packages/", "");
}
