import { X } from "lucide-react";
import { useEffect, useId, useRef } from "react";
import { baseName, pathWithin } from "../lib/shown-numbers.ts";
import { labelsOf } from "../lib/title-id.ts";
import { visibleText } from "../text/visible-text.ts";
import { IconButton } from "../ui/button.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import { FileView } from "./file-view.tsx";
import { FolderView } from "./folder-view.tsx";

export type FilesPanelProps = {
  readonly conversationId: string;
  /** Where the conversation works; absolute. */
  readonly folder: string;
  /** Below the folder; one that ends with a slash, or none, is a folder. */
  readonly path: string;
  readonly version: string;
  readonly onGo: (path: string) => void;
  readonly onClose: () => void;
};

/** The files of the conversation's folder: look into folders and files, and take them along. */
export default function FilesPanel({
  conversationId,
  folder,
  path,
  version,
  onGo,
  onClose,
}: FilesPanelProps) {
  const words = useMoreWords().files;
  const { close } = useWords().common;
  const titleId = useId();
  const pathId = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const root = folder.replace(/\/$/, "");
  const inside = pathWithin(path, root);
  const parts = inside.split("/").filter((part) => part !== "");
  const isFolder = inside === "" || inside.endsWith("/");
  const full = [root, ...parts].join("/");
  return (
    <section
      aria-labelledby={labelsOf(titleId, conversationId)}
      onKeyDown={(event) => event.key === "Escape" && onClose()}
      className="flex w-1/2 min-w-0 shrink-0 flex-col border-l border-line bg-canvas max-[1100px]:absolute max-[1100px]:inset-0 max-[1100px]:z-10 max-[1100px]:w-auto max-[1100px]:border-l-0 in-data-split:absolute in-data-split:inset-0 in-data-split:z-10 in-data-split:w-auto in-data-split:border-l-0"
    >
      <header className="flex h-11 shrink-0 items-center gap-2.5 border-b border-line pr-1.5 pl-3">
        <h2 id={titleId} ref={heading} tabIndex={-1} className="shrink-0 font-medium outline-none">
          {words.title}
        </h2>
        <nav
          id={pathId}
          aria-label={words.path}
          aria-labelledby={labelsOf(pathId, conversationId)}
          className="flex min-w-0 grow items-center overflow-x-auto font-mono text-xs whitespace-nowrap"
        >
          <Step name={baseName(root) || "/"} isHere={parts.length === 0} onGo={() => onGo("")} />
          {parts.map((part, index) => {
            const isLast = index === parts.length - 1;
            const to = parts.slice(0, index + 1).join("/");
            return (
              // A path has its parts in this order.
              // eslint-disable-next-line react/no-array-index-key
              <span key={index} className="flex items-center">
                <span className="text-faint">{"/"}</span>
                <Step name={part} isHere={isLast} onGo={() => onGo(isLast && !isFolder ? to : `${to}/`)} />
              </span>
            );
          })}
        </nav>
        <IconButton label={close} onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      <div className="min-h-0 grow overflow-y-auto">
        {isFolder ? (
          <FolderView
            conversationId={conversationId}
            path={full}
            version={version}
            onOpen={({ name, type }) =>
              onGo(`${[...parts, name].join("/")}${type === "directory" ? "/" : ""}`)
            }
          />
        ) : (
          <FileView conversationId={conversationId} path={full} version={version} />
        )}
      </div>
    </section>
  );
}

type StepProps = { readonly name: string; readonly isHere: boolean; readonly onGo: () => void };

function Step({ name, isHere, onGo }: StepProps) {
  return (
    <button
      type="button"
      aria-current={isHere ? "location" : undefined}
      onClick={onGo}
      className="rounded px-1 py-1 hover:bg-hover pointer-coarse:min-h-11"
    >
      {visibleText(name)}
    </button>
  );
}
