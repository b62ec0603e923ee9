import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { clipText, shortNotice, textLimits } from "../../text/truncate.ts";
import { codeOf } from "./atomic-write.ts";

/** The directory, its children and grandchildren, one path a line, sorted; directories end with `/`, hidden entries are only counted. */
export async function viewDirectory(path: string): Promise<string> {
  const children = await readdir(path, { withFileTypes: true });
  const paths = [`${path.replace(/\/+$/, "")}/`];
  for (const child of children.filter(isVisible)) {
    paths.push(pathOf(path, child));
    if (child.isDirectory()) paths.push(...(await grandchildren(join(path, child.name))));
  }
  const hidden = children.length - children.filter(isVisible).length;
  const listing = clipText(paths.sort().join("\n"), textLimits.fileEditor, `\n${shortNotice}\n`);
  const note =
    hidden === 0
      ? ""
      : `\n${hidden} hidden ${hidden === 1 ? "entry is" : "entries are"} not shown; list them with: ls -A ${JSON.stringify(path)}\n`;
  return `Up to two levels of ${path}, without hidden entries:\n${listing}\n${note}`;
}

type Entry = { readonly name: string; isDirectory(): boolean };

/** An unreadable or deleted subdirectory is listed without its content. */
async function grandchildren(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.filter(isVisible).map((entry) => pathOf(path, entry));
  } catch (error) {
    if (["EACCES", "EPERM", "ENOENT"].includes(codeOf(error))) return [];
    throw error;
  }
}

function isVisible(entry: Entry): boolean {
  return !entry.name.startsWith(".");
}

function pathOf(dir: string, entry: Entry): string {
  return join(dir, entry.name) + (entry.isDirectory() ? "/" : "");
}
