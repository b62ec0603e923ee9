import type { ProcessEntry } from "./system-table.ts";

/** A process as `ps` lists it. */
export type ListedProcess = ProcessEntry & {
  /** The arguments with spaces between, and behind them the environment where that was asked for. */
  readonly words: string;
};

/** The columns that {@link parsePs} reads; the last one may hold anything. */
export const psColumns = "pid=,ppid=,pgid=,tpgid=,stat=,tty=,lstart=,args=";

type Row = Omit<ListedProcess, "sessionId"> & { readonly isLeader: boolean; readonly terminal: string };

const rowForm =
  /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(-?\d+)\s+(\S+)\s+(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})\s?(.*)$/u;

/** The output of `ps -o` with {@link psColumns}, in the C locale and in UTC. */
export function parsePs(output: string): ListedProcess[] {
  const rows = output.split("\n").flatMap((line) => parseRow(line) ?? []);
  const byPid = new Map(rows.map((row) => [row.pid, row]));
  const leaderOfTerminal = new Map(
    rows.flatMap(({ pid, isLeader, terminal }) => (isLeader && terminal !== "" ? [[terminal, pid]] : [])),
  );
  return rows.map((row) => ({
    pid: row.pid,
    parentPid: row.parentPid,
    groupId: row.groupId,
    sessionId: leaderAbove(row.pid, byPid) ?? leaderOfTerminal.get(row.terminal) ?? row.groupId,
    foregroundGroupId: row.foregroundGroupId,
    state: row.state,
    startTicks: row.startTicks,
    words: row.words,
  }));
}

function parseRow(line: string): Row | null {
  const [, pid, parentPid, groupId, foreground, state = "", terminal = "", start = "", words = ""] =
    rowForm.exec(line) ?? [];
  const startMs = Date.parse(`${start} UTC`);
  if (pid === undefined || Number.isNaN(startMs)) return null;
  const hasTerminal = !/^(?:\?+|-)$/u.test(terminal);
  return {
    pid: Number(pid),
    parentPid: Number(parentPid),
    groupId: Number(groupId),
    foregroundGroupId: hasTerminal ? Number(foreground) : -1,
    state: state[0]!,
    startTicks: startMs / 10,
    words,
    isLeader: state.slice(1).includes("s"),
    terminal: hasTerminal ? terminal : "",
  };
}

/** Not every `ps` reports the id of a session, but all of them mark the processes that lead one. */
function leaderAbove(pid: number, byPid: ReadonlyMap<number, Row>): number | null {
  const seen = new Set<number>();
  for (let row = byPid.get(pid); row !== undefined && !seen.has(row.pid); row = byPid.get(row.parentPid)) {
    if (row.isLeader) return row.pid;
    seen.add(row.pid);
  }
  return null;
}
