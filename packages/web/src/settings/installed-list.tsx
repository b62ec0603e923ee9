import type { InstalledPluginResponse, SourceChanges } from "@convoke/protocol";
import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { Entries, Entry } from "./parts.tsx";
import type { SourceActions } from "./source-actions.ts";
import { Toggle } from "./toggle.tsx";

type Installed = Omit<InstalledPluginResponse, "skills" | "files">;

type InstalledListProps = {
  /** Undefined until it is loaded. */
  readonly items: readonly Installed[] | undefined;
  readonly empty: string;
  readonly actions: SourceActions;
  readonly change: (act: () => Promise<unknown>) => Promise<boolean>;
};

/** What is installed. A refresh from git shows what changes before it is used. */
export function InstalledList({ items, empty, actions, change }: InstalledListProps) {
  const words = useMoreWords().settings.sources;
  const { common } = useWords();
  const [pending, setPending] = useState<{ readonly name: string; readonly changes: SourceChanges } | null>(
    null,
  );
  const [current, setCurrent] = useState<string | null>(null);
  const refresh = async ({ name, resolved_ref: commit }: Installed): Promise<void> => {
    setPending(null);
    setCurrent(null);
    await change(async () => {
      // A directory has no commits: it is read again at once.
      const changes = await actions.refresh(name, commit ? null : "");
      if (changes === null || changes.from === changes.to) setCurrent(name);
      else setPending({ name, changes });
    });
  };
  const accept = async (name: string, { to }: SourceChanges): Promise<void> => {
    if (await change(() => actions.refresh(name, to))) setPending(null);
  };
  return (
    <Entries isEmpty={items?.length === 0} empty={empty}>
      {items?.map((item) => {
        const { name, description, source, enabled, resolved_ref: commit } = item;
        const pin = commit ? `${source} @ ${commit.slice(0, 12)}` : source;
        return (
          <Entry key={name} title={name} detail={description ? `${description} (${pin})` : pin}>
            <Toggle
              name={words.use(name)}
              isOn={enabled !== false}
              onToggle={(isOn) => change(() => actions.enable(name, isOn))}
              className="text-xs text-soft"
            >
              {words.on}
            </Toggle>
            <Button variant="quiet" aria-label={words.refreshNamed(name)} onClick={() => void refresh(item)}>
              {words.refresh}
            </Button>
            <Button variant="quiet" onClick={() => void change(() => actions.remove(name))}>
              {common.remove}
            </Button>
            {current === name && (
              <span role="status" className="w-full text-xs text-faint">
                {words.upToDate}
              </span>
            )}
            {pending?.name === name && (
              <div role="status" className="w-full rounded-md border border-line p-2 text-xs">
                <p className="mb-1 font-mono break-all">
                  {words.changes(pending.changes.from.slice(0, 12), pending.changes.to.slice(0, 12))}
                </p>
                <ul className="mb-2 max-h-40 overflow-auto font-mono text-soft">
                  {lines(pending.changes).map((line) => (
                    <li key={line} className="break-all">
                      {line}
                    </li>
                  ))}
                </ul>
                <Button variant="primary" onClick={() => void accept(name, pending.changes)}>
                  {words.accept}
                </Button>
                <Button variant="quiet" onClick={() => setPending(null)}>
                  {common.cancel}
                </Button>
              </div>
            )}
          </Entry>
        );
      })}
    </Entries>
  );
}

function lines({ added, changed, removed }: SourceChanges): string[] {
  return [
    ...added.map((path) => `+ ${path}`),
    ...changed.map((path) => `~ ${path}`),
    ...removed.map((path) => `- ${path}`),
  ];
}
