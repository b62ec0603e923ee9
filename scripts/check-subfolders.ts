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

/** Reports an import between two files of one ranked folder that goes up the ranks inside it. */
export function checkSubfolderOrder({ table, from, to, report, onException }: SubfolderCheck): void {
  if (from.isTest || from.isTesting || to.isTesting) return;
  for (const { folder, ranks } of rankedFoldersOf(from, table)) {
    if (!isBelow(to, folder)) continue;
    const [fromUnit, toUnit] = [unitIn(folder, from), unitIn(folder, to)];
    if (fromUnit.name === toUnit.name) continue;
    const [fromRank, toRank] = [rankOf(fromUnit, ranks), rankOf(toUnit, ranks)];
    // A sub-folder outside the table is reported once, as such.
    if (fromRank === null || toRank === null || toRank < fromRank) continue;
    if (toRank === fromRank && fromUnit.isFile && toUnit.isFile) continue;
    const entry = `${below(from)} -> ${below(to)}`;
    if (table.exceptions.includes(entry)) onException(entry);
    else report("subfolder-order", `${fromUnit.name} may not import ${toUnit.name} of ${folder}`);
  }
}

/** The sub-folders that a file lies in, and that the ranks of the folder around them do not know. */
export function unknownSubfolders(from: SourceLocation, table: LayerTable): string[] {
  if (from.isTesting) return [];
  return rankedFoldersOf(from, table).flatMap(({ folder, ranks }) => {
    const unit = unitIn(folder, from);
    return rankOf(unit, ranks) === null ? [`${folder}/${unit.name}`] : [];
  });
}

type Ranks = LayerTable["subfolderRanks"][string];

/** A sub-folder, or a file that is in none. */
type Unit = { readonly name: string; readonly isFile: boolean };

function rankedFoldersOf(from: SourceLocation, table: LayerTable): { folder: string; ranks: Ranks }[] {
  return Object.entries(table.subfolderRanks)
    .filter(([folder]) => isBelow(from, folder))
    .map(([folder, ranks]) => ({ folder, ranks }));
}

/** Of `server/faces`: `packages/server/src/faces/`. */
function prefixOf(folder: string): string {
  const [packageName, ...rest] = folder.split("/");
  return `packages/${packageName}/src/${rest.join("/")}/`;
}

function isBelow({ file }: SourceLocation, folder: string): boolean {
  return file.startsWith(prefixOf(folder));
}

function unitIn(folder: string, { file }: SourceLocation): Unit {
  const [name = "", ...rest] = file.slice(prefixOf(folder).length).split("/");
  return { name, isFile: rest.length === 0 };
}

function rankOf({ name, isFile }: Unit, ranks: Ranks): number | null {
  const own = ranks.findIndex((units) => units.includes(name));
  const rank = own === -1 && isFile ? ranks.findIndex((units) => units.includes(".")) : own;
  return rank === -1 ? null : rank;
}

function below({ file }: SourceLocation): string {
  return file.replace("packages/", "");
}
