/** What all processes of one group may use together. */
export type GroupLimits = {
  readonly memoryMb: number;
  /** Processes and threads. */
  readonly pids: number;
  /** Processors, may be a fraction; null: all of them. */
  readonly cpus: number | null;
};

export type GroupCommand = { readonly file: string; readonly args: readonly string[] };

/** Limits of what is started together: of all its processes, not of each by itself. */
export interface ControlGroups {
  /** `per-process`: there are no groups here, and what is started has the limits that each process has by itself. */
  readonly kind: "group" | "per-process";
  /** For people, one sentence without its stop: which groups are used, or why there are none. */
  readonly detail: string;
  /** Makes a group; one of this name is used again. `name`: letters, digits and `-`. */
  open(name: string, limits: GroupLimits): Promise<ControlGroup>;
  /** Ends what is left in the group of this name and removes it. Does nothing when there is none. */
  remove(name: string): Promise<void>;
}

export interface ControlGroup {
  /** The same command, which is in the group before it does anything. Its process id is that of what is started. */
  readonly wrap: (command: GroupCommand) => GroupCommand;
  /** What the wrapped command needs in its environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** How many processes the kernel has ended because the group was out of memory; 0 once the group is gone. */
  countMemoryEnds(): Promise<number>;
}

/** Without groups. */
export function noControlGroups(reason: string): ControlGroups {
  return {
    kind: "per-process",
    detail: reason,
    open: async () => noControlGroup,
    remove: async () => {},
  };
}

const noControlGroup: ControlGroup = {
  wrap: (command) => command,
  environment: {},
  countMemoryEnds: async () => 0,
};
