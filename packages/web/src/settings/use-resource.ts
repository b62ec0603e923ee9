import type { CallInput } from "@convoke/client";
import type { Operation, OperationReply } from "@convoke/protocol";
import { useCallback, useEffect, useState } from "react";
import { useServices } from "../services/services.ts";

/** Operations without input parameters. */
type Plain = { readonly [O in Operation]: Partial<CallInput<O>> extends CallInput<O> ? O : never }[Operation];

export type Resource<Value> = {
  /** Undefined until the first response. */
  readonly value: Value | undefined;
  readonly problem: string | null;
  /** Runs a change and reloads; an error becomes `problem`. Resolves with whether it succeeded. */
  readonly change: (act: () => Promise<unknown>) => Promise<boolean>;
};

/** Loads the response of an operation, again after each change. */
export function useResource<O extends Plain & `GET ${string}`>(operation: O): Resource<OperationReply<O>> {
  const { client } = useServices();
  const [value, setValue] = useState<OperationReply<O>>();
  const [problem, setProblem] = useState<string | null>(null);
  const read = useCallback(
    async (signal?: AbortSignal): Promise<void> => {
      try {
        setValue(await client.call<Plain>(operation, { ...(signal && { signal }) }));
      } catch (error) {
        if (signal?.aborted !== true) setProblem(sentenceOf(error));
      }
    },
    [client, operation],
  );
  useEffect(() => {
    const stop = new AbortController();
    void read(stop.signal);
    return () => stop.abort();
  }, [read]);
  const change = useCallback(
    async (act: () => Promise<unknown>): Promise<boolean> => {
      setProblem(null);
      try {
        await act();
      } catch (error) {
        setProblem(sentenceOf(error));
        return false;
      }
      await read();
      return true;
    },
    [read],
  );
  return { value, problem, change };
}

export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
