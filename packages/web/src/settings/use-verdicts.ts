import { useState } from "react";
import { useMoreWords } from "../words/words.ts";
import { sentenceOf } from "./use-resource.ts";

export type Verdicts = {
  /** The result of the latest test; undefined before one. */
  readonly of: (name: string) => string | undefined;
  /** Runs a test under a name; the result is what `attempt` resolves with, or its error. */
  readonly attempt: (name: string, attempt: () => Promise<string>) => Promise<void>;
};

/** Test results of stored items, by name. */
export function useVerdicts(): Verdicts {
  const { trying } = useMoreWords().settings;
  const [verdicts, setVerdicts] = useState<Readonly<Record<string, string>>>({});
  const report = (name: string, text: string): void => setVerdicts((before) => ({ ...before, [name]: text }));
  return {
    of: (name) => verdicts[name],
    attempt: async (name, attempt) => {
      report(name, trying);
      report(name, await attempt().catch(sentenceOf));
    },
  };
}
