import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** What the attempts aim at; all of it really exists outside. */
export type EscapeTargets = {
  readonly dataDir: string;
  /** Private file of the server with `secret` in it. */
  readonly secretFile: string;
  readonly secret: string;
  /** Workspace of another sandbox, with a file `mine`. */
  readonly otherDir: string;
  readonly hostPid: number;
  readonly tcpPort: number;
  readonly unixSocket: string;
  readonly abstractSocket: string;
  /** Socket of the way out of another wall. */
  readonly otherEgress: string;
  /** Writable by everybody on this machine. */
  readonly openDir: string;
  /** A person's home with credentials that contain `secret`. */
  readonly home: string;
  /** Where the agent works, inside. */
  readonly workspace: string;
  /** Files of the tool host's program, inside. */
  readonly programFiles: readonly string[];
  /** What the inside has open below the data folder and may have: an extended regular expression. */
  readonly ownFiles: string;
};

/** Where things are in a sandbox. */
export const insideSandbox = {
  workspace: "/workspace",
  programFiles: ["/opt/convoke/program/package.json", "/opt/convoke/bin/node"],
  ownFiles: "/sandboxes/one/log$",
} as const;

/** Files of a home that hold credentials. */
export const credentialFiles = {
  ssh: ".ssh/id_ed25519",
  npm: ".npmrc",
  cargo: ".cargo/credentials.toml",
  gcloud: ".config/gcloud/credentials.db",
  aws: ".aws/credentials",
  kube: ".kube/config",
  firefox: ".mozilla/firefox/one/cookies.sqlite",
  chrome: ".config/google-chrome/Default/Cookies",
} as const;

/** Programs of a home: a wall shows them when their folders are in PATH. */
export const homePrograms = { toolchain: ".local/bin/tool", own: "tools/tool" } as const;

/** Fills a person's home, and the home beside it of somebody else. */
export async function fillHome(home: string, secret: string): Promise<void> {
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  };
  for (const path of Object.values(credentialFiles)) await write(join(home, path), `token = ${secret}\n`);
  for (const path of Object.values(homePrograms)) {
    await write(join(home, path), "#!/bin/sh\n");
    await chmod(join(home, path), 0o755);
  }
  await write(join(home, "../other/notes"), secret);
}

/** Opens what the attempts aim at, beside a data folder, until `scope` is disposed. */
export async function openEscapeTargets(
  { dataDir, secret, home }: Pick<EscapeTargets, "dataDir" | "secret" | "home">,
  scope: AsyncDisposableStack,
): Promise<Omit<EscapeTargets, "workspace" | "programFiles" | "ownFiles">> {
  const secretFile = join(dataDir, "master-key");
  await writeFile(secretFile, secret, { mode: 0o600 });
  const held = await open(secretFile);
  scope.defer(() => held.close());
  const otherDir = join(dataDir, "sandboxes", "other", "workspace");
  for (const folder of [otherDir, join(dataDir, "walls/other/home"), join(dataDir, "walls/run/other")])
    await mkdir(folder, { recursive: true });
  for (const folder of [otherDir, join(dataDir, "walls/other/home")])
    await writeFile(join(folder, "mine"), secret);
  const openDir = await mkdtemp(join(tmpdir(), "convoke-open-"));
  await chmod(openDir, 0o777);
  scope.defer(() => rm(openDir, { recursive: true, force: true }));
  const sleeper = spawn("sleep", ["600"], { stdio: "ignore" });
  scope.defer(() => void sleeper.kill("SIGKILL"));
  const listen = async (place: { port: number; host: string } | string): Promise<Server> => {
    const server = createServer((socket) => socket.destroy()).listen(place);
    scope.defer(() => void server.close());
    if (!server.listening) await once(server, "listening");
    return server;
  };
  const tcp = await listen({ port: 0, host: "0.0.0.0" });
  const unixSocket = join(openDir, "service.sock");
  const abstractSocket = `convoke-test-${process.pid}-${openDir.slice(-6)}`;
  const otherEgress = join(dataDir, "walls/run/other/proxy.sock");
  for (const path of [unixSocket, `\0${abstractSocket}`, otherEgress]) await listen(path);
  await chmod(unixSocket, 0o777);
  return {
    dataDir,
    secretFile,
    secret,
    otherDir,
    hostPid: sleeper.pid ?? 0,
    tcpPort: (tcp.address() as { port: number }).port,
    unixSocket,
    abstractSocket,
    otherEgress,
    openDir,
    home,
  };
}
