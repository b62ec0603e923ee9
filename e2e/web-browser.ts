import { readFile } from "node:fs/promises";
import path from "node:path";
import { findSteadyPort } from "@convoke/server/testing";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { launchBrowser, sharedBrowser } from "./launch-browser.ts";
import { CommandFolder, type Started } from "./run-command.ts";

export { noBrowser } from "./launch-browser.ts";

/** Timeout in milliseconds for what an idle machine shows at once. */
const timeoutMs = 90_000;

export const desktop = { viewport: { width: 1440, height: 900 } } as const;
/** The default device of a page. */
export const isPhone = process.env["CONVOKE_WEB_SIZE"] === "phone";
export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;
/** By their names in titles of tests. */
export const devices = [
  ["at a desk", desktop],
  ["on a phone", phone],
] as const;
const usualDevice = isPhone ? phone : desktop;

/** That of the process, which its other tests use too; or one of its own, `whole` with what the headless shell lacks: notifications. */
export type WhichBrowser = "shared" | "own" | "whole";

/** A built server, with a scripted model unless `turns` is null, and contexts of a browser for its page. */
export class WebBrowser implements AsyncDisposable {
  readonly place: CommandFolder;
  /** Faults in any page: errors, policy reports, requests to other hosts. Must stay empty. */
  readonly faults: string[] = [];
  readonly #browser: Browser;
  readonly #isOwnBrowser: boolean;
  readonly #contexts: BrowserContext[] = [];
  readonly #port: number;
  #server: Started;

  private constructor(place: CommandFolder, browser: Browser, isOwnBrowser: boolean, server: Started) {
    this.place = place;
    this.#browser = browser;
    this.#isOwnBrowser = isOwnBrowser;
    this.#server = server;
    this.#port = Number(new URL(server.ready.url).port);
  }

  static async open(
    turns: readonly object[] | null,
    prepare: (place: CommandFolder) => Promise<unknown> = async () => {},
    which: WhichBrowser = "shared",
  ): Promise<WebBrowser> {
    const place = await CommandFolder.open();
    await prepare(place);
    const model = turns === null ? null : await place.startModel(turns);
    const server = await place.start(serveArgs(await findSteadyPort()));
    const browser = await (which === "shared"
      ? sharedBrowser()
      : launchBrowser({ isWhole: which === "whole" }));
    const self = new WebBrowser(place, browser, which !== "shared", server);
    if (model === null) return self;
    const llm = { model: "openai/scripted", base_url: `${model}/v1`, api_key: "any", stream: true };
    await self.call("POST", "/api/profiles/scripted", { llm });
    await self.call("POST", "/api/profiles/scripted/activate");
    return self;
  }

  get url(): string {
    return this.#server.ready.url;
  }

  /** With the given key, or with that of the local user. */
  async call(
    method: string,
    route: string,
    body?: unknown,
    given?: string,
  ): Promise<Record<string, unknown>> {
    const key = given ?? (await readFile(path.join(this.place.folder, "data/session-api-key"), "utf8"));
    const reply = await fetch(`${this.url}${route}`, {
      method,
      headers: { "X-Session-API-Key": key.trim(), "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${route}: ${reply.status} ${text}`);
    return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
  }

  /** Creates a conversation in its own folder; returns its id. */
  async converse(text: string | null, more: object = {}): Promise<string> {
    const id = crypto.randomUUID();
    await this.call("POST", "/api/conversations", {
      conversation_id: id,
      title: `Test ${text ?? "without words"}`,
      workspace: { kind: "LocalWorkspace", working_dir: path.join(this.place.folder, id) },
      ...(text === null ? {} : { initial_message: text }),
      ...more,
    });
    return id;
  }

  /** A new context at home, logged in by a one-time link. */
  async logIn(options: BrowserContextOptions = usualDevice): Promise<Page> {
    const page = await this.logInAt("/", options);
    await page.getByRole("textbox", { name: /^(Message|Nachricht)$/ }).waitFor();
    return page;
  }

  /**
   * A new context at a path of the page, logged in by a one-time link that leads there: one load, where a login and a way to the path are
   * two. The link is for the key's user; another address is another way to the same server.
   */
  async logInAt(
    to: string,
    options: BrowserContextOptions = usualDevice,
    { address = this.url, key }: { readonly address?: string; readonly key?: string } = {},
  ): Promise<Page> {
    const { url } = await this.call("POST", "/api/auth/tickets", undefined, key);
    const page = await this.#newPage(options);
    const place = to === "/" ? "" : `&to=${encodeURIComponent(to)}`;
    const [login] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith("/api/auth/login")),
      page.goto(`${String(url).replace(this.url, address)}${place}`),
    ]);
    if (!login.ok()) throw new Error(`the login was refused: ${login.status()}`);
    return page;
  }

  /** A new context without a login, at an address. */
  async visit(url: string, options: BrowserContextOptions = usualDevice): Promise<Page> {
    const page = await this.#newPage(options);
    await page.goto(url);
    return page;
  }

  /** A browser's own cookies and storage, until the server is disposed. */
  async newContext(options: BrowserContextOptions): Promise<BrowserContext> {
    const context = await this.#browser.newContext({ locale: "en-GB", ...options });
    this.#contexts.push(context);
    context.setDefaultTimeout(timeoutMs);
    context.setDefaultNavigationTimeout(timeoutMs);
    return context;
  }

  /** Another tab of the same browser. */
  async tab(page: Page): Promise<Page> {
    const other = await page.context().newPage();
    this.#watch(other);
    return other;
  }

  /** Kills the server and restarts it on the same data and port. */
  async killAndRestart(whileGone: () => Promise<void>): Promise<void> {
    this.#server.child.kill("SIGKILL");
    await this.#server.ended;
    await whileGone();
    this.#server = await this.place.start(serveArgs(this.#port));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#contexts.map((context) => context.close()));
    if (this.#isOwnBrowser) await this.#browser.close();
    await this.place[Symbol.asyncDispose]();
  }

  async #newPage(options: BrowserContextOptions): Promise<Page> {
    const context = await this.newContext(options);
    const page = await context.newPage();
    this.#watch(page);
    return page;
  }

  #watch(page: Page): void {
    page.on("pageerror", (error) => this.faults.push(`error: ${error.message}`));
    page.on("console", (message) => {
      // The browser reports each unanswered request itself; the tests check that the page continues.
      if (message.type() === "error" && !/Failed to load resource|WebSocket connection/.test(message.text()))
        this.faults.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
      const { hostname, protocol } = new URL(request.url());
      if (hostname !== "127.0.0.1" && protocol.startsWith("http")) this.faults.push(`asked ${request.url()}`);
    });
  }
}

function serveArgs(port: number): string[] {
  return ["serve", "--json", "--port", String(port), "--data-dir", "data"];
}
