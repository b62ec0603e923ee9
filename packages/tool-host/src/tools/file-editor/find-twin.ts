import { readdir, stat } from "node:fs/promises";
import { join, parse, sep } from "node:path";
import { codeOf } from "./atomic-write.ts";

/**
 * The path of what exists under a name that looks like this one, where exactly one does: names of screenshots have a narrow blank
 * before "PM", and other systems write é as two characters. The path itself where it exists, or where nothing or several look so.
 */
export async function findTwin(path: string): Promise<string> {
  if (await exists(path)) return path;
  const { root } = parse(path);
  let found = root;
  for (const name of path.slice(root.length).split(sep)) {
    const twin = (await exists(join(found, name))) ? name : await twinIn(found, name);
    if (twin === undefined) return path;
    found = join(found, twin);
  }
  return found;
}

async function twinIn(directory: string, name: string): Promise<string | undefined> {
  const wanted = normalizedName(name);
  const twins = (await namesIn(directory)).filter((other) => normalizedName(other) === wanted);
  return twins.length === 1 ? twins[0] : undefined;
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (/^E[A-Z0-9]+$/u.test(codeOf(error))) return []; // Whoever uses the path is told what is wrong with it.
    throw error;
  }
}

/** What a name looks like: blanks and apostrophes of all kinds alike, marks composed. */
function normalizedName(name: string): string {
  return name
    .normalize("NFC")
    .replace(/\p{Zs}/gu, " ")
    .replace(/[\u2018\u2019]/gu, "'");
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false, // Whatever the reason: whoever uses the path is told.
  );
}
