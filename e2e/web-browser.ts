import { readFile } from "node:fs/promises";
import path from "node:path";
import { findSteadyPort } from "@convoke/server/testing";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launchBrowser, type LaunchOptions } from "./launch-browser.ts";
import { CommandFolder, type Started } from "./run-command.ts";

export { noBrowser } from "./launch-browser.ts";

/** Timeout in milliseconds for what an idle machine shows at once. */
const timeoutMs = 90_000;

export const desktop = { viewport: { width: 1440, height: 900 } } as const;
/** The default device of a page. */
export const isPhone = process.env["CONVOKE_WEB_SIZE"] === "phone";
export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;

/** A built server, with a scripted model unless `turns` is null, and a browser for its page. */
export class WebBrowser implements AsyncDisposable {
  readonly place: CommandFolder;
  /** Faults in any page: errors, policy reports, requests to other hosts. Must stay empty. */
  readonly faults: string[] = [];
  readonly #browser: Browser;
  readonly #port: number;
  #server: Started;

  private constructor(place: CommandFolder, browser: Browser, server: Started) {
    this.place = place;
    this.#browser = browser;
    this.#server = server;
    this.#port = Number(new URL(server.ready.url).port);
  }

  static async open(
    turns: readonly object[] | null,
    prepare: (place: CommandFolder) => Promise<unknown> = async () => {},
    options: LaunchOptions = {},
  ): Promise<WebBrowser> {
    const place = await CommandFolder.open();
    await prepare(place);
    const model = turns === null ? null : await place.startModel(turns);
    const server = await place.start(serveArgs(await findSteadyPort()));
    const browser = await launchBrowser(options);
    const self = new WebBrowser(place, browser, server);
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

  /** A new browser, logged in by a one-time link for the key's user; another address is another way to the same server. */
  async logIn(
    options: BrowserContextOptions = isPhone ? phone : desktop,
    address = this.url,
    key?: string,
  ): Promise<Page> {
    const { url } = await this.call("POST", "/api/auth/tickets", undefined, key);
    const context = await this.#browser.newContext({ locale: "en-GB", ...options });
    context.setDefaultTimeout(timeoutMs);
    context.setDefaultNavigationTimeout(timeoutMs);
    const page = await context.newPage();
    this.#watch(page);
    await page.goto(String(url).replace(this.url, address));
    await page.getByRole("textbox", { name: /^(Message|Nachricht)$/ }).waitFor();
    return page;
  }

  /** A new browser without a login, at an address. */
  async visit(url: string, options: BrowserContextOptions = isPhone ? phone : desktop): Promise<Page> {
    const context = await this.#browser.newContext({ locale: "en-GB", ...options });
    context.setDefaultTimeout(timeoutMs);
    context.setDefaultNavigationTimeout(timeoutMs);
    const page = await context.newPage();
    this.#watch(page);
    await page.goto(url);
    return page;
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
    await this.#browser.close();
    await this.place[Symbol.asyncDispose]();
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
