import { join } from "node:path";
import type { Action, BrowserObservation } from "@convoke/protocol";
import type { BrowserContext, Page } from "playwright-core";
import type { AttachBrowser } from "../../browser-attachment.ts";
import { maskText } from "../../processes/mask.ts";
import {
  ToolInputError,
  type ToolCall,
  type ToolContext,
  type ToolInstance,
  type ToolSecret,
} from "../../tool.ts";
import { act } from "./act.ts";
import { parseBrowserParams, type BrowserParams } from "./browser-params.ts";
import { BrowserNotes } from "./browser-notes.ts";
import type { BrowserProcess, BrowserSpec } from "./browser-process.ts";
import { DomainGate } from "./domain-gate.ts";
import { OwnAddresses } from "./own-addresses.ts";
import { Camera } from "./camera.ts";
import { ElementIndex } from "./element-index.ts";
import type { OpenBrowser } from "./open-browser.ts";
import { observe, type Answer } from "./observe-browser.ts";
import { LiveBrowser } from "./live/live-browser.ts";
import { Recorder } from "./recording.ts";
import { saveDownload } from "./save-download.ts";
import { Tabs } from "./tabs.ts";

export type BrowserSessionDeps = {
  readonly process: BrowserProcess;
  readonly spec: Omit<BrowserSpec, "startMs">;
  readonly context: ToolContext;
};

/** After this many consecutive timeouts an action gets little time, and then the browser is restarted. */
const patientTimeouts = 2;
const maxTimeouts = 3;
const hurriedMs = 30_000;
/** Two crashes within this many milliseconds are blamed on the same tabs. */
const crashMs = 60_000;
const longestDownloadMs = 30_000;

