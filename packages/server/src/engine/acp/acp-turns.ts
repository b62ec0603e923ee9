import { AcpFailure } from "../../extensions/acp/acp-failure.ts";
import { toPromptContent } from "../../extensions/acp/prompt-content.ts";
import type { AcpSession, ExternalAgent } from "../../extensions/acp/external-agent.ts";
import { failRun } from "../../events/state-update.ts";
import type { EventDraft } from "../../events/event-draft.ts";
import { isWanted, type OtherTurns, type RunDeps, type TurnRules } from "../run/run-deps.ts";
import { storeEvents } from "../run/store-events.ts";
import { AcpTurn } from "./acp-turn.ts";
import { brokenCalls, lostPrompt, promptBegun, promptEnded, sessionEvents } from "./acp-events.ts";

/** The turns of a conversation whose agent is another program; one at a time. See record 0350. */
export class AcpTurns implements OtherTurns {
  readonly #onEnd: () => void;
  #turn: AcpTurn | null = null;
  /** The session that the log has. */
  #recorded: string | null = null;

  /** `onEnd` is called after each turn. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** True from the prompt to the record of its end, also while it waits for a person. */
  get isLive(): boolean {
    return this.#turn !== null;
  }

  /** The message in progress. */
  get text(): string {
    return this.#turn?.text ?? "";
  }

  /**
   * One step of a run: prompts with everything that is unread, or continues the prompt that is there, until it has ended or an action
   * has to be looked at.
   */
  async step(deps: RunDeps, signal: AbortSignal, rules: TurnRules): Promise<void> {
    if (this.#turn === null) await this.#begin(deps, signal, rules);
    await this.#turn?.untilDue();
  }

  /** The log has what halted it, with the message so far. */
  abort(): void {
    this.#turn?.cancel(false);
  }

  /** The log has what halted it, and not the message so far. */
  leave(): void {
    this.#turn?.cancel(true);
  }

  /** The conversation leaves this process, in the midst of a turn that the log then shows as interrupted. */
  close(): void {
    this.#turn?.close();
  }

  async ended(): Promise<void> {
    await this.#turn?.ended;
  }

  async #begin(deps: RunDeps, signal: AbortSignal, rules: TurnRules): Promise<void> {
    const store = (drafts: () => Promise<readonly EventDraft[]> | readonly EventDraft[]): Promise<void> =>
      storeEvents(deps, signal, async () => (isWanted(deps, signal) ? await drafts() : []));
    const { acp } = deps.log.state;
    if (acp.isPrompting) {
      await store(() => [...lostPrompt(acp), ...failRun("ACPPromptInterrupted", interrupted)]);
      return;
    }
    if (acp.calls.length > 0)
      await store(() => brokenCalls(acp.calls, "The server stopped during this call."));
    const { agent } = await deps.session.open();
    if (agent === null) throw new Error("The conversation has no other agent.");
    let session: AcpSession;
    try {
      const known =
        acp.session?.session_id ?? deps.configuration.config.agent.acp?.acp_resume_session_id ?? null;
      session = await agent.openSession(known, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof AcpFailure)) throw error;
      await store(() => failRun(error.code, error.message));
      return;
    }
    await this.#prompt(deps, signal, { agent, rules, session });
  }

  /** Recorded first: the same prompt is never sent twice. */
  async #prompt(deps: RunDeps, signal: AbortSignal, { agent, rules, session }: Ready): Promise<void> {
    let begin: (() => AcpTurn) | null = null;
    await storeEvents(
      deps,
      signal,
      async () => {
        begin = null;
        if (!isWanted(deps, signal)) return [];
        const { lastSeq, queued } = deps.log.state;
        const isNews = this.#recorded !== session.id;
        const news = isNews ? sessionEvents(session, agent.command) : [];
        if (queued.length === 0) return [...news, promptEnded("nothing to say")];
        const content = await this.#contentOf(deps, agent, session.isNew && isNews);
        begin = () => new AcpTurn(deps, agent, rules, content);
        const ids = queued.map(({ id }) => id);
        return [...news, promptBegun(session.id, ids, lastSeq)];
      },
      {
        onStored: () => {
          if (begin === null) return;
          this.#recorded = session.id;
          this.#follow(begin());
        },
      },
    );
  }

  #follow(turn: AcpTurn): void {
    this.#turn = turn;
    void turn.ended.then(() => {
      this.#turn = null;
      this.#onEnd();
    });
  }

  async #contentOf({ configuration, log }: RunDeps, agent: ExternalAgent, isFirst: boolean) {
    const { queued, lastSeq } = log.state;
    const ids = new Set(queued.map(({ id }) => id));
    const stored = await log.readKinds(["MessageEvent"], queued[0]!.seq, lastSeq);
    const suffix = configuration.config.agent.agent_context?.system_message_suffix ?? "";
    const parts = stored.flatMap(({ event }) =>
      event.kind === "MessageEvent" && ids.has(event.id ?? "")
        ? [...(event.llm_message.content ?? []), ...(event.extended_content ?? [])]
        : [],
    );
    const instructions = isFirst && suffix.trim() !== "" ? [{ type: "text" as const, text: suffix }] : [];
    return [...instructions, ...toPromptContent(parts, agent.takesImages)];
  }
}

type Ready = { readonly agent: ExternalAgent; readonly rules: TurnRules; readonly session: AcpSession };

const interrupted =
  "The server stopped while the agent was at work, so its turn is interrupted; what it had done until then remains. " +
  "Send a message to continue.";
