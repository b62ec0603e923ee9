import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What every model provider takes. */
const longestName = 64;

/**
 * The names under which tools of servers are offered: their own, or `<server>_<tool>` when that one is taken. A name that was
 * given once stays with its tool for the life of the conversation, restarts included.
 */
export class ToolNames {
  readonly #path: string;
  readonly #names: Map<string, string>;

  /** `directory` exists; the names are stored in a file there. */
  constructor(directory: string) {
    this.#path = join(directory, "tool-names.json");
    this.#names = new Map(Object.entries(readNames(this.#path)));
  }

  /** Whether a tool has this name. */
  isGiven(name: string): boolean {
    return this.#names.values().some((given) => given === name);
  }

  nameOf(server: string, tool: string, isReserved: (name: string) => boolean): string {
    const key = JSON.stringify([server, tool]);
    const known = this.#names.get(key);
    if (known !== undefined && !isReserved(known)) return known;
    const taken = new Set(this.#names.values());
    const name = freeName(server, tool, (candidate) => taken.has(candidate) || isReserved(candidate));
    this.#names.set(key, name);
    writeFileSync(this.#path, JSON.stringify(Object.fromEntries(this.#names)), { mode: 0o600 });
    return name;
  }
}

function freeName(server: string, tool: string, isTaken: (name: string) => boolean): string {
  for (let number = 1; ; number++) {
    const suffix = number <= 2 ? "" : `_${number - 1}`;
    const name = toName(`${number === 1 ? "" : `${server}_`}${tool}${suffix}`);
    if (!isTaken(name)) return name;
  }
}

function toName(text: string): string {
  const plain = text.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  if (plain === text && text.length <= longestName) return text;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 8);
  return text.length > longestName ? `${plain.slice(0, longestName - 9)}_${digest}` : plain;
}

function readNames(path: string): Record<string, string> {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Record<string, string>;
  } catch {
    // The first session of a conversation has no file; one that a crash cut off is written again.
    return {};
  }
}
