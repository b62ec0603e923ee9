import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Listener } from "./system-table.ts";

/** What `pids` listen on, by the kernel's tables of sockets: IPv6 first. */
export function listenersOf(pids: readonly number[]): readonly Listener[] {
  const owners = new Map(pids.flatMap((pid) => socketsOf(pid).map((inode) => [inode, pid] as const)));
  if (owners.size === 0) return [];
  return [...listening("tcp6"), ...listening("tcp")].flatMap(({ port, host, inode }) => {
    const pid = owners.get(inode);
    return pid === undefined ? [] : [{ pid, port, host }];
  });
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

type Socket = { readonly port: number; readonly host: Listener["host"]; readonly inode: string };

/** The kernel writes addresses as hexadecimal numbers, four bytes at a time in host byte order. */
const hosts: Readonly<Record<string, Listener["host"]>> = {
  "00000000": "127.0.0.1",
  "0100007F": "127.0.0.1",
  // Both families, unless it was asked for one alone; a program that has only this one is reached by it in any case.
  "00000000000000000000000000000000": "::1",
  "00000000000000000000000001000000": "::1",
  "0000000000000000FFFF00000100007F": "127.0.0.1",
};

const listenState = "0A";

function listening(table: "tcp" | "tcp6"): Socket[] {
  return readTable(table).flatMap((line) => {
    const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
    const [address = "", port = ""] = local.split(":");
    const host = hosts[address];
    return state !== listenState || host === undefined
      ? []
      : [{ port: Number.parseInt(port, 16), host, inode }];
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
