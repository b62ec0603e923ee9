import { execFile } from "node:child_process";
import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, resolve } from "node:path";
import { promisify } from "node:util";
import { isBelow } from "./refused-folder.ts";

const execute = promisify(execFile);
const gitMs = 5_000;

/** Keys whose values name files that git reads or runs. */
const namesFiles =
  /^(core\.(hookspath|fsmonitor|sshcommand|editor|pager|attributesfile|askpass)|include\.path|includeif\..*\.path|filter\..*\.(clean|smudge|process)|diff\..*\.(command|textconv)|merge\..*\.driver|alias\..*|credential\..*helper|sequence\.editor)$/i;
const includes = /^include(if\..*)?\.path$/i;

/**
 * Files in the folder that git obeys because a configuration names them: the repository's, or the person's, in which a relative path
 * means every repository. Without links. `git config` runs nothing.
 */
export async function findConfiguredFiles(folder: string): Promise<string[]> {
  const settings = ["core.fsmonitor=false", "safe.directory=*"].flatMap((setting) => ["-c", setting]);
  let text: string;
  try {
    const args = [...settings, "-C", folder, "config", "--includes", "--show-origin", "--list", "-z"];
    ({ stdout: text } = await execute("git", args, { timeout: gitMs, maxBuffer: 4 * 1024 * 1024 }));
  } catch {
    // No repository, or no git.
    return [];
  }
  const parts = text.split("\0");
  const paths = new Set<string>();
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [origin = "", entry = ""] = parts.slice(at, at + 2);
    const [key, value] = [entry.slice(0, entry.indexOf("\n")), entry.slice(entry.indexOf("\n") + 1)];
    if (!namesFiles.test(key)) continue;
    // An included file is named from where the including one is.
    const file = origin.startsWith("file:") ? resolve(folder, origin.slice("file:".length)) : "";
    const base = includes.test(key) && file !== "" ? dirname(file) : folder;
    const words = includes.test(key) ? [value] : value.split(/[\s;&|"'()]+/);
    for (const word of words)
      if (word !== "" && !/^[-!]/.test(word)) paths.add(isAbsolute(word) ? word : resolve(base, word));
  }
  const found = await Promise.all([...paths].map((path) => realpath(path).catch(() => null)));
  return [...new Set(found)].filter((path) => path !== null && isBelow(path, folder)) as string[];
}
