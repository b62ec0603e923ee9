import { createHash } from "node:crypto";
import type { Script, ScriptCondition, ScriptTurn, ScriptUsage } from "./script.ts";

/** The facts of a request that a script matches, the same for every wire. */
export type RequestFacts = {
  readonly assistantMessages: number;
  readonly assistantMessagesSinceUser: number;
  readonly lastUserText: string;
  /** Text of the tool results after the last assistant message; empty without any. */
  readonly lastToolOutput: string;
  readonly toolNames: readonly string[];
  /** The conversation as text: equal for a repeated request. */
  readonly fingerprint: string;
};

/** The content of a turn, with ids, placeholders and usage filled in. */
export type ScriptedAnswer = {
  readonly id: string;
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly usage: Required<Omit<ScriptUsage, "cost">> & Pick<ScriptUsage, "cost">;
};

export type Played = {
  /** Position in `turns`, from 0; null after the end of the script. */
  readonly index: number | null;
  /** The turn to play; without its faults once they have happened often enough. */
  readonly turn: ScriptTurn;
  readonly answer: ScriptedAnswer;
};

/** Chooses the turn for each request. Its only state are counts of repeated requests, and in order mode of turns. */
export class ScriptPlayer {
  readonly #script: Script;
  readonly #vars: Readonly<Record<string, string>>;
  readonly #requestsSeen = new Map<string, number>();
  #position = 0;
  #served = 0;

  constructor(script: Script, vars: Readonly<Record<string, string>> = {}) {
    this.#script = script;
    this.#vars = { ...script.vars, ...vars };
  }

  play(facts: RequestFacts): Played {
    const isInOrder = this.#script.select === "in_order";
    const index = isInOrder ? this.#wrap(this.#position, this.#script.turns) : this.#byHistory(facts);
    this.#served += 1;
    const number = isInOrder ? this.#served : facts.assistantMessages + 1;
    const scripted = index === null ? undefined : this.#script.turns[index];
    if (index === null || scripted === undefined) {
      const turn = this.#afterEnd(facts);
      return { index: null, turn, answer: this.#answer(turn, number, facts) };
    }
    const unmet = unmetCondition(scripted.expect, facts);
    if (unmet !== null) {
      const turn = { error: { status: 400, message: `turns[${index}] ${unmet}` } };
      return { index, turn, answer: this.#answer(turn, number, facts) };
    }
    const seen = this.#countRequest(
      isInOrder ? `${this.#position}` : `${index} ${digest(facts.fingerprint)}`,
    );
    const { attempts } = scripted;
    const isFaulty = hasFault(scripted) && (attempts === undefined || seen <= attempts);
    const isFaultLast = attempts === undefined || (seen >= attempts && !isAnswering(scripted));
    if (isInOrder && (!isFaulty || isFaultLast)) this.#position += 1;
    const turn = isFaulty ? scripted : withoutFaults(scripted);
    return { index, turn, answer: this.#answer(turn, number, facts) };
  }

  /** Turns that match a tool output come first, then those for this user message, then the main sequence. */
  #byHistory(facts: RequestFacts): number | null {
    const turns = [...this.#script.turns.entries()];
    const isMet = ([, turn]: [number, ScriptTurn]): boolean => unmetCondition(turn.match, facts) === null;
    const reactive = turns.find(
      (entry) => entry[1].match?.last_tool_output_contains !== undefined && isMet(entry),
    );
    if (reactive !== undefined) return reactive[0];
    const forMessage = turns.filter(
      (entry) =>
        entry[1].match !== undefined &&
        entry[1].match.last_tool_output_contains === undefined &&
        isMet(entry),
    );
    const own = forMessage[facts.assistantMessagesSinceUser];
    if (own !== undefined) return own[0];
    const main = turns.filter(([, turn]) => turn.match === undefined);
    const at = this.#wrap(facts.assistantMessages, main);
    return at === null ? null : (main[at]?.[0] ?? null);
  }

  #wrap(position: number, turns: readonly unknown[]): number | null {
    if (position < turns.length) return position;
    return this.#script.loop === true && turns.length > 0 ? position % turns.length : null;
  }

  #countRequest(key: string): number {
    const seen = (this.#requestsSeen.get(key) ?? 0) + 1;
    this.#requestsSeen.set(key, seen);
    return seen;
  }

  #afterEnd(facts: RequestFacts): ScriptTurn {
    if (this.#script.after_end === "error") {
      return { error: { status: 400, message: "The script has no more turns." } };
    }
    const message = "The script has ended.";
    return facts.toolNames.includes("finish")
      ? { tool_calls: [{ name: "finish", arguments: { message } }] }
      : { text: message };
  }

  #answer(turn: ScriptTurn, number: number, facts: RequestFacts): ScriptedAnswer {
    const suffix = this.#script.unique_ids === true ? `-${digest(facts.fingerprint).slice(0, 8)}` : "";
    const text = this.#fill(turn.text ?? turn.refusal ?? "");
    const reasoning = this.#fill(turn.reasoning ?? "");
    const toolCalls = (turn.tool_calls ?? []).map((call, at) => ({
      id: call.id ?? `call-${number}-${at + 1}${suffix}`,
      name: call.name,
      arguments:
        typeof call.arguments === "string"
          ? this.#fill(call.arguments)
          : JSON.stringify(call.arguments, (_key, part: unknown) =>
              typeof part === "string" ? this.#fill(part) : part,
            ),
    }));
    const answerLength =
      text.length + reasoning.length + toolCalls.reduce((sum, call) => sum + call.arguments.length, 0);
    return {
      id: `resp-${number}${suffix}`,
      text,
      reasoning,
      toolCalls,
      usage: {
        // About four characters are a token; good enough for a model that does not exist.
        prompt_tokens: Math.ceil(facts.fingerprint.length / 4),
        completion_tokens: Math.ceil(answerLength / 4),
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        reasoning_tokens: 0,
        ...turn.usage,
      },
    };
  }

  #fill(template: string): string {
    return template.replace(/\{\{(\w+)\}\}/gu, (whole, name: string) => this.#vars[name] ?? whole);
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

const faults = ["error", "overflow", "hang", "cut_after_bytes", "half_json", "empty", "raw"] as const;

function hasFault(turn: ScriptTurn): boolean {
  return faults.some((fault) => turn[fault] !== undefined && turn[fault] !== false);
}

function isAnswering(turn: ScriptTurn): boolean {
  return turn.text !== undefined || turn.tool_calls !== undefined || turn.reasoning !== undefined;
}

function withoutFaults(turn: ScriptTurn): ScriptTurn {
  const names: readonly string[] = faults;
  return Object.fromEntries(Object.entries(turn).filter(([name]) => !names.includes(name)));
}

function unmetCondition(condition: ScriptCondition | undefined, facts: RequestFacts): string | null {
  const wanted = [
    ["last user message", condition?.last_user_contains, facts.lastUserText],
    ["last tool output", condition?.last_tool_output_contains, facts.lastToolOutput],
  ] as const;
  for (const [what, part, whole] of wanted) {
    if (part !== undefined && !whole.includes(part)) {
      return `expected the ${what} to contain ${JSON.stringify(part)}, but it is ${JSON.stringify(whole.slice(0, 500))}`;
    }
  }
  return null;
}
