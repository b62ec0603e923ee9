import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  connectToolHost,
  createInProcessHost,
  createLocalWorkspace,
  openLocalBash,
  serveToolHost,
} from "@convoke/tool-host";
import type { SandboxHost } from "../../app-conversations/sandbox-service.ts";
import { MemorySandboxes } from "../memory-sandboxes.ts";
import { createQuickTools } from "../quick-tools.ts";
import { TestServer, startTestServer } from "../start-server.ts";

export type FuzzServer = AsyncDisposable & {
  readonly server: TestServer;
  /** Everything that requests may name is below it. */
  readonly root: string;
};

const environment = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: "/tmp",
  GIT_ALLOW_PROTOCOL: "file",
};

/** A whole server: real files, git and shell in its own folder; quick tools, and sandboxes of such tools. */
export async function openFuzzServer(): Promise<FuzzServer> {
  await using scope = new AsyncDisposableStack();
  let sandboxHost: SandboxHost | null = null;
  const server = scope.use(
    await startTestServer({
      script: { turns: [{ text: "Hello." }], loop: true },
      environment,
      mcp: { times: { connectMs: 1_000, firstRetryMs: 60_000 }, firstWaitMs: 500 },
      openSandboxes: async () => {
        const sandboxes = new MemorySandboxes();
        const start = sandboxes.start.bind(sandboxes);
        sandboxes.start = async (ownerId, templateId, id) => {
          const { id: started } = await start(ownerId, templateId, id);
          await sandboxes.resume(ownerId, started);
          return (await sandboxes.getMany(ownerId, [started]))[0]!;
        };
        sandboxes.openHost = async () => {
          if (sandboxHost === null) throw new Error("The host of the sandboxes is not open yet.");
          return sandboxHost;
        };
        return sandboxes;
      },
    }),
  );
  const root = server.workspaceDir;
  await fillRoot(root);
  const host = scope.use(
    createInProcessHost({ tools: createQuickTools().tools, environment, cancelGraceMs: 200 }),
  );
  const workspace = createLocalWorkspace({ environment, root });
  const bash = scope.use(openLocalBash({ path: join(server.folder, "sandbox-bash.sqlite"), environment }));
  const key = "key of the sandboxes' host";
  const listen = { socket: join(server.folder, "host.sock") };
  const served = scope.use(await serveToolHost({ host, workspace, bash, key, listen }));
  const toolHost = scope.use(await connectToolHost({ address: served.address, key }));
  const stateDir = join(server.folder, "sandbox-state");
  await mkdir(stateDir);
  sandboxHost = { toolHost, workspaceDir: root, stateDir };
  const owned = scope.move();
  return { server, root, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Data for every route: texts, a repository with a commit, a skill and a plugin. */
async function fillRoot(root: string): Promise<void> {
  const files: Readonly<Record<string, string>> = {
    "a.txt": "one\ntwo\n",
    "sub/b.txt": "below\n",
    "odd näme 👋.txt": "odd\n",
    "repository/tracked.txt": "first\n",
    "skills/demo/SKILL.md": "---\nname: demo\ndescription: Shows how.\n---\nDo it so.\n",
    "plugin/.claude-plugin/plugin.json": JSON.stringify({
      name: "demo",
      version: "1.0.0",
      description: "Shows.",
    }),
    "repository/.openhands/hooks.json": JSON.stringify({ hooks: {} }),
  };
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(root, name, ".."), { recursive: true });
    await writeFile(join(root, name), content);
  }
  const git = (...parameters: string[]) =>
    promisify(execFile)("git", parameters, { cwd: join(root, "repository"), env: environment });
  await git("init", "-q", "-b", "main");
  await git("add", "-A");
  await git("-c", "user.name=Fuzz", "-c", "user.email=fuzz@example.org", "commit", "-q", "-m", "first");
  await writeFile(join(root, "repository/tracked.txt"), "second\n");
}
