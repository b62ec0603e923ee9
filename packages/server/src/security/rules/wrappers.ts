import { posix } from "node:path";
import { assignmentProblem } from "./shell-variables.ts";

/** A word as far as it is known before it runs; null: only then. */
export type ShellWord = string | null;

/** What a program starts: a command in words, or a text for a shell. */
export type Started =
  | { readonly words: readonly ShellWord[] }
  | { readonly text: string }
  | { readonly problem: string };

/** `isPlain`: it only starts what it is given, so that an allow rule need not name it as well. */
export type Unwrapped = { readonly isPlain: boolean; readonly started: readonly Started[] };

type Options = {
  /** Letters of options without and with a value. */
  readonly flags?: string;
  readonly valued?: string;
  /** The same for long options. */
  readonly longFlags?: string;
  readonly longValued?: string;
  /** `-10` is an option. */
  readonly hasNumbers?: boolean;
};

type Wrapper = Options & {
  readonly isPlain: boolean;
  /** Operands before the command. */
  readonly before?: number;
  /** Assignments may stand before the command. */
  readonly takesVariables?: boolean;
  /** The words are joined and read by a shell. */
  readonly joins?: boolean;
  /** What is started without operands; a problem unless given. */
  readonly alone?: readonly ShellWord[];
  /** It adds words that are not known, at the end or in the place of the value of `-I`. */
  readonly appends?: boolean;
};

const wrappers: Readonly<Record<string, Wrapper>> = {
  sudo: { isPlain: false, flags: "AbEHnPSkB", valued: "CghpTUur", takesVariables: true },
  doas: { isPlain: false, flags: "n", valued: "u" },
  env: {
    isPlain: true,
    flags: "i0v",
    valued: "u",
    longFlags: "ignore-environment null debug",
    longValued: "unset",
    takesVariables: true,
    alone: [],
  },
  nice: { isPlain: true, valued: "n", longValued: "adjustment", hasNumbers: true, alone: [] },
  ionice: { isPlain: true, flags: "t", valued: "cn", longFlags: "ignore", longValued: "class classdata" },
  nohup: { isPlain: true },
  setsid: { isPlain: true, flags: "cfw", longFlags: "ctty fork wait" },
  stdbuf: { isPlain: true, valued: "ioe", longValued: "input output error" },
  timeout: {
    isPlain: true,
    flags: "fpv",
    valued: "ks",
    longFlags: "foreground preserve-status verbose",
    longValued: "kill-after signal",
    before: 1,
  },
  time: {
    isPlain: true,
    flags: "pvqa",
    valued: "f",
    longFlags: "portability verbose quiet",
    longValued: "format",
  },
  xargs: {
    isPlain: true,
    flags: "0rtpx",
    valued: "nPLsdI",
    longFlags: "null no-run-if-empty verbose interactive exit",
    longValued: "max-args max-procs max-lines max-chars delimiter",
    alone: ["echo"],
    appends: true,
  },
  command: { isPlain: true, flags: "p", alone: [] },
  builtin: { isPlain: true, alone: [] },
  exec: { isPlain: true, flags: "cl", valued: "a" },
  flock: {
    isPlain: false,
    flags: "sxenuoFv",
    valued: "wE",
    longFlags: "shared exclusive nonblock no-fork close verbose",
    longValued: "timeout wait conflict-exit-code",
    before: 1,
  },
  watch: {
    isPlain: false,
    flags: "bcdegptw",
    valued: "n",
    longFlags: "beep color errexit chgexit no-title precise",
    longValued: "interval",
    joins: true,
  },
  ssh: {
    isPlain: false,
    flags: "46AaCfGKkMNnqsTtVvXxYy",
    valued: "bcilmpLRDJW",
    before: 1,
    joins: true,
    alone: [],
  },
};

const shells = new Set(["sh", "bash", "dash", "zsh", "ash", "ksh"]);

/** What the program of a simple command starts; null for a program that starts nothing it is given. */
export function unwrap(words: readonly ShellWord[]): Unwrapped | null {
  const [name, ...rest] = words;
  if (typeof name !== "string") return null;
  const program = posix.basename(name);
  const unwrapped = unwrapProgram(program, rest);
  // A file of the same name somewhere else may be anything.
  const isUsual = name === program || /^\/(?:usr\/)?s?bin\/[^/]+$/u.test(name);
  return unwrapped === null || isUsual ? unwrapped : { ...unwrapped, isPlain: false };
}

