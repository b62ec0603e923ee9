import type { Bind } from "./bubblewrap-arguments.ts";
import type { Account } from "./sandbox-directory.ts";
import { systemCallFilter } from "./seccomp.ts";
import { stagedCommand, stagedPath, type StagedCommand } from "./staged-command.ts";
import { memoryLimitKiB } from "./tool-host-program.ts";

/** What to start in bubblewrap, and what it sees. */
export type BubblewrapOrder = {
  /** The account to become; null keeps that of this process. Only root can become another one. */
  readonly account: Account | null;
  readonly binds: readonly Bind[];
  /** All arguments except descriptors and the command. The given binds have the paths at which bubblewrap can read them. */
  readonly toArguments: (binds: readonly Bind[]) => readonly string[];
  /** Content of files by their path inside. */
  readonly files: Readonly<Record<string, string | Buffer>>;
  /** Arguments that everybody on this machine may read in the process table. */
  readonly visible: readonly string[];
  readonly limits: { readonly pids: number; readonly memoryMb: number };
  readonly command: readonly string[];
};

export type BubblewrapCommand = StagedCommand & {
  /** From descriptor 3 on: open ones by number, or what can be read there. */
  readonly descriptors: readonly (number | string | Buffer)[];
};

/** The command line of bubblewrap. It writes its status, with the id of the first process inside, to `statusFile`. */
export function bubblewrapCommand(order: BubblewrapOrder, statusFile: number): BubblewrapCommand {
  const { account, binds, files: given, visible, limits, command } = order;
  const files = Object.entries(given);
  const filter = systemCallFilter(process.arch);
  const readable =
    account === null ? binds : binds.map((bind, index) => ({ ...bind, source: stagedPath(index) }));
  const args = [
    ...order.toArguments(readable),
    ...files.flatMap(([path], index) => ["--ro-bind-data", String(descriptors.files + index), path]),
    "--remount-ro",
    "/",
    ...(filter === null ? [] : ["--seccomp", String(descriptors.filter)]),
  ];
  const [file = "", ...rest] = [
    ["bwrap", ...visible],
    ["--json-status-fd", String(descriptors.status), "--args", String(descriptors.args), "--"],
    ["/bin/bash", "-c", limitScript, "convoke-sandbox", String(limits.pids), memoryLimitKiB(limits.memoryMb)],
    command,
  ].flat();
  const sources = binds.map(({ source }) => source);
  return {
    ...(account === null ? { file, args: rest } : stagedCommand(account, sources, [file, ...rest])),
    descriptors: [
      args.map((argument) => `${argument}\0`).join(""),
      statusFile,
      filter ?? "",
      ...files.map(([, content]) => content),
    ],
  };
}

const descriptors = { args: 3, status: 4, filter: 5, files: 6 };

/** Processes and threads of this sandbox, memory per process (KiB of private writable memory), no core files. */
const limitScript = `ulimit -c 0; ulimit -u "$1" && ulimit -d "$2" || exit 1; shift 2; exec "$@"`;