/** The browser of one conversation: a context that is opened by the first action, and reopened after a crash. */
export class BrowserSession implements ToolInstance {
  readonly #deps: BrowserSessionDeps;
  readonly #params: BrowserParams;
  readonly #directory: string;
  readonly #recorder: Recorder;
  #open: OpenBrowser | undefined;
  #gate: DomainGate | undefined;
  #secrets: readonly ToolSecret[] = [];
  readonly #notes = new BrowserNotes();
  readonly #downloads = new Set<Promise<void>>();
  #hasDownloaded = false;
  /** Tabs that pages have opened and that are not in front yet. */
  readonly #arriving = new Set<Promise<void>>();
  #timeouts = 0;
  #crashedAtMs = -Infinity;
  #idle: NodeJS.Timeout | undefined;
  #urls: readonly string[] = [];
  #isActing = false;
  #hasBeenOpen = false;
  readonly #live: LiveBrowser;
  /** State for the next context: after an idle time everything that the last one had. */
  #left: {
    readonly urls: readonly string[];
    readonly storage?: Awaited<ReturnType<BrowserContext["storageState"]>>;
  } = { urls: [] };

  constructor(deps: BrowserSessionDeps) {
    this.#deps = deps;
    this.#params = parseBrowserParams(deps.context.params);
    this.#directory = join(deps.context.stateDir, "observations");
    this.#recorder = new Recorder(this.#directory, (text) => maskText(text, this.#secrets));
    this.#live = new LiveBrowser({
      isActing: () => this.#isActing,
      wake: () => (this.#hasBeenOpen ? this.#browser() : null),
      notifyAgent: (note) => this.#notes.add(note),
      onLent: (isLent) => (isLent ? clearTimeout(this.#idle) : this.#rest()),
    });
  }

  /** For people who watch the browser, see `AttachBrowser`. */
  get browser(): AttachBrowser {
    return this.#live.attach;
  }

  async execute(action: Action, call: ToolCall): Promise<BrowserObservation> {
    this.#secrets = call.secrets;
    this.#live.setSecrets(call.secrets);
    if (!(await this.#live.untilReturned(call))) call.signal.throwIfAborted();
    clearTimeout(this.#idle);
    this.#hasDownloaded = false;
    this.#isActing = true;
    let answer: Answer;
    try {
      answer = await this.#answer(action, call.signal);
      await Promise.all(this.#arriving);
    } finally {
      this.#isActing = false;
    }
    this.#openUrls();
    this.#rest();
    return await observe(answer, this.#notes.take(), this.#directory);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#live.end();
    clearTimeout(this.#idle);
    await this.#close();
  }

  /** Starts the idle timeout after which the browser is suspended. */
  #rest(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.#sleep(), this.#params.idleMs);
    this.#idle.unref();
  }

  async #answer(action: Action, signal: AbortSignal): Promise<Answer> {
    const limit =
      this.#timeouts >= patientTimeouts ? Math.min(hurriedMs, this.#params.actionMs) : this.#params.actionMs;
    const timer = new AbortController();
    const ended = AbortSignal.any([signal, timer.signal]);
    let timeout: NodeJS.Timeout | undefined;
    try {
      // Starting has a timeout of its own.
      const browser = await untilAborted(this.#browser(), signal);
      timeout = setTimeout(() => timer.abort(new ActionTimeout()), limit);
      const answer = await untilAborted(act(action, browser, this.#secrets), ended);
      // Requests to a closed page can appear to succeed.
      if (browser.context.browser()?.isConnected() !== true) throw new Error("The browser crashed.");
      this.#timeouts = 0;
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ActionTimeout || isTimeout(error)) return await this.#timedOut(limit, error);
      this.#timeouts = 0;
      if (error instanceof ToolInputError) return { text: error.message, isError: true };
      return { text: await this.#explain(error), isError: true };
    } finally {
      clearTimeout(timeout);
    }
  }

  /** A crashed browser is reported with what was lost, and restarted by the next action. */
  async #explain(error: unknown): Promise<string> {
    const isGone = this.#open?.context.browser()?.isConnected() !== true;
    const message = String(error instanceof Error ? error.message : error).split("\n")[0]!;
    if (this.#open === undefined) return `The browser could not be started: ${message}`;
    const isPageCrash = /crashed/i.test(message);
    if (!isGone && !isPageCrash) return `The browser refused: ${message.replace(/^\w+(?:\.\w+)?: /, "")}`;
    return `The browser crashed in this action. It is started again by the next one, ${await this.#recover()}.`;
  }

  async #timedOut(limitMs: number, error: unknown): Promise<Answer> {
    this.#timeouts += 1;
    const reason = error instanceof ActionTimeout ? "" : ` (${(error as Error).message.split("\n")[0]})`;
    const text = `The action did not end within ${Math.round(limitMs / 1_000)} s${reason}.`;
    if (this.#timeouts < maxTimeouts)
      return { text: `${text} The page may be busy or slow: try again, or go elsewhere.`, isError: true };
    this.#timeouts = 0;
    await this.#restart();
    return {
      text: `${text} It was the third in a row, so the browser is started again by the next action, with the same tabs; logins and what was typed are lost.`,
      isError: true,
    };
  }

  /** Restores after a crash and reports what is left. Tabs that crash the browser twice are not reopened. */
  async #recover(): Promise<string> {
    const isAgain = performance.now() - this.#crashedAtMs < crashMs;
    this.#crashedAtMs = performance.now();
    await this.#restart();
    if (!isAgain) return "with the same tabs; logins and what was typed are lost";
    this.#left = { urls: [] };
    return "without its tabs, as they made it crash again; logins and what was typed are lost";
  }

  async #restart(): Promise<void> {
    const urls = this.#openUrls();
    await this.#close();
    this.#left = { urls };
  }

  /** Suspends an idle browser: frees its memory and stores its state for the next action. */
  async #sleep(): Promise<void> {
    const open = this.#open;
    if (open === undefined || this.#recorder.isOn || this.#live.isLent || this.#isActing) return;
    const urls = this.#openUrls();
    // A browser that does not answer is restarted from scratch.
    const storage = await open.context.storageState().catch(() => undefined);
    if (this.#open !== open) return;
    await this.#close();
    this.#left = { urls, ...(storage === undefined ? {} : { storage }) };
  }

  /** After a crash no page can be queried any more. */
  #openUrls(): readonly string[] {
    const pages = this.#open?.context.pages() ?? [];
    if (pages.length > 0) this.#urls = pages.map((page) => page.url()).filter((url) => /^https?:/.test(url));
    return this.#urls;
  }

  async #close(): Promise<void> {
    const open = this.#open;
    const gate = this.#gate;
    this.#open = undefined;
    this.#gate = undefined;
    this.#live.closed();
    await this.#recorder.forget();
    if (open !== undefined) await this.#deps.process.release(open.context);
    await gate?.[Symbol.asyncDispose]();
  }

  async #browser(): Promise<OpenBrowser> {
    if (this.#open !== undefined) {
      if (this.#open.context.browser()?.isConnected() === true) return this.#open;
      this.#notes.add(`The browser had crashed and was started again ${await this.#recover()}.`);
    }
    const { urls, storage } = this.#left;
    const context = await this.#deps.process.openContext(
      { ...this.#deps.spec, startMs: this.#params.startMs },
      {
        acceptDownloads: true,
        ...(await this.#proxy()),
        ...(storage === undefined ? {} : { storageState: storage }),
      },
    );
    const open = await this.#prepare(context);
    this.#open = open;
    this.#hasBeenOpen = true;
    this.#left = { urls: [] };
    context.on("close", () => this.#open === open && this.#live.closed());
    this.#live.opened(open);
    for (const url of urls) {
      const page = await context.newPage();
      // A tab that cannot be reopened reports it when it is used.
      await page.goto(url, { waitUntil: "domcontentloaded", timeout: 10_000 }).catch(() => {});
    }
    this.#notes.drop(/A new tab/);
    return open;
  }

  /** With allowed domains or closed addresses, all traffic goes through a gate, including to addresses of this machine. */
  async #proxy(): Promise<{ readonly proxy?: { readonly server: string; readonly bypass: string } }> {
    const { allowedDomains: domains } = this.#params;
    const { environment, closedAddresses } = this.#deps.spec;
    if (domains === null && closedAddresses.length === 0) return {};
    const onRefused = (address: string): void => {
      const note = `The page wanted something of ${address}, which is not among the allowed domains; it did not get it.`;
      this.#notes.addOnce(note);
    };
    const onClosed = (address: string): void => {
      const note = `The page wanted something of ${address}, which is the server that you work for; pages do not reach it.`;
      this.#notes.addOnce(note);
    };
    const closed = new OwnAddresses(closedAddresses);
    this.#gate = await DomainGate.open({ domains, closed, environment, onRefused, onClosed });
    return { proxy: { server: this.#gate.address, bypass: "<-loopback>" } };
  }

  async #prepare(context: BrowserContext): Promise<OpenBrowser> {
    const { scripts } = this.#params;
    const tabs = new Tabs(context);
    const indexes = new WeakMap<Page, ElementIndex>();
    const elementsOf = (page: Page): ElementIndex => {
      const known = indexes.get(page) ?? new ElementIndex(page);
      indexes.set(page, known);
      return known;
    };
    context.on("page", (page) => this.#watch(page, tabs));
    for (const content of scripts) await context.addInitScript({ content });
    return {
      context,
      tabs,
      camera: new Camera(),
      recorder: this.#recorder,
      params: this.#params,
      workspaceDir: this.#deps.context.workspaceDir,
      elementsOf,
      downloaded: () => this.#downloaded(),
      note: (text) => this.#notes.add(text),
    };
  }

  #watch(page: Page, tabs: Tabs): void {
    tabs.add(page);
    page.on("dialog", (dialog) => {
      const kind = dialog.type();
      const isAccepted = kind !== "prompt";
      if (kind !== "beforeunload")
        this.#notes.add(
          `The page showed a dialog (${kind}): "${dialog.message().slice(0, 500)}". It was ${isAccepted ? "accepted" : "dismissed"}.`,
        );
      // A closed page takes its dialog with it.
      (isAccepted ? dialog.accept() : dialog.dismiss()).catch(() => {});
    });
    page.on("download", (download) => {
      this.#hasDownloaded = true;
      const saving = saveDownload(download, this.#deps.context.workspaceDir)
        .then((note) => this.#notes.add(note))
        .finally(() => this.#downloads.delete(saving));
      this.#downloads.add(saving);
    });
    page.on("crash", () => this.#notes.add("The page crashed. Open its address again."));
    const arriving = this.#arrive(page, tabs).finally(() => this.#arriving.delete(arriving));
    this.#arriving.add(arriving);
  }

  /** Brings a tab that a page opened to the front, unless it is closed again. */
  async #arrive(page: Page, tabs: Tabs): Promise<void> {
    try {
      if ((await page.opener()) === null) return;
      // Reported with the address that it has by then.
      await page.waitForLoadState("domcontentloaded", { timeout: 4_000 }).catch(() => {});
      const id = await tabs.idOf(page);
      if (page.isClosed() || id === "") return;
      await tabs.focus(page);
      this.#notes.add(`A new tab ${id} opened and is in front: ${page.url()}`);
    } catch (error) {
      if (!page.isClosed())
        this.#notes.add(`A new tab opened and could not be shown: ${String(error).split("\n")[0]}`);
    }
  }

  async #downloaded(): Promise<boolean> {
    if (this.#downloads.size === 0) return this.#hasDownloaded;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, longestDownloadMs);
    });
    await Promise.race([Promise.all(this.#downloads), late]);
    clearTimeout(timer);
    if (this.#downloads.size > 0)
      this.#notes.add("A download is still under way; its end is told with a later action.");
    return true;
  }
}

class ActionTimeout extends Error {
  override readonly name = "ActionTimeout";
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

/** Rejects with the signal's reason as soon as it aborts; the work may continue. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  // After an abort nobody handles its failure.
  work.catch(() => {});
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
