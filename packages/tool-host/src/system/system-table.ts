/** One row of the kernel's process table. */
export type ProcessEntry = {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  readonly sessionId: number;
  /** Process group in the foreground of the controlling terminal; -1 without a terminal. */
  readonly foregroundGroupId: number;
  /** Kernel state letter: `R`, `S`, `D`, `T` (stopped), `Z` (zombie) ... */
  readonly state: string;
  /** Hundredths of a second since a moment that stays the same until the machine starts again. */
  readonly startTicks: number;
};

/** A program that listens on a port of this machine. */
export type Listener = { readonly pid: number; readonly port: number; readonly host: "127.0.0.1" | "::1" };

/**
 * What the system reports about its processes. Linux has it below `/proc`; elsewhere programs report it, later and less of it. What a system
 * does not report is `undefined`, empty or null, and never "has ended".
 */
export type SystemTable = {
  /** How it is read: `proc` costs microseconds, `ps` starts a program. */
  readonly kind: "proc" | "ps";
  /** Whether there is a table; without one only process groups can be ended. */
  readonly isThere: () => boolean;
  /** The row of one process; undefined when it is gone. */
  readonly readProcess: (pid: number) => ProcessEntry | undefined;
  readonly listProcesses: () => ProcessEntry[];
  /** Live processes whose initial environment contains `assignment` (`NAME=value`). */
  readonly findMarkedProcesses: (assignment: string) => ProcessEntry[];
  /** Live processes that were started with the environment variable `name`, by its value. */
  readonly groupByEnvironment: (name: string) => Map<string, ProcessEntry[]>;
  /** An environment variable that a process was started with; undefined when unset or not readable. */
  readonly readEnvironment: (pid: number, name: string) => string | undefined;
  /** The arguments of a process, each ended by NUL; undefined when it is gone. */
  readonly readCommandLine: (pid: number) => string | undefined;
  /** Absolute path of the executable of a process, also for scripts; undefined when it is gone or not readable. */
  readonly readProgram: (pid: number) => string | undefined;
  /** True when a process is known to ignore this signal. */
  readonly ignoresSignal: (pid: number, signal: NodeJS.Signals) => boolean;
  /** The time now, comparable with {@link ProcessEntry.startTicks}. */
  readonly ticksNow: () => number;
  /** Working directories of those of `pids` where they are known. */
  readonly workingFolders: (pids: readonly number[]) => ReadonlyMap<number, string>;
  /** What `pids` listen on, on local addresses; of two families of one port the later entry is the one to use. */
  readonly listenersOf: (pids: readonly number[]) => readonly Listener[];
  /** Different after every start of the machine; "" where it is unknown. */
  readonly bootId: () => string;
  /** Names the process table that ids belong to; "0" where it is unknown. */
  readonly processNamespace: () => string;
  /** How many files this process may have open; null where it is unknown or without a limit. */
  readonly openFileLimit: () => number | null;
  /** When memory is used up, the kernel ends this process and what it starts from now on, and not the one that started it. */
  readonly makeExpendable: (pid: number) => void;
};
