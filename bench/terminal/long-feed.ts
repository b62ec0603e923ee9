import type { FollowItem } from "@convoke/client";
import { SampleLog } from "@convoke/client/testing";

/** How much the feed of the budget holds. */
export const feedSize = { events: 500, signals: 2_700, outputLines: 5_000 };

export type Feed = {
  readonly items: readonly FollowItem[];
  /** Texts that must each be there once, in this order. */
  readonly marks: readonly string[];
};

/** A long conversation as it arrives: answers in pieces, calls with progress, and one output of 5,000 lines. */
export function longFeed(): Feed {
  const log = new SampleLog();
  const items: FollowItem[] = [];
  const marks: string[] = [];
  let read = 0;
  let signals = 0;
  const flush = (): void => {
    for (; read < log.events.length; read += 1) {
      const event = { ...log.events[read]! };
      items.push({ type: "event", event, json: "", trimmed: null } as unknown as FollowItem);
    }
  };
  const signal = (frame: Record<string, unknown>): void => {
    signals += 1;
    items.push({ type: "signal", frame });
  };
  log.state("execution_status", "running");
  for (let turn = 0; log.events.length < feedSize.events - 6; turn += 1) {
    const lines = Array.from(
      { length: 4 },
      (_, line) => `mark-${turn}-${line} some words of an answer that go on for a while`,
    );
    marks.push(...lines.map((line) => line.split(" ")[0]!));
    const text = lines.join("\n");
    for (let at = 0, seq = 1; at < text.length; at += 16, seq += 1)
      signal({
        kind: "AnswerDelta",
        answer_id: `a${turn}`,
        seq,
        text: text.slice(at, at + 16),
        item: { type: "text", index: 0 },
      });
    const thought = [{ type: "text", text }];
    const command = `echo call-${turn}-`;
    marks.push(`call-${turn}-`);
    const id = log.action("terminal", { kind: "TerminalAction", command }, { thought });
    flush();
    if (signals < feedSize.signals)
      for (let seq = 1; seq <= 4; seq += 1)
        signal({ kind: "ToolProgress", action_id: id, seq, text: `progress ${seq}\n`.repeat(seq) });
    log.result(id, { kind: "TerminalObservation", content: [{ type: "text", text: "ok" }], exit_code: 0 });
    flush();
  }
  const output = Array.from({ length: feedSize.outputLines }, (_, line) => `output-${line}-`);
  marks.push(...output);
  log.message(output.join("\n"), "agent", { llm_response_id: "last" });
  log.state("execution_status", "finished");
  flush();
  return { items, marks };
}
