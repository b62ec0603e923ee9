import { ranked } from "./completion.ts";

type Entry = { readonly name: string; readonly type: "directory" | "file" | "other" };

/** Lists a folder, given as a path relative to the conversation's folder. */
export type ListFolder = (path: string) => Promise<readonly Entry[]>;

/** Limits of one search: folders that are read, and levels below the start. */
const maxFolders = 40;
const deepest = 4;
const maxNames = 5_000;
const maxFound = 12;
/** Milliseconds that a folder listing is cached. */
const freshMs = 15_000;

/** Folders of generated or downloaded files: suggested, but not searched. */
const passedBy = new Set(["node_modules", "target", "dist", "build", "vendor", "__pycache__", "venv"]);

/**
 * Finds file names for a completion. The search is bounded: in a large tree it finds what is near the root, or near
 * the typed folder. Further keystrokes reuse the same listings, so nothing is aborted.
 */
export class FileFinder {
  readonly #list: ListFolder;
  readonly #now: () => number;
  readonly #cache = new Map<string, { readonly at: number; readonly paths: Promise<readonly string[]> }>();

  constructor(list: ListFolder, now: () => number) {
    this.#list = list;
    this.#now = now;
  }

  /** Paths relative to the conversation's folder; those of folders end with a slash. */
  async find(query: string): Promise<readonly string[]> {
    const base = query.slice(0, query.lastIndexOf("/") + 1);
    if (query.startsWith("/") || base.split("/").includes("..")) return [];
    const rest = query.slice(base.length);
    const paths = await this.#below(base, rest !== "");
    return ranked(paths, rest, (path) => path.slice(base.length), maxFound);
  }

  #below(base: string, isDeep: boolean): Promise<readonly string[]> {
    const key = `${isDeep ? "deep" : "near"} ${base}`;
    const cached = this.#cache.get(key);
    if (cached !== undefined && this.#now() - cached.at < freshMs) return cached.paths;
    const paths = isDeep ? this.#walk(base) : this.#names(base);
    this.#cache.set(key, { at: this.#now(), paths });
    // Not cached after an error.
    paths.catch(() => this.#cache.delete(key));
    return paths;
  }

  async #names(folder: string): Promise<readonly string[]> {
    const entries = await this.#list(folder.replace(/\/$/u, ""));
    return entries.flatMap(({ name, type }) =>
      type === "other" || /\s/u.test(name) ? [] : [`${folder}${name}${type === "directory" ? "/" : ""}`],
    );
  }

  /** Breadth first, so that near files come first. */
  async #walk(base: string): Promise<readonly string[]> {
    const found: string[] = [];
    let searched = 0;
    let level = [base];
    for (let depth = 0; depth < deepest && level.length > 0 && found.length < maxNames; depth += 1) {
      const now = level.slice(0, maxFolders - searched);
      searched += now.length;
      const names = (await Promise.all(now.map((folder) => this.#namesIfThere(folder, base)))).flat();
      found.push(...names);
      level = names.filter(isSearched);
    }
    return found.slice(0, maxNames);
  }

  /** An unreadable subfolder is skipped; an unreadable root is an error. */
  async #namesIfThere(folder: string, base: string): Promise<readonly string[]> {
    try {
      return await this.#names(folder);
    } catch (error) {
      if (folder === base) throw error;
      return [];
    }
  }
}

function isSearched(path: string): boolean {
  if (!path.endsWith("/")) return false;
  const name = path.slice(path.lastIndexOf("/", path.length - 2) + 1, -1);
  return !name.startsWith(".") && !passedBy.has(name);
}
