import { dirname, join, relative } from "node:path";
import { SandboxError } from "./sandbox.ts";

/** The program that sandboxes run: `node entry tool-host ...`, and what it needs to read. */
export type ToolHostProgram = {
  /** Absolute path of the Node executable. */
  readonly node: string;
  /** Absolute directory that the program lies in. */
  readonly root: string;
  /** Script, relative to `root`. */
  readonly entry: string;
  /** Files and directories of `root` that the program reads, relative to it; `["."]` for all. */
  readonly parts: readonly string[];
};

/** Where sandboxes with a file system of their own find the program. */
export const programPlace = { node: "/opt/convoke/bin/node", root: "/opt/convoke/program" } as const;

export type ServeOrder = {
  readonly socket: string;
  readonly keyFile: string;
  readonly stateDir: string;
  /** Socket of the server's proxy, which the tool host leads to; none without a network of this kind. */
  readonly egress?: string | undefined;
  /** It ends when its standard input closes. */
  readonly endsWithInput?: boolean;
};

/** Node's own arguments: a signal from a process of the tool host's user, the agent's included, must not open a debugger in it. */
export const nodeArguments: readonly string[] = ["--disable-sigusr1"];

/** The arguments after the program's name. */
export function serveArguments(order: ServeOrder): string[] {
  const { socket, keyFile, stateDir, egress, endsWithInput = false } = order;
  const proxy = egress === undefined ? [] : ["--egress", egress];
  return [
    "tool-host",
    "--socket",
    socket,
    "--key-file",
    keyFile,
    "--state-dir",
    stateDir,
    ...proxy,
    ...(endsWithInput ? ["--exit-with-parent"] : []),
    "--json",
  ];
}

/** The command inside that serves the tools. `forwarder`: where the script is inside that makes its ports reachable. */
export function serveCommand(
  { entry }: ToolHostProgram,
  { node, root }: ProgramPlace,
  forwarder: string,
  order: ServeOrder,
): string[] {
  const imported = ["--import", `file://${forwarder}`];
  return [node, ...nodeArguments, ...imported, join(root, entry), ...serveArguments(order)];
}

/** Where the program is inside: the path of Node, and the folder of the program. */
export type ProgramPlace = { readonly node: string; readonly root: string };

/** What must be readable inside, as pairs of a path here and a path there. */
export function programBinds(
  program: ToolHostProgram,
  place: ProgramPlace = programPlace,
): { readonly source: string; readonly target: string }[] {
  return [
    { source: program.node, target: place.node },
    ...program.parts.map((part) => {
      const source = join(program.root, part);
      if (relative(program.root, source).startsWith("..")) {
        throw new SandboxError(`The program part ${part} lies outside of ${program.root}.`);
      }
      return { source, target: join(place.root, part) };
    }),
  ];
}

/** The folders of programs that every Linux has. */
export const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** `PATH` for commands inside, with the program's Node last: a Node of the machine or the workspace comes first. */
export const insidePath = `${systemPath}:${dirname(programPlace.node)}`;

/**
 * The limit of one process's private writable memory, in KiB: an idle Node process alone reserves 0.6 GiB of it for code that it
 * never writes, so that much and a reserve come on top of what was asked for.
 */
export function memoryLimitKiB(memoryMb: number): string {
  return String((memoryMb + 1_024) * 1_024);
}

/** What the tool host starts with of a spec: the variables, and the names of those that its own children may see. */
export function orderedEnvironment(environment: Readonly<Record<string, string>>): Record<string, string> {
  return { ...environment, CONVOKE_PASS_ENVIRONMENT: Object.keys(environment).join(",") };
}
