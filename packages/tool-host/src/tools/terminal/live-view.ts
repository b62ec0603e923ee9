import type { Watcher } from "../../attach-person.ts";
import { LiveMask } from "../../processes/live-mask.ts";
import { SecretMask } from "../../processes/mask.ts";
import type { TerminalSize, TerminalUpdate } from "../../terminal-attachment.ts";
import type { ToolSecret } from "../../tool.ts";
import { terminalSize } from "./terminal-size.ts";

/** Default number of characters that a new watcher gets to redraw the terminal. */
const defaultScrollback = 200_000;
/** A watcher with this many unread characters gets a full redraw instead. */
const maxWaiting = 1_000_000;

const clear = "\u001bc";
const enterOtherScreen = "\u001b[?1049h";

type Follower = { waiting: TerminalUpdate[]; length: number; wake: () => void; isEnded: boolean };

/** The live output of a terminal for an xterm, with secrets masked; for people who watch. */
export class LiveView {
  readonly #mask: SecretMask;
  readonly #live: LiveMask;
  readonly #followers = new Map<object, Follower>();
  #size: TerminalSize;
  #scrollback = "";
  /** True when a program used the alternate screen where `#scrollback` begins. */
  #isOtherScreen = false;
  #owner: object | undefined;
  readonly #maxScrollback: number;
  #isOver = false;

  constructor(
    spared: readonly string[],
    {
      maxScrollback = defaultScrollback,
      size = terminalSize,
    }: { readonly maxScrollback?: number; readonly size?: TerminalSize } = {},
  ) {
    this.#maxScrollback = maxScrollback;
    this.#size = size;
    this.#mask = new SecretMask([], spared);
    this.#live = new LiveMask(this.#mask, (text) => this.#give(text));
  }

  get isWatched(): boolean {
    return this.#followers.size > 0;
  }

  setSecrets(secrets: readonly ToolSecret[]): void {
    this.#mask.setSecrets(secrets);
  }

  write(text: string): void {
    this.#live.write(text);
  }

  /** A new shell: the old output is gone. */
  clear(): void {
    this.#live.cut();
    this.#scrollback = "";
    this.#isOtherScreen = false;
    for (const [who, follower] of this.#followers) this.#showAll(who, follower);
  }

  resize(size: TerminalSize): void {
    this.#size = size;
    for (const follower of this.#followers.values()) offer(follower, { type: "size", ...size });
  }

  /** The person who has control; undefined for the agent. */
  lend(owner: object | undefined): void {
    this.#owner = owner;
    for (const [who, follower] of this.#followers) {
      offer(follower, { type: "lent", isLent: owner !== undefined, isYours: owner === who });
    }
  }

  send(who: object, update: TerminalUpdate): void {
    const follower = this.#followers.get(who);
    if (follower !== undefined) offer(follower, update);
  }

  /** Starts with a full redraw; after the terminal has ended, only that. */
  watch(who: object): Watcher<TerminalUpdate> {
    const follower: Follower = { waiting: [], length: 0, wake: () => {}, isEnded: this.#isOver };
    this.#followers.set(who, follower);
    this.#showAll(who, follower);
    return {
      next: async () => {
        while (follower.waiting.length === 0 && !follower.isEnded) {
          await new Promise<void>((resolve) => (follower.wake = resolve));
        }
        const update = follower.waiting.shift() ?? null;
        if (update?.type === "output") follower.length -= update.text.length;
        return update;
      },
      end: () => {
        this.#followers.delete(who);
        end(follower);
      },
    };
  }

  /** The terminal has ended; its last output can still be viewed. */
  end(): void {
    this.#live.cut();
    this.#isOver = true;
    for (const follower of this.#followers.values()) end(follower);
    this.#followers.clear();
  }

  #give(text: string): void {
    if (text === "") return;
    this.#scrollback += text;
    if (this.#scrollback.length > 2 * this.#maxScrollback) this.#forget();
    for (const [who, follower] of this.#followers) {
      if (follower.length + text.length > maxWaiting) this.#showAll(who, follower);
      else {
        follower.length += text.length;
        offer(follower, { type: "output", text });
      }
    }
  }

  #showAll(who: object, follower: Follower): void {
    const begin = clear + (this.#isOtherScreen ? enterOtherScreen : "");
    const isLent = this.#owner !== undefined;
    follower.waiting = [];
    follower.length = 0;
    const text = begin + this.#scrollback;
    offer(follower, { type: "screen", text, isLent, isYours: this.#owner === who, ...this.#size });
  }

  /** Cuts after a line end, so that no control sequence is split. */
  #forget(): void {
    const atLeast = this.#scrollback.length - this.#maxScrollback;
    const line = this.#scrollback.indexOf("\n", atLeast);
    const at = line === -1 ? atLeast : line + 1;
    const gone = this.#scrollback.slice(0, at);
    // oxlint-disable-next-line no-control-regex -- control sequences are searched
    const last = [...gone.matchAll(/\u001b\[\?(?:1049|1047|47)([hl])/g)].at(-1);
    if (last !== undefined) this.#isOtherScreen = last[1] === "h";
    this.#scrollback = this.#scrollback.slice(at);
  }
}

function offer(follower: Follower, update: TerminalUpdate): void {
  follower.waiting.push(update);
  follower.wake();
}

function end(follower: Follower): void {
  follower.isEnded = true;
  follower.wake();
}
