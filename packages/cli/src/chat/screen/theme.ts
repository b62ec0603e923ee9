import type { Paint } from "../../print/paint.ts";

/** Signs before lines. */
export type Signs = Readonly<
  Record<
    | "user"
    | "answer"
    | "thought"
    | "command"
    | "edit"
    | "read"
    | "search"
    | "agent"
    | "tool"
    | "note"
    | "ok"
    | "failed"
    | "rejected"
    | "gap"
    | "ask"
    | "dot",
    string
  >
>;

export type Theme = { readonly paint: Paint; readonly signs: Signs; readonly spinner: readonly string[] };

const signs: Signs = {
  user: ">",
  answer: "●",
  thought: "✻",
  command: "$",
  edit: "~",
  read: "<",
  search: "/",
  agent: "⤷",
  tool: "·",
  note: "·",
  ok: "✓",
  failed: "✗",
  rejected: "⊘",
  gap: "⋮",
  ask: "?",
  dot: " · ",
};

/** Also for screen readers: each sign that stands for a word is one. */
const asciiSigns: Signs = {
  ...signs,
  answer: "*",
  thought: "thought:",
  agent: "agent",
  tool: "-",
  note: "-",
  ok: "ok",
  failed: "failed:",
  rejected: "rejected",
  gap: "...",
  dot: " | ",
};

const same = (text: string): string => text;
const colourless: Paint = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

/** The 16 colours that the person chose for their terminal, so that light and dark both read. */
const colours: Paint = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  red: sgr(31, 39),
  green: sgr(32, 39),
  yellow: sgr(33, 39),
  cyan: sgr(36, 39),
};

export type ThemeOptions = {
  readonly hasColour: boolean;
  readonly isAscii: boolean;
  /** False where nothing may move by itself. */
  readonly mayMove: boolean;
};

export function createTheme({ hasColour, isAscii, mayMove }: ThemeOptions): Theme {
  const frames = isAscii ? ["|", "/", "-", "\\"] : ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"];
  return {
    paint: hasColour ? colours : colourless,
    signs: isAscii ? asciiSigns : signs,
    spinner: mayMove ? frames : [isAscii ? "*" : "●"],
  };
}

function sgr(open: number, close: number): (text: string) => string {
  return (text) => (text === "" ? "" : `\u001b[${open}m${text}\u001b[${close}m`);
}
