import { readFileSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { isAbsolute, relative } from "node:path";
import { guardianVariable } from "./guardian.ts";
import { listProcesses, readEnvironment, readProgram } from "./process-table.ts";

/** A port that a program of a workspace listens on. */
export type ListeningPort = {
  readonly port: number;
  /** Address on this machine to reach it. */
  readonly host: "127.0.0.1" | "::1";
  /** Name of the executable, e.g. `node`. */
  readonly program: string;
};

/**
 * Ports of programs that a host with this environment has started and that work in `folder`, sorted. Excludes ports on other
 * than local addresses, and this process. Empty without a process table.
 */
export function listListeningPorts(
  folder: string,
  environment: Readonly<Record<string, string>>,
): ListeningPort[] {
  const root = realFolder(folder);
  if (root === null) return [];
  const marker = environment[guardianVariable];
  const isOurs = (pid: number): boolean =>
    pid !== process.pid &&
    isWithin(root, `/proc/${pid}/cwd`) &&
    (marker === undefined || readEnvironment(pid, guardianVariable) === marker);
  const programs = new Map<string, string>();
  for (const { pid } of listProcesses().filter((entry) => isOurs(entry.pid)))
    for (const socket of socketsOf(pid)) programs.set(socket, readProgram(pid)?.split("/").at(-1) ?? "");
  if (programs.size === 0) return [];
  const found = new Map<number, ListeningPort>();
  for (const { port, host, socket } of [...listeners("tcp6"), ...listeners("tcp")]) {
    const program = programs.get(socket);
    if (program !== undefined) found.set(port, { port, host, program });
  }
  return [...found.values()].toSorted((left, right) => left.port - right.port);
}

/** Null when the folder does not exist. */
function realFolder(folder: string): string | null {
  try {
    return realpathSync(folder);
  } catch {
    // Gone or owned by another user: it does not count as working in the folder.
    return null;
  }
}

function isWithin(folder: string, link: string): boolean {
  try {
    const path = relative(folder, readlinkSync(link));
    return path === "" || (!isAbsolute(path) && path !== ".." && !path.startsWith("../"));
  } catch {
    // It exited, or is owned by another user.
    return false;
  }
}

/** Inodes of a process's open sockets. */
function socketsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      const inode = /^socket:\[(\d+)\]$/.exec(readLink(`/proc/${pid}/fd/${name}`))?.[1];
      return inode === undefined ? [] : [inode];
    });
  } catch {
    // It exited, or is owned by another user.
    return [];
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // Closed meanwhile.
    return "";
  }
}

type Listener = { readonly port: number; readonly host: ListeningPort["host"]; readonly socket: string };

/** The kernel writes addresses as hexadecimal numbers, four bytes at a time in host byte order. */
const hosts: Readonly<Record<string, ListeningPort["host"]>> = {
  "00000000": "127.0.0.1",
  "0100007F": "127.0.0.1",
  // Both families, unless it was asked for one alone; a program that has only this one is reached by it in any case.
  "00000000000000000000000000000000": "::1",
  "00000000000000000000000001000000": "::1",
  "0000000000000000FFFF00000100007F": "127.0.0.1",
};

const listening = "0A";

function listeners(table: "tcp" | "tcp6"): Listener[] {
  return readTable(table).flatMap((line) => {
    const [, local = "", , state, , , , , , socket = ""] = line.trim().split(/\s+/);
    const [address = "", port = ""] = local.split(":");
    const host = hosts[address];
    return state !== listening || host === undefined
      ? []
      : [{ port: Number.parseInt(port, 16), host, socket }];
  });
}

function readTable(name: string): string[] {
  try {
    return readFileSync(`/proc/net/${name}`, "latin1").split("\n").slice(1);
  } catch {
    // Not Linux, or no such address family.
    return [];
  }
}
