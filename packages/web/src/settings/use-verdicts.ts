import { useState } from "react";
import { useMoreWords } from "../words/words.ts";
import { sentenceOf } from "./use-resource.ts";

export type Verdicts = {
  /** What came of the newest try; undefined before one. */
  readonly of: (name: string) => string | undefined;
  /** Tries something that has a name; `attempt` answers with the verdict, and its failure is one too. */
  readonly attempt: (name: string, attempt: () => Promise<string>) => Promise<void>;
};

/** What trying stored things has shown, by their names. */
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
