import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import type { Agent } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import type { ConversationConfig } from "../../engine/conversation-config.ts";
import { ConversationLog } from "../../engine/conversation-log.ts";
import { Conversation } from "../../engine/conversation.ts";
import { ViewCache } from "../../engine/view-cache.ts";
import { noBoundSecrets, noBudget, nobody, noRules } from "../../engine/ports.ts";
import { Signals } from "../../engine/signals.ts";
import { Fault } from "../../lib/fault.ts";
import { silentLogger } from "../../lib/logger.ts";
import { noActivity } from "../../lib/watchdog.ts";
import { Observer } from "../../observability/observer.ts";
import type { ModelRequest } from "../../models/model.ts";
import { createSecretBox } from "../../security/seal.ts";
import type { EventWithMeta } from "../../journal/journal.ts";
import { sampleConversation } from "../../journal/sample-events.ts";
import { createGatedModel } from "./gated-model.ts";
import { hostBelt } from "../host-belt.ts";
import { createGatedSession, type Execution, type ExecutionDisk } from "./gated-session.ts";
import { Gates } from "./gates.ts";
import { LogReading } from "./log-reading.ts";
import { MemoryLog, openMemoryJournal } from "./memory-journal.ts";
import { Rules, type LiveStatus } from "./rules.ts";

export const commands = ["send", "note", "run", "pause", "interrupt", "stop", "accept", "reject"] as const;
export type Command = (typeof commands)[number];

/** `crash` loses a pending write; `crash-after` completes it without an acknowledgement. */
const crashes = ["crash", "crash-after"] as const;

export type WorldOptions = { readonly policy: ConversationConfig["confirmation_policy"]["kind"] };

/** Maximum number of unanswered commands at a time, and of crashes. */
const maxOpenCommands = 3;
const maxCrashes = 2;

const validator = createValidator();
const secretBox = createSecretBox(Buffer.alloc(32));

/**
 * One conversation between clients, a model, a tool host and a disk that the test steps. Every possible next step is in `steps`; broken
 * rules are in `violations`.
 */
export class World {
  readonly #trace: string[] = [];
  readonly #config: ConversationConfig;
  readonly #log = new MemoryLog(sampleConversation("c"));
  #disk: ExecutionDisk = new Map();
  #gates = new Gates();
  #conversation: Conversation | null = null;
  #nowMs = 1_700_000_000_000;
  /** A write that the disk has not done yet. */
  #write: (() => void) | null = null;
  /** Positions of batches that an accept may have caused. */
  readonly #acceptedBatches = new Set<number>();
  readonly #facts = new LogReading(this.#log, this.#acceptedBatches);
  readonly #rules = new Rules(this.#facts);
  #openAccepts = 0;
  #openCommands = 0;
  #crashes = 0;
  #sent = 0;
  #unsettledSends = new Map<string, () => Promise<void>>();

