import { randomUUID } from "node:crypto";
import { chmod, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultTools, type Outcome, type ToolSession } from "@convoke/tool-host";
import { silentLogger } from "../../lib/logger.ts";
import { openControlGroups } from "../../sandboxes/control-groups/open-control-groups.ts";
import { ownAccount } from "../../sandboxes/find-bubblewrap.ts";
import { testedPrograms } from "../../testing/tested-programs.ts";
import { createBoundSecretRegistry } from "../../egress/bound-secret-registry.ts";
import { StartedWalls } from "../started-walls.ts";
import { testContainers } from "./test-containers.ts";
import type { StartedWallsDeps } from "../walls-deps.ts";
import type { WalledHost, WallOrder } from "../wall.ts";

/** A person's home, a working folder and a data folder beside each other, and the walls of a server. */
export class WallBench implements AsyncDisposable {
  readonly root: string;
  readonly walls: StartedWalls;
  /** Of the way out. */
  readonly records: readonly object[];
  readonly #sessions: ToolSession[] = [];
  #last: WallOrder | null = null;

  private constructor(root: string, walls: StartedWalls, records: readonly object[]) {
    this.records = records;
    this.root = root;
    this.walls = walls;
  }

  /** `variablesOf` gives more variables of the person's environment, from the home. */
  static async open(
    changes: Partial<StartedWallsDeps> = {},
    variablesOf: (home: string) => Readonly<Record<string, string>> = () => ({}),
  ): Promise<WallBench> {
    const root = await realpath(await mkdtemp(join(tmpdir(), "convoke-wall-")));
    await chmod(root, 0o755);
    for (const name of ["home/me", "data", "shop"]) await mkdir(join(root, name), { recursive: true });
    const records: object[] = [];
    const walls = await StartedWalls.open({
      dataDir: join(root, "data"),
      program: testedPrograms().toolHost,
      catalogue: defaultTools()
        .map(({ name }) => name)
        .toSorted(),
      environment: {
        ...process.env,
        HOME: join(root, "home/me"),
        LLM_API_KEY: "canary-of-the-server",
        ...variablesOf(join(root, "home/me")),
      },
      self: ownAccount(),
      logger: silentLogger,
      kind: "bubblewrap",
      containers: testContainers().walls,
      maxRunning: 100,
      takeHold: () => null,
      homes: { maxMb: 4_096, maxUnusedDays: 30 },
      limits: { memoryMb: null, cpus: null, pids: 8_192 },
      openControlGroups: () => openControlGroups({ uid: ownAccount().uid, environment: process.env }),
      isOwnListener: () => false,
      boundSecrets: createBoundSecretRegistry(),
      onEgress: (conversationId, record) => void records.push({ conversationId, ...record }),
      ...changes,
    });
    return new WallBench(root, walls, records);
  }

  get folder(): string {
    return join(this.root, "shop");
  }

  get home(): string {
    return join(this.root, "home/me");
  }

  get dataDir(): string {
    return join(this.root, "data");
  }

  order(changes: Partial<WallOrder> = {}): WallOrder {
    return {
      rootId: "one",
      ownerId: "local",
      folder: this.folder,
      kind: "bubblewrap",
      network: "none",
      limitedBy: [],
      granted: [],
      hide: [],
      unlocked: [],
      extraFolders: [],
      ...changes,
    };
  }

  /** The wall of the last terminal. */
  async wall(): Promise<WalledHost> {
    return await this.walls.open(this.#last ?? this.order());
  }

  async terminal(
    changes: Partial<WallOrder> = {},
  ): Promise<(command: string, seconds?: number) => Promise<string>> {
    const order = this.order(changes);
    this.#last = order;
    const wall = await this.walls.open(order);
    const host = await wall.openHost();
    const session = await host.openSession({
      sessionId: order.rootId,
      workspaceDir: order.folder,
      stateDir: join(wall.stateDir, order.rootId),
      tools: [{ name: "terminal" }],
    });
    this.#sessions.push(session);
    return async (command, seconds = 120) => {
      const outcome = await session.execute({
        actionId: randomUUID(),
        tool: "terminal",
        action: { kind: "TerminalAction", command, is_input: false, timeout: seconds, reset: false },
        secrets: [],
      });
      return textOf(outcome);
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.#sessions) await session[Symbol.asyncDispose]();
    await this.walls[Symbol.asyncDispose]();
    await rm(this.root, { recursive: true, force: true });
  }
}

function textOf(outcome: Outcome): string {
  if (outcome.type !== "observation") throw new Error(`The command was not run: ${outcome.text}`);
  const { content } = outcome.observation as { content?: readonly { text?: string }[] };
  return (content ?? []).map(({ text }) => text ?? "").join("");
}
