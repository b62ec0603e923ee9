import { join } from "node:path";
import type { startTestServer } from "@convoke/server/testing";
import { Chat } from "../chat.ts";
import { History } from "../input/history.ts";
import { Attention } from "../screen/attention.ts";
import { Screen, type Size } from "../screen/screen.ts";
import { PlainScreen } from "../screen/plain-screen.ts";
import { readTheme } from "../screen/theme-file.ts";
import { ChangeableTheme, createTheme, styles } from "../screen/theme.ts";
import type { LastConversation } from "../talk/offer.ts";
import { HeadlessTerminal } from "./headless-terminal.ts";

const themeOptions = { hasColour: true, isAscii: false, mayMove: false };

type TestServer = Awaited<ReturnType<typeof startTestServer>>;

export type PlayOptions = {
  readonly size?: Size;
  readonly firstRows?: number;
  /** For screen readers. */
  readonly isPlain?: boolean;
  /** A conversation that is offered at the start. */
  readonly last?: LastConversation;
  /** Of new conversations. */
  readonly start?: Parameters<TestServer["startRequest"]>[0];
};

/** A chat on a test server, with a terminal in memory and a clock that stands still until it is told. */
export class PlayedChat implements AsyncDisposable {
  readonly chat: Chat;
  readonly terminal: HeadlessTerminal;
  /** All that was written, in order. */
  readonly writes: string[] = [];
  readonly pages: string[] = [];
  #size: Size;
  #now = Date.parse("2026-01-31T12:00:00Z");
  #played = 0;
  #onInput: (text: string) => void = () => {};
  #onResize: () => void = () => {};
  /** Resolves when the person has left. */
  ended: Promise<void> = Promise.resolve();

  private constructor(
    server: TestServer,
    history: History,
    { size, firstRows = 40, start = {}, isPlain = false }: PlayOptions,
  ) {
    this.#size = size ?? { columns: 80, rows: 24 };
    this.terminal = new HeadlessTerminal(this.#size);
    const theme = new ChangeableTheme(createTheme(themeOptions));
    const write = (text: string): void => void this.writes.push(text);
    const sizeNow = (): Size => this.#size;
    this.chat = new Chat({
      client: server.client,
      terminal: {
        get size() {
          return sizeNow();
        },
        write,
        listen: (onInput, onResize) => {
          this.#onInput = onInput;
          this.#onResize = onResize;
        },
        enter: () => {},
        lend: (act) => act(),
        suspend: async () => {},
      },
      screen: isPlain
        ? new PlainScreen({ write, size: this.#size, nowMs: () => this.#now })
        : new Screen(write, this.#size),
      theme,
      history,
      attention: new Attention({ write, notifications: "bell", hasTitle: !isPlain, isTmux: false }),
      nowMs: () => this.#now,
      later: (ms, callback) => {
        const timer = setTimeout(callback, Math.min(ms, 20));
        return () => clearTimeout(timer);
      },
      isVerbose: false,
      firstRows,
      plansFirst: false,
      begin: (content, { plansFirst }) =>
        server.client.startConversation({
          ...withPlan(server.startRequest(start), plansFirst),
          initial_message: { role: "user", content, run: true },
        }),
      page: async (text) => void this.pages.push(text),
      edit: async (text) => `${text} edited\n`,
      themes: {
        names: async () => Object.keys(styles),
        use: async (name) => theme.change(createTheme(themeOptions, await readTheme(name, server.folder))),
      },
      readClipboardImage: async () => ({ name: "clipboard.png", url: "data:image/png;base64,iVBORw0KGgo=" }),
    });
  }

  static async open(
    server: TestServer,
    options: PlayOptions = {},
    id: string | null = null,
  ): Promise<PlayedChat> {
    const history = await History.open(join(server.folder, "history"), server.workspaceDir);
    const played = new PlayedChat(server, history, options);
    if (id !== null) await played.chat.open(id);
    if (options.last !== undefined) played.chat.offer(options.last);
    played.ended = played.chat.run();
    return played;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.chat.leave();
    await this.ended;
  }

  /** What a person types, with `\r` for enter. */
  type(text: string): void {
    this.#onInput(text);
  }

  /** Lets the clock go on. */
  wait(ms: number): void {
    this.#now += ms;
  }

  resize(size: Size): void {
    this.#size = size;
    this.terminal.resize(size.columns, size.rows);
    this.#onResize();
  }

  /** The window as soon as it has all of the texts, and none of `without`. Rejects after a minute. */
  async window(texts: readonly string[], without: readonly string[] = []): Promise<string> {
    const startMs = performance.now();
    for (;;) {
      for (; this.#played < this.writes.length; this.#played += 1)
        await this.terminal.write(this.writes[this.#played]!);
      const window = this.terminal.window();
      if (texts.every((text) => window.includes(text)) && !without.some((text) => window.includes(text)))
        return window;
      if (performance.now() - startMs > 60_000)
        throw new Error(
          `After a minute the window has not ${texts.join(", ")}, or still one of ${without.join(", ")}:\n${window}`,
        );
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

function withPlan(request: ReturnType<TestServer["startRequest"]>, plansFirst: boolean) {
  if (!plansFirst) return request;
  return {
    ...request,
    agent: { ...request.agent, system_prompt_filename: "system_prompt_planning.j2" },
  };
}
