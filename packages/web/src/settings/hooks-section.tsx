import { useEffect, useState } from "react";
import { asRecord, listAt, numberAt, textAt, type UnknownRecord } from "@convoke/client/view";
import { useServices } from "../services/services.ts";
import { visibleText } from "../text/visible-text.ts";
import { Button } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";
import { Entries, Entry, Explanation, Form, TextField } from "./parts.tsx";
import { Problem } from "../ui/problem.tsx";
import { sentenceOf, useResource } from "./use-resource.ts";

/** The hooks of a folder's file, read-only; they are edited in the file. */
export function HooksSection() {
  const words = useMoreWords().settings.hooks;
  const { client } = useServices();
  const start = useResource("GET /api/start");
  const [typed, setTyped] = useState<string | null>(null);
  const [folder, setFolder] = useState<string | null>(null);
  const [config, setConfig] = useState<UnknownRecord | null>(null);
  const [isRead, setIsRead] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const first = start.value?.default_workspace ?? null;
  const place = folder ?? first;
  useEffect(() => {
    if (place === null) return;
    const stop = new AbortController();
    setProblem(null);
    client
      .call("POST /api/hooks", { body: { project_dir: place }, signal: stop.signal })
      .then(({ hook_config: found }) => {
        setConfig(asRecord(found));
        setIsRead(true);
      })
      .catch((error: unknown) => {
        if (!stop.signal.aborted) setProblem(sentenceOf(error));
      });
    return () => stop.abort();
  }, [client, place]);
  const hooks = hooksOf(config);
  return (
    <>
      <Explanation>{words.explanation}</Explanation>
      {/* Rendered when the initial folder is known, so that it does not overwrite what the user types. */}
      {(start.value !== undefined || start.problem !== null) && (
        <Form title={words.where} onSubmit={() => setFolder(typed ?? place)}>
          <TextField label={words.folder} value={typed ?? place ?? ""} isRequired onChange={setTyped} />
          <Button type="submit" className="mb-4">
            {words.read}
          </Button>
        </Form>
      )}
      <Problem text={problem ?? start.problem} />
      <Entries isEmpty={isRead && hooks.length === 0} empty={words.none}>
        {hooks.map(({ moment, matcher, command, timeout }, index) => (
          <Entry
            // A file may contain a command twice; the index tells them apart.
            // eslint-disable-next-line react/no-array-index-key
            key={index}
            title={words.moments[moment as keyof typeof words.moments] ?? moment}
            detail={visibleText(command)}
          >
            <span className="text-xs text-faint">
              {[matcher === "*" ? "" : matcher, timeout === null ? "" : `${timeout} s`]
                .filter((part) => part !== "")
                .join(" · ")}
            </span>
          </Entry>
        ))}
      </Entries>
    </>
  );
}

type Hook = {
  readonly moment: string;
  readonly matcher: string;
  readonly command: string;
  readonly timeout: number | null;
};

function hooksOf(config: UnknownRecord | null): readonly Hook[] {
  return Object.keys(config ?? {}).flatMap((moment) =>
    listAt(config, moment)
      .map(asRecord)
      .flatMap((group) =>
        listAt(group, "hooks")
          .map(asRecord)
          .map((hook) => ({
            moment,
            matcher: textAt(group, "matcher") || "*",
            command: textAt(hook, "command"),
            timeout: numberAt(hook, "timeout"),
          })),
      ),
  );
}
