import { lstatSync, readlinkSync } from "node:fs";
import { egressEnvironment } from "../egress/egress-environment.ts";
import { gitVariables } from "../egress/git-credentials.ts";
import { insideEgress, type InsideTrust } from "../egress/inside-egress.ts";
import { insidePath, orderedEnvironment, programBinds, type ToolHostProgram } from "./tool-host-program.ts";
import type { Account } from "./sandbox-directory.ts";
import type { SandboxSpec } from "./sandbox.ts";

/** Where things are inside. */
export const inside = {
  workspace: "/workspace",
  home: "/home/agent",
  run: "/run/convoke",
  state: "/var/lib/convoke",
} as const;

/** A path of this machine that shows inside. */
export type Bind = { readonly source: string; readonly target: string; readonly isWritable: boolean };

/** What the sandbox shares with this machine beside the system's directories. */
export function sandboxBinds(
  dirs: {
    readonly workspace: string;
    readonly run: string;
    readonly state: string;
    readonly home: string;
    /** Of the server's socket; null without a way out. */
    readonly egress: string | null;
  },
  program: ToolHostProgram,
): Bind[] {
  return [
    ...programBinds(program).map((bind) => ({ ...bind, isWritable: false })),
    { source: dirs.home, target: inside.home, isWritable: true },
    { source: dirs.run, target: inside.run, isWritable: true },
    { source: dirs.state, target: inside.state, isWritable: true },
    { source: dirs.workspace, target: inside.workspace, isWritable: true },
    ...(dirs.egress === null
      ? []
      : [{ source: dirs.egress, target: insideEgress.folder, isWritable: false }]),
  ];
}

/** The variables of the order, and those with which programs use the way out; null without one. */
export function sandboxEnvironment(spec: SandboxSpec, trust: InsideTrust | null): Record<string, string> {
  const forEgress =
    trust === null ? {} : egressEnvironment({ ...insideEgress, publicKeyDigest: trust.publicKeyDigest });
  const forGit = trust === null ? {} : gitVariables(insideEgress.folder);
  return orderedEnvironment({ ...forGit, ...spec.environment, ...forEgress });
}

/** New namespaces of every kind but the network's, no way to make more, no capabilities, no terminal of ours. */
export const isolation = [
  "--unshare-user",
  "--unshare-ipc",
  "--unshare-pid",
  "--unshare-uts",
  "--unshare-cgroup-try",
  "--disable-userns",
  "--new-session",
  "--cap-drop",
  "ALL",
] as const;

/**
 * A new /proc in which nothing of the kernel is writable. Started by root, bubblewrap 0.8 leaves /proc/sys writable: the
 * process has no capability, but for file permissions it still is the machine's root, and `kernel.core_pattern` runs any
 * program. /proc/pressure is writable for everybody; a write makes the kernel work.
 */
export const newProc =
  "--proc /proc --ro-bind /proc/sys /proc/sys --ro-bind-try /proc/pressure /proc/pressure".split(" ");

/** The whole argument list of bubblewrap except descriptors and the command. `binds` say where each source can be read. */
export function bubblewrapArguments(
  spec: SandboxSpec,
  options: {
    readonly account: Account;
    readonly trust: InsideTrust | null;
    readonly binds: readonly Bind[];
    /** The server's; only language and time zone mean anything inside. */
    readonly environment: Readonly<Record<string, string | undefined>>;
  },
): string[] {
  const temporaryBytes = String((spec.limits.diskMb ?? 1024) * 1024 * 1024);
  const environment = {
    ...localeOf(options.environment),
    ...sandboxEnvironment(spec, options.trust),
    ...insideEnvironment,
  };
  return [
    isolation,
    // The only way out is the socket of the server's proxy.
    "--unshare-net",
    ["--uid", String(options.account.uid), "--gid", String(options.account.gid)],
    ["--hostname", `sandbox-${spec.id}`.slice(0, 63), "--clearenv"],
    ...Object.entries(environment).map(([name, value]) => ["--setenv", name, value]),
    systemArguments(),
    [...newProc, "--dev", "/dev"],
    ["--size", temporaryBytes, "--perms", "1777", "--tmpfs", "/tmp"],
    ["--size", temporaryBytes, "--perms", "1777", "--tmpfs", "/dev/shm"],
    ["--size", temporaryBytes, "--perms", "1777", "--tmpfs", "/var/tmp"],
    ...options.binds.map(({ source, target, isWritable }) => [
      isWritable ? "--bind" : "--ro-bind",
      source,
      target,
    ]),
    ["--chdir", inside.workspace],
  ].flat();
}

/** Programs and libraries of this machine, read-only, and of `/etc` only what programs cannot do without. */
export function systemArguments(): string[] {
  const directories = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
  return [
    "--ro-bind",
    "/usr",
    "/usr",
    ...directories.flatMap((path) => {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat === undefined) return [];
      return stat.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
    }),
    ...sharedSettings.flatMap((path) => ["--ro-bind-try", path, path]),
  ];
}

const sharedSettings = [
  "/etc/alternatives",
  "/etc/ca-certificates",
  "/etc/ca-certificates.conf",
  "/etc/crypto-policies",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
  "/etc/pki/tls/certs",
  "/etc/pki/ca-trust/extracted",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/timezone",
  "/etc/mime.types",
  "/etc/protocols",
  "/etc/services",
  "/etc/terminfo",
  "/etc/fonts",
  "/etc/java",
];

/** Language and time zone: the only variables of the server that mean the same inside. */
export function localeOf(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const locale: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && /^(LANG|LANGUAGE|LC_[A-Z]+|TZ)$/.test(name)) locale[name] = value;
  }
  return locale;
}

const insideEnvironment = {
  HOME: inside.home,
  USER: "agent",
  LOGNAME: "agent",
  SHELL: "/bin/bash",
  PATH: insidePath,
  TMPDIR: "/tmp",
  XDG_CACHE_HOME: `${inside.home}/.cache`,
  XDG_CONFIG_HOME: `${inside.home}/.config`,
  XDG_DATA_HOME: `${inside.home}/.local/share`,
};

/** Small files made for the sandbox instead of this machine's own. */
export function settingsFiles({ uid, gid }: Account, spec: SandboxSpec): Record<string, string> {
  return {
    "/etc/passwd": `agent:x:${uid}:${gid}::${inside.home}:/bin/bash\n`,
    "/etc/group": `agent:x:${gid}:\n`,
    "/etc/hosts": `127.0.0.1 localhost sandbox-${spec.id}\n::1 localhost\n`,
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
  };
}
