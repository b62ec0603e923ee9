import {
  isolation,
  localeOf,
  newProc,
  systemArguments,
  type Bind,
} from "../sandboxes/bubblewrap-arguments.ts";
import type { ProgramPlace } from "../sandboxes/tool-host-program.ts";
import { isBelow } from "./refused-folder.ts";
import type { CopiesInside } from "./wall.ts";
import type { WallAccount } from "./wall-account.ts";
import { insideEgress } from "../egress/inside-egress.ts";

/** Where things of ours are inside; all other paths are as outside. */
export const insideWall = {
  /** Sockets of the tool host and of the ports. */
  run: "/run/convoke",
  /** The program of the tool host, read-only. */
  program: {
    node: "/run/convoke-program/bin/node",
    root: "/run/convoke-program/files",
  } satisfies ProgramPlace,
} as const;

/** One mount, in order: later ones cover earlier ones. */
export type Mount =
  | ({ readonly kind: "bind" } & Bind)
  /** An empty folder in memory, for a few entries. */
  | { readonly kind: "empty"; readonly target: string }
  | { readonly kind: "link"; readonly source: string; readonly target: string };

export type MountPlan = {
  /** Absolute and resolved. */
  readonly folder: string;
  /** The same folder as the conversation names it, which may lead through links. */
  readonly namedFolder: string;
  /** Absolute and resolved; shown beside it. */
  readonly extraFolders: readonly { readonly path: string; readonly isWritable: boolean }[];
  readonly home: string;
  readonly dataDir: string;
  readonly dirs: {
    readonly run: string;
    readonly state: string;
    readonly home: string;
    readonly egress: string | null;
  };
  readonly program: readonly Bind[];
  /** Where the program's files are outside, so that they stay as they are when they are in the working folder. */
  readonly toolchains: readonly string[];
  readonly guards: readonly Bind[];
  readonly copies: CopiesInside | undefined;
};

/** What shows inside beside the system. */
export function planMounts(plan: MountPlan): Mount[] {
  const { folder, namedFolder, extraFolders, dataDir, dirs, program, toolchains, guards, copies } = plan;
  const bind = (source: string, target: string, isWritable: boolean): Mount => ({
    kind: "bind",
    source,
    target,
    isWritable,
  });
  // A folder around another one comes before it.
  const folders = [...extraFolders, { path: folder, isWritable: true }].toSorted(
    (one, other) => one.path.length - other.path.length,
  );
  const ownFiles = program.filter(({ source }) => folders.some(({ path }) => isBelow(source, path)));
  return [
    bind(dirs.home, plan.home, true),
    ...toolchains.map((path) => bind(path, path, false)),
    bind(dirs.run, insideWall.run, true),
    ...(dirs.egress === null ? [] : [bind(dirs.egress, insideEgress.folder, false)]),
    ...program.map((part): Mount => ({ kind: "bind", ...part })),
    ...folders.map(({ path, isWritable }) => bind(path, path, isWritable)),
    ...(namedFolder === folder
      ? []
      : [{ kind: "link", source: folder, target: namedFolder } satisfies Mount]),
    ...(folders.some(({ path }) => isBelow(dataDir, path))
      ? [{ kind: "empty", target: dataDir } satisfies Mount]
      : []),
    bind(dirs.state, dirs.state, true),
    ...(copies?.targets ?? []).map((target) => bind(copies!.folder, target, false)),
    ...guards.map((guard): Mount => ({ kind: "bind", ...guard })),
    ...ownFiles.map(({ source }) => bind(source, source, false)),
  ];
}

export type WallView = {
  readonly account: WallAccount;
  readonly name: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
};

/** Of the inside. */
export const hostName = "convoke-wall";

const megabyte = 1024 * 1024;
/** Limits of folders in memory, in bytes. */
const temporaryBytes = String(4_096 * megabyte);
const sharedMemoryBytes = String(1_024 * megabyte);
const emptyBytes = "4096";

/** Settings of the system, beside those of sandboxes, that tools of people's own machines expect. */
const moreSettings = [
  "/etc/os-release",
  "/etc/debian_version",
  "/etc/bash.bashrc",
  "/etc/inputrc",
  "/etc/profile",
  "/etc/gitattributes",
  "/etc/magic",
  "/etc/chromium",
  "/etc/chromium.d",
];

/** All arguments of bubblewrap except descriptors and the command. `binds` are those of `mounts`, with readable sources. */
export function wallArguments(
  { account, name, environment, folder }: WallView,
  mounts: readonly Mount[],
  binds: readonly Bind[],
): string[] {
  const readable = binds.values();
  return [
    isolation,
    "--die-with-parent",
    // The only way out is the socket of the server's proxy.
    "--unshare-net",
    ["--uid", String(account.shown.uid), "--gid", String(account.shown.gid)],
    ["--hostname", name, "--clearenv"],
    ...Object.entries(environment).map(([variable, value]) => ["--setenv", variable, value]),
    systemArguments(),
    ...["/opt", "/nix"].map((path) => ["--ro-bind-try", path, path]),
    ...moreSettings.map((path) => ["--ro-bind-try", path, path]),
    [...newProc, "--dev", "/dev"],
    ["--size", temporaryBytes, "--perms", "1777", "--tmpfs", "/tmp"],
    ["--size", sharedMemoryBytes, "--perms", "1777", "--tmpfs", "/dev/shm"],
    ["--size", temporaryBytes, "--perms", "1777", "--tmpfs", "/var/tmp"],
    ...mounts.map((mount) => {
      if (mount.kind === "link") return ["--symlink", mount.source, mount.target];
      if (mount.kind === "empty") return ["--size", emptyBytes, "--perms", "0755", "--tmpfs", mount.target];
      const { source = "", target = "", isWritable = false } = readable.next().value ?? {};
      return [isWritable ? "--bind" : "--ro-bind", source, target];
    }),
    ["--chdir", folder],
  ].flat();
}

/** Small files of the system that are made for the wall. */
export function accountFiles({ shown, name, home }: WallAccount, host: string): Record<string, string> {
  return {
    "/etc/passwd": `${name}:x:${shown.uid}:${shown.gid}::${home}:/bin/bash\n`,
    "/etc/group": `${name}:x:${shown.gid}:\n`,
    "/etc/hosts": `127.0.0.1 localhost ${host}\n::1 localhost\n`,
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
  };
}

/** What programs inside start with. */
export function wallEnvironment(
  { name, home }: WallAccount,
  path: string,
  server: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return {
    ...localeOf(server),
    HOME: home,
    USER: name,
    LOGNAME: name,
    SHELL: "/bin/bash",
    PATH: path,
    TMPDIR: "/tmp",
    ...(server["TERM"] === undefined ? {} : { TERM: server["TERM"] }),
  };
}
