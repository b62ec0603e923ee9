/** One token of terminal output. `raw` is its original text. */
export type Token =
  | { readonly type: "text"; readonly raw: string }
  /** A single control character. */
  | { readonly type: "control"; readonly raw: string }
  /** Colours and the like. */
  | { readonly type: "style"; readonly raw: string }
  /** A cursor move or an erasure: the letter that names it and its first number (0 when left out). */
  | { readonly type: "cursor"; readonly raw: string; readonly final: string; readonly count: number }
  /** A query to the terminal; `reply` returns the answer for a cursor in that column (from 1). */
  | { readonly type: "query"; readonly raw: string; readonly reply: (column: number) => string }
  /** The alternate screen is entered or left. */
  | { readonly type: "screen"; readonly raw: string; readonly isEntered: boolean }
  | { readonly type: "other"; readonly raw: string };

/** Maximum length of an incomplete sequence. */
const longestSequence = 4096;

/** Splits terminal output into tokens; `rest` is an incomplete sequence at its end. */
export function tokenize(text: string): { readonly tokens: Token[]; readonly rest: string } {
  const tokens: Token[] = [];
  pattern.lastIndex = 0;
  let at = 0;
  while (at < text.length) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    const raw = match?.[0] ?? text.charAt(at);
    const isOpen = match?.groups?.["open"] !== undefined;
    if (isOpen && raw.length <= longestSequence) return { tokens, rest: raw };
    // An introducer without an end is dropped alone, so that the text after it stays.
    const taken = isOpen ? raw.slice(0, 2) : raw;
    tokens.push(toToken(taken, match?.groups ?? {}));
    at += taken.length;
  }
  return { tokens, rest: "" };
}

// Sticky, one alternative per form. Strings (OSC, DCS, ...) end at BEL or ESC \; a newline in one means it was none.
const pattern = new RegExp(
  [
    String.raw`(?<text>[^\u0000-\u0008\u000a-\u001f\u007f-\u009f]+)`,
    String.raw`(?<csi>\u001b\[(?<parameters>[0-?]*)[ -/]*(?<final>[@-~]))`,
    String.raw`(?<string>\u001b[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\))`,
    String.raw`(?<open>\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b\n]*\u001b?|[ -/]*)$)`,
    String.raw`(?<escape>\u001b[ -/]*[0-~])`,
    String.raw`(?<control>[^])`,
  ].join("|"),
  "y",
);

const moves = new Set("ABCDEFGHJKP@df`su");

function toToken(raw: string, groups: Readonly<Record<string, string | undefined>>): Token {
  if (groups["text"] !== undefined) return { type: "text", raw };
  if (groups["control"] !== undefined) return { type: "control", raw };
  if (groups["csi"] !== undefined) return toSequence(raw, groups["parameters"] ?? "", groups["final"] ?? "");
  if (raw === "\u001b7" || raw === "\u001b8" || raw === "\u001bM") {
    return { type: "cursor", raw, final: raw.charAt(1), count: 1 };
  }
  if (raw === "\u001bc") return { type: "cursor", raw, final: "H", count: 1 };
  return { type: "other", raw };
}

function toSequence(raw: string, parameters: string, final: string): Token {
  if (final === "m" && /^[\d;:]*$/.test(parameters)) return { type: "style", raw };
  const numbers = parameters.replace(/^[?>=<]/, "").split(";");
  if (parameters.startsWith("?") && (final === "h" || final === "l")) {
    const isScreen = numbers.some((number) => number === "1049" || number === "1047" || number === "47");
    return isScreen ? { type: "screen", raw, isEntered: final === "h" } : { type: "other", raw };
  }
  const reply = replies.get(`${parameters}${final}`);
  if (reply !== undefined) return { type: "query", raw, reply };
  if (/^[?>=<]/.test(parameters) || !moves.has(final)) return { type: "other", raw };
  if (final === "s" || final === "u")
    return { type: "cursor", raw, final: final === "s" ? "7" : "8", count: 1 };
  return { type: "cursor", raw, final, count: Number(numbers[0]) || 0 };
}

/** Replies to queries of programs: status, cursor position, terminal type. */
const replies = new Map<string, (column: number) => string>([
  ["5n", () => "\u001b[0n"],
  ["6n", (column) => `\u001b[1;${column}R`],
  ["c", () => "\u001b[?62;22c"],
  ["0c", () => "\u001b[?62;22c"],
  [">c", () => "\u001b[>0;10;1c"],
  [">0c", () => "\u001b[>0;10;1c"],
]);