function unwrapProgram(program: string, rest: readonly ShellWord[]): Unwrapped | null {
  if (program === "find") return unwrapFind(rest);
  if (shells.has(program)) return unwrapShell(program, rest);
  if (program === "eval") return { isPlain: true, started: [joined(rest)] };
  if (program === "su" || program === "runuser") return { isPlain: false, started: [unwrapSu(rest)] };
  if (program === "parallel") return { isPlain: false, started: [unwrapParallel(rest)] };
  if (program === "command" && /^-[vV]+$/u.test(rest[0] ?? "")) return null;
  const wrapper = Object.hasOwn(wrappers, program) ? wrappers[program] : undefined;
  return wrapper === undefined ? null : unwrapUsual(program, wrapper, rest);
}

function unwrapUsual(program: string, wrapper: Wrapper, rest: readonly ShellWord[]): Unwrapped | null {
  const { isPlain, before = 0, takesVariables, joins, alone, appends } = wrapper;
  const fail = (problem: string): Unwrapped => ({ isPlain, started: [{ problem }] });
  const read = afterOptions(rest, wrapper);
  if (typeof read === "string") return fail(`${program}: ${read}`);
  let operands = read.slice(before);
  if (read.slice(0, before).some((word) => word === null))
    return fail(`${program}: where its command begins is only known when it runs`);
  if (program === "flock" && (operands[0] === "-c" || operands[0] === "--command"))
    return { isPlain, started: [joined(operands.slice(1))] };
  while (operands.length > 0) {
    const variable = takesVariables === true ? /^([A-Za-z_]\w*)=/u.exec(operands[0] ?? "")?.[1] : undefined;
    if (variable === undefined) break;
    const problem = assignmentProblem(variable, true);
    if (problem !== null) return fail(`${program}: ${problem}`);
    operands = operands.slice(1);
  }
  if (operands.length === 0) {
    if (alone === undefined) return fail(`${program} has no command`);
    if (alone.length === 0) return null;
  }
  const words = operands.length === 0 ? alone! : operands;
  if (joins === true) {
    // ssh reads options behind the host as well.
    if (words[0]?.startsWith("-") === true) return fail(`${program}: the option ${words[0]} is not known`);
    return { isPlain, started: [joined(words)] };
  }
  if (appends !== true) return { isPlain, started: [{ words }] };
  const place = placeholder(rest.slice(0, rest.length - read.length));
  if (place === null) return { isPlain, started: [{ words: [...words, null] }] };
  return {
    isPlain,
    started: [{ words: words.map((word) => (word?.includes(place) === true ? null : word)) }],
  };
}

/** The value of the last `-I`; null without one. */
function placeholder(options: readonly ShellWord[]): string | null {
  const at = options.findLastIndex((word) => word?.startsWith("-I"));
  const option = options[at];
  if (typeof option !== "string") return null;
  return option.length > 2 ? option.slice(2) : (options[at + 1] ?? null);
}

/** The words behind the options, or what is wrong with these. */
function afterOptions(words: readonly ShellWord[], options: Options): readonly ShellWord[] | string {
  const { flags = "", valued = "", hasNumbers = false } = options;
  const longFlags = (options.longFlags ?? "").split(" ");
  const longValued = (options.longValued ?? "").split(" ");
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    if (word === null) return "its options are only known when it runs";
    if (word === "--") return words.slice(at + 1);
    if (!word.startsWith("-") || word === "-") return word === "-" ? "the option -" : words.slice(at);
    if (hasNumbers && /^-\d+$/u.test(word)) continue;
    const unknown = `the option ${word} is not known`;
    if (word.startsWith("--")) {
      const [name = "", value] = word.slice(2).split(/=(.*)/su, 2);
      if (longValued.includes(name)) at += value === undefined ? 1 : 0;
      else if (!longFlags.includes(name) || value !== undefined) return unknown;
      continue;
    }
    let first = 1;
    while (first < word.length && flags.includes(word.charAt(first))) first += 1;
    if (first === word.length) continue;
    if (!valued.includes(word.charAt(first))) return unknown;
    if (first === word.length - 1) at += 1;
  }
  return [];
}

