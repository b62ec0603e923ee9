import type { PatternSecurityAnalyzer, SecurityRisk } from "@convoke/protocol";
import { textOf } from "./action-text.ts";
import type { AssessedCall, Verdict } from "./verdict.ts";
import { inOrder } from "./in-order.ts";
import { deletesByForce, deletesFound, hidesCommand, undisguise } from "./shell-text.ts";

type Pattern = { readonly isIn: (text: string) => boolean; readonly reason: string };

const shell = String.raw`(?:sudo\s+)?(?:env\s+)?(?:\/[\w./-]*\/)?(?:ba|z|da|k|fi)?sh\b`;
const fetches = /\b(?:curl|wget)\b/i;
const line = /\n/u;
const statement = /[\n;]/u;

const highPatterns: readonly Pattern[] = [
  sequence(/[\n;&|]/u, [/\bsudo\s/i, /(?:^|\s)(?:[\w./-]*\/)?rm\b/i], "deletes as the superuser"),
  pattern(String.raw`\bmkfs(?:\.\w+)?\b`, "makes a file system"),
  sequence(line, [/\bdd\b/i, /\bof=\/dev\//i], "writes to a device"),
  pattern(String.raw`>\s*\/dev\/(?:sd|nvme|vd|hd|mmcblk)`, "writes to a device"),
  pattern(String.raw`\b(?:eval|exec)\s*\(`, "runs text as code"),
  pattern(String.raw`\bos\.(?:system|popen)\s*\(`, "runs a command from code"),
  pattern(
    String.raw`\bsubprocess\.(?:run|call|popen|check_output|check_call)\s*\(`,
    "runs a command from code",
  ),
  sequence(statement, [fetches, new RegExp(String.raw`\|\s*${shell}`, "i")], "runs what it fetched"),
  sequence(statement, [fetches, /\|\s*(?:python|perl|ruby|node)\d*\b/i], "runs what it fetched"),
  pattern(
    String.raw`(?:\b(?:ba|z|da|k|fi)?sh\s+(?:-c\s+)?|\b(?:eval|source)\s+|(?:^|\s)\.\s+)["']?(?:<\(|\$\(|\x60)\s*(?:curl|wget)\b`,
    "runs what it fetched",
  ),
  sequence(
    statement,
    [/\bbase64\s+(?:-d|-D|--decode)\b/i, new RegExp(String.raw`\|\s*${shell}`, "i")],
    "runs encoded text",
  ),
  {
    isIn: (text) => inOrder(text, /$^/u, [/:\(\)\s*\{/u, /\|/u, /&/u, /\}\s*;/u]),
    reason: "multiplies until the machine stands still",
  },
  pattern(String.raw`\bchmod\s+(?:-\w+\s+)*(?:777|a\+rwx)\s+\/(?:\s|$)`, "opens the whole disk to everyone"),
];

const mediumPatterns: readonly Pattern[] = [
  pattern(String.raw`\b(?:curl|wget)\b[^\n]{0,300}(?:https?|ftp):\/\/`, "talks to another machine"),
];

const injectionHighPatterns: readonly Pattern[] = [
  pattern(
    String.raw`\b(?:ignore|disregard|forget|override|bypass)\s+(?:all\s+|any\s+|the\s+|your\s+){0,3}(?:previous|prior|earlier|above|preceding)\s+(?:instruction|prompt|rule|direction|directive|message)s?\b`,
    "wants earlier instructions dropped",
  ),
  pattern(String.raw`<\|(?:im_start|system)\|>|\[\/?INST\]`, "imitates a system message"),
];

const injectionMediumPatterns: readonly Pattern[] = [
  pattern(String.raw`\byou\s+are\s+now\s+(?:in\s+)?(?:\w+\s+){0,2}mode\b`, "claims another mode"),
  pattern(
    String.raw`\b(?:pretend|act\s+as\s+if)\s+(?:you\s+are|to\s+be)\s+(?:a\s+|an\s+)?(?:different|another)\b`,
    "claims another identity",
  ),
];

/**
 * Searches for signs of dangerous calls. Signs of commands count in what would be run; signs of injected instructions
 * count in the model's words too. The analyzer's own lists replace the built-in ones.
 */
export function assessByPatterns(analyzer: PatternSecurityAnalyzer, call: AssessedCall): Verdict {
  const { run, all, isComplete } = textOf(call);
  const shell = undisguise(run);
  const found = (patterns: readonly Pattern[], text: string): string[] =>
    patterns.filter(({ isIn }) => isIn(text)).map(({ reason }) => reason);
  const lists = {
    high: custom(analyzer.high_patterns) ?? highPatterns,
    medium: custom(analyzer.medium_patterns) ?? mediumPatterns,
    injectionHigh: custom(analyzer.injection_high_patterns) ?? injectionHighPatterns,
    injectionMedium: custom(analyzer.injection_medium_patterns) ?? injectionMediumPatterns,
  };
  const high = [
    ...found(lists.high, `${run}\n${shell}`),
    ...(deletesByForce(shell) ? ["deletes whole folders without asking"] : []),
    ...(deletesFound(shell) ? ["deletes whatever a search finds"] : []),
    ...found(lists.injectionHigh, all),
  ];
  if (high.length > 0) return verdict("HIGH", high);
  const medium = [...found(lists.medium, `${run}\n${shell}`), ...found(lists.injectionMedium, all)];
  if (medium.length > 0) return verdict("MEDIUM", medium);
  if (call.runsShell && hidesCommand(run)) {
    return verdict("UNKNOWN", ["what it runs is decided only when it runs"]);
  }
  if (!isComplete) return verdict("UNKNOWN", ["too long to be read to its end"]);
  return verdict("LOW", []);
}

/** Lists of `[expression, reason]` as clients send them; null when there is none. */
function custom(list: readonly (readonly string[])[] | null | undefined): Pattern[] | null {
  return list === null || list === undefined
    ? null
    : list.map(([expression = "", reason = expression]) => pattern(expression, reason));
}

function pattern(source: string, reason: string): Pattern {
  const expression = new RegExp(source, "i");
  return { isIn: (text) => expression.test(text), reason };
}

function sequence(breaks: RegExp, parts: readonly RegExp[], reason: string): Pattern {
  return { isIn: (text) => inOrder(text, breaks, parts), reason };
}

function verdict(risk: SecurityRisk, reasons: readonly string[]): Verdict {
  return { risk, reasons: [...new Set(reasons)] };
}
