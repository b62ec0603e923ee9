import { checkObject, checkScript } from "./script-check.ts";

/** The turns of a scripted model. README.md beside this file explains every field. */
export type Script = {
  readonly turns: readonly ScriptTurn[];
  readonly select?: "by_history" | "in_order";
  readonly loop?: boolean;
  readonly after_end?: "finish" | "error";
  readonly unique_ids?: boolean;
  readonly model?: string;
  /** Values for `{{name}}` in texts and arguments. */
  readonly vars?: Readonly<Record<string, string>>;
};

export type ScriptTurn = {
  readonly text?: string;
  readonly reasoning?: string;
  readonly signature?: string;
  readonly redacted_thinking?: string;
  readonly refusal?: string;
  readonly tool_calls?: readonly ScriptToolCall[];
  readonly finish_reason?: "stop" | "length" | "content_filter";
  readonly usage?: ScriptUsage;
  readonly delay_ms?: number;
  readonly chunk_delay_ms?: number;
  readonly chunk_size?: number;
  readonly write_bytes?: number;
  readonly plain_json?: boolean;
  readonly content_type?: string;
  readonly error?: ScriptError;
  readonly overflow?: boolean;
  readonly hang?: boolean | "body";
  readonly cut_after_bytes?: number;
  readonly half_json?: boolean;
  readonly empty?: boolean;
  readonly raw?: ScriptRaw;
  readonly attempts?: number;
  readonly expect?: ScriptCondition;
  readonly match?: ScriptCondition;
};

export type ScriptToolCall = {
  readonly name: string;
  /** An object, or the exact text to send. */
  readonly arguments: Readonly<Record<string, unknown>> | string;
  readonly id?: string;
};

export type ScriptUsage = {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly cache_read_tokens?: number;
  readonly cache_write_tokens?: number;
  readonly reasoning_tokens?: number;
  /** US dollars that a billing gateway reports; only chat completions have a field for it. */
  readonly cost?: number;
};

export type ScriptError = {
  readonly status: number;
  readonly message?: string;
  readonly type?: string;
  /** The Retry-After header: seconds or a date. */
  readonly retry_after?: string;
};

/** Raw bytes instead of an answer, for what no protocol allows. */
export type ScriptRaw = {
  /** 200 unless given; any status from 200 to 599. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Number of copies of the body, sent one after another. */
  readonly repeat?: number;
  /** Wait between copies. */
  readonly delay_ms?: number;
  /** What happens after the body; it ends unless given. */
  readonly ending?: "end" | "hang" | "cut";
};

export type ScriptCondition = {
  readonly last_user_contains?: string;
  readonly last_tool_output_contains?: string;
};

/** Checks a script, given as JSON text or as a value. Throws one Error that names the turn and the field. */
export function parseScript(source: unknown): Script {
  const value = typeof source === "string" ? parseJson(source) : source;
  checkScript(checkObject(value, "script"));
  return value as Script;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The script is not JSON: ${error instanceof Error ? error.message : "unreadable"}`, {
      cause: error,
    });
  }
}
