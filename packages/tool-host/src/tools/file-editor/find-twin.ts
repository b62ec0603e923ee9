import { readdir, stat } from "node:fs/promises";
import { join, parse, sep } from "node:path";
import { codeOf } from "./atomic-write.ts";

/**
 * The path of the only existing file whose name looks like this one: names of screenshots contain a narrow blank before "PM", and
 * other systems write é as two characters. The path itself if it exists, or if nothing or several files match.
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
    if (/^E[A-Z0-9]+$/u.test(codeOf(error))) return []; // Using the path reports what is wrong with it.
    throw error;
  }
}

/** The name with all kinds of blanks and apostrophes unified, and marks composed. */
function normalizedName(name: string): string {
  return name
    .normalize("NFC")
    .replace(/\p{Zs}/gu, " ")
    .replace(/[\u2018\u2019]/gu, "'");
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false, // Using the path reports the reason.
  );
}
