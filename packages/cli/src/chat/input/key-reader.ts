/** One press of a key, a paste, or a change of focus. */
export type Key =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "key";
      /** `enter`, `escape`, `up`, or a letter with ctrl or alt. */
      readonly name: string;
      readonly ctrl: boolean;
      readonly alt: boolean;
      readonly shift: boolean;
    }
  | { readonly type: "paste"; readonly text: string }
  | { readonly type: "focus"; readonly isFocused: boolean };

const pasteBegin = "\u001b[200~";
const pasteEnd = "\u001b[201~";
/** Longer than the pause inside a sequence that comes over a network, shorter than a person notices. */
const escapeMs = 40;

const finals: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  Z: "tab",
};
const numbered: Readonly<Record<string, string>> = {
  1: "home",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
};
const controls: Readonly<Record<string, string>> = {
  "\r": "enter",
  "\t": "tab",
  "\u001b": "escape",
  "\u007f": "backspace",
  "\b": "backspace",
};
const named: Readonly<Record<number, string>> = { 9: "tab", 13: "enter", 27: "escape", 127: "backspace" };

export type KeyReaderDeps = {
  readonly onKey: (key: Key) => void;
  /** Calls back after `ms`; returns a function that cancels it. */
  readonly later: (ms: number, callback: () => void) => () => void;
};

/** Reads keys from what a terminal sends: also pastes, and keys of the kitty protocol, whose pieces may come one by one. */
export class KeyReader implements Disposable {
  readonly #deps: KeyReaderDeps;
  #rest = "";
  #cancel = (): void => {};

  constructor(deps: KeyReaderDeps) {
    this.#deps = deps;
  }

  take(chunk: string): void {
    this.#cancel();
    this.#rest += chunk;
    while (this.#rest !== "") {
      const used = this.#next(this.#rest);
      if (used === 0) break;
      this.#rest = this.#rest.slice(used);
    }
    // A lone escape is a key, if nothing follows.
    if (this.#rest !== "" && !this.#rest.startsWith(pasteBegin))
      this.#cancel = this.#deps.later(escapeMs, () => this.#giveUp());
  }

  [Symbol.dispose](): void {
    this.#cancel();
  }

  #giveUp(): void {
    const rest = this.#rest;
    this.#rest = "";
    if (!rest.startsWith("\u001b")) return;
    this.#press("escape");
    if (rest.length > 1) this.take(rest.slice(1));
  }

  /** Handles what is at the beginning; returns how many characters that was, 0 while it is not whole. */
  #next(text: string): number {
    if (text.startsWith(pasteBegin)) {
      const end = text.indexOf(pasteEnd);
      if (end < 0) return 0;
      this.#deps.onKey({
        type: "paste",
        text: text.slice(pasteBegin.length, end).replaceAll(/\r\n?/gu, "\n"),
      });
      return end + pasteEnd.length;
    }
    if (text[0] === "\u001b") return this.#escape(text);
    // oxlint-disable-next-line no-control-regex -- what has no control character is typed text
    const typed = /^[^\u0000-\u001f\u007f]+/u.exec(text)?.[0];
    if (typed !== undefined) {
      this.#deps.onKey({ type: "text", text: typed });
      return typed.length;
    }
    this.#control(text[0]!, false);
    return 1;
  }

  #control(character: string, alt: boolean): void {
    const name = controls[character];
    if (name !== undefined) return this.#press(name, { alt });
    if (character === "\n") return this.#press("j", { ctrl: true, alt });
    const letter = String.fromCharCode(character.charCodeAt(0) + 96);
    this.#press(character === "\u0000" ? "space" : letter, { ctrl: true, alt });
  }

  #escape(text: string): number {
    if (text.length === 1) return 0;
    // oxlint-disable-next-line no-control-regex -- a control sequence
    const csi = /^\u001b\[([0-9;:<=>?]*)([ -/]*)([@-~])/.exec(text);
    if (csi !== null) {
      this.#sequence(csi[1]!, csi[3]!);
      return csi[0].length;
    }
    if (text[1] === "[") return 0;
    if (text[1] === "O") {
      if (text.length === 2) return 0;
      this.#sequence("", text[2]!);
      return 3;
    }
    const character = text.slice(1, 2);
    // oxlint-disable-next-line no-control-regex -- the same
    if (/[\u0000-\u001f\u007f]/u.test(character)) {
      if (character === "\u001b") this.#press("escape");
      else this.#control(character, true);
      return character === "\u001b" ? 1 : 2;
    }
    this.#press(character.toLowerCase(), { alt: true, shift: character !== character.toLowerCase() });
    return 2;
  }

  #sequence(parameters: string, final: string): void {
    const [first = "", second = ""] = parameters.split(";");
    if (final === "I" || final === "O") return this.#deps.onKey({ type: "focus", isFocused: final === "I" });
    const code = Number(first.split(":")[0]);
    const bits = Math.max(0, Number(second.split(":")[0] || "1") - 1);
    const held = { shift: (bits & 1) !== 0, alt: (bits & 2) !== 0, ctrl: (bits & 4) !== 0 };
    if (final === "u") return this.#pressCode(code, held);
    // xterm's way to tell keys with modifiers: 27 ; modifiers ; code.
    if (final === "~" && code === 27) return this.#pressCode(Number(parameters.split(";")[2]), held);
    const name = final === "~" ? numbered[first] : finals[final];
    if (name !== undefined) this.#press(name, { ...held, ...(final === "Z" ? { shift: true } : {}) });
  }

  #pressCode(code: number, held: Held): void {
    const name = named[code] ?? (code === 32 ? "space" : String.fromCodePoint(code || 0xfffd).toLowerCase());
    if (held.ctrl || held.alt || named[code] !== undefined) this.#press(name, held);
    else if (code >= 32) this.#deps.onKey({ type: "text", text: String.fromCodePoint(code) });
  }

  #press(name: string, { ctrl = false, alt = false, shift = false }: Partial<Held> = {}): void {
    this.#deps.onKey({ type: "key", name, ctrl, alt, shift });
  }
}

type Held = { readonly ctrl: boolean; readonly alt: boolean; readonly shift: boolean };
