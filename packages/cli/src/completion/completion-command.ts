/** One of the words that may stand at the cursor. */
export type Candidate = { readonly value: string; readonly description: string };

/** What a shell can complete of a command, without loading the command. */
export type CompletionCommand = {
  readonly description: string;
  readonly flags: readonly CompletionFlag[];
  /** What stands where, by position; the last one is repeated where `isVariadic`. */
  readonly arguments: readonly CompletionArgument[];
  readonly isVariadic: boolean;
  readonly commands: Readonly<Record<string, CompletionCommand>>;
};

export type CompletionFlag = {
  readonly name: string;
  readonly description: string;
  /** Null where no value follows; empty where any may. */
  readonly values: readonly string[] | null;
};

/** `text`: nothing is known. */
export type CompletionArgument = "conversation" | "setting" | "text" | readonly string[];
