import { noCallListener } from "../http/observe-requests.ts";
import { execFile } from "node:child_process";
import { mkdir, mkdtempDisposable } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { machineRoutes } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import {
  connectToolHost,
  createInProcessHost,
  createLocalWorkspace,
  openLocalBash,
  serveToolHost,
  type Bash,
  type Workspace,
} from "@convoke/tool-host";
import { mountBashSocket } from "../faces/agent-server/sockets/bash-socket.ts";
import { socketTimes } from "../faces/agent-server/sockets/socket-times.ts";
import { machineHandlers } from "../faces/agent-server/machines/workspace-handlers.ts";
import { createKeyRing } from "../http/auth.ts";
import { createGuard } from "../http/guard.ts";
import { face } from "../http/mount.ts";
import { createAuthenticator, openHttp } from "../http/open-http.ts";
import { silentLogger } from "../lib/logger.ts";

export type MachineSurfaceOptions = {
  /** Whether the machine is reached over the tool host protocol, like that of a sandbox. */
  readonly isRemote?: boolean;
  /** Files outside of `work` are inaccessible. */
  readonly isJailed?: boolean;
  readonly uploadLimitBytes?: number;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly wrapWorkspace?: (workspace: Workspace) => Workspace;
};

export type MachineSurface = AsyncDisposable & {
  readonly url: string;
  readonly key: string;
  /** An existing directory, where relative commands run. */
  readonly work: string;
  readonly call: (method: string, path: string, body?: unknown) => Promise<MachineReply>;
  readonly upload: (path: string, content: Blob) => Promise<MachineReply>;
  readonly git: (...parameters: string[]) => Promise<void>;
};

export type MachineReply = {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly json: unknown;
};

const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/nonexistent" };
const key = "machine-surface-key";

/** The routes of one machine on a free port, without the rest of a server. */
export async function openMachineSurface(options: MachineSurfaceOptions = {}): Promise<MachineSurface> {
  await using scope = new AsyncDisposableStack();
  const folder = scope.use(await mkdtempDisposable(join(tmpdir(), "convoke-machine-"))).path;
  const work = join(folder, "work");
  await mkdir(work);
  const local = createLocalWorkspace({ environment, ...(options.isJailed === true ? { root: work } : {}) });
  const bash = scope.use(
    openLocalBash({
      path: join(folder, "bash.sqlite"),
      environment,
      // The output of a command comes in one chunk, even if its end comes late.
      limits: { holdMs: 60_000 },
    }),
  );
  const reached =
    options.isRemote === true
      ? await serveAndConnect(scope, folder, local, bash)
      : { workspace: local, bash };
  const { wrapWorkspace = (workspace: Workspace) => workspace } = options;
  const access = {
    bash: reached.bash,
    workspace: wrapWorkspace(reached.workspace),
    workingDir: work,
    secrets: async () => Object.entries(options.secrets ?? {}).map(([name, value]) => ({ name, value })),
  };
  const openAccess = async () => access;
  const keys = createKeyRing([key], {
    find: () => null,
    get: () => null,
    users: { roleOf: () => "member", isDisabled: () => false },
  });
  const validator = createValidator();
  const guard = createGuard({ boundHost: "127.0.0.1", allowedHosts: [], allowedOrigins: [] });
  const app = await openHttp({ guard, logger: silentLogger, calls: noCallListener });
  scope.defer(() => app.close());
  const { uploadLimitBytes = 2 ** 40 } = options;
  face(machineRoutes, machineHandlers({ openAccess, uploadLimitBytes })).mount(app, {
    validator,
    callers: { authenticate: createAuthenticator(keys), authenticateCookie: () => null },
  });
  mountBashSocket(app, {
    validator,
    logger: silentLogger,
    times: socketTimes,
    scopeOf: () => ({ openAccess, keys }),
  });
  app.get("/health", () => "ok");
  await app.listen({ host: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const send = async (path: string, init: RequestInit): Promise<MachineReply> => {
    const reply = await fetch(`${url}${path}`, init);
    const bytes = Buffer.from(await reply.arrayBuffer());
    const isJson = reply.headers.get("content-type")?.startsWith("application/json") === true;
    return {
      status: reply.status,
      headers: reply.headers,
      bytes,
      json: isJson && bytes.length > 0 ? (JSON.parse(bytes.toString("utf8")) as unknown) : undefined,
    };
  };
  const owned = scope.move();
  return {
    url,
    key,
    work,
    call: (method, path, body) =>
      send(path, {
        method,
        headers: {
          "x-session-api-key": key,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    upload: (path, content) => {
      const form = new FormData();
      form.append("file", content, "name");
      return send(path, { method: "POST", headers: { "x-session-api-key": key }, body: form });
    },
    git: async (...parameters) => {
      const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];
      await promisify(execFile)("git", ["-C", work, ...identity, ...parameters], { env: environment });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function serveAndConnect(
  scope: AsyncDisposableStack,
  folder: string,
  workspace: Workspace,
  bash: Bash,
): Promise<{ readonly workspace: Workspace; readonly bash: Bash }> {
  const hostKey = "a key of a tool host";
  const host = scope.use(createInProcessHost({ tools: [], environment }));
  const served = scope.use(
    await serveToolHost({
      host,
      workspace,
      bash,
      key: hostKey,
      listen: { socket: join(folder, "host.sock") },
    }),
  );
  return scope.use(await connectToolHost({ address: served.address, key: hostKey }));
}
