import { nearMiss, readBoolean } from "@convoke/protocol/validate";
import { Fault } from "../../../lib/fault.ts";

/** The query of a socket's address, as sent. */
export type SocketQuery = Readonly<Record<string, unknown>>;

/** Each parameter with the code of its refusal, which clients may rely on. */
const parameters = {
  after_event_id: { code: "bad_after_event_id" },
  after_timestamp: { code: "bad_after_timestamp" },
  beat: { code: "bad_beat" },
  deltas: { code: "bad_deltas" },
  heartbeat: { code: "bad_heartbeat" },
  limit: { code: "bad_limit" },
  progress: { code: "bad_progress" },
  resend_all: { code: "bad_resend_all" },
  resend_mode: { code: "bad_resend_mode" },
  shell: { code: "bad_shell" },
  standing: { code: "bad_standing" },
  terminal: { code: "bad_terminal" },
  trim: { code: "bad_trim" },
} as const;
type Name = keyof typeof parameters;

/** Parameters of every socket. */
const everywhere = ["session_api_key", "heartbeat"];

/** Refuses a name that is a typo of one of `known`: its sender relies on the effect. */
export function refuseNearMisses(query: SocketQuery, known: readonly Name[]): void {
  const names: readonly string[] = [...known, ...everywhere];
  for (const name of Object.keys(query).filter((given) => !names.includes(given))) {
    const meant = nearMiss(name, names);
    if (meant === null) continue;
    throw new Fault("refused", "unknown_parameter", `There is no parameter ${name}. Did you mean ${meant}?`);
  }
}

/** The text of a parameter that is given once; null when absent. */
export function readText(query: SocketQuery, name: Name, what: string): string | null {
  const given = query[name];
  if (given === undefined) return null;
  if (typeof given === "string" && given !== "") return given;
  throw badQuery(name, `${name} is ${what}, once, or is left out.`);
}

/** False when absent. */
export function readFlag(query: SocketQuery, name: Name): boolean {
  const text = readText(query, name, "true or false");
  const flag = text === null ? false : readBoolean(text);
  if (typeof flag === "boolean") return flag;
  throw badQuery(name, `${name} is true or false.`);
}

/** Null when absent. */
export function readChoice(query: SocketQuery, name: Name, values: readonly string[]): string | null {
  const what = `one of: ${values.join(", ")}`;
  const text = readText(query, name, what);
  if (text === null || values.includes(text)) return text;
  throw badQuery(name, `${name} is ${what}; or leave it out.`);
}

/** Null when absent. */
export function readWhole(
  query: SocketQuery,
  name: Name,
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
): number | null {
  const what = `a whole number from ${minimum} to ${maximum}`;
  const text = readText(query, name, what);
  if (text === null) return null;
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= minimum && number <= maximum) return number;
  throw badQuery(name, `${name} is ${what}.`);
}

export function badQuery(name: Name, detail: string): Fault {
  return new Fault("refused", parameters[name].code, detail);
}
