import { attachPerson } from "../../../attach-person.ts";
import type { AttachBrowser, BrowserInput } from "../../../browser-attachment.ts";
import { maskText } from "../../../processes/mask.ts";
import type { ToolCall, ToolSecret } from "../../../tool.ts";
import type { OpenBrowser } from "../open-browser.ts";
import { BrowserView } from "./browser-view.ts";
import { Hands } from "./hands.ts";
import { LivePictures } from "./live-pictures.ts";

export type LiveBrowserDeps = {
  /** Whether an action of the agent is running. */
  readonly isActing: () => boolean;
  /** Reopens a suspended or crashed browser; null when the agent has not used one yet. */
  readonly wake: () => Promise<unknown> | null;
  /** Adds a note to the agent's next answer. */
  readonly notifyAgent: (note: string) => void;
  /** Called when a person takes control, and when the agent has it back. */
  readonly onLent: (isLent: boolean) => void;
};

type Loan = {
  readonly person: object;
  readonly over: PromiseWithResolvers<void>;
  /** Settles when it is known whether a browser can be lent; the reason if not. */
  ready: Promise<string | null>;
  hands: Hands | undefined;
};

/** The people at the browser of a conversation: watchers, and the one who has control instead of the agent. */
export class LiveBrowser {
  readonly #deps: LiveBrowserDeps;
  readonly #view = new BrowserView((isWatched) => this.#watch(isWatched));
  #browser: OpenBrowser | undefined;
  #pictures: LivePictures | undefined;
  #secrets: readonly ToolSecret[] = [];
  #loan: Loan | undefined;

  constructor(deps: LiveBrowserDeps) {
    this.#deps = deps;
  }

  get isLent(): boolean {
    return this.#loan !== undefined;
  }

  readonly attach: AttachBrowser = (inputs, signal) =>
    attachPerson(
      {
        watch: (person) => this.#view.watch(person),
        act: (person, input: BrowserInput) => this.#act(person, input),
        refuse: (person, reason) => this.#view.refuse(person, reason),
        leave: (person) => this.#giveBack(person),
      },
      inputs,
      signal,
    );

  /** The current secrets of the conversation; from now on no picture shows them. */
  setSecrets(secrets: readonly ToolSecret[]): void {
    this.#secrets = secrets;
    this.#pictures?.setSecrets(secrets);
  }

  /** A browser was opened. */
  opened(browser: OpenBrowser): void {
    this.#browser = browser;
    this.#view.showTabs([]);
    this.#watch(this.#view.isWatched);
  }

  /** The browser is gone: suspended, crashed or closed. A person loses control, unless it is being reopened for them. */
  closed(): void {
    if (this.#browser === undefined) return;
    this.#browser = undefined;
    this.#watch(false);
    this.#view.showTabs(null);
    const loan = this.#loan;
    if (loan?.hands !== undefined) this.#end(loan);
  }

  /** Waits while a person has control; false when the call was cancelled meanwhile. */
  async untilReturned({ signal, onProgress }: Pick<ToolCall, "signal" | "onProgress">): Promise<boolean> {
    const aborted = new Promise<void>((resolve) =>
      signal.addEventListener("abort", () => resolve(), { once: true }),
    );
    while (this.#loan !== undefined && !signal.aborted) {
      onProgress("A person has the browser. This waits until they give it back.");
      await Promise.race([this.#loan.over.promise, aborted]);
    }
    return !signal.aborted;
  }

  /** The tool is closed. */
  async end(): Promise<void> {
    if (this.#loan !== undefined) await this.#giveBack(this.#loan.person);
    this.closed();
    this.#view.end();
  }

  #watch(isWatched: boolean): void {
    const browser = this.#browser;
    this.#pictures?.[Symbol.dispose]();
    this.#pictures = undefined;
    this.#view.showPicture(null);
    if (!isWatched || browser === undefined) return;
    this.#pictures = new LivePictures({
      browser,
      secrets: this.#secrets,
      onPicture: (picture) => this.#view.showPicture(picture),
      onTabs: (tabs) => this.#view.showTabs(tabs),
      onArrival: (url) => this.#loan?.hands?.deeds.arrived(url),
    });
  }

  async #act(person: object, input: BrowserInput): Promise<string | null> {
    if (input.type === "take") return await this.#lend(person);
    if (input.type === "give") {
      await this.#giveBack(person);
      return null;
    }
    const loan = this.#loan;
    if (loan?.person !== person) return "You do not have the browser. Take it over first.";
    return (await loan.hands?.do(input)) ?? null;
  }

  async #lend(person: object): Promise<string | null> {
    if (this.#loan?.person === person) return null;
    if (this.#loan !== undefined) return "Somebody else has the browser.";
    if (this.#deps.isActing()) return "The agent is using the browser at this moment. Try again.";
    const over = Promise.withResolvers<void>();
    const loan: Loan = { person, over, hands: undefined, ready: Promise.resolve(null) };
    this.#loan = loan;
    loan.ready = this.#prepare(loan);
    const problem = await loan.ready;
    if (problem !== null) {
      this.#loan = undefined;
      loan.over.resolve();
      return problem;
    }
    this.#deps.onLent(true);
    this.#view.lend(person, "");
    return null;
  }

  /** The reason why no browser can be lent; null when one can. */
  async #prepare(loan: Loan): Promise<string | null> {
    try {
      if (this.#browser === undefined) {
        const waking = this.#deps.wake();
        if (waking === null) return "The agent has no browser yet. It opens one when it needs it.";
        await waking;
      }
      if (this.#browser !== undefined) loan.hands ??= new Hands(this.#browser);
      return null;
    } catch (error) {
      return `The browser could not be started: ${String(error).split("\n")[0]!.slice(0, 300)}`;
    }
  }

  /** No effect when the person does not have control. */
  async #giveBack(person: object): Promise<void> {
    const loan = this.#loan;
    if (loan?.person !== person) return;
    // The person left before the browser was open: the agent gets it once it is.
    await loan.ready;
    await loan.hands?.release();
    this.#end(loan);
  }

  #end(loan: Loan): void {
    if (this.#loan !== loan) return;
    const did = maskText(String(loan.hands?.deeds ?? ""), this.#secrets);
    this.#loan = undefined;
    this.#view.lend(undefined, did);
    const done = did === "" ? "" : ` They ${did}.`;
    this.#deps.notifyAgent(
      `A person had the browser in between.${done} Look at the page again before you go on.`,
    );
    this.#deps.onLent(false);
    loan.over.resolve();
  }
}
