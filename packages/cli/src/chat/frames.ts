import { printable } from "../print/printable.ts";
import type { ConversationInfo } from "@convoke/protocol";
import { bottomArea } from "./bottom-area.ts";
import { composerLines } from "./input/composer-lines.ts";
import { statusLine } from "./lines/status-line.ts";
import type { BottomArea } from "./screen/screen.ts";
import type { ChatDeps, Stage } from "./stage.ts";
import type { ConversationLink } from "./talk/conversation-link.ts";

export type FramesDeps = Pick<ChatDeps, "theme" | "attention" | "nowMs" | "later"> & {
  readonly stage: Pick<Stage, "screen" | "editor" | "link" | "plansFirst">;
  readonly question: (columns: number) => readonly string[];
  /** Whether an answer is typed behind the last line of the question. */
  readonly isAnswering: () => boolean;
  readonly notice: () => string;
  readonly below: () => readonly string[];
};

const frameMs = 33;
const spinnerMs = 125;
/** What ended a run is stored with its status: open calls get their outcome within this time, or none. */
const restMs = 1_000;

/** Draws what there is: at most thirty times a second, and by itself only while something is awaited. */
export class Frames implements Disposable {
  readonly #deps: FramesDeps;
  #frameTimer: (() => void) | null = null;
  #spinnerTimer: (() => void) | null = null;
  #runningSinceMs = 0;
  #restSinceMs: number | null = null;
  #isPaused = false;
  #shownTitle = "";

  constructor(deps: FramesDeps) {
    this.#deps = deps;
  }

  /** Milliseconds since the run began. */
  get runningMs(): number {
    return this.#runningSinceMs === 0 ? 0 : this.#deps.nowMs() - this.#runningSinceMs;
  }

  get title(): string {
    return printable(this.#deps.stage.link?.transcript.view.title ?? "Convoke");
  }

  /** Many changes are one frame. */
  soon(): void {
    if (this.#isPaused) return;
    this.#frameTimer ??= this.#deps.later(frameMs, () => {
      this.#frameTimer = null;
      this.now();
    });
  }

  /** Nothing is drawn until {@link resume}. */
  pause(): void {
    this.#isPaused = true;
    this.#deps.stage.screen.clearArea();
  }

  resume(): void {
    this.#isPaused = false;
    this.soon();
  }

  /** Nothing is drawn any more, whatever still comes. */
  [Symbol.dispose](): void {
    this.#isPaused = true;
    this.#frameTimer?.();
    this.#spinnerTimer?.();
  }

  now(): void {
    if (this.#isPaused) return;
    const { theme, nowMs, stage } = this.#deps;
    const { screen, link } = stage;
    const now = nowMs();
    const transcript = link?.transcript ?? null;
    if (transcript !== null) this.#noteStatus(transcript.view.status, now);
    this.#showTitle(transcript?.view.status === "running");
    const isAtRest = this.#restSinceMs !== null && now - this.#restSinceMs >= restMs;
    for (const line of transcript?.finished(isAtRest) ?? []) screen.commit(line);
    screen.setArea(this.#area(now));
    screen.frame();
    this.#spinnerTimer?.();
    const isRunning = transcript?.view.status === "running";
    const isMoving = isRunning && theme.spinner.length > 1;
    const isSettling = this.#restSinceMs !== null && !isAtRest;
    const isSlow = isRunning || isSettling || link?.connection.isLost === true;
    const waitMs = isMoving ? spinnerMs : isSlow ? restMs : null;
    this.#spinnerTimer =
      waitMs === null || transcript === null ? null : this.#deps.later(waitMs, () => this.now());
  }

  #showTitle(isRunning: boolean): void {
    const title = `${isRunning ? `${this.#deps.theme.signs.answer} ` : ""}${this.title}`;
    if (title === this.#shownTitle) return;
    this.#shownTitle = title;
    this.#deps.attention.title(title);
  }

  #noteStatus(status: string, now: number): void {
    const isActive = status === "running" || status === "waiting_for_confirmation";
    if (isActive && this.#restSinceMs !== null) {
      this.#runningSinceMs = now;
      this.#restSinceMs = null;
    } else if (!isActive && this.#restSinceMs === null) {
      this.#restSinceMs = now;
      if (this.#runningSinceMs > 0)
        this.#deps.attention.call(`${this.title}: ${status}`, now - this.#runningSinceMs);
    }
    if (isActive && this.#runningSinceMs === 0) this.#runningSinceMs = now;
  }

  #area(now: number): BottomArea {
    const { theme, stage, question, notice, below } = this.#deps;
    const { screen, editor, link } = stage;
    const { columns, rows } = screen.size;
    const composer = composerLines(
      { text: editor.text, caret: editor.caret, prompt: `${theme.signs.user} ` },
      { columns, maxLines: Math.max(1, Math.floor(rows / 3)) },
    );
    const wall = link?.info.wall;
    const network = wall !== undefined && wall.kind !== "none" ? networkName(wall.network) : null;
    return bottomArea(
      {
        transcript: link?.transcript ?? null,
        question: question(columns),
        isAnswering: this.#deps.isAnswering(),
        notice: notice(),
        composer,
        below: below(),
        status:
          link === null
            ? theme.paint.dim(
                [
                  "new conversation",
                  ...(stage.plansFirst ? ["plans first"] : []),
                  "write what to do",
                  "/help",
                ].join(theme.signs.dot),
              )
            : statusLine({ view: link.transcript.view, wall, network, lost: this.#lost(link, now) }, theme),
        nowMs: now,
        runningSinceMs: this.#runningSinceMs,
      },
      theme,
      screen.size,
    );
  }

  #lost({ connection: { isLost, retryAtMs } }: ConversationLink, now: number): string | null {
    if (!isLost) return null;
    return retryAtMs === null
      ? "reconnecting"
      : `reconnecting ${Math.max(0, Math.ceil((retryAtMs - now) / 1_000))} s`;
  }
}

function networkName(network: NonNullable<ConversationInfo["wall"]>["network"]): string {
  if (network === "none") return "no network";
  if (network === "all") return "public network";
  return typeof network === "string" ? network : "some hosts";
}
