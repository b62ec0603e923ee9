import { useEffect, useRef, useState } from "react";
import { useServices } from "../services/services.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";
import { fetchRepository } from "./fetch-repository.ts";

/** A clone in progress. */
export type Fetching = { readonly address: string; readonly line: string };

export type Fetch = {
  /** Null if no clone is running. */
  readonly fetching: Fetching | null;
  /** Resolves with the folder of the clone; rejects with an AbortError if it was cancelled or the page was left. */
  readonly fetchInto: (address: string, base: string) => Promise<string>;
  readonly cancel: () => void;
};

export function useFetch(): Fetch {
  const { client } = useServices();
  const [fetching, setFetching] = useState<Fetching | null>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);

  const fetchInto = async (address: string, base: string): Promise<string> => {
    stop.current = new AbortController();
    setFetching({ address, line: "" });
    try {
      const { signal } = stop.current;
      return await fetchRepository(address, {
        client,
        base,
        signal,
        onProgress: (line) => setFetching({ address, line }),
      });
    } finally {
      setFetching(null);
    }
  };
  return { fetching, fetchInto, cancel: () => stop.current?.abort() };
}

/** Shown instead of the composer during a clone. */
export function FetchingNote({ address, line, onCancel }: Fetching & { readonly onCancel: () => void }) {
  const words = useMoreWords().home;
  return (
    <div className="flex items-start gap-3 rounded-lg border border-edge px-3 py-2.5">
      <div className="min-w-0 grow">
        <p role="status" className="text-sm">
          {words.fetching}
        </p>
        <p className="truncate font-mono text-xs text-faint">{address}</p>
        <p className="min-h-4 truncate font-mono text-xs text-faint">{line}</p>
      </div>
      <Button onClick={onCancel}>{words.cancelFetch}</Button>
    </div>
  );
}
