import { useId } from "react";
import { baseName, pathWithin } from "@convoke/client/view";
import { labelsOf } from "../lib/title-id.ts";
import { visibleText } from "../text/visible-text.ts";
import { SidePanel } from "../ui/side-panel.tsx";
import { useMoreWords } from "../words/words.ts";
import { FileView } from "./file-view.tsx";
import { FolderView } from "./folder-view.tsx";

export type FilesPanelProps = {
  readonly conversationId: string;
  /** Working directory of the conversation; absolute. */
  readonly folder: string;
  /** Relative path; a folder if it is empty or ends with a slash. */
  readonly path: string;
  readonly version: string;
  readonly onGo: (path: string) => void;
  readonly onClose: () => void;
};

/** The file browser of the conversation's folder, with downloads. */
export default function FilesPanel({
  conversationId,
  folder,
  path,
  version,
  onGo,
  onClose,
}: FilesPanelProps) {
  const words = useMoreWords().files;
  const pathId = useId();
  const root = folder.replace(/\/$/, "");
  const inside = pathWithin(path, root);
  const parts = inside.split("/").filter((part) => part !== "");
  const isFolder = inside === "" || inside.endsWith("/");
  const full = [root, ...parts].join("/");
  return (
    <SidePanel
      conversationId={conversationId}
      title={words.title}
      bar={
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
              // The segments of a path keep their order.
              // eslint-disable-next-line react/no-array-index-key
              <span key={index} className="flex items-center">
                <span className="text-faint">{"/"}</span>
                <Step name={part} isHere={isLast} onGo={() => onGo(isLast && !isFolder ? to : `${to}/`)} />
              </span>
            );
          })}
        </nav>
      }
      onClose={onClose}
    >
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
    </SidePanel>
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
