import { RE2JS, RE2JSException } from "re2js";
import { TooSlow, withinTime } from "./time-limit.ts";

/** A compiled regular expression from an untrusted author. */
export interface ForeignPattern {
  /** Throws {@link PatternTooSlow} when the expression is one that can be slow, and was. */
  test(text: string): boolean;
}

/** The expression is refused; the message is for its author. */
export class PatternRefused extends Error {
  override readonly name = "PatternRefused";
}

/** The tests of an expression with lookarounds exceeded their total time limit. */
export class PatternTooSlow extends Error {
  override readonly name = "PatternTooSlow";
}

export type PatternOptions = {
  /** `whole`: it matches the whole text; `start`: what the text begins with. */
  readonly anchor: "whole" | "start";
  /**
   * Also accepts lookarounds and backreferences, which no engine runs in linear time; such an expression has a time
   * limit. For single expressions only, because each may use the whole limit.
   */
  readonly allowsLookaround?: boolean;
};

const longestSource = 1_000;
const maxInstructions = 5_000;
/** The time limit of all tests of an expression with lookarounds, from its compilation on. */
const maxMsAround = 100;

/**
 * Compiles an untrusted expression for an engine with linear time, so that no expression can stall the server. Throws
 * {@link PatternRefused}.
 */
export function compilePattern(
  source: string,
  { anchor, allowsLookaround = false }: PatternOptions,
): ForeignPattern {
  if (source.length > longestSource)
    throw new PatternRefused(`An expression has at most ${longestSource} characters.`);
  const wrapped = anchor === "whole" ? `^(?:${source})$` : `^(?:${source})`;
  try {
    // By itself first: a stray parenthesis must not close ours.
    compileLinear(source);
    const linear = compileLinear(wrapped);
    return { test: (text) => linear.test(text) };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    if (allowsLookaround && isForOtherEngine(source)) return new WatchedPattern(wrapped);
    throw new PatternRefused(explain(source, error), { cause: error });
  }
}

function compileLinear(source: string): RE2JS {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(source));
  if (compiled.programSize() > maxInstructions)
    throw new PatternRefused("This expression is too large; repeat less, or use several expressions.");
  return compiled;
}

/**
 * An expression for JavaScript's own engine, which may not terminate: it has a time limit, and is not used again after
 * a timeout.
 */
class WatchedPattern implements ForeignPattern {
  readonly #expression: RegExp;
  #leftMs = maxMsAround;

  constructor(source: string) {
    this.#expression = new RegExp(source);
  }

  test(text: string): boolean {
    const before = process.threadCpuUsage();
    try {
      if (this.#leftMs < 1) throw new TooSlow("No time is left.");
      return withinTime(Math.ceil(this.#leftMs), () => this.#expression.test(text));
    } catch (error) {
      if (!(error instanceof TooSlow)) throw error;
      this.#leftMs = 0;
      throw new PatternTooSlow("The expression takes too long.", { cause: error });
    } finally {
      const { user, system } = process.threadCpuUsage(before);
      this.#leftMs -= (user + system) / 1000;
    }
  }
}

function isForOtherEngine(source: string): boolean {
  try {
    return new RegExp(source).source !== "";
  } catch {
    // No expression at all: that is the answer.
    return false;
  }
}

const aroundOrBack = /\(\?<?[=!]|\\[1-9]|\\k</;

function explain(source: string, { message }: RE2JSException): string {
  return aroundOrBack.test(source)
    ? "Lookaheads, lookbehinds and backreferences are not taken here, because they can run for ever. Name what is meant instead."
    : `This is no regular expression that can be used (${message.replace(/^error parsing regexp: /, "")}).`;
}
