import { Download } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { baseName } from "@convoke/client/view";
import { endingOf } from "../colours/language-of.ts";
import TextColours from "../colours/text-colours.tsx";
import { longTimeoutMs, saveFile } from "../lib/save-file.ts";
import { useServices } from "../services/services.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Problem } from "../ui/problem.tsx";
import { Button } from "../ui/button.tsx";
import { useMoreWords } from "../words/words.ts";
import { downloadRoute, useFile } from "../services/use-file.ts";

type FileViewProps = {
  readonly conversationId: string;
  /** Absolute. */
  readonly path: string;
  /** Changes when the file may have changed. */
  readonly version: string;
};

/** A file: text with line numbers, an image, or a note that it is binary. */
export function FileView({ conversationId, path, version }: FileViewProps) {
  const words = useMoreWords().files;
  const { client } = useServices();
  const { content, problem } = useFile(conversationId, path, version);
  const [failure, setFailure] = useState<string | null>(null);
  const save = async (): Promise<void> => {
    setFailure(null);
    try {
      const reply = await client.open(downloadRoute, {
        params: { runtime_conversation_id: conversationId },
        query: { path },
        timeoutMs: longTimeoutMs,
      });
      await saveFile(reply, baseName(path));
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <div className="sticky top-0 z-[1] flex items-center gap-2 border-b border-line bg-raised px-3 py-1 text-sm">
        <span className="grow text-faint">{content?.type === "text" && content.isCut ? words.cut : ""}</span>
        {content?.type === "text" && <CopyButton text={content.text} />}
        <Button variant="quiet" onClick={() => void save()}>
          <Download size={13} />
          {words.save}
        </Button>
      </div>
      <Problem className="m-3" text={problem ?? failure} />
      {content === null && problem === null && <div className="h-8" aria-busy="true" />}
      {content?.type === "binary" && <p className="px-3 py-3 text-faint">{words.binary}</p>}
      {content?.type === "picture" && <Picture blob={content.blob} label={baseName(path)} />}
      {content?.type === "text" && <Text text={content.text} path={path} />}
    </>
  );
}

function Text({ text, path }: { readonly text: string; readonly path: string }) {
  const place = useRef<HTMLPreElement>(null);
  const count = text.replace(/\n$/, "").split("\n").length;
  return (
    <div
      role="group"
      aria-label={baseName(path)}
      tabIndex={0}
      className="flex overflow-x-auto py-1 font-mono text-sm leading-[1.45]"
    >
      <pre aria-hidden="true" className="shrink-0 px-3 text-right text-faint select-none">
        {Array.from({ length: count }, (_, index) => index + 1).join("\n")}
      </pre>
      <pre ref={place} className="pr-3">
        {text}
      </pre>
      <TextColours place={place} text={text} language={endingOf(path)} />
    </div>
  );
}

function Picture({ blob, label }: { readonly blob: Blob; readonly label: string }) {
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  if (address === null) return null;
  return <img src={address} alt={label} className="m-3 max-w-[calc(100%-1.5rem)] border border-line" />;
}