const shellFlags = /^-[aefhluvxEinm]*c?[aefhluvxEinm]*$/u;
const shellSettings = new Set(["errexit", "nounset", "pipefail", "noglob", "xtrace", "verbose", "posix"]);

function unwrapShell(program: string, rest: readonly ShellWord[]): Unwrapped | null {
  const fail = (problem: string): Unwrapped => ({
    isPlain: true,
    started: [{ problem: `${program}: ${problem}` }],
  });
  let hasText = false;
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at]!;
    if (word === null) return fail("its options are only known when it runs");
    if (["--norc", "--noprofile", "--login", "--posix"].includes(word)) continue;
    if (/^-[a-z]*o$/u.test(word) && shellFlags.test(word.slice(0, -1))) {
      at += 1;
      if (!shellSettings.has(rest[at] ?? "")) return fail("the option -o is not known");
      hasText ||= word.includes("c");
      continue;
    }
    if (word.startsWith("-") && word !== "--") {
      if (!shellFlags.test(word) || word === "-") return fail(`the option ${word} is not known`);
      hasText ||= word.includes("c");
      continue;
    }
    if (word.startsWith("+")) return fail(`the option ${word} is not known`);
    const text = word === "--" ? rest[at + 1] : word;
    // A script in a file: an allow rule names the shell and the file.
    if (!hasText) return text === undefined ? fail("it reads its script when it runs") : null;
    if (typeof text !== "string") return fail("its script is only known when it runs");
    // Other shells read some texts differently.
    const isKnown = ["sh", "bash", "dash"].includes(program);
    return {
      isPlain: true,
      started: [{ text }, ...(isKnown ? [] : [{ problem: `${program} is not bash` }])],
    };
  }
  return fail(hasText ? "it has no script" : "it reads its script when it runs");
}

function unwrapSu(rest: readonly ShellWord[]): Started {
  const at = rest.findIndex((word) => word === "-c" || word === "--command");
  const others = at === -1 ? rest : [...rest.slice(0, at), ...rest.slice(at + 2)];
  if (
    at === -1 ||
    others.some((word) => word === null || (word.startsWith("-") && !["-", "-l", "--login"].includes(word)))
  )
    return { problem: "su: what it runs is only known when it runs" };
  return joined(rest.slice(at + 1, at + 2));
}

/** With what it puts in the place of `{}` unknown. */
function unwrapParallel(rest: readonly ShellWord[]): Started {
  const read = afterOptions(rest, {
    flags: "ku0X",
    valued: "jnN",
    longFlags: "keep-order null",
    longValued: "jobs max-args",
  });
  if (typeof read === "string") return { problem: `parallel: ${read}` };
  const end = read.findIndex((word) => word !== null && /^:{3,4}\+?$/u.test(word));
  const template = end === -1 ? read : read.slice(0, end);
  if (template.length === 0) return { problem: "parallel: its commands are only known when it runs" };
  const text = joined(template);
  return "text" in text ? { text: `${text.text.replaceAll(/\{[^{}]*\}/gu, '"$unknown"')} "$unknown"` } : text;
}

function unwrapFind(rest: readonly ShellWord[]): Unwrapped | null {
  if (rest.includes(null))
    return { isPlain: false, started: [{ problem: "find: some words are only known when it runs" }] };
  const words = rest as readonly string[];
  const started: Started[] = [];
  for (let at = 0; at < words.length; at += 1) {
    if (!/^-(?:exec|execdir|ok|okdir)$/u.test(words[at]!)) continue;
    const length = words
      .slice(at + 1)
      .findIndex((word, index, all) => word === ";" || (word === "+" && all[index - 1] === "{}"));
    if (length <= 0) return { isPlain: false, started: [{ problem: `find: ${words[at]} has no end` }] };
    const command = words.slice(at + 1, at + 1 + length);
    started.push({ words: command.map((word) => (word.includes("{}") ? null : word)) });
    at += length + 1;
  }
  return started.length === 0 ? null : { isPlain: false, started };
}

function joined(words: readonly ShellWord[]): Started {
  if (words.length === 0) return { problem: "its script is missing" };
  return words.includes(null)
    ? { problem: "its script is only known when it runs" }
    : { text: words.join(" ") };
}
