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

/** What a person may choose of a theme. */
export type ThemeStyle = { readonly paint: Paint; readonly signs: Partial<Signs> };

/** The 16 colours that the person chose for their terminal, so that light and dark both read. */
const ownColours: Paint = {
  bold: sgr([1], [22]),
  dim: sgr([2], [22]),
  red: sgr([31], [39]),
  green: sgr([32], [39]),
  yellow: sgr([33], [39]),
  cyan: sgr([36], [39]),
};

/** The themes that need no file. */
export const styles = {
  default: { paint: ownColours, signs: {} },
  mono: {
    paint: { ...colourless, bold: ownColours.bold, dim: ownColours.dim, red: ownColours.bold },
    signs: {},
  },
  /** Nothing is dim, and warnings are inverse: yellow does not read on white. */
  "high-contrast": {
    paint: {
      ...ownColours,
      dim: same,
      red: sgr([1, 31], [22, 39]),
      green: sgr([1, 32], [22, 39]),
      yellow: sgr([1, 7], [22, 27]),
      cyan: sgr([1, 36], [22, 39]),
    },
    signs: {},
  },
} as const satisfies Readonly<Record<string, ThemeStyle>>;

export type ThemeOptions = {
  readonly hasColour: boolean;
  readonly isAscii: boolean;
  /** False where nothing may move by itself. */
  readonly mayMove: boolean;
};

/** With ASCII the style's signs do not count. */
export function createTheme(
  { hasColour, isAscii, mayMove }: ThemeOptions,
  style: ThemeStyle = styles.default,
): Theme {
  const frames = isAscii ? ["|", "/", "-", "\\"] : ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"];
  return {
    paint: hasColour ? style.paint : colourless,
    signs: isAscii ? asciiSigns : { ...signs, ...style.signs },
    spinner: mayMove ? frames : [isAscii ? "*" : "●"],
  };
}

/** A theme that may become another one: what is drawn from then on looks like it. */
export class ChangeableTheme implements Theme {
  #theme: Theme;

  constructor(theme: Theme) {
    this.#theme = theme;
  }

  get paint(): Paint {
    return this.#theme.paint;
  }

  get signs(): Signs {
    return this.#theme.signs;
  }

  get spinner(): readonly string[] {
    return this.#theme.spinner;
  }

  change(theme: Theme): void {
    this.#theme = theme;
  }
}

/** Text between the codes that begin and end its look. */
export function sgr(open: readonly number[], close: readonly number[]): (text: string) => string {
  return (text) => (text === "" ? "" : `\u001b[${open.join(";")}m${text}\u001b[${close.join(";")}m`);
}

/** The names of signs that a style may replace. */
export const signNames = Object.keys(signs) as readonly (keyof Signs)[];
