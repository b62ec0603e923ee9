import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/problem.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { Form, TextField } from "./parts.tsx";
import type { Preview, SourceActions } from "./source-actions.ts";
import { SourcePreview } from "./source-preview.tsx";
import { sentenceOf } from "./use-resource.ts";

type SourceFormProps = {
  readonly title: string;
  readonly actions: SourceActions;
  /** Installs what was shown; resolves with whether it succeeded. */
  readonly onInstall: (act: () => Promise<unknown>) => Promise<boolean>;
};

/** Asks for a directory or a git address, and shows what is there before it can be installed. */
export function SourceForm({ title, actions, onInstall }: SourceFormProps) {
  const words = useMoreWords().settings.sources;
  const { common } = useWords();
  const [source, setSource] = useState("");
  const [ref, setRef] = useState("");
  const [folder, setFolder] = useState("");
  const [preview, setPreview] = useState<Preview | null>(null);
  const [isLoading, setLoading] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const given = {
    source: source.trim(),
    ...(folder.trim() === "" ? {} : { repo_path: folder.trim() }),
  };
  const wanted = ref.trim() === "" ? {} : { ref: ref.trim() };
  const show = async (): Promise<void> => {
    setLoading(true);
    setProblem(null);
    setPreview(null);
    try {
      setPreview(await actions.fetch({ ...given, ...wanted }));
    } catch (error) {
      setProblem(sentenceOf(error));
    }
    setLoading(false);
  };
  const install = async ({ resolved_ref: commit }: Preview): Promise<void> => {
    const pin = commit ? { ref: commit, requested_ref: ref.trim() } : {};
    if (!(await onInstall(() => actions.install({ ...given, ...pin })))) return;
    setPreview(null);
    for (const clear of [setSource, setRef, setFolder]) clear("");
  };
  const change = (set: (value: string) => void) => (value: string) => {
    set(value);
    // What is shown belongs to what was asked for.
    setPreview(null);
  };
  return (
    <>
      <Form title={title} onSubmit={() => void show()}>
        <TextField
          label={words.source}
          hint={words.sourceHint}
          value={source}
          isRequired
          onChange={change(setSource)}
        />
        <div className="flex gap-3 max-[420px]:block">
          <TextField label={words.ref} value={ref} onChange={change(setRef)} />
          <TextField label={words.folder} value={folder} onChange={change(setFolder)} />
        </div>
        <Button type="submit" variant={preview === null ? "primary" : "quiet"} disabled={isLoading}>
          {isLoading ? words.fetching : words.show}
        </Button>
      </Form>
      <Problem text={problem} />
      {preview !== null && (
        <SourcePreview preview={preview}>
          <Button variant="primary" onClick={() => void install(preview)}>
            {words.install}
          </Button>
          <Button variant="quiet" onClick={() => setPreview(null)}>
            {common.cancel}
          </Button>
        </SourcePreview>
      )}
    </>
  );
}
