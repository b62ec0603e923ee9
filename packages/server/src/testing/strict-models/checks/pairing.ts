import type { Check, Complaint } from "../strict-provider.ts";
import type { ReadMessage, ReadResult } from "../readings/reading.ts";

export type PairingWords = {
  /** Calls of `message` whose results do not follow; `next` is the position behind the results that do. */
  readonly missing: (message: ReadMessage, ids: readonly string[], next: number) => Complaint;
  /** A result without its call just before. */
  readonly orphan: (message: ReadMessage, result: ReadResult) => Complaint;
  /** A second result of one call; taken as it is where absent. */
  readonly doubled?: (message: ReadMessage, result: ReadResult) => Complaint;
};

/** Every call is answered just behind it, and every result belongs to a call just before it. */
export function pairing(words: PairingWords): Check {
  return (_request, { messages }) => {
    for (const [index, message] of messages.entries()) {
      const complaint = wrongResult(messages, index, words) ?? unanswered(messages, index, words);
      if (complaint !== null) return complaint;
      if (message.calls.length === 0) continue;
    }
    return null;
  };
}

/** As many results as calls just behind them, whatever their ids are. */
export function pairingByCount(words: {
  readonly unequal: (message: ReadMessage, calls: number, results: number) => Complaint;
  readonly orphan: (message: ReadMessage) => Complaint;
}): Check {
  return (_request, { messages }) => {
    for (const [index, message] of messages.entries()) {
      if (message.results.length > 0 && callerOf(messages, index) === null) return words.orphan(message);
      const results = resultsBehind(messages, index).length;
      const isOpen = message.calls.length > 0 && results !== message.calls.length;
      if (isOpen) return words.unequal(message, message.calls.length, results);
    }
    return null;
  };
}

/** Calls and results find each other wherever they stand, as long as the call is first. */
export function pairingAnywhere(words: {
  readonly missing: (id: string) => Complaint;
  readonly orphan: (id: string) => Complaint;
}): Check {
  return (_request, { messages }) => {
    const open = new Set<string>();
    const called = new Set<string>();
    for (const { calls, results } of messages) {
      for (const { id } of calls) {
        open.add(id ?? "");
        called.add(id ?? "");
      }
      for (const { id } of results) {
        if (!called.has(id ?? "")) return words.orphan(id ?? "");
        open.delete(id ?? "");
      }
    }
    const [missing] = open;
    return missing === undefined ? null : words.missing(missing);
  };
}

function unanswered(messages: readonly ReadMessage[], index: number, words: PairingWords): Complaint | null {
  const message = messages[index]!;
  const answered = new Set(resultsBehind(messages, index).map(({ id }) => id));
  const open = message.calls.filter(({ id }) => !answered.has(id)).map(({ id }) => id ?? "");
  return open.length === 0 ? null : words.missing(message, open, nextBehind(messages, index));
}

function wrongResult(messages: readonly ReadMessage[], index: number, words: PairingWords): Complaint | null {
  const message = messages[index]!;
  const caller = callerOf(messages, index);
  const ids = new Set(caller?.calls.map(({ id }) => id));
  for (const [at, result] of message.results.entries()) {
    if (!ids.has(result.id)) return words.orphan(message, result);
    const earlier = [...resultsBetween(messages, caller!, index), ...message.results.slice(0, at)];
    if (words.doubled !== undefined && earlier.some(({ id }) => id === result.id)) {
      return words.doubled(message, result);
    }
  }
  return null;
}

/** The message whose calls the results at `index` answer: the last one before a run of results. */
function callerOf(messages: readonly ReadMessage[], index: number): ReadMessage | null {
  let at = index - 1;
  while (at >= 0 && messages[at]!.role === "tool") at -= 1;
  const caller = messages[at];
  return caller !== undefined && caller.calls.length > 0 ? caller : null;
}

function resultsBetween(messages: readonly ReadMessage[], caller: ReadMessage, index: number): ReadResult[] {
  return messages.slice(messages.indexOf(caller) + 1, index).flatMap(({ results }) => results);
}

function resultsBehind(messages: readonly ReadMessage[], index: number): ReadResult[] {
  return messages.slice(index + 1, nextBehind(messages, index)).flatMap(({ results }) => results);
}

/** The results of one turn are one message, or a run of messages of the role `tool`. */
function nextBehind(messages: readonly ReadMessage[], index: number): number {
  let next = index + 1;
  while (messages[next]?.role === "tool") next += 1;
  const isInUserMessage = next === index + 1 && (messages[next]?.results.length ?? 0) > 0;
  return isInUserMessage ? next + 1 : next;
}