  private constructor({ policy }: WorldOptions) {
    this.#config = {
      agent: {
        kind: "Agent",
        llm: { model: "gated" },
        tools: [{ name: "terminal" }, { name: "file_editor" }],
        tool_concurrency_limit: 4,
      } as unknown as Agent,
      workspace: { kind: "LocalWorkspace", working_dir: "/" },
      confirmation_policy: { kind: policy },
      security_analyzer: null,
      max_iterations: 100,
      stuck_detection: false,
      tags: {},
    };
  }

  static async open(options: WorldOptions): Promise<World> {
    const world = new World(options);
    await world.#start();
    await world.#rest();
    return world;
  }

  /** Broken rules so far; empty when there are none. */
  get violations(): readonly string[] {
    return this.#rules.violations;
  }

  /** The log as it is on the disk. */
  get events(): readonly EventWithMeta[] {
    return this.#log.events;
  }

  /** The possible endings of each pending operation. */
  get endings(): string[] {
    return this.#gates.open.flatMap((gate, index) =>
      gate.endings().map((ending) => `${gate.name}${index}:${ending}`),
    );
  }

  get inputs(): string[] {
    return [
      ...(this.#openCommands < maxOpenCommands ? commands : []),
      ...(this.#crashes < maxCrashes ? crashes : []),
    ];
  }

  /** Takes one of `endings` or `inputs`; resolves when nothing moves by itself any more. */
  async take(step: string): Promise<void> {
    this.#trace.push(step);
    const [place = "", ending] = step.split(":");
    if (ending !== undefined) {
      const gate = this.#gates.open[Number(/\d+$/.exec(place)?.[0])]!;
      this.#gates.end(gate, ending);
    } else if (step === "crash" || step === "crash-after") await this.#crash(step === "crash-after");
    else this.#command(step as Command);
    await this.#rest();
  }

  /** Ends every pending operation in the most ordinary way. */
  async #settle(): Promise<void> {
    await this.#rest();
    for (let steps = 0; this.#gates.open.length > 0; steps++) {
      if (steps === 500) {
        this.#rules.violate("it never comes to rest");
        return;
      }
      await this.take(this.endings[0]!);
    }
    this.#rules.checkRest(this.#liveStatus);
  }

  /** Ends everything and requests one more run; resolves with the broken rules and the steps, or with nothing. */
  async conclude(): Promise<string[]> {
    if (this.violations.length === 0) await this.#settle();
    if (this.violations.length === 0) await this.#finish();
    return this.violations.length === 0 ? [] : [...this.violations, this.#trace.join(" > ")];
  }

  /** After `settle`: an ordinary run must end with everything answered (P2). */
  async #finish(): Promise<void> {
    if (this.#facts.status === "finished" && this.#facts.unansweredCount === 0) return;
    await this.take("note");
    await this.#settle();
    do {
      await this.take("run");
      await this.#settle();
    } while (this.#facts.status === "waiting_for_confirmation");
    this.#rules.checkEnd();
  }

  async #start(): Promise<void> {
    const gates = this.#gates;
    const journal = openMemoryJournal(this.#log, async (write) => {
      this.#write = write;
      await gates.wait("append", () => ["durable"]);
      this.#write = null;
      if (this.#openAccepts > 0) this.#acceptedBatches.add(this.#log.batches.length);
      write();
    });
    const lease = this.#log.claim();
    const clock = { nowMs: (): number => (this.#nowMs += 1) };
    const session = createGatedSession({
      gates,
      disk: this.#disk,
      onStart: (execution) => this.#onStart(execution),
    });
    const model = createGatedModel(gates, (request) => this.#onRequest(request));
    this.#conversation = new Conversation({
      id: "c",
      title: null,
      journal,
      signals: new Signals(),
      log: await ConversationLog.open({ clock, journal, lease }, this.#log.row),
      config: this.#config,
      secrets: { llm: {}, sources: {} },
      boundSecrets: noBoundSecrets,
      secretBox,
      validator,
      viewCache: new ViewCache({ one: 0, all: 0 }),
      models: { open: () => model, findStored: async () => null },
      tools: {
        openSession: async () => {
          await gates.wait("open", () => ["opened"]);
          return hostBelt(session);
        },
        openHooks: () => null,
        workspaceDir: (config) => config.workspace.working_dir,
      },
      people: nobody,
      budget: noBudget,
      rules: noRules,
      holder: { lost: () => this.#rules.violate("it thinks that it lost its log") },
      isAttended: false,
      fetch,
      clock: clock,
      logger: silentLogger,
      observer: new Observer(),
      activity: noActivity,
    });
    void this.#acknowledged("resume", (conversation) => conversation.resume());
  }

  /** The process dies with everything in it; a new one starts on the same disks, and clients repeat unanswered requests. */
  async #crash(isWriteStored: boolean): Promise<void> {
    this.#crashes += 1;
    this.#rules.onCrash();
    if (isWriteStored && this.#write !== null) {
      if (this.#openAccepts > 0) this.#acceptedBatches.add(this.#log.batches.length);
      this.#write();
    }
    this.#write = null;
    // The gates of the dead process never end, so it never moves again.
    this.#gates = new Gates();
    this.#disk = new Map(this.#disk);
    this.#openCommands = 0;
    this.#openAccepts = 0;
    const repeats = [...this.#unsettledSends.values()];
    this.#unsettledSends.clear();
    await this.#start();
    for (const repeat of repeats) void repeat();
  }

  #command(command: Command): void {
    if (command === "send" || command === "note") {
      const text = `message ${++this.#sent}`;
      const send = async (): Promise<void> => {
        this.#unsettledSends.set(text, send);
        await this.#acknowledged(command, (conversation) =>
          conversation.send({
            message: {
              role: "user",
              content: [{ type: "text", text, cache_prompt: false }],
              thinking_blocks: [],
            },
            wantsRun: command === "send",
            clientMessageId: text,
          }),
        );
        this.#unsettledSends.delete(text);
        this.#rules.onSent(text);
      };
      void send();
      return;
    }
    void this.#acknowledged(command, (conversation) => commandOf(conversation, command));
  }

  async #acknowledged(
    command: Command | "resume",
    act: (conversation: Conversation) => Promise<unknown>,
  ): Promise<void> {
    this.#openCommands += 1;
    if (command === "accept") this.#openAccepts += 1;
    try {
      await act(this.#conversation!);
    } catch (error) {
      const isConflict = error instanceof Fault && error.code === "already_running";
      if (!isConflict || (command !== "run" && command !== "reject"))
        this.#rules.violate(`${command} fails with ${String(error)}`);
      return;
    } finally {
      this.#openCommands -= 1;
      if (command === "accept") this.#openAccepts -= 1;
    }
    this.#trace.push(`(${command} acknowledged)`);
    if (command === "interrupt" || command === "stop") this.#rules.onCutOff(command);
  }

  #onStart(execution: Execution): void {
    this.#trace.push(`(start ${execution.actionId.slice(-4)})`);
    this.#rules.onStart(execution);
  }

  #onRequest(request: ModelRequest): void {
    this.#trace.push("(request)");
    this.#rules.onRequest(request);
  }

  get #liveStatus(): LiveStatus {
    const { state, isBusy } = this.#conversation!;
    return { status: state.status, isBusy, openCommandCount: this.#openCommands };
  }

  /** Lets all promises progress, then checks the rules that hold between any two steps. */
  async #rest(): Promise<void> {
    await turnOfTheLoop();
    this.#rules.checkMoment(this.#liveStatus);
  }
}

async function commandOf(
  conversation: Conversation,
  command: Exclude<Command, "note" | "send">,
): Promise<unknown> {
  switch (command) {
    case "reject":
      return await conversation.reject("no");
    case "pause":
    case "interrupt":
    case "stop":
      return await conversation.halts[command]();
    default:
      return await conversation[command]();
  }
}
