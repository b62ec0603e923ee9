import { accessSync, constants, statfsSync } from "node:fs";
import { basename, dirname } from "node:path";
import { DatabaseUnavailableError } from "./database-unavailable.ts";
import { Fault } from "./fault.ts";

/** What is wrong with a storage location. */
type Problem =
  | "full"
  | "read-only"
  | "refused"
  | "failing"
  | "unopened"
  | "busy"
  | "damaged"
  | "no-handles"
  | "unavailable";

/**
 * The Fault for a failure of a disk, a file or a database; null for every other error. The sentence names the file, if
 * known, and the remedy. Causes of the error are checked too.
 */
export function storageFault(error: unknown): Fault | null {
  const found = findProblem(error);
  if (found === null) return null;
  const file = found.file === null ? "a file of the data folder" : basename(found.file);
  return toFault(found.problem, file);
}

/** The same as a sentence for the person who starts the server, with the whole path; null for every other error. */
export function describeStorageFault(error: unknown): string | null {
  const found = findProblem(error);
  if (found === null) return null;
  return toFault(found.problem, found.file ?? "A file of the data folder").message;
}

/** True when a retry does not help: the stored data is damaged. */
export function isDamage(error: unknown): boolean {
  return findProblem(error)?.problem === "damaged";
}

/** The error itself, which from now on says what file it is about: SQLite's own errors do not. */
export function inFile(error: unknown, file: string): unknown {
  const isOfDatabase = error instanceof Error && ("errcode" in error || isForeignNumber(error));
  if (isOfDatabase && !("path" in error)) Object.assign(error, { path: file });
  return error;
}

/** A whole number of a database that is larger than any that was ever stored: its row is damaged. */
export function isForeignNumber(error: Error): boolean {
  return "code" in error && error.code === "ERR_OUT_OF_RANGE" && error.message.includes("JavaScript number");
}

function toFault(problem: Problem, file: string): Fault {
  const sentence = sentences[problem](capital(file));
  if (problem === "damaged") return new Fault("not-now", "storage_damaged", sentence);
  if (problem === "unavailable") return new Fault("not-now", "database_away", sentence);
  if (problem === "no-handles") return new Fault("not-now", "too_many_open_files", sentence);
  return new Fault("not-now", "storage_failed", sentence);
}

const again = "Nothing was stored; try again after that.";

const sentences: Readonly<Record<Problem, (file: string) => string>> = {
  full: (file) => `${file} cannot be written: the disk is full. Free some space. ${again}`,
  "read-only": (file) =>
    `${file} cannot be written: the disk is read-only. Make it writable, or find out why the system made it read-only. ${again}`,
  refused: (file) =>
    `${file} cannot be opened: this user is not permitted to. Fix the owner and the mode of the file and its folder. ${again}`,
  failing: (file) =>
    `${file} cannot be read or written: the disk failed. Check the disk and the system's log. ${again}`,
  unopened: (file) =>
    `${file} cannot be opened. Check that its folder exists, its disk is mounted and has room, and this user may write there. ${again}`,
  busy: (file) => `${file} is locked by another process for too long. End that process, or wait. ${again}`,
  damaged: (file) =>
    `${file} is damaged. Run "convoke doctor --check-data", which says what is, and restore the data folder from a backup.`,
  unavailable: () =>
    "The database does not answer at the moment. The request may have been carried out; try again in a moment.",
  "no-handles": (file) =>
    `${file} cannot be opened: the process has no file handles left. Wait for work to end, or raise the limit (ulimit -n). ${again}`,
};

type Found = { readonly problem: Problem; readonly file: string | null };

function findProblem(error: unknown): Found | null {
  // Bounded: an error may be its own cause.
  const waiting: unknown[] = [error];
  for (let depth = 0; depth < 16 && waiting.length > 0; depth += 1) {
    const at = waiting.shift();
    if (!(at instanceof Error)) continue;
    const problem = problemOf(at);
    if (problem !== null) return toFound(problem, "path" in at ? String(at.path) : null);
    waiting.push(...behind(at));
  }
  return null;
}

/** SQLite often says no more than that something failed, where the disk is full (of a file system in memory) or reads only. */
function toFound(problem: Problem, file: string | null): Found {
  if (problem !== "failing" || file === null) return { problem, file };
  try {
    const folder = dirname(file);
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize < leastFreeBytes) return { problem: "full", file };
    accessSync(folder, constants.W_OK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EROFS") return { problem: "read-only", file };
    // A disk that does not even say this has failed.
  }
  return { problem, file };
}

/** The files beside a database grow by less. */
const leastFreeBytes = 64 * 1024;

/** The first failure is reported: closing after it may have failed too. */
function behind(error: Error): unknown[] {
  if (error instanceof SuppressedError) return [error.suppressed, error.error];
  if (error instanceof AggregateError) return [error.cause, ...error.errors.slice(0, 4)];
  return [error.cause];
}

function problemOf(error: Error): Problem | null {
  if (error instanceof DatabaseUnavailableError) return "unavailable";
  // SQLite has no code of its own for an index of texts that it cannot read.
  if ("errcode" in error && /^(?:vtable constructor failed|invalid fts5)/u.test(error.message))
    return "damaged";
  if ("errcode" in error && error.errcode !== undefined) return problemOfDatabase(Number(error.errcode));
  if (isForeignNumber(error)) return "damaged";
  const code = "code" in error ? String(error.code) : "";
  // Node's message when a module's package.json cannot be read.
  if (error.message.endsWith("too many open files.")) return "no-handles";
  const syscall = "syscall" in error ? String(error.syscall) : "";
  // Refusals of programs, addresses or other processes are no storage failures.
  if (/^(?:spawn|listen|bind|connect|kill|getaddrinfo)/.test(syscall) && code !== "EMFILE") return null;
  return systemProblems[code] ?? null;
}

const systemProblems: Readonly<Record<string, Problem>> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EROFS: "read-only",
  EACCES: "refused",
  EPERM: "refused",
  EIO: "failing",
  ENXIO: "failing",
  ENODEV: "failing",
  ESTALE: "failing",
  EUCLEAN: "failing",
  EMFILE: "no-handles",
  ENFILE: "no-handles",
};

/** By SQLite's primary result code, except where only the extended one tells: https://www.sqlite.org/rescode.html */
function problemOfDatabase(errcode: number): Problem | null {
  if (errcode === shortRead || errcode === corruptFileSystem || errcode === wrongChecksum) return "damaged";
  return databaseProblems[errcode & 0xff] ?? null;
}

const shortRead = 522;
const wrongChecksum = 8202;
const corruptFileSystem = 8458;

const databaseProblems: Readonly<Record<number, Problem>> = {
  3: "refused",
  5: "busy",
  6: "busy",
  8: "read-only",
  10: "failing",
  11: "damaged",
  13: "full",
  14: "unopened",
  26: "damaged",
};

function capital(text: string): string {
  return text.startsWith("a file") ? `A${text.slice(1)}` : text;
}
