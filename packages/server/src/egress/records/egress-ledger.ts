import type { EgressRecord, HostTotals, RefusalsSince } from "../egress.ts";
import { formatTarget, type Target } from "../../lib/host-name.ts";
import { Refused } from "./refusal.ts";

type Counts = { host: string; port: number } & Record<
  "requests" | "refusals" | "sentBytes" | "receivedBytes",
  number
>;
type Window = { readonly timer: NodeJS.Timeout; count: number; at: number };
type Noted = {
  readonly number: number;
  readonly target: string;
  readonly why: string;
  readonly help: string;
};

/** A program inside can name any number of hosts: those beyond share one row. */
const maxHosts = 1_000;
const maxNoted = 1_000;
const maxWindows = 1_000;
const maxLines = 8;
const others = { host: "(other hosts)", port: 0 };

/** Counts what passed and what was refused, and reports both. */
export class EgressLedger implements Disposable {
  readonly #onRecord: (record: EgressRecord) => void;
  readonly #windowMs: number;
  readonly #hosts = new Map<string, Counts>();
  readonly #windows = new Map<string, { readonly refused: Refused; readonly window: Window }>();
  readonly #noted: Noted[] = [];
  #number = 0;

  constructor(onRecord: (record: EgressRecord) => void, refusalWindowMs: number) {
    this.#onRecord = onRecord;
    this.#windowMs = refusalWindowMs;
  }

  /** Something that may pass begins. */
  begin(target: Target): void {
    this.#countsOf(target).requests += 1;
  }

  sent(target: Target, bytes: number): void {
    this.#countsOf(target).sentBytes += bytes;
  }

  received(target: Target, bytes: number): void {
    this.#countsOf(target).receivedBytes += bytes;
  }

  record(record: EgressRecord): void {
    this.#onRecord(record);
    if (record.kind !== "untrusted") return;
    this.#note(
      record,
      "the program does not trust this wall's certificate",
      "Ask for the host without injection.",
    );
  }

  refuse(refused: Refused): void {
    const { target, reason } = refused;
    this.#countsOf(target).refusals += 1;
    this.#note(
      target,
      whyOf[reason] ?? refused.why.replace(/\.$/, ""),
      reason === "no-rule" ? helpOf(refused) : "",
    );
    this.#count(
      this.#windows.size < maxWindows ? refused : new Refused(others, reason, "More than can be listed."),
    );
  }

  #count(refused: Refused): void {
    const key = refused.message;
    const open = this.#windows.get(key)?.window;
    if (open !== undefined) {
      open.count += 1;
      open.at = Date.now();
      return;
    }
    this.#emit(refused, Date.now(), 1);
    const timer = setTimeout(() => this.#close(key), this.#windowMs).unref();
    this.#windows.set(key, { refused, window: { timer, count: 0, at: 0 } });
  }

  totals(): readonly HostTotals[] {
    return [...this.#hosts.values()].map((counts) => ({ ...counts }));
  }

  refusalsSince(mark: number): RefusalsSince {
    const lines = new Map<string, { noted: Noted; count: number }>();
    for (const noted of this.#noted) {
      if (noted.number <= mark) continue;
      const key = `${noted.target} ${noted.why}`;
      const line = lines.get(key) ?? { noted, count: 0 };
      line.count += 1;
      lines.set(key, line);
    }
    const shown = [...lines.values()].slice(0, maxLines).map(({ noted, count }) => {
      const times = count === 1 ? "" : ` ${count} times`;
      return `Network: ${noted.target} was refused${times} (${noted.why}).${noted.help && ` ${noted.help}`}`;
    });
    const rest = lines.size - shown.length;
    if (rest > 0) shown.push(`Network: ${rest} more hosts were refused.`);
    return { mark: this.#number, text: shown.join("\n") };
  }

  /** Reports what was counted. */
  [Symbol.dispose](): void {
    for (const key of this.#windows.keys()) this.#close(key);
  }

  #note(target: Target, why: string, help: string): void {
    this.#number += 1;
    this.#noted.push({ number: this.#number, target: formatTarget(target), why, help });
    if (this.#noted.length > maxNoted) this.#noted.shift();
  }

  #close(key: string): void {
    const { refused, window } = this.#windows.get(key)!;
    clearTimeout(window.timer);
    this.#windows.delete(key);
    if (window.count > 0) this.#emit(refused, window.at, window.count);
  }

  #emit({ target, reason, message }: Refused, at: number, count: number): void {
    this.#onRecord({ kind: "refusal", at, ...target, reason, sentence: message, count });
  }

  #countsOf(target: Target): Counts {
    const key = formatTarget(target);
    const known = this.#hosts.get(key);
    if (known !== undefined) return known;
    if (this.#hosts.size >= maxHosts && target.port !== 0) return this.#countsOf(others);
    const counts = {
      host: target.host,
      port: target.port,
      requests: 0,
      refusals: 0,
      sentBytes: 0,
      receivedBytes: 0,
    };
    this.#hosts.set(key, counts);
    return counts;
  }
}

const whyOf: Readonly<Partial<Record<Refused["reason"], string>>> = {
  "no-rule": "no rule",
  denied: "a rule denies it",
  "private-address": "its address is not a public one",
  "own-listener": "the server itself listens there",
};

/** The last sentence of the refusal: what to do. */
function helpOf(refused: Refused): string {
  return /[^.]+\.$/.exec(refused.message)?.[0].trim() ?? "";
}
